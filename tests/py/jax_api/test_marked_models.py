"""Functions with an author's markers: exported, rewritten and run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as jsa
from scalify_hlo.errors import InputError
from tests.py.devices import eight_devices, sharded_markers
from tests.py.shared.judge import (
    assert_all_close,
    assert_invariant,
    normals,
    parse,
    program_of,
    propagated,
    rewritten,
    shaped,
    stablehlo_of,
)

WIDTH = 8


def layer(x: Any, w: Any) -> Any:
    """A normalized layer with the paper's algorithm 5."""
    x = jsa.dynamic_rescale_l2_grad(x)
    x = x - x.mean(-1, keepdims=True)
    x = x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)
    return jnp.tanh(jsa.dynamic_rescale_max(x @ w))


def looped(x: Any, w: Any) -> Any:
    def body(carry: Any, _: Any) -> Any:
        carry = carry + 0.5 * layer(carry, w)
        return carry, jsa.rebalance_scale(carry, 4.0)

    last, every = jax.lax.scan(body, x, None, length=3)
    return jsa.set_scaling(last, jnp.max(jnp.abs(last))) + every.sum(0)


def branched(x: Any, w: Any) -> Any:
    return jax.lax.cond(x[0, 0] > 0, layer, lambda x, w: jsa.dynamic_rescale_l1(x - x @ w), x, w)


def counted(x: Any, w: Any) -> Any:
    steps = jnp.int32(4)
    x = jsa.dynamic_rescale_l2(x @ w, every=3, step=steps)
    return jsa.dynamic_rescale_l2_grad(x, every=2, step=steps)


def recomputed(x: Any, w: Any) -> Any:
    return jax.checkpoint(layer)(layer(x, w), w)


def called(x: Any, w: Any) -> Any:
    inner: Any = jax.jit(layer)
    return inner(inner(x, w), w)


FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    f.__name__: f for f in (layer, looped, branched, counted, recomputed, called)
}


