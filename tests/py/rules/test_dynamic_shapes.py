"""Sizes that are symbolic, unknown, bounded or zero: no rule needs a static shape to be right."""

from __future__ import annotations

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

from scalify_hlo import as_scaled_array, asarray, serialize
from scalify_hlo._compat import ir
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from tests.py.programs import PROGRAMS
from tests.py.programs.dynamic import BOUNDED, MOVED, RUN, TWO_SIZES, DynamicProgram, inputs
from tests.py.programs.program import SIZES, Program, Sizes, _Names, draw
from tests.py.shared.judge import (
    Array,
    assert_invariant,
    evaluate_with_xla,
    floats,
    normals,
    parse,
    program_of,
    propagated,
    rewritten,
    shaped,
)
from tests.py.shared.refining import evaluate_refined

# Functions of jax, with symbolic shapes.

B, N = export.symbolic_shape("b, n")
Types = tuple[jax.ShapeDtypeStruct, ...]


@dataclass(frozen=True)
class Function:
    """A function, its arguments' types for b and n, and log2 of the scale of each argument."""

    body: Callable[..., Any]
    types: Callable[[Any, Any], Types]
    exponents: tuple[int, ...]

    def __str__(self) -> str:
        return self.body.__name__

    def exported(self) -> export.Exported:
        return program_of(self.body, *self.types(B, N))

    def draw(self, rows: int, columns: int) -> list[Array]:
        """Arguments for b and n."""
        return normals(*(t.shape for t in self.types(rows, columns)), seed=rows)


def mlp_step(w: Any, v: Any, x: Any, y: Any) -> Any:
    def loss(params: Any) -> Any:
        hidden = jnp.maximum(x @ params[0], 0)
        return jnp.mean((hidden @ params[1] - y) ** 2)

    value, (dw, dv) = jax.value_and_grad(loss)((w, v))
    return w - 0.125 * dw, v - 0.125 * dv, value


def transformer_step(wq: Any, wk: Any, wv: Any, w: Any, gain: Any, x: Any) -> Any:
    def norm(x: Any) -> Any:
        centerd = x - jnp.mean(x, -1, keepdims=True)
        return gain * centerd * lax.rsqrt(jnp.mean(centerd**2, -1, keepdims=True) + 1e-5)

    def loss(wq: Any, w: Any) -> Any:
        h = norm(x)
        scores = jnp.einsum("bid,bjd->bij", h @ wq, h @ wk) * 0.5
        causal = jnp.tril(jnp.ones((x.shape[1], x.shape[1]), bool))
        weights = jax.nn.softmax(jnp.where(causal, scores, jnp.finfo(x.dtype).min), -1)
        h = x + jnp.einsum("bij,bjd->bid", weights, h @ wv)
        return jnp.mean((h + jnp.tanh(norm(h) @ w)) ** 2)

    return jax.value_and_grad(loss, (0, 1))(wq, w)


def scan_step(w: Any, x: Any) -> Any:
    def loss(w: Any) -> Any:
        def turn(carry: Any, row: Any) -> Any:
            carry = jnp.tanh(row @ w + 0.5 * carry)
            return carry, jnp.sum(carry)

        last, sums = lax.scan(turn, jnp.zeros(4, x.dtype), x)
        return jnp.sum(sums) + jnp.sum(last)

    return jax.value_and_grad(loss)(w)


def weights(*shapes: tuple[Any, ...]) -> Callable[[Any, Any], Types]:
    """Types of arguments, `b` and `n` in whose shapes are sizes to come."""

    def types(b: Any, n: Any) -> Types:
        sizes = {"b": b, "n": n}
        return tuple(shaped(*(sizes.get(d, d) for d in shape)) for shape in shapes)

    return types


FUNCTIONS = (
    Function(mlp_step, weights(("n", 4), (4, 2), ("b", "n"), ("b", 2)), (-2, 1, 3, 0)),
    Function(
        transformer_step,
        weights((4, 4), (4, 4), (4, 4), (4, 4), (4,), ("b", "n", 4)),
        (1, -1, 2, -2, 1, 3),
    ),
    Function(scan_step, weights((4, 4), ("b", 4)), (-1, 2)),
)
EVERY_FUNCTION = pytest.mark.parametrize("function", FUNCTIONS, ids=str)


def scales(function: Function) -> dict[str, float]:
    return {f"arg{i}": 2.0**e for i, e in enumerate(function.exponents)}


def pairs(function: Function, arguments: Sequence[Array]) -> list[Any]:
    zipped = zip(arguments, function.exponents, strict=True)
    return [as_scaled_array(a, scale=2.0**e) for a, e in zipped]


