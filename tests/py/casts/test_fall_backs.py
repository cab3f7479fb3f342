"""A matmul that stays wide although the recipe does not say so is a remark, and fails --strict."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import scalify_hlo
from scalify_hlo import InputError, Report, rewrite
from scalify_hlo.casts import selection
from scalify_hlo.passes.summary import summary
from scalify_hlo.run.runner import compile_module
from tests.py.shared import commands
from tests.py.shared.judge import program_of, shaped, stablehlo_of

NARROWING = ("fp8", "fp8-current", "unit", "fp16")
F8 = NARROWING[:3]


def matmul(m: int, n: int, k: int) -> str:
    return stablehlo_of(lambda x, w: x @ w, shaped(m, k), shaped(k, n))


def report_of(text: str, recipe: str, *, strict: bool = False, **settings: Any) -> Report:
    given = {key.replace("__", "."): value for key, value in settings.items()}
    scales = {"*": 1.0} if "tensor<" in text.partition("->")[0] else {}
    return rewrite(
        text, recipe=recipe, input_scale=scales, settings=given, strict=strict, report=True
    )[1]


def messages(report: Report) -> list[str]:
    return [remark.message for remark in report.remarks]


call = partial(commands.call, "rewrite", "-", "--report", "/dev/null")


# Nothing is narrow


@pytest.mark.parametrize("recipe", NARROWING)
def test_a_program_without_a_matmul_is_one_that_a_recipe_does_nothing_for(recipe: str) -> None:
    text = stablehlo_of(jnp.tanh, shaped(32, 32))
    message = f"the recipe {recipe} quantizes no matmul: the program has none"
    assert messages(report_of(text, recipe)) == [message]
    with pytest.raises(InputError, match=message):
        report_of(text, recipe, strict=True)


@pytest.mark.parametrize("recipe", F8)
@pytest.mark.parametrize("count", [1, 2])
def test_matmuls_that_are_all_too_small_are_told(count: int, recipe: str) -> None:
    def model(x: jax.Array, w: jax.Array) -> jax.Array:
        for _ in range(count):
            x = jnp.tanh(x @ w)
        return x

    text = stablehlo_of(model, shaped(8, 8), shaped(8, 8))
    stays = "all 2 matmuls stay wide" if count > 1 else "its only matmul stays wide"
    small = ["stays wide: the contracted size is below 16"] * count
    told = [f"the recipe {recipe} quantizes no matmul: {stays}", *small]
    assert messages(report_of(text, recipe)) == told
    assert not messages(report_of(text, recipe, matmul__smallest=1))


def test_a_profile_that_nothing_follows_from_is_told() -> None:
    text = matmul(8, 8, 8)
    profile = scalify_hlo.calibrate(text, [[np.ones((8, 8), np.float32)] * 2])
    report = rewrite(text, profile=profile, report=True)[1]
    assert messages(report)[0].startswith("the recipe fp8-calibrated quantizes no matmul")


def test_a_program_that_takes_integers_only_has_no_matmul_to_narrow() -> None:
    types = shaped(32, 32, dtype=jnp.int8), shaped(32, 32, dtype=jnp.int8)
    report = rewrite(stablehlo_of(lambda x, w: x @ w, *types), recipe="fp8-current", report=True)[1]
    assert [m.wide for m in report.matmuls] == [selection.NO_FLOATS]


@pytest.mark.parametrize("recipe", NARROWING)
def test_the_command_fails_where_nothing_is_narrow(recipe: str) -> None:
    text = matmul(32, 32, 32)
    given = ["--recipe", recipe, "--input-scale", "*=2^0"]
    call(*given, "--strict", text=text, code=0)
    nothing = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"
    result = call(*given, "--strict", text=nothing, code=1)
    assert "quantizes no matmul" in result.stderr
    result = call(*given, text=nothing, code=0)
    assert "remark: func.func: the recipe" in result.stderr
    assert result.stderr.endswith(f"{recipe}: the program has no matmul; {selection.NONE_ASKED}\n")


# What a recipe leaves out on purpose


@pytest.mark.parametrize("recipe", F8)
def test_what_is_left_out_on_purpose_is_no_fall_back(recipe: str) -> None:
    text = matmul(32, 32, 32)
    report = report_of(text, recipe, strict=True, matmul__exclude="w")
    assert not report.remarks
    assert [m.wide for m in report.matmuls] == [selection.EXCLUDED]
    both = stablehlo_of(lambda x, w, v: x @ w @ v, shaped(32, 32), shaped(32, 32), shaped(32, 8192))
    report = report_of(both, recipe, strict=True)
    assert [m.wide for m in report.matmuls] == [None, selection.VOCABULARY]


@pytest.mark.parametrize("recipe", F8)
def test_a_recipe_that_leaves_all_out_by_itself_is_told(recipe: str) -> None:
    report = report_of(matmul(32, 8192, 64), recipe)
    assert messages(report) == [
        f"the recipe {recipe} quantizes no matmul: its only matmul stays wide"
    ]


def test_operands_that_a_recipe_keeps_are_no_fall_back() -> None:
    settings = dict.fromkeys(("activation", "weight", "gradient"), "bf16") | {"weight": "keep"}
    report = report_of(
        matmul(4, 4, 4), "bf16", strict=True, **{f"matmul__{k}": v for k, v in settings.items()}
    )
    assert [m.wide and m.wide.kind for m in report.matmuls] == ["kept"]


# Single matmuls


def test_a_small_matmul_among_others_is_told() -> None:
    text = stablehlo_of(lambda x, w, v: x @ w @ v, shaped(32, 32), shaped(32, 32), shaped(32, 10))
    report = report_of(text, "fp8")
    assert messages(report) == ["stays wide: the free size of its weight is below 16"]
    with pytest.raises(InputError, match="the free size of its weight is below 16") as raised:
        report_of(text, "fp8", strict=True)
    assert "matmul.smallest" in str(raised.value.hint)
    assert not report_of(text, "fp8", strict=True, matmul__smallest=[2, 10, 16]).remarks
    nothing = "the recipe fp8 quantizes no matmul: all 2 matmuls stay wide"
    excluding = report_of(text, "fp8", matmul__exclude="w")
    assert messages(excluding) == [nothing, "stays wide: the free size of its weight is below 16"]


def convolved(kernel: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.sum(lax.conv(jnp.tanh(x), kernel, (1, 1), "SAME") ** 2)


CONVOLUTION = shaped(16, 16, 3, 3), shaped(4, 16, 8, 8)


@pytest.mark.parametrize("fp8_format", ["HYBRID", "E4M3"])
@pytest.mark.parametrize("target", ["gpu", "rocm"])
def test_the_gradient_of_a_convolved_kernel_is_told(target: str, fp8_format: str) -> None:
    """GPUs compute it in a wider format, whatever the formats of its operands are."""
    text = stablehlo_of(jax.grad(convolved), *CONVOLUTION)
    report = report_of(text, "fp8-current", scaling__fp8_format=fp8_format, target=target)
    assert messages(report) == [f"stays wide: {selection.WEIGHT_GRADIENT.reason}"]


@pytest.mark.parametrize("recipe", F8)
def test_a_gradient_and_a_kernel_have_one_format(recipe: str) -> None:
    """A convolution has operands of one type. E4M3 has too little room for predicted gradients."""
    text = stablehlo_of(jax.grad(convolved, 1), *CONVOLUTION)
    report = report_of(text, recipe, strict=True)
    shared, noise = ("f8E4M3FN", -2.5) if recipe == "fp8-current" else ("f8E5M2", -2.2)
    assert [m.formats[:2] for m in report.matmuls] == [("f8E4M3FN",) * 2, (shared,) * 2]
    program = scalify_hlo.rewrite(text, recipe=recipe, input_scale={"*": 1.0})
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(a.shape).astype(np.float32) for a in CONVOLUTION]
    arrays[1][0, 0] *= np.float32(2.0**-9)  # A part of the gradient would be zeros in f8.
    (found,), (expected,) = (compile_module(one)(arrays) for one in (program, text))
    assert np.mean((found - expected) ** 2) < 10**noise * np.mean(expected**2)


@pytest.mark.parametrize("recipe", F8)
@pytest.mark.parametrize("target", ["gpu", "rocm"])
def test_both_have_the_format_of_the_kernel_on_a_gpu(target: str, recipe: str) -> None:
    text = stablehlo_of(jax.grad(convolved, 1), *CONVOLUTION)
    report = report_of(text, recipe, target=target)
    found = [formats for m in report.matmuls for formats in m.formats[:2]]
    assert len(found) == 4
    assert {format_[:6] for format_ in found} == {"f8E4M3"}


def test_a_convolution_of_two_formats_is_told() -> None:
    text = stablehlo_of(convolved, *CONVOLUTION)
    report = report_of(text, "fp8", matmul__weight="e5m2", matmul__gradient="e4m3")
    assert messages(report)[1:] == [f"stays wide: {selection.TWO_TYPES.reason}"]


def test_complex_operands_are_told() -> None:
    types = shaped(32, 32, dtype=jnp.complex64), shaped(32, 32, dtype=jnp.complex64)
    report = report_of(stablehlo_of(lambda x, w: x @ w, *types), "fp8-current")
    assert messages(report)[1] == "stays wide: its operands are complex"


def test_a_matmul_that_is_neither_forward_nor_backward_is_told() -> None:
    def second(w: jax.Array, x: jax.Array) -> Any:
        g = jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w) ** 3))(w)
        return g.T @ g

    report = report_of(stablehlo_of(second, shaped(32, 32), shaped(32, 32)), "fp8-current")
    assert messages(report) == [f"stays wide: {selection.NEITHER.reason}"]


def test_a_matmul_in_a_loops_condition_is_told() -> None:
    def model(x: jax.Array, w: jax.Array) -> Any:
        return lax.while_loop(lambda h: jnp.sum(h @ w) > 0, lambda h: h - 1, x @ w)

    report = report_of(stablehlo_of(model, shaped(32, 32), shaped(32, 32)), "fp8")
    assert messages(report) == [f"stays wide: {selection.UNREACHED.reason}"]


def test_equal_remarks_are_one_line() -> None:
    def model(x: jax.Array, w: jax.Array, v: jax.Array) -> Any:
        return x @ w, [x @ v, (x + 1) @ v, (x + 2) @ v]

    text = stablehlo_of(model, shaped(32, 32), shaped(32, 32), shaped(32, 8))
    result = call("--recipe", "fp8-current", text=text)
    small = [line for line in result.stderr.splitlines() if "stays wide" in line]
    assert len(small) == 1
    assert small[0].endswith("stays wide: the free size of its weight is below 16 (and 2 more)")


# The bounds of M, N and K


@pytest.mark.parametrize("recipe", F8)
@pytest.mark.parametrize("rows", [1, 2, 15, 16])
def test_a_few_rows_are_enough_where_one_operand_is_a_weight(rows: int, recipe: str) -> None:
    report = report_of(matmul(rows, 64, 64), recipe)
    assert report.narrowed == (rows > 1)
    if rows == 1:
        assert messages(report)[1] == "stays wide: the free size of its activation is below 2"


def test_a_weight_may_be_on_either_side() -> None:
    text = stablehlo_of(lambda w, x: w @ jnp.tanh(x), shaped(64, 64), shaped(64, 2))
    assert report_of(text, "fp8").narrowed == 1
    assert report_of(text, "fp8", matmul__smallest=[3, 1, 1]).narrowed == 0


def test_two_activations_need_rows_on_both_sides() -> None:
    text = stablehlo_of(lambda x, y: jnp.tanh(x) @ jnp.tanh(y), shaped(2, 64), shaped(64, 64))
    report = report_of(text, "fp8")
    assert messages(report)[1] == "stays wide: the free size of its activation is below 16"
    assert report_of(text, "fp8", matmul__smallest=[64, 2, 64]).narrowed == 1


@pytest.mark.parametrize(
    ("smallest", "narrow"),
    [
        ([4, 8, 16], True),
        ([5, 8, 16], False),
        ([4, 9, 16], False),
        ([4, 8, 17], False),
        (4, True),
        (5, False),
    ],
)
def test_each_size_has_its_bound(smallest: Any, *, narrow: bool) -> None:
    assert report_of(matmul(4, 8, 16), "fp8", matmul__smallest=smallest).narrowed == narrow


VECTOR = stablehlo_of(lambda x, w: x @ w, shaped(64), shaped(64, 48))


@pytest.mark.parametrize("text", [matmul(1, 64, 64), matmul(64, 1, 64), VECTOR])
@pytest.mark.parametrize("recipe", ["fp8", "fp8-current"])
def test_a_vector_that_is_asked_for_has_no_algorithm(recipe: str, text: str) -> None:
    narrow = rewrite(text, recipe=recipe, settings={"matmul.smallest": 1})
    assert "f8E4M3FN" in narrow
    assert "algorithm =" not in narrow


# Scales of inputs


@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp16"])
def test_inputs_without_a_declared_scale_are_measured(recipe: str) -> None:
    text = matmul(32, 32, 32)
    report = rewrite(text, recipe=recipe, report=True, strict=True)[1]
    assert not report.remarks
    assert report.statistics == 2
    assert "2 inputs measured at run time (declare them with --input-scale or" in summary(report)
    result = call("--recipe", recipe, text=text)
    assert "2 inputs measured at run time" in result.stderr


def test_of_an_exported_program_too() -> None:
    exported_ = program_of(jnp.matmul, shaped(32, 32), shaped(32, 32))
    assert rewrite(exported_, recipe="fp8", report=True)[1].statistics == 2
    scale = {"a": 1.0}
    (site,) = rewrite(exported_, recipe="fp8", input_scale=scale, report=True)[1].sites
    assert site.name == "b"
    scale = {"*": 1.0}
    assert not rewrite(exported_, recipe="fp8", input_scale=scale, report=True)[1].statistics


@pytest.mark.parametrize("recipe", ["fp8-current", "fp8-delayed", "bf16", "propagate"])
def test_scales_that_do_not_follow_from_inputs_need_no_declaration(recipe: str) -> None:
    assert not rewrite(matmul(32, 32, 32), recipe=recipe, report=True)[1].remarks


def test_pairs_and_declarations_of_the_recipe_count() -> None:
    text = matmul(32, 32, 32)
    assert not rewrite(text, recipe="fp8", signature="scaled", report=True)[1].remarks
    settings = {"inputs.scale": ["arg0=2^-1"]}
    assert not rewrite(text, recipe="fp8", settings=settings, report=True)[1].remarks
    constant = stablehlo_of(
        lambda i: jnp.ones((32, 32))[i] @ jnp.eye(32), shaped(32, dtype=jnp.int32)
    )
    assert not rewrite(constant, recipe="fp8", report=True)[1].sites


class TestWarnings:
    """From Python, remarks are one warning, which names the first and says how to have all."""

    def test_of_a_rewrite(self) -> None:
        with pytest.warns(
            scalify_hlo.ScalifyWarning, match="1 wide: too small .*report=True"
        ) as told:
            scalify_hlo.rewrite(matmul(4, 4, 4), recipe="fp8")
        assert len(told) == 1
        assert "\n" not in str(told[0].message)
        assert told[0].filename == __file__

    def test_of_a_function(self) -> None:
        x = jnp.ones((4, 4))
        with pytest.warns(scalify_hlo.ScalifyWarning, match="1 wide: too small") as told:
            scalify_hlo.scalify(jnp.matmul, recipe="fp8")(x, x)
        assert len(told) == 1

    def test_no_remark_is_no_warning(self) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            scalify_hlo.rewrite(matmul(64, 64, 64), recipe="bf16")
            scalify_hlo.rewrite(matmul(4, 4, 4), recipe="fp8", report=True)
