"""Reports say where the scale of each operand comes from, and count statistics and bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from scalify_hlo import MatmulReport, OperandScale, Report, calibrate, dump_report, rewrite
from scalify_hlo.passes.summary import summary
from tests.py.shared.judge import shaped
from tests.py.shared.schemas import faults

Function = Callable[..., Any]


ARGUMENTS = shaped(32, 32), shaped(16, 32)


def exported(function: Function, *types: Any) -> str:
    return str(jax.export.export(jax.jit(function), platforms=["cpu"])(*types).mlir_module())


def report_of(function: Function, *types: Any, recipe: str = "fp8", **options: Any) -> Report:
    text = exported(function, *(types or ARGUMENTS))
    report: Report = rewrite(text, recipe=recipe, report=True, **options)[1]
    return report


def origins(report: Report) -> list[tuple[str, str]]:
    found = []
    for matmul in report.matmuls:
        lhs, rhs = matmul.scales
        assert lhs is not None
        assert rhs is not None
        found.append((lhs.origin, rhs.origin))
    return found


def layer(w: jax.Array, x: jax.Array) -> jax.Array:
    return x @ w


def deep(w: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.tanh(x @ w) @ w


def squared(w: jax.Array, x: jax.Array) -> jax.Array:
    for _ in range(3):
        x = x @ w
        x = x * x * x
    return x @ w


@pytest.mark.parametrize(
    ("options", "found", "statistics"),
    [
        ({}, ("measured", "measured"), 2),
        ({"input_scale": {"x": 2.0**-3}}, ("declared", "measured"), 1),
        ({"recipe": "fp8-current"}, ("measured", "measured"), 2),
        ({"settings": {"matmul_operands.statistic": "l2"}}, ("measured", "measured"), 2),
        ({"recipe": "fp8-delayed"}, ("delayed", "delayed"), 2),
    ],
)
def test_of_a_recipe(options: dict[str, Any], found: tuple[str, str], statistics: int) -> None:
    report = report_of(layer, **options)
    assert origins(report) == [found]
    assert report.statistics == statistics


def test_assumed() -> None:
    half = report_of(layer, recipe="bf16", input_scale={"x": 2.0**-3})
    assert origins(half) == [("declared", "assumed")]
    (matmul,) = half.matmuls
    lhs, rhs = matmul.scales
    assert lhs is not None
    assert rhs is not None
    assert (lhs.scale, lhs.argument, rhs.scale, rhs.argument) == ("2^-3", "x", "2^0", "w")
    assert half.totals.assumed == 1


def test_predicted() -> None:
    report = report_of(deep, recipe="unit", input_scale={"*": 1.0})
    assert origins(report) == [("declared", "declared"), ("predicted", "declared")]
    predicted = report.matmuls[1].scales[0]
    assert predicted is not None
    assert predicted.octaves is not None
    assert 0 <= predicted.octaves < 1
    assert predicted.room == 3


def test_propagated() -> None:
    report = report_of(layer, signature="scaled")
    assert origins(report) == [("propagated", "propagated")]
    assert [scale.scale for scale in report.matmuls[0].scales if scale] == ["s1", "s0"]


def test_measured_where_a_size_is_not_trusted() -> None:
    report = report_of(squared, recipe="unit", input_scale={"*": 1.0})
    measured = [matmul for matmul in report.matmuls if matmul.scales[0].origin == "measured"]  # type: ignore[union-attr]
    assert measured
    assert report.statistics == len(measured)
    content = json.loads(dump_report(report))
    assert faults(content, "rewrite") == []
    entries = [entry for entry in content["matmuls"] if entry["statistics"]]
    assert [entry["statistics"] for entry in entries] == [1] * len(measured)
    assert all("its amax is measured" in entry["remarks"][0] for entry in entries)


def test_of_a_profile() -> None:
    text = exported(layer, *ARGUMENTS)
    profile = calibrate(text, [[jnp.ones((32, 32)), jnp.ones((16, 32))]])
    report = rewrite(text, recipe="fp8-calibrated", profile=profile, report=True)[1]
    assert origins(report) == [("profile", "profile")]
    assert report.statistics == 0


@pytest.mark.parametrize("recipe", ["fp8", "fp8-current", "unit"])
def test_of_a_constant(recipe: str) -> None:
    w = jnp.arange(32.0 * 32).reshape(32, 32)
    report = report_of(lambda x: x @ w, shaped(16, 32), recipe=recipe)
    assert [pair[1] for pair in origins(report)] == ["constant"]


@pytest.mark.parametrize("recipe", ["fp8", "fp8-current"])
def test_of_the_program(recipe: str) -> None:
    f8 = shaped(32, 32, dtype=jnp.float8_e4m3fn)
    report = report_of(lambda w, x: x @ w.astype(x.dtype), f8, shaped(16, 32), recipe=recipe)
    assert [pair[1] for pair in origins(report)] == ["program"]


def test_wide_matmuls_have_no_scales() -> None:
    report = report_of(layer, recipe="fp8-current", settings={"matmul.exclude": "*"})
    assert report.matmuls[0].scales == (None, None)
    assert report.statistics == 0


def test_the_least_certain_of_the_calls_of_a_function() -> None:
    inner = jax.jit(layer)

    def twice(w: jax.Array, x: jax.Array) -> Any:
        return inner(w, inner(w, x))

    report = report_of(twice, recipe="unit", input_scale={"*": 1.0})
    (matmul,) = report.matmuls
    (apart,) = report_of(layer, recipe="unit", input_scale={"*": 1.0}).matmuls
    assert matmul.calls == 2
    assert doubt(matmul) > doubt(apart)


def doubt(matmul: MatmulReport) -> float:
    return max(scale.octaves or 0.0 for scale in matmul.scales if scale is not None)


def test_warnings_tell_what_may_be_wrong() -> None:
    content = json.loads(dump_report(report_of(layer, recipe="bf16")))
    told = "no one declared the scale of {}, which is taken to be 1"
    assert content["matmuls"][0]["warnings"] == [told.format("x"), told.format("w")]
    declared = json.loads(dump_report(report_of(layer, input_scale={"*": 1.0})))
    assert declared["matmuls"][0]["warnings"] == []


def test_statistics_of_functions_count_for_each_call() -> None:
    """A function with a statistic in it, which is called three times."""
    inner = jax.jit(layer)
    settings = {"sites.names": "*dot_general", "sites.statistic": "l2"}

    def called(w: jax.Array, x: jax.Array) -> Any:
        return inner(w, inner(w, inner(w, x)))

    report = report_of(called, recipe="fp8", settings=settings, input_scale={"*": 1.0})
    assert report.statistics == 3
    assert report.totals.layers == 3
    assert "1 statistic per layer" in summary(report)


def test_statistics_of_a_loop_count_once() -> None:
    def scanned(w: jax.Array, x: jax.Array) -> Any:
        return jax.lax.scan(lambda h, _: (h @ w, None), x, None, length=3)[0]

    settings = {"matmul_operands.statistic": "l2"}
    assert report_of(scanned, settings=settings).statistics == 2


def step(state: Any, x: jax.Array) -> Any:
    w, m = state
    gradient = jax.grad(lambda w: jnp.sum(layer(w, x) ** 2))(w)
    m = 0.9 * m + gradient
    return w - 0.1 * m, m


def test_the_bytes_of_state() -> None:
    """Weights in f16, moments in f32, each with a scale of 4 bytes."""
    types = (shaped(32, 32), shaped(32, 32)), shaped(16, 32)
    report = report_of(step, *types, signature="scaled")
    assert report.state_bytes == (2 * 4 * 32 * 32, 6 * 32 * 32 + 2 * 4)
    assert "; state 0.75 of its bytes" in summary(report)
    kept = report_of(step, *types, recipe="fp8-current")
    assert kept.totals.state is not None
    assert kept.totals.state.ratio == 1
    assert "state" not in summary(kept)


def test_rewrites_are_the_same_with_a_report() -> None:
    for recipe in ("fp8", "unit", "fp8-current", "fp16", "bf16", "fp8-state"):
        signature = "scaled" if recipe == "fp8-state" else "same"
        text = exported(deep, *ARGUMENTS)
        plain = rewrite(text, recipe=recipe, signature=signature, strict=False)
        assert plain == rewrite(text, recipe=recipe, signature=signature, report=True)[0]
        assert "scalify.readers" not in plain


@pytest.mark.parametrize(
    ("scale", "told"),
    [
        (OperandScale("predicted", octaves=2.0, room=3), "may be off by 2^±2.0"),
        (OperandScale("propagated", octaves=1.6, room=3), "the format holds 2^±3"),
        (OperandScale("predicted", octaves=1.4, room=3), ""),
        (OperandScale("predicted", octaves=2.0, room=3, remark="its scale is bounded"), ""),
        (OperandScale("assumed", octaves=0.5, room=3, argument="x"), "no one declared"),
        (OperandScale("measured"), ""),
    ],
)
def test_when_a_scale_may_be_wrong(scale: OperandScale, told: str) -> None:
    assert bool(scale.warning) == bool(told)
    assert told in scale.warning
