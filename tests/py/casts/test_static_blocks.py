"""Constants in blocks are quantized while rewriting: the bits are those of a run-time cast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

import scalify_hlo
from scalify_hlo.casts.blocks import operands as static
from scalify_hlo.casts.blocks.operands import BlockOperands
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.recipes.loading import load_recipe
from tests.py.casts.test_blocks import PRESETS, ROUNDINGS, SIZES, edges, normal, operands, rewritten
from tests.py.shared.block_numpy import Array, blocked
from tests.py.shared.judge import evaluate, parse, program_of, stablehlo_of

EVERY_RECIPE = pytest.mark.parametrize("recipe", PRESETS)
SCALES = {
    ("any", "mxfp8"): "f8E8M0FNU",
    ("any", "fp8-block"): "f32",
    ("any", "nvfp4"): "f8E4M3FN",
    ("any", "mxfp4"): "bf16",
    ("cpu", "mxfp8"): "bf16",
    ("cpu", "fp8-block"): "f32",
    ("cpu", "nvfp4"): "f8E4M3FN",
    ("cpu", "mxfp4"): "bf16",
}
"""The element types of stored scales, by target and recipe."""


@pytest.fixture(autouse=True)
def _code_for_f4(request: pytest.FixtureRequest) -> None:
    if "fp4" in request.node.name:
        request.getfixturevalue("default_code")


def constants(text: str) -> list[str]:
    """Returns the types of the constants of a program that are no splats, sorted."""
    module = parse(text)
    found = ops_in(module.operation, {"stablehlo.constant"})
    return sorted(str(o.results[0].type) for o in found if not o.attributes["value"].is_splat)


def data_of(text: str) -> list[str]:
    """Returns the types of those that are data of weights."""
    return [type_ for type_ in constants(text) if type_.endswith(("f8E4M3FN>", "f4E2M1FN>"))]


def assert_bits(found: Any, expected: Any) -> None:
    for one, other in zip(found, expected, strict=True):
        one, other = np.asarray(one), np.asarray(other)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one.view(f"u{one.itemsize}"), other.view(f"u{one.itemsize}"))


def at_run_time(fn: Callable[[Any], Any], x: Array, recipe: str, **settings: Any) -> str:
    """Rewrites a program with constants, which it quantizes itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(BlockOperands, "_static", lambda *_: None)
        return rewritten(fn, (x,), recipe, **settings)


def check(
    fn: Callable[..., Any],
    x: Array,
    w: Any,
    recipe: str,
    *,
    exact: bool = True,
    **settings: Any,
) -> str:
    """Compares a program with one that quantizes the same constant at run time, bit by bit.

    Args:
        fn: The function of an argument and of a constant.
        x: The argument.
        w: The constant.
        recipe: The recipe.
        exact: Whether the terms of both programs are added up in the same order.
        settings: Options.
    """
    made = rewritten(lambda x: fn(x, w), (x,), recipe, **settings)
    computed = at_run_time(lambda x: fn(x, w), x, recipe, **settings)
    assert data_of(made)
    assert not data_of(computed)
    for one, other in zip(operands(made, (x,)), operands(computed, (x,)), strict=True):
        assert_bits(one, other)
    if exact:
        assert_bits(evaluate(parse(made), (x,)), evaluate(parse(computed), (x,)))
    return made


def matmul(x: Any, w: Any) -> Any:
    return x @ w


