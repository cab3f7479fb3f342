"""Sizes that are symbolic, unknown, bounded or zero: no rule needs a static shape to be right."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax
from jaxlib import _jax

from scalify_hlo import as_scaled_array, asarray, rewrite, serialize
from scalify_hlo._compat import ir, passmanager, register_passes
from scalify_hlo.scaled_array import is_scaled_array
from tests.py.judge import (
    Array,
    assert_invariant,
    assert_same_bits,
    evaluate,
    evaluate_with_xla,
    floats,
    parse,
    rewritten,
    run_plain,
    run_scaled,
)
from tests.py.programs import PROGRAMS
from tests.py.programs.dynamic import (
    BOUNDED,
    MOVED,
    RUN,
    TWO_SIZES,
    DynamicProgram,
    inputs,
)
from tests.py.programs.program import SIZES, Program, Sizes, _Names, draw

_REFINE = "builtin.module(stablehlo-refine-arguments{types=TYPES})"
_CANONICALIZE = "builtin.module(func.func(stablehlo-canonicalize-dynamism))"


def refined(module: ir.Module, arrays: Sequence[Array]) -> ir.Module:
    """The program with static shapes, those of its arguments being the arrays'."""
    register_passes()
    with module.context, ir.Location.unknown():
        types = [
            ir.RankedTensorType.get(array.shape, type_.element_type)
            for array, type_ in zip(arrays, inputs(module), strict=True)
        ]
        pipeline = _REFINE.replace("TYPES", ",".join(map(str, types)))
        passmanager.PassManager.parse(pipeline).run(module.operation)
        buffer = io.BytesIO()
        module.operation.write_bytecode(buffer)
        static = _jax.mlir.refine_polymorphic_shapes(
            mlir_module=buffer.getvalue(),
            enable_shape_assertions=True,
            validate_static_shapes=True,
            enable_shardy=True,
        )
        module = ir.Module.parse(static)
        passmanager.PassManager.parse(_CANONICALIZE).run(module.operation)
        return module


def ops(module: ir.Module, name: str = "") -> list[ir.Operation]:
    """The ops of a name, or all."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if name in ("", op.name):
            found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def evaluate_refined(module: ir.Module, arrays: Sequence[Array]) -> list[Array]:
    """Runs `main` on the interpreter, which needs static shapes."""
    return evaluate(refined(module, arrays), arrays)


# Functions of jax, with symbolic shapes.

B, N = export.symbolic_shape("b, n")
Types = tuple[jax.ShapeDtypeStruct, ...]


def shaped(*shape: Any, dtype: Any = jnp.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


@dataclass(frozen=True)
class Function:
    """A function, its arguments' types for b and n, and log2 of the scale of each argument."""

    body: Callable[..., Any]
    types: Callable[[Any, Any], Types]
    exponents: tuple[int, ...]

    def __str__(self) -> str:
        return self.body.__name__

    def exported(self) -> export.Exported:
        return export.export(jax.jit(self.body))(*self.types(B, N))

    def draw(self, rows: int, columns: int) -> list[Array]:
        """Arguments for b and n; integers are indices below 2."""
        rng = np.random.default_rng(rows)
        return [
            np.asarray(rng.standard_normal(t.shape), np.float32)
            if t.dtype == jnp.float32
            else np.asarray(rng.integers(0, 2, t.shape), t.dtype)
            for t in self.types(rows, columns)
        ]


def mlp_step(w: Any, v: Any, x: Any, y: Any) -> Any:
    def loss(params: Any) -> Any:
        hidden = jnp.maximum(x @ params[0], 0)
        return jnp.mean((hidden @ params[1] - y) ** 2)

    value, (dw, dv) = jax.value_and_grad(loss)((w, v))
    return w - 0.125 * dw, v - 0.125 * dv, value


