"""Ops with equal neighborhoods, as far as a search accessed them, share its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from scalify_hlo.layers import activations, norms, softmax
from scalify_hlo.layers.graph import Node
from scalify_hlo.layers.model import Layer
from scalify_hlo.layers.recognition import graph_of, recognize
from scalify_hlo.layers.twins import Found, Twins, _onto
from tests.py.layers.test_layers import gpt2_text
from tests.py.shared.judge import parse, shaped, stablehlo_of

SHAPE = (4, 8)


def text_of(function: Callable[..., jax.Array], *shapes: tuple[int, ...]) -> str:
    arguments = [shaped(*shape) for shape in shapes]
    return stablehlo_of(function, *arguments)


def told(layers: list[Layer]) -> list[object]:
    """All that a search says."""
    return [
        (
            *(layer.name, layer.part, layer.exact, layer.where, layer.output.index),
            *([node.index for node in layer.inputs], repr(layer.epsilon)),
            repr(layer.input_gradient),
        )
        for layer in layers
    ]


def searching(self: Twins, key: Node) -> Found:
    """Searches each time."""
    return self._search(key)


def assert_found_as_alone(text: str, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    found = recognize(parse(text))
    with monkeypatch.context() as patch:
        patch.setattr(Twins, "at", searching)
        assert told(found) == told(recognize(parse(text)))
    return Counter(layer.name for layer in found if layer.part == "forward")


def test_equal_blocks_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: Counter[str] = Counter()
    for module in (norms, softmax, activations):

        def counting(key: Node, search: Callable[[Node], Found] = module._at) -> Found:
            searched[key.name] += 1
            return search(key)

        monkeypatch.setattr(module, "_at", counting)
    few, many = (searches(gpt2_text(layers), searched) for layers in (4, 8))
    assert few == many
    assert few["rsqrt"] < 9  # which is how many layers there are
    assert few["exponential"] < 5
    assert few["tanh"] < 4  # as many are there


def searches(text: str, searched: Counter[str]) -> Counter[str]:
    searched.clear()
    recognize(parse(text))
    return searched.copy()


def test_layers_of_gpt2_are_those_of_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    assert assert_found_as_alone(gpt2_text(3), monkeypatch)["layer_norm"] == 7


def centerd(x: jax.Array) -> jax.Array:
    return x - jnp.mean(x, -1, keepdims=True)


def deviation(x: jax.Array, share: float = 1 / SHAPE[-1]) -> jax.Array:
    """The inverse of the deviation, or nearly so."""
    return lax.rsqrt(jnp.sum(centerd(x) ** 2, -1, keepdims=True) * share + share * 2**-14)


def layer_norm(x: jax.Array) -> jax.Array:
    return centerd(x) * deviation(x)


def unbiased(x: jax.Array) -> jax.Array:
    return centerd(x) * deviation(x, 1 / (SHAPE[-1] - 1))


def plus_mean(x: jax.Array) -> jax.Array:
    """An RMSNorm, of something else."""
    y = x + jnp.mean(x, -1, keepdims=True)
    return y * lax.rsqrt(jnp.sum(y**2, -1, keepdims=True) / SHAPE[-1] + 1e-5)


@pytest.mark.parametrize("near_miss", [unbiased, plus_mean])
@pytest.mark.parametrize("first", [False, True])
def test_what_nearly_looks_the_same_is_searched(
    near_miss: Callable[[jax.Array], jax.Array], *, first: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers are looked at, and what ops are."""
    before, after = (near_miss, layer_norm) if first else (layer_norm, near_miss)

    def stack(x: jax.Array, w: jax.Array) -> jax.Array:
        for layer in (*[before] * 3, *[after] * 3):
            x = jnp.sin(layer(x) @ w)
        return x

    found = assert_found_as_alone(text_of(stack, SHAPE, (8, 8)), monkeypatch)
    assert found["layer_norm"] == 3


def test_which_values_are_which_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    def stack(x: jax.Array, y: jax.Array, w: jax.Array, v: jax.Array) -> jax.Array:
        for swapped in (False, False, False, True, True, False):
            a, b = (deviation(y), deviation(x)) if swapped else (deviation(x), deviation(y))
            x, y = jnp.sin((centerd(x) * a) @ w), jnp.sin((centerd(y) * b) @ v)
        return x + y

    text = text_of(stack, SHAPE, SHAPE, (8, 8), (8, 8))
    assert assert_found_as_alone(text, monkeypatch)["layer_norm"] == 8


def test_the_order_of_ops_is_looked_at() -> None:
    """The nearest value is the one that was computed last."""

    def sums(x: jax.Array, y: jax.Array) -> jax.Array:
        for swapped in (False, False, True):
            if swapped:
                second = jnp.sin(y @ y)
                first = jnp.sin(x @ x)
            else:
                first = jnp.sin(x @ x)
                second = jnp.sin(y @ y)
            x, y = first + second, first * second
        return x

    module = parse(text_of(sums, (8, 8), (8, 8)))
    with module.context:
        graph = graph_of(module)
    one, twin, other = (node for node in graph.nodes if node.name == "add")
    looks = {(one, False): None}
    assert _onto(twin, one, looks) is not None
    assert _onto(other, one, looks) is None


def test_types_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A value that is off by the last bit of a bf16 is only equal in bf16."""

    def nearly(x: jax.Array) -> jax.Array:
        return (centerd(x) * deviation(x, (1 + 2**-7) / SHAPE[-1])).astype(x.dtype)

    def stack(x: jax.Array, w: jax.Array) -> jax.Array:
        for dtype in (*[jnp.bfloat16] * 3, *[jnp.float32] * 3):
            x = jnp.sin(nearly(x.astype(dtype)) @ w.astype(dtype))
        return x

    found = assert_found_as_alone(text_of(stack, SHAPE, (8, 8)), monkeypatch)
    assert found["layer_norm"] == 3


def test_users_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gain makes what is behind it the output of a layer."""

    def both(x: jax.Array, w: jax.Array, gain: jax.Array) -> jax.Array:
        x = jnp.sin(layer_norm(x) @ w)
        x = jnp.sin((layer_norm(x) * gain) @ w)
        return jnp.sin(layer_norm(x) @ w)

    assert assert_found_as_alone(text_of(both, SHAPE, (8, 8), (8,)), monkeypatch)["layer_norm"] == 3