@pytest.mark.parametrize("target", ["any", pytest.param("cpu", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "sizes",
    [SIZES[1], *(pytest.param(each, marks=pytest.mark.slow) for each in SIZES[::2])],
    ids=str,
)
@EVERY_RECIPE
def test_scales_and_data_are_those_of_the_cast(
    recipe: str, sizes: tuple[int, int, int], target: str
) -> None:
    m, k, n = sizes
    x, w = normal(m, k), normal(k, n, seed=1)
    text = check(matmul, x, w, recipe, target=target)
    format_, size, scale, square = PRESETS[recipe]
    expected = blocked(w.T, format_, size, scale, square=square)
    ((_, data, _, scales),) = operands(text, (x,))
    np.testing.assert_array_equal(data, expected.data)
    np.testing.assert_array_equal(scales, expected.scale)
    found = {type_[:-1].rpartition("x")[2] for type_ in constants(text)}
    if np.ptp(expected.scale):  # One scale is a splat.
        assert found == {format_, SCALES[target, recipe]}
    dynamic = operands(rewritten(matmul, (x, w), recipe, target=target), (x, w))
    assert_bits(operands(text, (x,))[0], dynamic[0])


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("recipe", ["mxfp8", "mxfp4"])
def test_every_rounding_of_scales(recipe: str, rounding: str) -> None:
    settings: Any = {"blocks__rounding": rounding} if rounding != "rceil" else {}
    check(matmul, normal(4, 96), normal(96, 17, seed=1), recipe, **settings)


@pytest.mark.parametrize("recipe", [*PRESETS, "floor"])
def test_numbers_at_the_ends_of_the_range(recipe: str) -> None:
    """With subnormal numbers, which the interpreter has, and XLA for CPUs takes as zeros."""
    settings = {"blocks__rounding": "floor"} if recipe == "floor" else {}
    recipe = "mxfp8" if recipe == "floor" else recipe
    w, x = edges().T.copy(), np.eye(32, dtype=np.float32)
    made = rewritten(lambda x: x @ w, (x,), recipe, **settings)
    dynamic = rewritten(matmul, (x, w), recipe, **settings)
    assert_bits(evaluate(parse(made), (x,)), evaluate(parse(dynamic), (x, w)))
    assert not any(type_.endswith("xf32>") for type_ in constants(made)) or recipe == "fp8-block"


@EVERY_RECIPE
def test_blocks_of_zeros(recipe: str) -> None:
    w = normal(64, 32)
    w[:32, :16] = 0
    check(matmul, normal(8, 64), w, recipe)


EXPRESSIONS: dict[str, Callable[[Any, Any], Any]] = {
    "transposed": lambda x, w: x @ jnp.transpose(w.reshape(3, 20, 40), (2, 0, 1)).reshape(40, 60),
    "sliced": lambda x, w: x @ w.reshape(60, 40)[4:44:1, ::2],
    "reversed": lambda x, w: x @ jnp.flip(w.reshape(40, 60), 0),
    "spread": lambda x, w: jnp.einsum("mk,bkn->bmn", x, jnp.stack([w.reshape(40, 60)] * 1)),
    "rounded": lambda x, w: x @ w.reshape(40, 60).astype(jnp.bfloat16).astype(jnp.float32),
    "batched": lambda x, w: jnp.einsum("hmk,hkn->hmn", x.reshape(2, -1, 20), w.reshape(2, 20, 60)),
    "both contracted": lambda x, w: jnp.einsum(
        "mab,abn->mn", x.reshape(-1, 2, 20), w.reshape(2, 20, 60)
    ),
}


@pytest.mark.parametrize("how", EXPRESSIONS)
@EVERY_RECIPE
def test_constants_that_ops_only_move(recipe: str, how: str) -> None:
    text = check(EXPRESSIONS[how], normal(8, 40), normal(2400), recipe, exact=False)
    assert "tensor<2400xf32>" not in constants(text)


@EVERY_RECIPE
def test_a_matmul_and_its_backward_matmul(recipe: str) -> None:
    """The gradient of an activation reads the weight along its other dimension."""

    def step(x: Any, w: Any) -> Any:
        y, vjp = jax.vjp(lambda x: jnp.tanh(x @ w), x)
        return y, *vjp(y)

    text = check(step, normal(32, 256), normal(256, 192, seed=1), recipe)
    assert len(constants(text)) == 4


MOVES = """
func.func @main(%x: tensor<4x32xf32>) -> tensor<4x16xf32> {
  %w = stablehlo.constant dense<WEIGHT> : tensor<32x32xf32>
  %a = stablehlo.broadcast_in_dim %w, dims = [1, 0] : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %b = stablehlo.slice %a [0:32, 1:32:2] : (tensor<32x32xf32>) -> tensor<32x16xf32>
  %c = stablehlo.reverse %b, dims = [1] : tensor<32x16xf32>
  %y = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0] :
      (tensor<4x32xf32>, tensor<32x16xf32>) -> tensor<4x16xf32>
  return %y : tensor<4x16xf32>
}
"""


def test_moves_that_jax_does_not_write() -> None:
    """A broadcast may order dimensions anew."""
    rows = ", ".join(str(list(map(float, row))) for row in np.round(W, 3))
    text, settings = MOVES.replace("WEIGHT", f"[{rows}]"), {"matmul.smallest": 1}
    program = str(scalify_hlo.rewrite(text, recipe="mxfp8", settings=settings, strict=True))
    assert data_of(program) == ["tensor<16x32xf8E4M3FN>"]
    expected = np.round(W, 3).T[:, 1::2][:, ::-1].T
    ((_, data, _, scale),) = operands(program, (normal(4, 32),))
    quantized = blocked(expected, "f8E4M3FN", 32, "e8m0")
    assert_bits((data, scale), (quantized.data, quantized.scale))


@EVERY_RECIPE
def test_a_constant_is_quantized_in_parts(recipe: str, monkeypatch: pytest.MonkeyPatch) -> None:
    w, settings = normal(2, 130, 96), {"matmul.smallest": 1}
    model = jax.jit(lambda x: jnp.einsum("hmk,hnk->hmn", x, w))
    text = str(export.export(model)(normal(2, 8, 96)).mlir_module())
    whole = scalify_hlo.rewrite(text, recipe=recipe, settings=settings)
    assert data_of(str(whole))
    monkeypatch.setattr(static, "ENCODED_CHUNK", 1000)
    assert scalify_hlo.rewrite(text, recipe=recipe, settings=settings) == whole


def test_a_constant_that_is_repeated_is_not_stored_so_often() -> None:
    def model(x: Any) -> Any:
        return jnp.einsum("bmk,bkn->bmn", x, jnp.broadcast_to(W, (9, 32, 32)))

    assert constants(rewritten(model, (normal(9, 8, 32),), "mxfp8")) == ["tensor<32x32xf32>"]


def test_a_constant_that_other_ops_read_stays() -> None:
    text = check(lambda x, w: (x @ w, w + 1), normal(8, 64), normal(64, 32), "mxfp8")
    assert constants(text) == [
        "tensor<32x2xf8E8M0FNU>",
        "tensor<32x64xf8E4M3FN>",
        "tensor<64x32xf32>",
    ]


def test_equal_casts_share_their_constants() -> None:
    text = check(lambda x, w: x @ w + jnp.tanh(x) @ w, normal(8, 64), normal(64, 32), "mxfp8")
    assert len(constants(text)) == 2


def test_the_constant_of_a_function_is_in_it() -> None:
    inner = jax.jit(lambda x: x @ W)
    text = rewritten(lambda x: inner(jnp.tanh(inner(x))), (normal(8, 32),), "mxfp8")
    assert constants(text) == ["tensor<32x1xf8E8M0FNU>", "tensor<32x32xf8E4M3FN>"]


W = normal(32, 32)


LOOP = """
func.func @main(%x: tensor<4x32xf32>) -> tensor<4x32xf32> {
  %w = stablehlo.constant dense<WEIGHT> : tensor<32x32xf32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0:3 = stablehlo.while(%i = %zero, %a = %w, %b = %x) :
      tensor<i32>, tensor<32x32xf32>, tensor<4x32xf32>
  cond {
    %c = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %y = stablehlo.dot_general %b, %a, contracting_dims = [1] x [0] :
        (tensor<4x32xf32>, tensor<32x32xf32>) -> tensor<4x32xf32>
    stablehlo.return %j, %a, %y : tensor<i32>, tensor<32x32xf32>, tensor<4x32xf32>
  }
  return %0#2 : tensor<4x32xf32>
}
"""


def test_a_loop_does_not_carry_the_wide_constant() -> None:
    x, w = normal(4, 32), np.round(W, 3)
    rows = ", ".join(str(list(map(float, row))) for row in w)
    settings = {"matmul.smallest": 1}

    def made(text: str) -> str:
        return str(scalify_hlo.rewrite(text, recipe="mxfp8", settings=settings, strict=True))

    program = made(LOOP.replace("WEIGHT", f"[{rows}]"))
    assert constants(program) == ["tensor<32x1xf8E8M0FNU>", "tensor<32x32xf8E4M3FN>"]
    lines = LOOP.replace("%x: tensor<4x32xf32>", "%x: tensor<4x32xf32>, %w: tensor<32x32xf32>")
    dynamic = made("\n".join(line for line in lines.splitlines() if "%w = " not in line))
    assert_bits(evaluate(parse(program), (x,)), evaluate(parse(dynamic), (x, w)))


@pytest.mark.parametrize("bad", [np.inf, np.nan])
@EVERY_RECIPE
def test_a_number_that_is_not_finite_is_left_to_the_program(recipe: str, bad: float) -> None:
    w = normal(64, 32)
    w[3, 1] = bad
    text = rewritten(lambda x: x @ w, (normal(8, 64),), recipe)
    assert "tensor<64x32xf32>" in constants(text)


def test_numbers_that_do_not_saturate_are_left_to_the_program() -> None:
    text = rewritten(lambda x: x @ W, (normal(8, 32),), "mxfp8", saturate=False)
    assert constants(text) == ["tensor<32x32xf32>"]


def test_a_stack_that_a_loop_slices_is_cast_in_the_loop() -> None:
    stack = normal(3, 32, 32)

    def model(x: Any) -> Any:
        return lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, stack)[0]

    assert "tensor<3x32x32xf32>" in constants(rewritten(model, (normal(4, 32),), "mxfp8"))


def test_a_constant_without_elements_is_left_to_the_program() -> None:
    weights = np.ones((0, 32, 32), np.float32)
    program = export.export(jax.jit(lambda x: jnp.einsum("bmk,bkn->bmn", x, weights)))
    text = str(program(np.ones((0, 32, 32), np.float32)).mlir_module())
    assert "f4E2M1FN" in scalify_hlo.rewrite(text, recipe="nvfp4")


@EVERY_RECIPE
def test_the_file_has_no_wide_weights(recipe: str) -> None:
    weights = [normal(256, 512), normal(512, 256, seed=1)]

    def model(x: Any) -> Any:
        return jax.nn.gelu(x @ weights[0]) @ weights[1]

    program = program_of(model, normal(32, 256))
    made, report = scalify_hlo.rewrite(program, recipe=recipe, report=True)
    before, after = len(program.serialize()), len(made.serialize())
    assert after < 0.31 * before
    assert report.statistics == 2


def test_the_report_says_which_scales_are_constant() -> None:
    text = stablehlo_of(lambda x: x @ W, normal(32, 32))
    report = rewrite_module(parse(text), Options(load_recipe("mxfp8"), listed=True))
    (found,) = report.matmuls
    assert [scale.origin for scale in found.scales if scale] == ["measured", "constant"]
