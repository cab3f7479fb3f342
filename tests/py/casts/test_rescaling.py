"""Dynamic rescalings: the scales that result, and the markers that are refused."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from scalify_hlo.casts.rescaling import _last
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import Recipe
from tests.py.shared.judge import (
    Array,
    Pair,
    body_of,
    evaluate,
    evaluate_with_xla,
    parse,
    rewritten,
    run_scaled,
)

ELEMENTS: dict[str, Any] = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "complex<f32>": np.complex64,
}


def text_of(marker: str, type_: str, *, step: str = "", attributes: str = "") -> str:
    """A program that is one marker."""
    inputs = f"{type_}, tensor<i32>" if step else type_
    more = f"\n  %n = stablehlo.constant dense<{step}> : tensor<i32>" if step else ""
    operands = "%x, %n" if step else "%x"
    step_argument = ", %n: tensor<i32>" if step else ""
    return f"""
func.func private @mark(%x: {type_}{step_argument}) -> {type_} {{ return %x : {type_} }}
func.func @main(%x: {type_}) -> {type_} {{{more}
  %0 = call @mark({operands}) {{scalify.marker = "{marker}"{attributes}}} : ({inputs}) -> {type_}
  return %0 : {type_}
}}"""


def run(
    statistic: str,
    data: Array,
    exponent: int,
    element: str,
    recipe: Recipe | None = None,
    **how: Any,
) -> tuple[Array, float]:
    """Data and scale after a rescaling."""
    judge = evaluate if element in ("f16", "f32", "f64") else evaluate_with_xla
    shape = "x".join([*map(str, data.shape), element])
    attributes = f', scalify.statistic = "{statistic}"' + how.pop("attributes", "")
    text = text_of("dynamic_rescale", f"tensor<{shape}>", attributes=attributes, **how)
    (pair,) = run_scaled(text, [data], [exponent], recipe=recipe, run=judge)
    assert isinstance(pair, Pair)
    return pair.data, pair.scale


def expected(statistic: str, data: Array) -> float:
    """The power of two of a statistic, in f64."""
    wide = np.asarray(data).astype(complex if data.dtype.kind == "c" else float)
    parts = np.stack([wide.real, wide.imag]) if data.dtype.kind == "c" else wide
    if statistic == "max":
        return float(2.0 ** np.ceil(np.log2(np.abs(parts).max())))
    if statistic == "l1":
        total = np.abs(parts).sum() / data.size
        return float(2.0 ** np.floor(np.log2(total)))
    return float(2.0 ** np.floor(np.log2(np.sqrt((np.abs(wide) ** 2).mean()))))


@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("statistic", ["max", "l1", "l2"])
@pytest.mark.parametrize("size", [2.0**-9, 1.0, 2.0**11])
def test_the_statistic_goes_to_the_scale(statistic: str, size: float, element: str) -> None:
    rng = np.random.default_rng(0)
    data = (rng.standard_normal((7, 5)) * size).astype(ELEMENTS[element])
    if element.startswith("complex"):
        data = data + 1j * (rng.standard_normal((7, 5)) * size).astype(np.float32)
    moved, scale = run(statistic, data, 3, element)
    power = expected(statistic, data)
    assert scale == 8.0 * power
    np.testing.assert_array_equal(moved.astype(data.dtype), (data / power).astype(data.dtype))


@pytest.mark.parametrize("exact", [2.0, 0.25])
def test_a_power_of_two_is_its_own_statistic(exact: float) -> None:
    data = np.full((4, 4), exact, np.float32)
    for statistic in ("max", "l1", "l2"):
        _, scale = run(statistic, data, 0, "f32")
        assert scale == exact


@pytest.mark.parametrize("value", [0.0, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("statistic", ["max", "l1", "l2"])
def test_a_statistic_that_says_nothing_moves_nothing(statistic: str, value: float) -> None:
    data = np.zeros((3, 3), np.float32)
    data[1, 1] = value
    moved, scale = run(statistic, data, -5, "f32")
    assert scale == 2.0**-5
    np.testing.assert_array_equal(moved, data)


@pytest.mark.parametrize("element", ["f32", "f16"])
def test_squares_that_leave_the_format_do_not_count(element: str) -> None:
    """f16 is squared in f32; of f32 no square is made that is not one."""
    largest = np.full((2, 2), 6e4 if element == "f16" else 1e30, ELEMENTS[element])
    moved, scale = run("l2", largest, 0, element)
    assert np.isfinite(moved.astype(float)).all()
    assert scale == (2.0**15 if element == "f16" else 1.0)
    smallest = np.full((2, 2), 2.0**-24 if element == "f16" else 1e-30, ELEMENTS[element])
    moved, scale = run("l2", smallest, 0, element)
    assert scale == (2.0**-24 if element == "f16" else 1.0)
    np.testing.assert_array_equal(moved.astype(float) * scale, smallest.astype(float))


def test_scales_stay_within_bounds() -> None:
    """Products of three of them are numbers; what is beyond stays in the data."""
    data = np.full((2, 2), 2.0**20, np.float32)
    moved, scale = run("max", data, 40, "f32")
    assert (scale, float(moved[0, 0])) == (2.0**42, 2.0**18)


@pytest.mark.parametrize(
    ("rounding", "value", "power"),
    [
        ("down", 1.9, 1.0),
        ("up", 1.1, 2.0),
        ("nearest", 1.41, 1.0),
        ("nearest", 1.42, 2.0),
        ("default", 1.9, 1.0),
    ],
)
def test_rounding_is_the_recipes(rounding: Any, value: float, power: float) -> None:
    data = np.full((2, 2), value, np.float32)
    assert run("l1", data, 0, "f32", Recipe(rounding=rounding))[1] == power


def test_stochastic_rounding_keeps_the_mean() -> None:
    values = np.random.default_rng(0).uniform(1.0, 2.0, 200).astype(np.float32)
    recipe = Recipe(rounding="stochastic")
    powers = [run("max", np.full((2, 2), value), 0, "f32", recipe)[1] for value in values]
    assert set(powers) == {1.0, 2.0}
    assert np.mean(powers) == pytest.approx(np.mean(values), abs=0.1)
    upper = np.array(powers)[values > 1.8], np.array(powers)[values < 1.2]
    assert np.mean(upper[0]) > 1.7 > 1.3 > np.mean(upper[1])
    again = run("max", np.full((2, 2), values[0]), 0, "f32", recipe)
    assert again[1] == powers[0]  # The same statistic has the same scale.


@pytest.mark.parametrize(("step", "acts"), [(0, True), (1, False), (3, False), (4, True)])
def test_every_few_steps(step: int, acts: bool) -> None:
    data = np.full((2, 2), 8.0, np.float32)
    attributes = ", scalify.every = 4 : i64"
    _, scale = run("l2", data, 0, "f32", step=str(step), attributes=attributes)
    assert scale == (8.0 if acts else 1.0)


def test_an_unscaled_value_is_left_alone() -> None:
    text = text_of("dynamic_rescale", "tensor<4xf32>", attributes=', scalify.statistic = "l2"')
    module, _ = rewritten(text, "same")
    assert [op.operation.name for op in body_of(module)] == ["func.return"]


@pytest.mark.parametrize(
    ("marker", "attributes", "complaint"),
    [
        ("dynamic_rescal", "", "did you mean 'dynamic_rescale'"),
        ("dynamic_rescale", ', scalify.statistic = "l3"', "no statistic is named 'l3'"),
        (
            "dynamic_rescale",
            ', scalify.statistic = "l2", scalify.every = 2 : i64',
            "takes a tensor",
        ),
        ("set_scaling", "", "takes a tensor and a scalar float"),
    ],
)
def test_a_marker_that_is_none_is_refused_where_it_stands(
    marker: str, attributes: str, complaint: str
) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        rewritten(text_of(marker, "tensor<4xf32>", attributes=attributes))
    assert caught.value.location


@pytest.mark.parametrize("number", ["3.0", "0.0", "-2.0", "0x7F800000", "0x7FC00000"])
def test_a_constant_scale_that_is_no_power_of_two_is_refused(number: str) -> None:
    text = f"""