def transformer_step(wq: Any, wk: Any, wv: Any, w: Any, gain: Any, x: Any) -> Any:
    def norm(x: Any) -> Any:
        centred = x - jnp.mean(x, -1, keepdims=True)
        return gain * centred * lax.rsqrt(jnp.mean(centred**2, -1, keepdims=True) + 1e-5)

    def loss(wq: Any, w: Any) -> Any:
        h = norm(x)
        scores = jnp.einsum("bid,bjd->bij", h @ wq, h @ wk) * 0.5
        causal = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
        weights = jax.nn.softmax(jnp.where(causal, scores, jnp.finfo(x.dtype).min), -1)
        h = x + jnp.einsum("bij,bjd->bid", weights, h @ wv)
        return jnp.mean((h + jnp.tanh(norm(h) @ w)) ** 2)

    return jax.value_and_grad(loss, (0, 1))(wq, w)


def cnn_step(kernel: Any, head: Any, x: Any) -> Any:
    def loss(kernel: Any, head: Any) -> Any:
        h = lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        h = lax.reduce_window(h, 0.0, lax.add, (1, 1, 2, 1), (1, 1, 1, 1), "VALID") * 0.5
        return jnp.mean((jnp.mean(h, (1, 2)) @ head) ** 2)

    return jax.value_and_grad(loss, (0, 1))(kernel, head)


def running(x: Any) -> Any:
    return jnp.cumsum(x, 0), lax.cummax(x, axis=0), jnp.cumprod(x[:2], 0)


def ordered(x: Any) -> Any:
    return jnp.sort(x, 0), jnp.argsort(x, 1), jnp.argmax(x, 0), jnp.argmin(x, 1)


def gathered(x: Any, y: Any, i: Any) -> Any:
    return x[i] + y[:2], jnp.take(x, i, axis=1)


def scattered(x: Any, y: Any, i: Any) -> Any:
    # The interpreter scatters in place, so each scatter has an operand of its own.
    return (
        (x + y).at[i].add(y[:2]),
        (x - y).at[i].max(x[0]),
        (y - x).at[i].set(1.0),
        (x * y).at[i].multiply(x[:2]),
    )


def moved(x: Any, y: Any) -> Any:
    return (
        jnp.concatenate([x, y[:1], jnp.zeros_like(x)]),
        jnp.pad(x, ((1, 2), (0, 0)), constant_values=3.0),
        jnp.roll(x, 1, 0)[::2],
        (x + y).reshape(-1),
        jnp.arange(x.shape[0], dtype=x.dtype) + x[:, 0],
        jnp.broadcast_to(x[:, None], (x.shape[0], x.shape[0], 4)) - y,
    )


def statistics(x: Any) -> Any:
    return jnp.std(x, 0), jnp.sqrt(jnp.sum(x * x)), jnp.prod(x, 0), jnp.max(x) - jnp.min(x)


def scan_step(w: Any, x: Any) -> Any:
    def loss(w: Any) -> Any:
        def turn(carry: Any, row: Any) -> Any:
            carry = jnp.tanh(row @ w + 0.5 * carry)
            return carry, jnp.sum(carry)

        last, sums = lax.scan(turn, jnp.zeros(4, x.dtype), x)
        return jnp.sum(sums) + jnp.sum(last)

    return jax.value_and_grad(loss)(w)


def loop_over_rows(x: Any) -> Any:
    start = jnp.zeros(x.shape[1], x.dtype)
    return lax.fori_loop(0, x.shape[0], lambda i, c: 0.5 * c + x[i], start)


def branches(x: Any, y: Any) -> Any:
    return lax.cond(jnp.sum(x) > 0, lambda: x * y, lambda: jnp.ones_like(x))


INDEX = shaped(2, dtype=jnp.int32)


def weights(*shapes: tuple[Any, ...]) -> Callable[[Any, Any], Types]:
    """Types of arguments, `b` and `n` in whose shapes are sizes to come."""

    def types(b: Any, n: Any) -> Types:
        sizes = {"b": b, "b+2": b + 2, "n": n, "2n+2": 2 * n + 2}
        return tuple(shaped(*(sizes.get(d, d) for d in shape)) for shape in shapes)

    return types


def row(b: Any, _: Any) -> Types:
    return (shaped(b + 2, 4),)


def rows(b: Any, _: Any) -> Types:
    return shaped(b + 2, 4), shaped(b + 2, 4)