def assert_close(actual: Any, expected: Any) -> None:
    leaves = jax.tree.leaves(actual, is_leaf=is_scaled_array)
    for one, other in zip(leaves, jax.tree.leaves(expected), strict=True):
        values, wanted = np.asarray(asarray(one)), np.asarray(other)
        assert values.dtype == wanted.dtype
        scale = float(np.abs(wanted).max(initial=0))
        np.testing.assert_allclose(values, wanted, rtol=2e-6, atol=2e-6 * scale)


@pytest.mark.slow
@EVERY_FUNCTION
def test_symbolic_shapes_run_at_several_sizes(function: Function) -> None:
    old = function.exported()
    same = propagated(old, input_scale=scales(function))
    scaled = propagated(old, signature="scaled")
    assert [a.shape for a in same.in_avals] == [a.shape for a in old.in_avals]
    assert [a.shape for a in same.out_avals] == [a.shape for a in old.out_avals]
    for rows, columns in ((3, 2), (5, 4)):
        arguments = function.draw(rows, columns)
        expected = old.call(*arguments)
        assert_close(same.call(*arguments), expected)
        assert_close(scaled.call(*pairs(function, arguments)), expected)


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS, ids=str)
def test_symbolic_shapes_are_bit_equal_once_refined(function: Function) -> None:
    text = function.exported().mlir_module()
    for rows, columns in ((3, 2), (5, 4)):
        assert_invariant(
            text, function.draw(rows, columns), function.exponents, run=evaluate_refined
        )


@pytest.mark.slow
@pytest.mark.parametrize("signature", ["same", "scaled"])
@pytest.mark.parametrize("function", FUNCTIONS[:2], ids=str)
def test_files_keep_symbolic_shapes(function: Function, signature: str) -> None:
    old = function.exported()
    read = export.deserialize(bytearray(serialize(propagated(old, signature=signature))))
    assert [a.shape for a in propagated(old).in_avals] == [a.shape for a in old.in_avals]
    for rows, columns in ((2, 3), (4, 1)):
        arguments = function.draw(rows, columns)
        given = arguments if signature == "same" else pairs(function, arguments)
        assert_close(read.call(*given), old.call(*arguments))


@pytest.mark.slow
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_gradients_with_symbolic_shapes(signature: str) -> None:
    old = program_of(lambda x, w: jnp.sum(jnp.tanh(x @ w)), shaped(B, N), shaped(N, 2))
    new = propagated(old, signature=signature)

    def call(x: Any, w: Any) -> Any:
        return asarray(new.call(*(as_scaled_array((x, w)) if signature == "scaled" else (x, w))))

    x, w = np.ones((3, 2), np.float32), np.ones((2, 2), np.float32)
    assert_close(jax.grad(call, (0, 1))(x, w), jax.grad(old.call, (0, 1))(x, w))


@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_constraints_on_sizes_are_kept(signature: str) -> None:
    old = program_of(lambda x, y: x + y[0], shaped(2 * N), shaped(3, 2 * N))
    new = propagated(old, signature=signature)
    x, y = jnp.ones(3), jnp.ones((3, 3))
    given = as_scaled_array((x, y)) if signature == "scaled" else (x, y)
    with pytest.raises(ValueError, match="Division had remainder"):
        old.call(x, y)
    with pytest.raises(ValueError, match="Division had remainder"):
        new.call(*given)


def masked(x: Any, mask: Any) -> Any:
    return jax.nn.softmax(jnp.where(mask, x, jnp.finfo(x.dtype).min), -1)


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [-6, 6])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_masks_of_dynamic_shape_saturate(dtype: Any, exponent: int) -> None:
    """finfo.min at a small scale would be -inf, and a row that is masked throughout NaN."""
    types = shaped(B, N, dtype=dtype), shaped(B, N, dtype=jnp.bool_)
    old = program_of(masked, *types)
    x = np.linspace(-1, 1, 6, dtype=dtype).reshape(2, 3)
    mask = np.array([[True, False, True], [False] * 3])
    expected = np.asarray(old.call(x, mask))
    same = propagated(old, input_scale={"*": 2.0**exponent})
    scaled = propagated(old, signature="scaled").call(as_scaled_array(x, scale=2.0**exponent), mask)
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
    types = [str(result.type) for op in ops_in(module.operation) for result in op.results]
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


@pytest.mark.slow
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
    (returned,) = ops_in(module.operation, {"func.return"})
    assert {str(v.type) for v in returned.operands} - {"tensor<f32>"} == {"tensor<?xf32>"}
