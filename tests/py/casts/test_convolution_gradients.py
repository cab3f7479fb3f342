"""Gradients of convolved kernels, whose operands are a gradient and an activation."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import scalify_hlo
from scalify_hlo import Report
from tests.py.shared.judge import decibels, normals, program_of

CHANNELS_LAST = ("NHWC", "HWIO", "NHWC")
CASES: dict[str, dict[str, Any]] = {
    "same": {},
    "valid": {"padding": "VALID"},
    "strides": {"strides": 2},
    "dilated windows": {"rhs_dilation": 2},
    "dilated images": {"lhs_dilation": 2, "padding": [(1, 1)] * 2},
    "groups of features": {"feature_group_count": 4},
    "groups of images": {"batch_group_count": 2},
    "channels first": {"dimension_numbers": ("NCHW", "OIHW", "NCHW")},
}


def convolved(x: jax.Array, w: jax.Array, how: dict[str, Any]) -> jax.Array:
    given: dict[str, Any] = {"padding": "SAME", "dimension_numbers": CHANNELS_LAST, **how}
    for key in {"rhs_dilation", "lhs_dilation"} & {*given}:
        given[key] = (given[key],) * 2
    return lax.conv_general_dilated(x, w, (given.pop("strides", 1),) * 2, **given)


def training(how: dict[str, Any]) -> tuple[Any, tuple[Any, ...]]:
    """The gradient of a kernel, and its arguments: two convolutions, of which the second is how."""
    groups = how.get("feature_group_count", 1)
    x, first, second = normals((4, 10, 10, 16), (3, 3, 16, 16), (3, 3, 16 // groups, 32))
    arrays = [x, first / 12, second / 12]
    own = {"dimension_numbers": how.get("dimension_numbers", CHANNELS_LAST)}
    if "dimension_numbers" in how:
        orders = ((0, 3, 1, 2), (3, 2, 0, 1), (3, 2, 0, 1))
        arrays = [a.transpose(order) for a, order in zip(arrays, orders, strict=True)]

    def loss(kernels: Any, x: jax.Array) -> jax.Array:
        return jnp.mean(convolved(jnp.tanh(convolved(x, kernels[0], own)), kernels[1], how) ** 2)

    return jax.grad(loss), ((arrays[1], arrays[2]), arrays[0])


def rewritten(recipe: str, how: dict[str, Any]) -> tuple[Any, Report, Any, Any]:
    function, arguments = training(how)
    exported = program_of(function, *arguments)
    scales = scalify_hlo.measured_scales(exported, *arguments)
    given: Any = {"recipe": recipe, "settings": {"matmul.smallest": 1}}
    if recipe in ("fp8", "unit"):
        given["input_scale"] = scales
    program, report = scalify_hlo.rewrite(exported, report=True, **given)
    return program, report, function, arguments


E4M3, E5M2 = ("f8E4M3FN",) * 2, ("f8E5M2",) * 2
PREDICTED = ("unit", "fp8", "munit-scaling")
MEASURED = ("fp8-current", "fp8-delayed", "fp8-calibrated")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("recipe", ["unit", "fp8-current"])
def test_it_is_quantized_with_one_format(recipe: str, case: str) -> None:
    """Two convolutions of E5M2, of 22.6 dB each, are behind the gradient of the first kernel."""
    program, report, function, arguments = rewritten(recipe, CASES[case])
    backward, least = (E5M2, 19) if recipe == "unit" else (E4M3, 20)
    assert [m.formats[:2] for m in report.matmuls] == [E4M3] * 2 + [backward] * 3
    assert not report.remarks
    expected = jax.tree.leaves(function(*arguments))
    for found, exact in zip(jax.tree.leaves(program.call(*arguments)), expected, strict=True):
        assert decibels(exact, found) > least


@pytest.mark.parametrize("recipe", [*PREDICTED, *MEASURED, "plain-f8"])
def test_other_recipes_quantize_it_too(recipe: str) -> None:
    """E4M3 has less range than E5M2, and one digit more for scales that follow the gradient."""
    if recipe == "fp8-calibrated":
        function, arguments = training({})
        exported = program_of(function, *arguments)
        profile = scalify_hlo.calibrate(exported, [arguments])
        settings = {"matmul.smallest": 1}
        report = scalify_hlo.rewrite(exported, profile=profile, settings=settings, report=True)[1]
    else:
        report = rewritten(recipe, {})[1]
    formats = [m.formats[:2] for m in report.matmuls]
    assert formats == [E4M3] * 2 + [E4M3 if recipe in MEASURED else E5M2] * 3


def test_gradients_that_fall_keep_their_digits_without_a_statistic() -> None:
    """E4M3 would lose most of them at 2^-9 of the size that is predicted."""
    x, weights, *kernels = normals((4, 8, 8, 16), (4, 8, 8, 16), *[(3, 3, 16, 16)] * 2)

    def loss(kernels: Any, x: jax.Array, weights: jax.Array) -> jax.Array:
        return jnp.mean(convolved(jnp.tanh(convolved(x, kernels[0], {})), kernels[1], {}) * weights)

    given = [kernel / 12 for kernel in kernels], x
    exported = program_of(jax.grad(loss), *given, weights)
    scales = scalify_hlo.measured_scales(exported, *given, weights)
    program, report = scalify_hlo.rewrite(exported, recipe="unit", input_scale=scales, report=True)
    assert (report.statistics, report.remarks) == (0, [])
    fallen = (*given, weights * np.float32(2.0**-9))
    for found, exact in zip(program.call(*fallen), jax.grad(loss)(*fallen), strict=True):
        assert decibels(exact, found) > 19


@pytest.mark.parametrize("recipe", ["unit", "fp8", "fp8-current"])
def test_a_frozen_kernel_is_stored_and_cast_from_there(recipe: str) -> None:
    """It is convolved with an activation in E4M3, and with a gradient in E5M2."""
    x, y, trained, frozen = normals(*[(4, 8, 8, 16)] * 2, *[(3, 3, 16, 16)] * 2)

    def loss(trained: jax.Array, frozen: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.mean((convolved(jnp.tanh(convolved(x, trained, {})), frozen, {}) - y) ** 2)

    def step(trained: Any, frozen: Any, x: Any) -> Any:
        return trained - jax.grad(loss)(trained, frozen, x)

    given = trained / 12, frozen / 12, x
    settings = {"matmul.smallest": 1, "state.weight": "e4m3"}
    program, report = scalify_hlo.rewrite(
        program_of(step, *given), recipe=recipe, signature="scaled", settings=settings, report=True
    )
    assert program.in_avals[2].dtype == jnp.float8_e4m3fn
    assert [m.wide for m in report.matmuls] == [None] * 4
    state = scalify_hlo.scaled_state(program, given[:2])
    found = scalify_hlo.asarray(program.call(*state, scalify_hlo.as_scaled_array(x)))
    assert decibels(step(*given) - given[0], np.asarray(found) - given[0]) > 17


def test_it_is_a_sum_over_all_places_of_all_images() -> None:
    """The scale of a sum over N * H * W products is the root of that (table A.2)."""
    images, side, channels = 4, 16, 16
    x, g = normals((images, side, side, channels), (images, side, side, 32))

    def gradient(x: jax.Array, g: jax.Array, w: jax.Array, v: jax.Array) -> jax.Array:
        pulled = jax.vjp(lambda w: convolved(x, w, {}), w)[1](g)[0]
        found: jax.Array = pulled.reshape(-1, 32) @ v
        return found

    w, v = np.zeros((3, 3, channels, 32), np.float32), normals((32, 32))[0]
    exported = program_of(gradient, x, g, w, v)
    how: Any = {"recipe": "unit", "input_scale": {"*": 1.0}, "settings": {"matmul.smallest": 1}}
    cast = scalify_hlo.rewrite(exported, report=True, **how)[1].matmuls[-1].scales[0]
    assert cast is not None
    assert cast.scale == "2^5"