def rows_and_index(b: Any, _: Any) -> Types:
    return shaped(b + 2, 4), shaped(b + 2, 4), INDEX


FUNCTIONS = (
    Function(mlp_step, weights(("n", 4), (4, 2), ("b", "n"), ("b", 2)), (-2, 1, 3, 0)),
    Function(
        transformer_step,
        weights((4, 4), (4, 4), (4, 4), (4, 4), (4,), ("b", "n", 4)),
        (1, -1, 2, -2, 1, 3),
    ),
    Function(cnn_step, weights((3, 3, 2, 4), (4, 2), ("b", "2n+2", 6, 2)), (1, -2, 3)),
    Function(running, row, (3,)),
    Function(ordered, row, (-3,)),
    Function(gathered, rows_and_index, (3, -2, 0)),
    Function(scattered, rows_and_index, (3, -2, 0)),
    Function(moved, rows, (3, -2)),
    Function(statistics, row, (2,)),
    Function(scan_step, weights((4, 4), ("b", 4)), (-1, 2)),
    Function(loop_over_rows, weights(("b", "n")), (3,)),
    Function(branches, rows, (3, -2)),
)
EVERY_FUNCTION = pytest.mark.parametrize("function", FUNCTIONS, ids=str)


def scales(function: Function) -> dict[str, float]:
    types = function.types(B, N)
    return {
        f"arg{i}": 2.0**e
        for i, (e, t) in enumerate(zip(function.exponents, types, strict=True))
        if t.dtype == jnp.float32
    }


def pairs(function: Function, arguments: Sequence[Array]) -> list[Any]:
    return [
        as_scaled_array(a, scale=2.0**e) if a.dtype == np.float32 else a
        for a, e in zip(arguments, function.exponents, strict=True)
    ]


def assert_close(actual: Any, expected: Any) -> None:
    leaves = jax.tree.leaves(actual, is_leaf=is_scaled_array)
    for one, other in zip(leaves, jax.tree.leaves(expected), strict=True):
        values, wanted = np.asarray(asarray(one)), np.asarray(other)
        assert values.dtype == wanted.dtype
        scale = float(np.abs(wanted).max(initial=0))
        np.testing.assert_allclose(values, wanted, rtol=2e-6, atol=2e-6 * scale)


@EVERY_FUNCTION
def test_symbolic_shapes_run_at_several_sizes(function: Function) -> None:
    old = function.exported()
    same = rewrite(old, input_scale=scales(function))
    scaled = rewrite(old, signature="scaled")
    assert [a.shape for a in same.in_avals] == [a.shape for a in old.in_avals]
    assert [a.shape for a in same.out_avals] == [a.shape for a in old.out_avals]
    for rows, columns in ((3, 2), (5, 4)):
        arguments = function.draw(rows, columns)
        expected = old.call(*arguments)
        assert_close(same.call(*arguments), expected)
        assert_close(scaled.call(*pairs(function, arguments)), expected)


@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_symbolic_shapes_are_bit_equal_once_refined(function: Function) -> None:
    text = function.exported().mlir_module()
    for rows, columns in ((3, 2), (5, 4)):
        assert_invariant(
            text, function.draw(rows, columns), function.exponents, run=evaluate_refined
        )


@pytest.mark.parametrize("signature", ["same", "scaled"])
@pytest.mark.parametrize("function", FUNCTIONS[:2], ids=str)
def test_files_keep_symbolic_shapes(function: Function, signature: str) -> None:
    old = function.exported()
    read = export.deserialize(bytearray(serialize(rewrite(old, signature=signature))))
    assert [a.shape for a in rewrite(old).in_avals] == [a.shape for a in old.in_avals]
    for rows, columns in ((2, 3), (4, 1)):
        arguments = function.draw(rows, columns)
        given = arguments if signature == "same" else pairs(function, arguments)
        assert_close(read.call(*given), old.call(*arguments))


