"""Markers change no value, and stand in the program where their author put them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial, reduce
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import export

import scalify_hlo as jsa
from scalify_hlo import ScaledArray, UsageError
from tests.py.shared import marked
from tests.py.shared.judge import normal, shaped

Mark = Callable[[Any], Any]


def parts(x: Any) -> Any:
    """Data times scale: a product with 1 in a program that is not rewritten."""
    data, scale = jsa.get_data_and_scale(x)
    return data * scale.astype(data.dtype)


FORWARD: dict[str, tuple[str, Mark]] = {
    "set": ("set_scaling", lambda x: jsa.set_scaling(x, 4.0)),
    "set to a traced scale": ("set_scaling", lambda x: jsa.set_scaling(x, _largest(x))),
    "rebalance": ("rebalance_scale", lambda x: jsa.rebalance_scale(x, np.float16(0.5))),
    "parts": ("get_data_and_scale", parts),
    "stop": ("stop_scaling", jsa.stop_scaling),
    "max": ("dynamic_rescale", jsa.dynamic_rescale_max),
    "l1": ("dynamic_rescale", jsa.dynamic_rescale_l1),
    "l2": ("dynamic_rescale", partial(jsa.dynamic_rescale_l2, every=3, step=7)),
}
BACKWARD: dict[str, tuple[str, Mark]] = {
    "max grad": ("dynamic_rescale", jsa.dynamic_rescale_max_grad),
    "l1 grad": ("dynamic_rescale", jsa.dynamic_rescale_l1_grad),
    "l2 grad": ("dynamic_rescale", partial(jsa.dynamic_rescale_l2_grad, every=3, step=7)),
}
ALL = {**FORWARD, **BACKWARD}
EVERY_MARKER = pytest.mark.parametrize("case", ALL)


def _largest(x: Any) -> Any:
    largest = jnp.max(jnp.abs(jnp.asarray(x) * np.int8(1)))
    # What is computed outside of a trace is known, and has to be a power of two.
    return largest if isinstance(largest, jax.core.Tracer) else 2.0


def unmarked(x: Any) -> Any:
    return x


def loss(mark: Mark, x: Any, w: Any) -> Any:
    return jnp.sum(jnp.tanh(mark(x @ w)) ** 2)


def bits(tree: Any) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


X, W = normal(3, 4), normal(4, 5, seed=1)


def _scan(mark: Mark, x: Any, w: Any) -> Any:
    def body(carry: Any, row: Any) -> tuple[Any, Any]:
        carry = mark(jnp.tanh(row @ w + carry))
        return carry, carry

    return jnp.sum(jax.lax.scan(body, jnp.zeros(w.shape[1]), x)[1] ** 2)


def _in_checkpoint(mark: Mark, x: Any, w: Any) -> Any:
    return jax.checkpoint(partial(loss, mark))(x, w)


def _in_cond(mark: Mark, x: Any, w: Any) -> Any:
    return jax.lax.cond(x[0, 0] > 0, partial(loss, mark), lambda x, _: jnp.sum(x), x, w)


def _mapped(mark: Mark, x: Any, w: Any) -> Any:
    return jax.vmap(partial(loss, mark), in_axes=(0, None))(jnp.stack([x, 2 * x]), w)


TRANSFORMS: dict[str, Callable[[Mark], Callable[..., Any]]] = {
    "jit": lambda mark: partial(loss, mark),
    "grad": lambda mark: jax.value_and_grad(partial(loss, mark), argnums=(0, 1)),
    "vjp": lambda mark: lambda x, w: jax.vjp(partial(loss, mark), x, w)[1](jnp.float32(3)),
    "jvp": lambda mark: lambda x, w: jax.jvp(partial(loss, mark), (x, w), (w @ w.T @ x.T, w)),
    "linearize": lambda mark: lambda x, w: jax.linearize(partial(loss, mark), x, w)[1](x, w),
    "hessian": lambda mark: jax.hessian(partial(loss, mark)),
    "vmap": lambda mark: partial(_mapped, mark),
    "vmap of grad": lambda mark: jax.vmap(jax.grad(partial(loss, mark), argnums=1), (0, None)),
    "grad of vmap": lambda mark: jax.grad(lambda x, w: jnp.sum(_mapped(mark, x, w)), argnums=1),
    "scan": lambda mark: jax.value_and_grad(partial(_scan, mark), argnums=1),
    "checkpoint": lambda mark: jax.value_and_grad(partial(_in_checkpoint, mark), argnums=1),
    "cond": lambda mark: jax.value_and_grad(partial(_in_cond, mark), argnums=1),
}


def _arguments(transform: str) -> tuple[Any, Any]:
    if transform == "jvp":
        return normal(5, 4)[:4, :4], normal(4, 4, seed=1)
    return (np.stack([X, 2 * X]), W) if transform == "vmap of grad" else (X, W)


def every_marker(x: Any) -> Any:
    return reduce(lambda x, case: ALL[case][1](x), ALL, x)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("case", "transform"),
    [*(("every one", t) for t in TRANSFORMS), *((case, "grad") for case in ALL)],
)
def test_no_bit_changes(case: str, transform: str) -> None:
    make, args = TRANSFORMS[transform], _arguments(transform)
    run = make(ALL[case][1] if case in ALL else every_marker)
    marked.assert_same_function(run, make(unmarked), *args)


SPECIAL = [0.0, -0.0, 1.5, -3.0, np.inf, -np.inf, np.nan]


@pytest.mark.slow
@pytest.mark.parametrize(
    "dtype", ["float16", "bfloat16", "float32", "float8_e4m3fn", "float8_e5m2", "complex64"]
)
@EVERY_MARKER
def test_every_dtype_passes_as_it_is(case: str, dtype: str) -> None:
    values = np.array(SPECIAL).astype(np.dtype(getattr(ml_dtypes, dtype, dtype)))
    # The product of `parts` is an op of its author.
    mark: Mark = (lambda x: jsa.get_data_and_scale(x)[0]) if case == "parts" else ALL[case][1]
    for x in (values, jnp.asarray(values)):
        for run in (mark, jax.jit(mark)):
            out: Any = run(x)
            assert out.dtype == x.dtype
            assert bits(out) == bits(x)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_wide_dtypes_have_a_wide_scale(dtype: str) -> None:
    with jax.enable_x64(True):
        x = np.array([1.0, -0.0]).astype(dtype)

        def run(x: Any) -> Any:
            x = jsa.set_scaling(x, 2.0**200)
            return jsa.get_data_and_scale(jsa.dynamic_rescale_max(x))

        data, scale = jax.jit(run)(x)
        assert bits(data) == bits(x)
        assert scale.dtype == np.float64
        exported = marked.through_a_file(run, x)
        assert bits(exported.call(x)) == bits((data, scale))
        set_scaling = next(c for c in marked.calls(exported) if c.marker == "set_scaling")
        assert set_scaling.operands[1] == "tensor<f64>"


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["int32", "bool", "uint8"])
@EVERY_MARKER
def test_integers_and_booleans_pass_unmarked(case: str, dtype: str) -> None:
    x = np.array([0, 1, 1]).astype(dtype)
    mark = ALL[case][1]
    assert bits(mark(x)) == bits(x)
    assert marked.calls(marked.through_a_file(mark, x)) == []


@pytest.mark.slow
@pytest.mark.parametrize("case", FORWARD)
def test_forward_markers_stand_on_the_value_alone(case: str) -> None:
    name, mark = FORWARD[case]
    forward = marked.through_a_file(partial(loss, mark), X, W)
    both = marked.through_a_file(jax.value_and_grad(partial(loss, mark), argnums=(0, 1)), X, W)
    assert marked.names(forward) == marked.names(both) == [name]
    tangents = jax.jit(partial(jax.jvp, partial(loss, mark)))
    assert marked.names(export.export(tangents)((X, W), (X, W))) == [name]
    for exported in (forward, both):
        operand, *_ = marked.operands(exported, X, W)
        np.testing.assert_allclose(operand, X @ W, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("case", BACKWARD)
def test_gradient_markers_stand_on_the_cotangent_alone(case: str) -> None:
    name, mark = BACKWARD[case]
    forward = marked.through_a_file(partial(loss, mark), X, W)
    assert marked.calls(forward) == []
    tangents = jax.jit(partial(jax.jvp, partial(loss, mark)))
    assert marked.calls(export.export(tangents)((X, W), (X, W))) == []
    gradient = jax.grad(lambda h: jnp.sum(jnp.tanh(h) ** 2))(X @ W)
    for make in (jax.grad, jax.value_and_grad):
        exported = marked.through_a_file(make(partial(loss, mark)), X, W)
        assert marked.names(exported) == [name]
        operand, *_ = marked.operands(exported, X, W)
        np.testing.assert_allclose(operand, gradient, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
@EVERY_MARKER
def test_the_vjp_of_a_file_has_what_its_own_program_would_have(case: str) -> None:
    name, mark = ALL[case]
    exported = marked.through_a_file(partial(loss, mark), X, W)
    vjp = exported.vjp()
    assert marked.names(vjp) == [name]
    expected = jax.jit(jax.grad(partial(loss, unmarked), argnums=(0, 1)))(X, W)
    for actual in (jax.grad(exported.call, argnums=(0, 1))(X, W), vjp.call(X, W, np.float32(1))):
        np.testing.assert_allclose(actual[0], expected[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(actual[1], expected[1], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("transform", ["scan", "checkpoint", "vmap of grad"])
def test_gradient_markers_are_placed_under_transforms(transform: str) -> None:
    run = TRANSFORMS[transform](jsa.dynamic_rescale_l2_grad)
    (call,) = marked.calls(marked.through_a_file(run, *_arguments(transform)))
    assert (call.marker, call.statistic, call.every) == ("dynamic_rescale", "l2", 1)
    shape = {"scan": "5", "checkpoint": "3x5", "vmap of grad": "2x3x5"}[transform]
    assert call.operands == (f"tensor<{shape}xf32>",)


@pytest.mark.parametrize("statistic", ["max", "l1", "l2"])
@pytest.mark.parametrize("suffix", ["", "_grad"])
def test_statistic_and_steps_stand_on_the_call(statistic: str, suffix: str) -> None:
    rescale = getattr(jsa, f"dynamic_rescale_{statistic}{suffix}")

    def run(x: Any, w: Any, step: Any) -> Any:
        return jax.grad(loss, argnums=1)(partial(rescale, every=16, step=step), x, w)

    exported = marked.through_a_file(run, X, W, np.int32(5))
    (call,) = marked.calls(exported)
    assert (call.statistic, call.every) == (statistic, 16)
    assert call.operands == ("tensor<3x5xf32>", "tensor<i32>")
    assert marked.operands(exported, X, W, np.int32(5))[1] == 5


def test_a_batch_has_one_scale_the_largest() -> None:
    def run(x: Any, scale: Any) -> Any:
        return jax.vmap(jsa.set_scaling)(x, scale)

    scales = np.array([2.0, 16.0, 0.5], np.float32)
    exported = marked.through_a_file(run, X, scales)
    (call,) = marked.calls(exported)
    assert call.operands == ("tensor<3x4xf32>", "tensor<f32>")
    assert marked.operands(exported, X, scales)[1] == 16.0
    _, scale = jax.vmap(jsa.get_data_and_scale, out_axes=(0, None))(X)
    assert scale.shape == ()


def test_a_mapped_step_counts_as_its_largest() -> None:
    def run(x: Any, step: Any) -> Any:
        return jax.vmap(lambda x, n: jsa.dynamic_rescale_l1(x, every=2, step=n))(x, step)

    steps = np.array([3, 8, 1], np.int32)
    assert marked.operands(marked.through_a_file(run, X, steps), X, steps)[1] == 8


def test_nothing_is_differentiated_with_respect_to_a_scale() -> None:
    def run(x: Any, scale: Any) -> Any:
        return jnp.sum(jsa.rebalance_scale(jsa.set_scaling(x, scale), scale) * scale)

    assert jax.jit(jax.grad(run, argnums=1))(X, np.float32(2)) == pytest.approx(X.sum(), rel=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "complex64"])
def test_derivatives_of_the_data_are_divided_by_the_scale(dtype: str) -> None:
    x = np.asarray(jnp.asarray(X).astype(dtype))

    def run(x: Any) -> Any:
        return jnp.sum(3 * jnp.real(jsa.get_data_and_scale(x)[0]))

    exported = marked.through_a_file(jax.grad(run), x)
    text = marked.with_scale(exported, 8.0)
    (gradient,) = marked.run(text, x)
    np.testing.assert_array_equal(gradient, np.full(x.shape, 3 / 8, x.dtype))
    np.testing.assert_array_equal(exported.call(x), np.full(x.shape, 3, x.dtype))


@pytest.mark.slow
@EVERY_MARKER
def test_symbolic_shapes_keep_markers(case: str) -> None:
    name, mark = ALL[case]

    def run(x: Any, y: Any, w: Any) -> Any:
        return jax.grad(lambda w: loss(mark, x, w) + loss(mark, y, w))(w)

    # Of one type before the sizes are known, of two afterwards.
    n, m = export.symbolic_shape("n, m")
    types = [shaped(*shape) for shape in ((n, 4), (m, 4), (4, 5))]
    exported = marked.through_a_file(run, *types)
    assert marked.names(exported) == [name, name]
    assert "?x5" in marked.calls(exported)[0].operands[0]
    y = normal(7, 4, seed=2)
    expected = jax.jit(jax.grad(lambda w: loss(unmarked, X, w) + loss(unmarked, y, w)))(W)
    np.testing.assert_allclose(jax.jit(exported.call)(X, y, W), expected, rtol=1e-5, atol=1e-6)


def test_linear_functions_are_transposed() -> None:
    def linear(x: Any) -> Any:
        return jsa.set_scaling(jsa.dynamic_rescale_l1_grad(x @ W), 2.0)

    transposed = jax.linear_transpose(linear, X)
    exported = marked.through_a_file(lambda y: transposed(y)[0], X @ W)
    assert marked.names(exported) == ["dynamic_rescale"]
    np.testing.assert_allclose(exported.call(X @ W), X @ W @ W.T, rtol=1e-5)
    with pytest.raises(UsageError, match=r"no transpose(.|\n)*value that is differentiated"):
        jax.linear_transpose(lambda x: jsa.get_data_and_scale(x)[0], X)(X)


def test_functions_are_shared_by_calls_of_one_type() -> None:
    def run(x: Any, y: Any) -> Any:
        for _ in range(3):
            x = jsa.dynamic_rescale_l1(jsa.dynamic_rescale_l2(x))
            y = jsa.dynamic_rescale_max(y)
        return x, y

    exported = marked.through_a_file(run, X, W)
    assert len(marked.calls(exported)) == 9
    assert exported.mlir_module().count("func.func private @scalify.dynamic_rescale") == 2


# What is wrong is said where the function is called.

WRONG: dict[str, Callable[[], Any]] = {
    "scale 3.0 is not a power": lambda: jsa.set_scaling(X, 3.0),
    "scale 0 is not a power": lambda: jsa.set_scaling(X, 0),
    "scale -2.0 is not a power": lambda: jsa.set_scaling(X, np.float64(-2)),
    "scale inf is not a power": lambda: jsa.set_scaling(X, jnp.float32(np.inf)),
    "scale nan is not a power": lambda: jsa.set_scaling(X, float("nan")),
    "not a power of two that float32 holds": lambda: jsa.set_scaling(X, 2.0**200),
    "delta 0.75 is not a power": lambda: jsa.rebalance_scale(X, jnp.bfloat16(0.75)),
    "scale is of shape [3] and dtype": lambda: jsa.set_scaling(X, np.ones(3, np.float32)),
    "every=0 is not a number of steps": lambda: jsa.dynamic_rescale_l1(X, every=0),
    "every=2.0 is not": lambda: jsa.dynamic_rescale_l1(X, every=2.0),  # type: ignore[arg-type]
    "every=True is not": lambda: jsa.dynamic_rescale_max_grad(X, every=True),
    "and step is None": lambda: jsa.dynamic_rescale_l2(X, every=2),
    "and step is 1.5": lambda: jsa.dynamic_rescale_l2_grad(X, every=2, step=1.5),
    "and step is [1 2]": lambda: jsa.dynamic_rescale_l2(X, every=2, step=np.array([1, 2])),
}


@pytest.mark.parametrize("message", WRONG)
def test_what_is_wrong_is_said_at_the_callers_line(message: str) -> None:
    with pytest.raises(UsageError) as error:
        WRONG[message]()
    assert message in error.value.message
    assert error.value.hint
    line = inspect.getsourcelines(WRONG[message])[1]
    assert error.value.location == f"{__file__}:{line}"


@pytest.mark.parametrize("scale", [4, 4.0, np.float16(4), ml_dtypes.bfloat16(4), jnp.float32(4)])
def test_scales_are_given_in_any_type(scale: Any) -> None:
    exported = marked.through_a_file(lambda x: jsa.set_scaling(x, scale), X)
    assert marked.operands(exported, X)[1] == np.float32(4)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_traced_scales_are_given_in_any_dtype(dtype: str) -> None:
    exported = marked.through_a_file(jsa.set_scaling, X, jnp.asarray(8, dtype))
    (call,) = marked.calls(exported)
    assert call.operands[1] == "tensor<f32>"


# A ScaledArray has a scale to change, also where nothing is rewritten.

PAIR = ScaledArray(jnp.array([24.0, -8.0, 16.0, 32.0]), jnp.float32(0.5))

MOVED: dict[str, tuple[Mark, float]] = {
    "set": (lambda x: jsa.set_scaling(x, 4.0), 4.0),
    "rebalance": (lambda x: jsa.rebalance_scale(x, 8), 4.0),
    "max": (jsa.dynamic_rescale_max, 16.0),
    "l1": (jsa.dynamic_rescale_l1, 8.0),
    "l2": (jsa.dynamic_rescale_l2, 8.0),
    "l2 now": (partial(jsa.dynamic_rescale_l2, every=3, step=6), 8.0),
    "l2 later": (partial(jsa.dynamic_rescale_l2, every=3, step=7), 0.5),
    "max grad": (jsa.dynamic_rescale_max_grad, 0.5),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", MOVED)
def test_the_scale_of_a_scaled_array_moves(case: str) -> None:
    mark, scale = MOVED[case]
    for run in (mark, jax.jit(mark)):
        out = run(PAIR).check()
        assert float(out.scale) == scale
        np.testing.assert_array_equal(jsa.asarray(out), jsa.asarray(PAIR))


def test_traced_factors_are_rounded_down() -> None:
    assert float(jax.jit(jsa.set_scaling)(PAIR, 7.0).scale) == 4.0
    assert float(jax.jit(jsa.rebalance_scale)(PAIR, 7.0).scale) == 2.0
    far = jax.jit(jsa.rebalance_scale)(ScaledArray(PAIR.data, jnp.float32(2.0**100)), 2.0**100)
    assert float(far.scale) == 2.0**127


def test_a_scaled_array_comes_apart() -> None:
    for run in (jsa.get_data_and_scale, jax.jit(jsa.get_data_and_scale)):
        data, scale = run(PAIR)
        assert bits((data, scale)) == bits((PAIR.data, PAIR.scale))
    for stop in (jsa.stop_scaling, jax.jit(jsa.stop_scaling)):
        assert bits(stop(PAIR)) == bits(jsa.asarray(PAIR))


@pytest.mark.parametrize("case", MOVED)
def test_gradients_of_scaled_arrays_are_those_of_their_values(case: str) -> None:
    mark, _ = MOVED[case]

    def run(x: ScaledArray) -> Any:
        return jnp.sum(jsa.asarray(mark(x)) ** 2)

    gradient = jax.jit(jax.grad(run))(PAIR)
    np.testing.assert_array_equal(jsa.asarray(gradient), 2 * jsa.asarray(PAIR))


def test_the_gradient_of_the_data_of_a_scaled_array_is_divided() -> None:
    gradient = jax.grad(lambda x: jnp.sum(3 * jsa.get_data_and_scale(x)[0]))(PAIR)
    np.testing.assert_array_equal(jsa.asarray(gradient), np.full(4, 6.0))


@pytest.mark.parametrize(("step", "scale"), [(4, 64.0), (5, 1.0)])
def test_the_gradient_of_a_scaled_array_is_rescaled(step: int, scale: float) -> None:
    def run(x: ScaledArray, step: Any) -> Any:
        return jnp.sum(jsa.asarray(jsa.dynamic_rescale_max_grad(x, every=2, step=step)) * 64)

    gradient = jax.jit(jax.grad(run))(PAIR, step)
    assert float(gradient.scale) == scale
    np.testing.assert_array_equal(jsa.asarray(gradient), np.full(4, 64.0))
