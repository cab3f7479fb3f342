"""Ragged matmuls, of mixtures of experts: one op before and after, narrow where targets run it."""

from __future__ import annotations

from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo import InputError, rewrite
from scalify_hlo._compat import ir
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.program.artifact import write_artifact
from scalify_hlo.program.program import read_program
from scalify_hlo.recipes.loading import load_recipe
from tests.py.programs import PROGRAMS
from tests.py.shared.judge import (
    assert_all_same_bits,
    assert_invariant,
    assert_same_bits,
    evaluate,
    parse,
    rewritten,
    shaped,
)

ROWS, WIDTH, EXPERTS = 64, 32, 4
X, W = (shaped(*shape) for shape in ((ROWS, WIDTH), (EXPERTS, WIDTH, 2 * WIDTH)))
GROUPS = shaped(EXPERTS, dtype=jnp.int32)
F8 = ("fp8", "fp8-current", "fp8-delayed", "unit")
RAW = next(program for program in PROGRAMS if program.name == "chlo_ragged_dot")


def experts(x: jax.Array, w: jax.Array, groups: jax.Array) -> jax.Array:
    """Each row by the matrix of its group."""
    return jax.lax.ragged_dot(x, w, groups)


def loss(x: jax.Array, w: jax.Array, groups: jax.Array) -> jax.Array:
    """A sum that is of all rows."""
    y = experts(x, w, groups)
    return jnp.sum(y * jnp.abs(y))


FUNCTIONS = {"forward": (experts, 1), "backward": (jax.grad(loss, (0, 1)), 3)}
"""Functions and how many ragged matmuls each has: of backward ones, one sums over ragged rows."""
EVERY_FUNCTION = pytest.mark.parametrize("name", FUNCTIONS)


def exported(name: str, platform: str = "cuda") -> jax.export.Exported:
    """A function as a program for a GPU."""
    return jax.export.export(jax.jit(FUNCTIONS[name][0]), platforms=[platform])(X, W, GROUPS)


def arrays() -> list[Any]:
    """Arguments; one group is empty, and the last rows belong to none."""
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(v.shape, np.float32) for v in (X, W))
    return [x, w, np.asarray([20, 0, 37, 5], np.int32)]


def values(module: ir.Module, given: list[Any]) -> list[Any]:
    """Returns the results of a program on the interpreter."""
    return list(evaluate(module, given))


def inside(module: ir.Module) -> list[ir.Operation]:
    """The ops of main."""
    functions = {op.attributes["sym_name"].value: op for op in module.body.operations}
    return [op.operation for op in functions["main"].regions[0].blocks[0].operations]


def ragged(text: str) -> list[tuple[str, ...]]:
    """The element types of the operands and the result of each ragged matmul of main."""
    module = parse(text)
    return [
        tuple(str(v.type.element_type) for v in (op.operands[0], op.operands[1], op.results[0]))
        for op in inside(module)
        if op.name == "chlo.ragged_dot"
        or (op.name == "stablehlo.composite" and op.attributes["name"].value == "chlo.ragged_dot")
    ]


@pytest.mark.slow
@EVERY_FUNCTION
def test_scales_go_through(name: str) -> None:
    assert_invariant(exported(name).mlir_module(), arrays(), [5, -7, 0])


@EVERY_FUNCTION
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_scales_leave_one_op_of_the_original_types(name: str, signature: str) -> None:
    text = exported(name).mlir_module()
    module, report = rewritten(text, signature)
    assert ragged(str(module)) == ragged(text) == [("f32",) * 3] * FUNCTIONS[name][1]
    assert not report.remarks


@pytest.mark.slow
@EVERY_FUNCTION
@pytest.mark.parametrize("recipe", F8)
@pytest.mark.parametrize("target", ["any", "gpu", "tpu"])
def test_operands_are_narrow_and_no_dense_matmul_is_added(
    name: str, recipe: str, target: str
) -> None:
    text = rewrite(exported(name).mlir_module(), recipe=recipe, settings={"target": target})
    found = ragged(text)
    assert len(found) == FUNCTIONS[name][1]
    assert all(lhs.startswith("f8") and rhs.startswith("f8") for lhs, rhs, _ in found)
    assert ("f8E5M2", "f8E5M2") not in [types[:2] for types in found]
    assert [types[:2].count("f8E5M2") for types in found] == [0, 1, 1][: len(found)]
    assert not [op for op in inside(parse(text)) if op.name == "stablehlo.dot_general"]


@pytest.mark.parametrize("recipe", ["bf16", "fp16"])
def test_sixteen_bits_go_to_all_targets(recipe: str) -> None:
    for target in ("any", "cpu", "iree", "portable", "rocm"):
        program = exported("backward").mlir_module()
        text = rewrite(program, recipe=recipe, settings={"target": target})
        element = {"bf16": "bf16", "fp16": "f16"}[recipe]
        assert {types[:2] for types in ragged(text)} == {(element, element)}


@pytest.mark.parametrize("target", ["cpu", "iree", "portable", "rocm"])
def test_other_targets_keep_it_wide_and_the_user_is_told(target: str) -> None:
    recipe = load_recipe("fp8-current", {"target": target, "compute": "keep"})
    text = exported("backward").mlir_module()
    module, report = rewritten(text, recipe=recipe)
    assert ragged(str(module)) == ragged(text)
    nothing, *each = (remark.message for remark in report.remarks)
    assert "quantizes no matmul" in nothing
    assert len(each) == 3
    assert all(f"the target {target!r} is not known to take f8" in message for message in each)
    strict = Options(recipe=recipe, strict=True)
    with pytest.raises(InputError, match="quantizes no matmul"):
        rewrite_module(parse(text), strict)