@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_gradients_with_symbolic_shapes(signature: str) -> None:
    old = export.export(jax.jit(lambda x, w: jnp.sum(jnp.tanh(x @ w))))(shaped(B, N), shaped(N, 2))
    new = rewrite(old, signature=signature)

    def call(x: Any, w: Any) -> Any:
        return asarray(new.call(*(as_scaled_array((x, w)) if signature == "scaled" else (x, w))))

    x, w = np.ones((3, 2), np.float32), np.ones((2, 2), np.float32)
    assert_close(jax.grad(call, (0, 1))(x, w), jax.grad(old.call, (0, 1))(x, w))


@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_constraints_on_sizes_are_kept(signature: str) -> None:
    old = export.export(jax.jit(lambda x, y: x + y[0]))(shaped(2 * N), shaped(3, 2 * N))
    new = rewrite(old, signature=signature)
    x, y = jnp.ones(3), jnp.ones((3, 3))
    given = as_scaled_array((x, y)) if signature == "scaled" else (x, y)
    with pytest.raises(ValueError, match="Division had remainder"):
        old.call(x, y)
    with pytest.raises(ValueError, match="Division had remainder"):
        new.call(*given)


def masked(x: Any, mask: Any) -> Any:
    return jax.nn.softmax(jnp.where(mask, x, jnp.finfo(x.dtype).min), -1)


@pytest.mark.parametrize("exponent", [-6, 6])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_masks_of_dynamic_shape_saturate(dtype: Any, exponent: int) -> None:
    """finfo.min at a small scale would be -inf, and a row that is masked throughout NaN."""
    types = shaped(B, N, dtype=dtype), shaped(B, N, dtype=jnp.bool_)
    old = export.export(jax.jit(masked))(*types)
    x = np.linspace(-1, 1, 6, dtype=dtype).reshape(2, 3)
    mask = np.array([[True, False, True], [False] * 3])
    expected = np.asarray(old.call(x, mask))
    same = rewrite(old, input_scale={"*": 2.0**exponent})
    scaled = rewrite(old, signature="scaled").call(as_scaled_array(x, scale=2.0**exponent), mask)
    for actual in (same.call(x, mask), asarray(scaled)):
        np.testing.assert_allclose(np.asarray(actual), expected, rtol=2e-3)


# Every op with a dynamic form, and every program of the catalogue.


@pytest.mark.parametrize("sizes", TWO_SIZES, ids=str)
@pytest.mark.parametrize("program", RUN, ids=str)
def test_programs_of_unknown_size(program: DynamicProgram, sizes: Sizes) -> None:
    arrays = program.draw(sizes)
    exponents = [3 - 2 * i for i in range(len(arrays))]
    assert_invariant(program.body, arrays, exponents, run=evaluate_refined)


@pytest.mark.parametrize("program", BOUNDED, ids=str)
def test_programs_of_bounded_size(program: DynamicProgram) -> None:
    """XLA takes bounded sizes where they are set, and none that an op works out."""
    arrays = program.draw(SIZES)
    assert_invariant(program.body, arrays, [3, -2, 0], run=evaluate_with_xla)


@pytest.mark.parametrize("signature", ["same", "scaled"])
@pytest.mark.parametrize("program", BOUNDED, ids=str)
def test_what_is_built_has_the_bounds_of_its_operands(
    program: DynamicProgram, signature: str
) -> None:
    scales = {"arg0": 8.0, "arg1": 0.5} if signature == "same" else {}
    module, _ = rewritten(program.body, signature, input_scale=scales)
    types = [str(result.type) for op in ops(module) for result in op.results]
    dynamic = [text for text in types if "tensor<?" in text]
    assert dynamic
    assert all("bounds" in text for text in dynamic)


BOUND = "tensor<?x?xf32, #stablehlo.bounds<8, ?>>"


@pytest.mark.parametrize("encoded", [BOUND, BOUND.replace("?>>", "8>>")])
@pytest.mark.parametrize("program", MOVED, ids=str)
def test_programs_with_bounds_keep_them(program: DynamicProgram, encoded: str) -> None:
    text = program.body.replace("tensor<?x?xf32>", encoded)
    for signature in ("same", "scaled"):
        paired = signature == "scaled"
        given = {f"arg{i}": 8.0 for i, f in enumerate(floats(text)) if f and not paired}
        module, report = rewritten(text, signature, input_scale=given)
        kept = [str(type_) for type_ in inputs(module) if str(type_) != "tensor<f32>"]
        assert kept == [str(t) for t in inputs(parse(text)) if str(t) != "tensor<f32>"]
        assert report.given_up == Counter()