func.func private @mark(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4xf32> {{
  return %x : tensor<4xf32>
}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {{
  %s = stablehlo.constant dense<{number}> : tensor<f32>
  %0 = call @mark(%x, %s) {{scalify.marker = "set_scaling"}}
    : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}}"""
    with pytest.raises(InputError, match="not a power of two"):
        rewritten(text)


NAMED = """
func.func @main(%x: tensor<4xf32>, %n: tensor<i32> loc("count")) -> tensor<4xf32> {
  %0 = stablehlo.multiply %x, %x : tensor<4xf32> loc("mlp/mul")
  %1 = stablehlo.add %0, %x : tensor<4xf32> loc("jit(f)/mlp/add")
  return %1 : tensor<4xf32>
}"""


def sites(*settings: str) -> list[tuple[str, str, int]]:
    """The rescalings that a recipe puts into a program."""
    recipe = load_recipe("propagate", settings)
    _, report = rewritten(NAMED, "scaled", recipe=recipe)
    return [(site.kind, site.name, site.every) for site in report.sites]


def test_sites_are_picked_by_name() -> None:
    assert sites("sites.names=*mul") == [("sites", "mlp/mul", 1)]
    assert len(sites("sites.names=*mlp*")) == 2
    every = sites("sites.names=*mul", "sites.every=3", "inputs.step=count")
    assert every == [("sites", "mlp/mul", 3)]


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [
        (["sites.names=*mull"], "matches no op"),
        (["sites.names=*mul", "sites.every=3"], "needs the count of steps"),
        (["sites.names=*mul", "sites.every=3", "inputs.step=coun"], "matches no scalar integer"),
        (["sites.names=*mul", "sites.every=0"], "at least 1"),
        (["sites.names=*mul", "sites.statistic=l7"], "is not a value of 'sites.statistic'"),
        (["norm_gradient.statistic=l2"], "no option 'norm_gradient.statistic'"),
    ],
)
def test_what_a_recipe_cannot_mean_is_refused(settings: list[str], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        sites(*settings)


BATCH = """
func.func @main(%x: tensor<2x3xf32>, %y: tensor<6xf16>, %z: tensor<3x2xf32>)
    -> (tensor<2x3xf32>, tensor<6xf16>, tensor<3x2xf32>) {
  %0:3 = stablehlo.optimization_barrier {
    scalify.marker = "dynamic_rescale", scalify.statistic = "STATISTIC", scalify.batched
  } %x, %y, %z : tensor<2x3xf32>, tensor<6xf16>, tensor<3x2xf32>
  return %0#0, %0#1, %0#2 : tensor<2x3xf32>, tensor<6xf16>, tensor<3x2xf32>
}"""


@pytest.mark.parametrize("statistic", ["max", "l1", "l2"])
def test_several_tensors_with_one_reduction(statistic: str) -> None:
    rng = np.random.default_rng(0)
    arrays: list[Array] = [
        (rng.standard_normal((2, 3)) * 100).astype(np.float32),
        rng.standard_normal(6).astype(np.float16),
        np.zeros((3, 2), np.float32),  # says nothing, and stays as it is
    ]
    text = BATCH.replace("STATISTIC", statistic)
    module, _ = rewritten(text, "scaled")
    assert str(module).count("stablehlo.reduce(") == 1
    pairs = run_scaled(text, arrays, [3, -4, 5])
    for pair, data, exponent in zip(pairs, arrays, [3, -4, 5], strict=True):
        assert isinstance(pair, Pair)
        power = expected(statistic, data) if data.any() else 1.0
        assert pair.scale == 2.0**exponent * power
        moved = np.asarray(data, float) / power
        np.testing.assert_array_equal(pair.data, moved.astype(data.dtype))


ORDERED = """
func.func @main(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0 = stablehlo.negate %x : tensor<f32>
  %1 = stablehlo.abs %x : tensor<f32>
  %2 = stablehlo.tanh %0 : tensor<f32>
  return %1, %2 : tensor<f32>, tensor<f32>
}
func.func private @other(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.sine %x : tensor<f32>
  return %0 : tensor<f32>
}"""


def test_the_last_op_that_defines_one_of_several_values() -> None:
    module = parse(ORDERED)
    main, other = (op.regions[0].blocks[0] for op in module.body.operations)
    negate, abs_, tanh, _ = (op.operation for op in main.operations)
    (sine, _) = (op.operation for op in other.operations)
    with module.context:
        assert _last(main, [negate.results[0]]) == negate
        assert _last(main, [negate.results[0], abs_.results[0]]) == abs_
        assert _last(main, [abs_.results[0], tanh.results[0]]) == tanh
        assert _last(main, [negate.results[0], tanh.results[0]]) is None  # tanh reads the first one
        assert _last(main, [abs_.results[0], sine.results[0]]) is None  # sine is of another block