def test_operands_are_cast_as_numpy_casts_them() -> None:
    """At powers of two above the largest magnitude over the format's, of x and of each expert."""
    x, w, groups = arrays()
    w *= np.exp2(np.array([0, 60, -30, 9], np.float32))[:, None, None]
    text = rewrite(exported("forward").mlir_module(), recipe="fp8-current")
    (actual,) = evaluate(parse(text), [x, w, groups])
    casts = []
    for array, axes in ((x, (0, 1)), (w, (1, 2))):
        largest = np.abs(array).max(axis=axes, keepdims=True)
        scale = np.exp2(np.ceil(np.log2(largest / 448.0)), dtype=np.float32)
        narrow = (array / scale).astype(ml_dtypes.float8_e4m3fn)
        casts.append(narrow.astype(np.float32) * scale)
    (expected,) = evaluate(parse(exported("forward").mlir_module()), [*casts, groups])
    assert_same_bits(actual, expected)


@pytest.mark.parametrize("scales", ["tensor", "channel"])
def test_experts_share_no_scale(scales: str) -> None:
    """One expert diverges, and the rows of the others are as before."""
    x, w, groups = arrays()
    bad = w.copy()
    bad[0] *= np.float32(2.0**20)
    settings = {"scaling.weight_scales": scales}
    text = rewrite(exported("forward").mlir_module(), recipe="fp8-current", settings=settings)
    usual, found = (values(parse(text), [x, given, groups])[0] for given in (w, bad))
    assert_same_bits(found[groups[0] :], usual[groups[0] :])
    assert_same_bits(found[: groups[0]], usual[: groups[0]] * np.float32(2.0**20))


@pytest.mark.slow
@EVERY_FUNCTION
def test_formats_of_f32_change_no_bit(name: str) -> None:
    text = exported(name).mlir_module()
    wide = {f"matmul.{role}": "f32" for role in ("activation", "weight", "gradient")}
    narrow = rewrite(text, recipe="fp8", settings=wide)
    assert_all_same_bits(evaluate(parse(narrow), arrays()), evaluate(parse(text), arrays()))


@pytest.mark.slow
def test_each_column_of_the_experts_may_have_a_scale() -> None:
    x, w, groups = arrays()
    w[..., 0] *= np.float32(2.0**-30)
    text = exported("forward").mlir_module()
    per_tensor, per_channel, exact = (
        values(parse(program), [x, w, groups])[0]
        for program in (
            rewrite(text, recipe="fp8-current"),
            rewrite(text, recipe="fp8-current", settings={"scaling.weight_scales": "channel"}),
            text,
        )
    )
    assert not per_tensor[:, 0].any()
    assert np.abs(per_channel - exact)[:, 0].max() < 0.1 * np.abs(exact[:, 0]).max()
    assert_same_bits(per_channel[:, 1:], per_tensor[:, 1:])


@pytest.mark.parametrize("recipe", ["propagate", *F8[:2]])
def test_exported_programs_keep_it(recipe: str) -> None:
    old = exported("forward")
    new = jax.export.deserialize(bytearray(rewrite(old, recipe=recipe).serialize()))
    assert len(ragged(new.mlir_module())) == 1
    gradient: Any = rewrite(old, recipe=recipe).vjp()
    assert len(ragged(gradient.mlir_module())) == 2


def test_an_artifact_of_an_op_has_the_composite() -> None:
    module = read_program(write_artifact(parse(RAW.text()), "current")).module
    (composite,) = [op for op in inside(module) if op.name == "stablehlo.composite"]
    assert composite.attributes["name"].value == "chlo.ragged_dot"
    assert "stablehlo.dot_general" in str(module)


def test_programs_for_gpus_are_calibrated_on_cpus() -> None:
    program = exported("forward")
    x, w, groups = arrays()
    profile = scalify_hlo.calibrate(program.mlir_module(), [[x, w, groups]])
    text = rewrite(program.mlir_module(), recipe="fp8-calibrated", profile=profile)
    assert [types[:2] for types in ragged(text)] == [("f8E4M3FN", "f8E4M3FN")]


def test_a_step_with_experts_is_understood() -> None:
    """Weights of experts are weights, and their momenta first moments."""

    def step(w: jax.Array, m: jax.Array, x: jax.Array, groups: jax.Array) -> Any:
        m = 0.9 * m + jax.grad(loss, 1)(x, w, groups)
        return w - 0.1 * m, m

    program = jax.export.export(jax.jit(step), platforms=["cuda"])(W, W, X, GROUPS)
    _, report = rewritten(program.mlir_module(), recipe=load_recipe("fp8"))
    assert report.roles == {"w": "weight", "m": "first_moment"}


def test_one_of_dynamic_shape_stays_a_composite_and_the_user_is_told() -> None:
    (rows,) = jax.export.symbolic_shape("b")
    x = shaped(rows, WIDTH)
    exported = jax.export.export(jax.jit(experts), platforms=["cuda"])(x, W, GROUPS)
    scales = {"*": 1.0}
    program, report = rewrite(exported, recipe="fp8-current", input_scale=scales, report=True)
    assert 'composite "chlo.ragged_dot"' in program.mlir_module()
    assert {matmul.wide.kind for matmul in report.matmuls if matmul.wide} == {"in a composite"}
    assert any("decomposition of a composite" in remark.message for remark in report.remarks)
    with pytest.raises(InputError, match="fp8-current quantizes no matmul"):
        rewrite(exported, recipe="fp8-current", input_scale=scales, strict=True)