class _UnknownSizes(_Names):
    """Types of a program's sizes, none of which is told."""

    def __missing__(self, name: str) -> str:
        text = super().__missing__(name)
        if not text.startswith("tensor<"):
            return text
        *sizes, element = text[len("tensor<") : -1].replace("complex", "c!").split("x")
        return f"tensor<{'x'.join([*('?' for _ in sizes), element.replace('c!', 'complex')])}>"


def unknown(program: Program) -> str | None:
    """A program with no size told; None if it is no program then, as it has constants of one."""
    text = Template(program.body).substitute(_UnknownSizes(SIZES, program.element))
    return text if "tensor<?" in text and is_program(text) else None


def is_program(text: str) -> bool:
    try:
        parse(text)
    except ir.MLIRError:
        return False
    return True


# Composites have decompositions of fixed type; ops that broadcast by themselves are refused.
_NOT_REFINED = ("composite", "composite_that_moves", "tuple_of_tuples")
UNKNOWN = [
    (p, text)
    for p in PROGRAMS
    if p.judge == "interpreter"
    and p.name not in _NOT_REFINED
    and not p.op.startswith("chlo.broadcast_")
    and (text := unknown(p)) is not None
]


@pytest.mark.parametrize(("program", "text"), UNKNOWN, ids=[str(p) for p, _ in UNKNOWN])
def test_the_catalogue_with_unknown_sizes(program: Program, text: str) -> None:
    arrays = draw(program, SIZES, 0, wild=True)
    exponents = [min(program.span, 3 - 2 * (i % 3)) for i in range(len(arrays))]
    assert_invariant(text, arrays, exponents, ulps=program.ulps, run=evaluate_refined)


def test_the_catalogue_with_unknown_sizes_is_large() -> None:
    assert len({p.op for p, _ in UNKNOWN}) > 90


MIXED = """
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c = stablehlo.constant dense<3.0> : tensor<4xf32>
  %0 = stablehlo.multiply %c, %x : (tensor<4xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = stablehlo.tanh %0 : tensor<?xf32>
  return %0, %1 : tensor<?xf32>, tensor<?xf32>
}"""


@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_types_are_no_narrower_after_a_constant_took_a_factor(signature: str) -> None:
    scale = {"arg0": 8.0} if signature == "same" else {}
    module, _ = rewritten(MIXED, signature, input_scale=scale)
    (returned,) = ops(module, "func.return")
    assert {str(v.type) for v in returned.operands} - {"tensor<f32>"} == {"tensor<?xf32>"}


# Contractions of unknown length.

