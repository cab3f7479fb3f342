"""The search for layers: its graph, samples by which it compares, and equal neighborhoods."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jax import lax

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.value_map import ValueSet
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.layers import activations, norms, softmax
from scalify_hlo.layers.graph import Node
from scalify_hlo.layers.layout import broadcast, fresh, unified
from scalify_hlo.layers.model import Layer
from scalify_hlo.layers.numbers import Target, mean, spread_to
from scalify_hlo.layers.recognition import graph_of, recognize
from scalify_hlo.layers.twins import Found, Twins, _onto
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.passes.recognize import RecognizePass, _reader
from tests.py.layers.test_layers import gpt2_text
from tests.py.shared.judge import body_of, parse, shaped, stablehlo_of

Array = npt.NDArray[np.float64]


def test_an_outer_product_of_an_axis_has_no_layout() -> None:
    """Samples have one axis for it, along which the product would be the diagonal."""
    (dim,) = fresh((3,))
    along, across = broadcast((dim,), (0,), (3, 3)), broadcast((dim,), (1,), (3, 3))
    assert unified(along, across) is None
    assert unified(along, along) == along


def test_an_outer_product_beside_a_softmax_is_none_of_it() -> None:
    def both(x: jax.Array) -> jax.Array:
        return jax.nn.softmax(x) / jnp.sum(jnp.kron(x, x))

    text = stablehlo_of(both, np.ones(3, np.float32))
    run_passes(parse(text), [RecognizePass()])


NUMBERS = st.sampled_from(
    [0.0, -0.0, 1.0, 1 + 5e-6, 1 + 5e-5, -3.0, 400.0, np.inf, -np.inf, np.nan]
)
SHAPES = ((1, 1), (1, 2), (3, 1), (3, 2))


@st.composite
def arrays(draw: st.DrawFn) -> Array:
    shape = draw(st.sampled_from(SHAPES))
    size = int(np.prod(shape))
    return np.reshape(draw(st.lists(NUMBERS, min_size=size, max_size=size)), shape)


def is_close(found: Array, wanted: Array, tolerance: float, unit: float | None) -> bool:
    """The definition, element by element."""
    largest = np.max(np.abs(wanted)) if unit is None else unit
    pairs = np.broadcast(found, wanted)
    return bool(np.isfinite(found).all()) and all(
        abs(f - w) <= tolerance * (abs(w) + largest) for f, w in pairs
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("unit", [None, 1.0])
@given(found=arrays(), wanted=arrays())
def test_the_first_element_decides_nothing_wrongly(
    unit: float | None, found: Array, wanted: Array
) -> None:
    for array in (found, wanted):
        expected = is_close(array, wanted, 1e-5, unit)
        assert Target(wanted, 1e-5, unit).met_by(array) == expected


def test_what_differs_later_is_none() -> None:
    wanted = np.ones((3, 2))
    found = wanted.copy()
    found[2, 1] = 1.001
    assert Target(wanted, 1e-5).met_by(wanted)
    assert not Target(wanted, 1e-5).met_by(found)


@pytest.mark.parametrize("axes", [(), (1,), (0, 2)])
def test_means_are_those_of_numpy(axes: tuple[int, ...]) -> None:
    array = np.random.default_rng(0).standard_normal((3, 5, 4))
    for given_ in (array, array > 0):
        wanted = np.mean(given_, axis=axes, keepdims=True)
        np.testing.assert_array_equal(mean(given_, axes), wanted, strict=True)


def test_arrays_are_spread_to_what_they_have_in_common() -> None:
    assert spread_to(np.ones((3, 1)), np.ones((1, 2))).shape == (3, 2)
    array = np.ones((3, 2))
    assert spread_to(array, array) is array


def test_a_pass_keeps_no_graph() -> None:
    """Nodes know each other: without care they would wait for the collector, which is paused."""
    text = stablehlo_of(jax.nn.gelu, jnp.ones((4, 8)))
    module = parse(text)
    gc.collect()
    gc.disable()
    try:
        before = sum(isinstance(found, Node) for found in gc.get_objects())
        assert run_passes(module, [RecognizePass()]).layers
        assert sum(isinstance(found, Node) for found in gc.get_objects()) <= before
    finally:
        gc.enable()


def module_of(function: Callable[..., Any], *shapes: tuple[int, ...]) -> ir.Module:
    arguments = [shaped(*shape) for shape in shapes]
    return parse(stablehlo_of(function, *arguments))


def counted(module: ir.Module) -> Counter[str]:
    with module.context:
        return Counter(node.name for node in graph_of(module).nodes)


def products(x: jax.Array, y: jax.Array) -> list[jax.Array]:
    return [x @ y, lax.dot_general(x, y, (((1,), (1,)), ((), ()))), x @ y]


@pytest.mark.parametrize("marked", [False, True])
def test_ops_are_told_apart_by_their_own_attributes(*, marked: bool) -> None:
    module = module_of(products, (3, 3), (3, 3))

    with module.context:
        if marked:
            first, *_ = ops_in(module.operation, {"stablehlo.dot_general"})
            first.attributes[attributes.SITE] = ir.StringAttr.get("first")
        assert counted(module)["dot_general"] == 2


def test_results_are_told_apart_by_their_numbers() -> None:
    def bits(x: jax.Array) -> list[jax.Array]:
        state = lax.bitcast_convert_type(x, jnp.uint32)
        return [*lax.rng_bit_generator(state, (4,)), *lax.rng_bit_generator(state, (4,))]

    assert counted(module_of(bits, (4,)))["rng_bit_generator"] == 2


SILU = """
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.logistic %x : tensor<4xf32>
  %1 = stablehlo.abs %0 : tensor<4xf32>
  %2 = stablehlo.multiply %1, %x : tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


def test_the_nearest_op_that_reads_an_input() -> None:
    module = parse(SILU)
    block = body_of(module)
    x, y = block.arguments
    logistic, absolute, product, _ = (op.operation for op in block.operations)
    with module.context:
        first, second = ValueSet([x]), ValueSet([y])
        assert _reader(product.results[0], first) == (product, 1)
        assert _reader(absolute.results[0], first) == (logistic, 0)
        assert _reader(product.results[0], second) is None
        assert _reader(x, second) is None


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