def of_gradients(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The gradients of a loss."""
    return jax.grad(lambda x, w: jnp.sum(function(x, w) * jnp.cos(x)), argnums=(0, 1))


def mapped(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The function for each of a batch."""
    return lambda x, w: jax.vmap(function, in_axes=(0, None))(x.reshape(2, 2, WIDTH), w)


@pytest.mark.parametrize("wrap", [lambda f: f, of_gradients, mapped], ids=["", "grad", "vmap"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_are_those_of_the_plain_function(name: str, wrap: Any) -> None:
    x, w = normals((4, WIDTH), (WIDTH, WIDTH))
    exported = program_of(wrap(FUNCTIONS[name]), x, w)
    text = str(exported.mlir_module())
    assert "scalify.marker" in text
    assert_invariant(text, [x, w], [3, -4])
    assert_invariant(text, [x, w], [-6, 5], pairs=[True, False])


def test_state_is_at_the_scale_that_the_marker_gives_it() -> None:
    @jsa.scalify
    def step(w: Any, x: Any) -> Any:
        gradient = jax.grad(lambda w: jnp.sum(jnp.square(x @ w)))(w)
        return jsa.dynamic_rescale_l2(w - 0.125 * gradient)

    w, x = normals(*[(WIDTH, WIDTH)] * 2)
    new = step(jsa.as_scaled_array(w), jsa.as_scaled_array(x))
    rms = float(jnp.sqrt(jnp.mean(new.data**2)))
    assert 1 <= rms < 2
    assert float(new.scale) > 1


def test_a_gradient_is_rescaled_on_its_way_back() -> None:
    def loss(w: Any, x: Any) -> Any:
        return jnp.sum(jnp.square(jsa.dynamic_rescale_max_grad(x @ w) * 2.0**-9))

    w, x = normals(*[(WIDTH, WIDTH)] * 2)
    plain = jsa.scalify(jax.grad(lambda w, x: jnp.sum(jnp.square(x @ w * 2.0**-9))))
    pairs = [jsa.as_scaled_array(a, 1.0) for a in (w, x)]
    marked = jsa.scalify(jax.grad(loss))(*pairs)
    np.testing.assert_allclose(jsa.asarray(marked), jsa.asarray(plain(*pairs)), rtol=1e-5)
    assert np.abs(np.log2(np.abs(marked.data).max())) < np.abs(
        np.log2(np.abs(plain(*pairs).data).max())
    )


def test_data_and_scale_come_apart_in_a_rewritten_program() -> None:
    parts: Any = jsa.scalify(lambda x: jsa.get_data_and_scale(x * x))
    data, scale = parts(jsa.ScaledArray(jnp.full((4,), 3.0), jnp.float32(4)))
    assert (float(scale), data.tolist()) == (16.0, [9.0] * 4)


def test_symbolic_shapes() -> None:
    (size,) = jax.export.symbolic_shape("n")
    function: Any = jax.jit(lambda x: jsa.dynamic_rescale_l2(x * x) + jsa.dynamic_rescale_l1(x))
    exported = jax.export.export(function)(shaped(size, 4))
    program = propagated(exported, signature="scaled")
    x = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
    result = program.call(jsa.ScaledArray(x / 8, np.float32(8)))
    np.testing.assert_allclose(jsa.asarray(result), function(x), rtol=1e-5)
    assert 2.0**-3 < float(jnp.sqrt(jnp.mean(result.data**2))) < 2.0**3


@jsa.custom_scale
def gelu(x: Any) -> Any:
    """GELU with a rule that keeps the scale (the paper's appendix C.1)."""
    return x * jax.scipy.stats.norm.cdf(x)


def gelu_rule(x: Any) -> Any:
    """X_d g(X_d X_s), X_s; four times the data, to be told apart."""
    gated = x.data * jax.scipy.stats.norm.cdf(x.data * x.scale)
    return jsa.ScaledArray(gated * 4, x.scale / 4)


gelu.defscale(gelu_rule)


class TestCustomScale:
    @pytest.mark.slow
    @pytest.mark.parametrize("signature", ["same", "scaled"])
    @pytest.mark.parametrize("derivative", [False, True])
    def test_values_from_a_file(self, signature: str, derivative: bool) -> None:
        function: Any = lambda x, w: jnp.sum(gelu(x @ w) ** 2)  # noqa: E731
        function = jax.grad(function, argnums=(0, 1)) if derivative else function
        x, w = normals(*[(WIDTH, WIDTH)] * 2)
        data = program_of(function, x, w).serialize()
        program = jax.export.deserialize(bytearray(propagated(bytes(data), signature=signature)))
        given = jsa.as_scaled_array((x, w)) if signature == "scaled" else (x, w)
        result = jsa.asarray(program.call(*given))
        expected = function(x, w)
        assert_all_close(result, expected, rtol=1e-5, atol=1e-5)
        assert 'scalify.custom_scale"' not in program.mlir_module()

    def test_a_scale_that_is_no_power_of_two_changes_no_value(self) -> None:
        half: Any = jsa.custom_scale(lambda x: x)
        half.defscale(lambda x: jsa.ScaledArray(x.data / 3, x.scale * 3))
        x = jnp.arange(1.0, 9.0)
        result = jsa.scalify(half)(jsa.ScaledArray(x, jnp.float32(2)))
        assert float(result.scale) == 4.0  # the power of two below 6
        np.testing.assert_allclose(jsa.asarray(result), 2 * x, rtol=1e-6)

    def test_unscaled_values_go_through_the_function(self) -> None:
        text = stablehlo_of(gelu, jnp.ones(4))
        module, _ = rewritten(text)
        assert 'scalify.custom_scale"' not in str(module)

    def test_a_program_that_lost_its_rule_is_refused(self) -> None:
        text = stablehlo_of(gelu, jnp.ones(4))
        module = parse(text)
        for function in list(module.body.operations):
            if ".rule" in function.attributes["sym_name"].value:
                function.operation.erase()
        with pytest.raises(InputError, match="is not in the program"):
            rewritten(str(module))


NAMES = (
    "set_scaling",
    "rebalance_scale",
    "get_data_and_scale",
    "dynamic_rescale",
    "dynamic_rescale_grad",
    "stop_scaling",
    "custom_scale",
    "dynamic_rescale_loop",
)


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[str, str], Any]:
    found = eight_devices.run(sharded_markers.main)
    return {(outcome["kind"], outcome["name"]): outcome for outcome in found}


@pytest.fixture(scope="module")
def scales() -> dict[str, Any]:
    found: dict[str, Any] = eight_devices.run(sharded_markers.statistics)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["shard_map", "sharded"])
def test_programs_for_several_devices(
    outcomes: dict[tuple[str, str], Any], kind: str, name: str
) -> None:
    outcome = outcomes[kind, name]
    assert outcome["devices"] == 8
    assert outcome["direct"]
    assert outcome["loaded"]
    assert outcome["eager"]
    assert outcome["markers"] == [name.removesuffix("_grad").removesuffix("_loop")]
    assert outcome["rewritten"]


@pytest.mark.parametrize("statistic", ["max", "l1", "l2"])
def test_statistics_on_each_device_are_those_of_all(scales: dict[str, Any], statistic: str) -> None:
    found, expected = scales[statistic]
    assert found == [expected] * 8