_MATMUL = """
func.func @main(%x: tensor<2x$Kx$T>, %y: tensor<$Kx4x$T>) -> tensor<2x4x$T> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x$Kx$T>, tensor<$Kx4x$T>) -> tensor<2x4x$T>
  return %0 : tensor<2x4x$T>
}"""
_PLAIN_DOT = """
func.func @main(%x: tensor<2x$Kx$T>, %y: tensor<$Kx4x$T>) -> tensor<2x4x$T> {
  %0 = stablehlo.dot %x, %y : (tensor<2x$Kx$T>, tensor<$Kx4x$T>) -> tensor<2x4x$T>
  return %0 : tensor<2x4x$T>
}"""
_SUM = """
func.func @main(%x: tensor<2x$Kx$T>, %y: tensor<f32>) -> tensor<2x$T> {
  %c = stablehlo.constant dense<0.0> : tensor<$T>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1]
    : (tensor<2x$Kx$T>, tensor<$T>) -> tensor<2x$T>
  return %0 : tensor<2x$T>
}"""
_TWO_SUMS = """
func.func @main(%x: tensor<2x$Kx$T>, %y: tensor<2x$Kx$T>) -> tensor<2x$T> {
  %c = stablehlo.constant dense<0.0> : tensor<$T>
  %0:2 = stablehlo.reduce(%x init: %c), (%y init: %c) across dimensions = [1]
    : (tensor<2x$Kx$T>, tensor<2x$Kx$T>, tensor<$T>, tensor<$T>) -> (tensor<2x$T>, tensor<2x$T>)
    reducer(%a: tensor<$T>, %b: tensor<$T>) (%d: tensor<$T>, %e: tensor<$T>) {
      %1 = stablehlo.add %a, %b : tensor<$T>
      %2 = stablehlo.add %d, %e : tensor<$T>
      stablehlo.return %1, %2 : tensor<$T>, tensor<$T>
    }
  return %0#0 : tensor<2x$T>
}"""
_CONVOLVED = """
func.func @main(%x: tensor<1x8x$Kx$T>, %y: tensor<1x$Kx3x$T>) -> tensor<1x8x3x$T> {
  %0 = "stablehlo.convolution"(%x, %y) <{
    batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>
  }> : (tensor<1x8x$Kx$T>, tensor<1x$Kx3x$T>) -> tensor<1x8x3x$T>
  return %0 : tensor<1x8x3x$T>
}"""
_DYNAMIC_CONVOLVED = """
func.func @main(%x: tensor<1x8x$Kx$T>, %y: tensor<1x$Kx3x$T>) -> tensor<1x8x3x$T> {
  %p = stablehlo.constant dense<[[0, 0]]> : tensor<1x2xi64>
  %0 = "stablehlo.dynamic_conv"(%x, %y, %p) <{
    batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>
  }> : (tensor<1x8x$Kx$T>, tensor<1x$Kx3x$T>, tensor<1x2xi64>) -> tensor<1x8x3x$T>
  return %0 : tensor<1x8x3x$T>
}"""
CONTRACTIONS = {
    "dot_general": (_MATMUL, "s0*s1"),
    "dot": (_PLAIN_DOT, "s0*s1"),
    "reduce": (_SUM, "s0"),
    "reduce_by_units": (_TWO_SUMS, "s0"),
    "convolution": (_CONVOLVED, "s0*s1"),
    "dynamic_conv": (_DYNAMIC_CONVOLVED, "s0*s1"),
}


@pytest.mark.parametrize("type_", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize("name", CONTRACTIONS)
def test_a_contraction_of_unknown_length_is_not_rescaled(name: str, type_: str) -> None:
    body, scale = CONTRACTIONS[name]
    for size, expected in (("64", f"2^3*{scale}"), ("?", scale), ("0", scale)):
        text = body.replace("$K", size).replace("$T", type_)
        module, report = rewritten(text, "scaled")
        assert report.results[0].scale == expected
        (returned,) = ops(module, "func.return")
        owner = returned.operands[0].owner
        assert (owner.name == "stablehlo.multiply") == (size == "64"), "paid once, if at all"


def test_one_unknown_length_of_several_is_enough() -> None:
    text = """
func.func @main(%x: tensor<64x?x2xf16>, %y: tensor<64x?x3xf16>) -> tensor<2x3xf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0, 1] x [0, 1]
    : (tensor<64x?x2xf16>, tensor<64x?x3xf16>) -> tensor<2x3xf16>
  return %0 : tensor<2x3xf16>
}"""
    _, report = rewritten(text, "scaled")
    assert report.results[0].scale == "s0*s1"


def test_a_size_that_is_bounded_is_unknown() -> None:
    bounded = _MATMUL.replace("2x$Kx$T", "2x?x$T, #stablehlo.bounds<?, 64>")
    bounded = bounded.replace("$Kx4x$T", "?x4x$T, #stablehlo.bounds<64, ?>").replace("$T", "f32")
    _, report = rewritten(bounded, "scaled")
    assert report.results[0].scale == "s0*s1"


# Zero-size and rank-0 tensors.

EMPTY = {
    "product": """
func.func @main(%x: tensor<0x3xf32>, %y: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %0 = stablehlo.multiply %x, %y : tensor<0x3xf32>
  %1 = stablehlo.add %0, %y : tensor<0x3xf32>
  return %1 : tensor<0x3xf32>
}""",
    "matmul_of_no_terms": """
func.func @main(%x: tensor<2x0xf32>, %y: tensor<0x3xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.add %0, %z : tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}""",
    "matmul_of_no_rows": """
func.func @main(%x: tensor<0x4xf32>, %y: tensor<4x3xf32>) -> tensor<0x3xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0]
    : (tensor<0x4xf32>, tensor<4x3xf32>) -> tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}""",
    "sum": """
func.func @main(%x: tensor<0x3xf32>, %y: tensor<3xf32>) -> tensor<3xf32> {
  %c = stablehlo.constant dense<1.5> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0]
    : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.add %0, %y : tensor<3xf32>
  return %1 : tensor<3xf32>
}""",
    "product_of_none": """
func.func @main(%x: tensor<0x3xf32>) -> tensor<3xf32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.multiply across dimensions = [0]
    : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}""",
    "maximum": """
func.func @main(%x: tensor<0x3xf32>, %m: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.reduce(%x init: %m) applies stablehlo.maximum across dimensions = [0]
    : (tensor<0x3xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}""",
    "concatenate": """
func.func @main(%x: tensor<0x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.concatenate %x, %y, %x, dim = 0
    : (tensor<0x3xf32>, tensor<2x3xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}""",
    "constant": """
func.func @main(%x: tensor<0x3xf32>, %y: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %c = stablehlo.constant dense<> : tensor<0x3xf32>
  %d = stablehlo.constant dense<2.0> : tensor<0x3xf32>
  %0 = stablehlo.add %x, %c : tensor<0x3xf32>
  %1 = stablehlo.multiply %0, %d : tensor<0x3xf32>
  %2 = stablehlo.maximum %1, %d : tensor<0x3xf32>
  %3 = stablehlo.subtract %2, %y : tensor<0x3xf32>
  return %3 : tensor<0x3xf32>
}""",
    "gather": """
func.func @main(%x: tensor<4x3xf32>, %i: tensor<0x1xi32>, %y: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0],
      start_index_map = [0], index_vector_dim = 1>,
    indices_are_sorted = false, slice_sizes = array<i64: 1, 3>
  }> : (tensor<4x3xf32>, tensor<0x1xi32>) -> tensor<0x3xf32>
  %1 = stablehlo.add %0, %y : tensor<0x3xf32>
  return %1 : tensor<0x3xf32>
}""",
    "pad": """
func.func @main(%x: tensor<0x3xf32>, %p: tensor<f32>) -> tensor<4x3xf32> {
  %0 = stablehlo.pad %x, %p, low = [1, 0], high = [3, 0], interior = [2, 0]
    : (tensor<0x3xf32>, tensor<f32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}""",
    "pad_away": """
func.func @main(%x: tensor<2x3xf32>, %p: tensor<f32>) -> tensor<0x3xf32> {
  %0 = stablehlo.pad %x, %p, low = [-1, 0], high = [-1, 0], interior = [0, 0]
    : (tensor<2x3xf32>, tensor<f32>) -> tensor<0x3xf32>
  return %0 : tensor<0x3xf32>
}""",
    "broadcast": """
func.func @main(%x: tensor<1x3xf32>, %y: tensor<0x3xf32>) -> tensor<0x3xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<0x3xf32>
  %1 = stablehlo.add %0, %y : tensor<0x3xf32>
  return %1 : tensor<0x3xf32>
}""",
    "convolution_of_no_images": """
func.func @main(%x: tensor<0x8x4xf32>, %w: tensor<3x4x2xf32>) -> tensor<0x6x2xf32> {
  %0 = "stablehlo.convolution"(%x, %w) <{
    batch_group_count = 1 : i64, feature_group_count = 1 : i64,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>
  }> : (tensor<0x8x4xf32>, tensor<3x4x2xf32>) -> tensor<0x6x2xf32>
  return %0 : tensor<0x6x2xf32>
}""",
    "sort": """
func.func @main(%x: tensor<0xf32>, %y: tensor<0xf32>) -> tensor<0xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }) : (tensor<0xf32>) -> tensor<0xf32>
  %2 = stablehlo.add %0, %y : tensor<0xf32>
  return %2 : tensor<0xf32>
}""",
}
SCALARS = {
    "broadcast": """
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.add %0, %y : tensor<f32>
  return %1 : tensor<f32>
}""",
    "reduce": """
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %y) applies stablehlo.add across dimensions = []
    : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}""",
    "product_of_one": """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.multiply across dimensions = []
    : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}""",
    "dot_general": """
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x []
    : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.subtract %0, %y : tensor<f32>
  return %1 : tensor<f32>
}""",
    "moved": """
func.func @main(%x: tensor<f32>, %p: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.transpose %x, dims = [] : (tensor<f32>) -> tensor<f32>
  %1 = stablehlo.reverse %0, dims = [] : tensor<f32>
  %2 = "stablehlo.slice"(%1) <{start_indices = array<i64>, limit_indices = array<i64>,
    strides = array<i64>}> : (tensor<f32>) -> tensor<f32>
  %3 = "stablehlo.pad"(%2, %p) <{edge_padding_low = array<i64>, edge_padding_high = array<i64>,
    interior_padding = array<i64>}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %4 = "stablehlo.dynamic_update_slice"(%3, %p) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %5 = stablehlo.add %4, %3 : tensor<f32>
  return %5 : tensor<f32>
}""",
    "gather": """
func.func @main(%x: tensor<3xf32>, %i: tensor<1xi32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = "stablehlo.gather"(%x, %i) <{
    dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0]>,
    indices_are_sorted = false, slice_sizes = array<i64: 1>
  }> : (tensor<3xf32>, tensor<1xi32>) -> tensor<f32>
  %1 = stablehlo.add %0, %y : tensor<f32>
  return %1 : tensor<f32>
}""",
    "select": """
func.func @main(%p: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<f32>
  %c = stablehlo.constant dense<3.0> : tensor<f32>
  %1 = stablehlo.add %0, %c : tensor<f32>
  return %1 : tensor<f32>
}""",
}


def arrays_of(text: str) -> list[Array]:
    """Floats that are no powers of two, and ones."""
    return [
        np.resize(np.asarray([1.3, -0.7, 2.9], np.float32), t.shape)
        if isinstance(t.element_type, ir.FloatType)
        else np.ones(t.shape, np.bool_ if str(t.element_type) == "i1" else np.int32)
        for t in inputs(parse(text))
    ]


@pytest.mark.parametrize("name", EMPTY)
def test_tensors_without_elements(name: str) -> None:
    """On XLA: the interpreter aborts on some of them."""
    arrays = arrays_of(EMPTY[name])
    assert_invariant(EMPTY[name], arrays, [3, -2, 1][: len(arrays)], run=evaluate_with_xla)


@pytest.mark.parametrize("name", SCALARS)
def test_tensors_of_rank_0(name: str) -> None:
    arrays = arrays_of(SCALARS[name])
    assert_invariant(SCALARS[name], arrays, [3, -2, 1][: len(arrays)])


def test_a_product_of_no_factors_is_one_whatever_the_scale() -> None:
    text, x = EMPTY["product_of_none"], np.zeros((0, 3), np.float32)
    (pair,) = run_scaled(text, [x], [40])
    (plain,) = run_plain(text, [x], [40])
    assert not isinstance(pair, np.ndarray)
    assert_same_bits(pair.value.astype(np.float32), plain)


@pytest.mark.parametrize("sizes", [(0, 0, 0), (0, 3, 4), (2, 3, 0)], ids=str)
def test_the_catalogue_without_elements(sizes: Sizes) -> None:
    """Whatever is a program at size zero is rewritten under both signatures, and verifies."""
    done = 0
    for program in PROGRAMS:
        text = program.text(sizes)
        if program.name == "chlo_scan" or not is_program(text):
            continue  # StableHLO cannot expand a scan of no turns
        rewritten(text, "scaled")
        scales = {f"arg{i}": 8.0 for i, is_float in enumerate(floats(text)) if is_float}
        rewritten(text, "same", input_scale=scales)
        done += 1
    assert done > 400
