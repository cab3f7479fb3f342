"""The types in which quantized matmuls return their results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as sh
from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.ir.walk import ops_in
from tests.py.shared import own_scales
from tests.py.shared.judge import parse, program_of

BF16 = np.dtype(jnp.bfloat16)
OWN = ["fp8-current", "fp8-delayed", "fp8-calibrated"]
FP8 = ["fp8", "unit", *OWN]
K = 32

Shape = jax.ShapeDtypeStruct


def rewritten(recipe: str, fn: Callable[..., Any], *shapes: Any, **settings: object) -> ir.Module:
    """A program under a preset, whose profile is of a run on normal numbers."""
    rng = np.random.default_rng(0)
    arrays = [np.asarray(rng.standard_normal(s.shape), s.dtype) for s in shapes]
    new = own_scales.rewritten(recipe, program_of(fn, *shapes), *arrays, **settings)
    return parse(str(new.mlir_module()))


def ops(module: ir.Module, *names: str) -> list[ir.Operation]:
    """The ops by some names, in all functions."""
    return ops_in(module.operation, where=lambda op: op.name.partition(".")[2] in names)


def element(value: ir.Value) -> str:
    return str(value.type.element_type)


def results(module: ir.Module) -> list[str]:
    return [element(op.results[0]) for op in ops(module, "dot_general")]


def matrices(dtype: Any) -> tuple[Any, Any]:
    return Shape((K, K), dtype), Shape((K, K), dtype)


def widened(x: jax.Array, w: jax.Array) -> jax.Array:
    """A matmul of bf16 whose result is f32."""
    return jnp.matmul(x.astype(jnp.float32), w.astype(jnp.float32))


def both(x: jax.Array, w: jax.Array) -> Any:
    y = widened(x, w)
    return y.astype(BF16), y.sum(0)


PRODUCTS: dict[str, tuple[Any, Any, str]] = {
    "of bf16": (jnp.matmul, BF16, "bf16"),
    "of f32": (jnp.matmul, np.float32, "f32"),
    "of f16, which is rounded after the scale": (jnp.matmul, np.float16, "f32"),
    "that a sum reads in f32": (lambda x, w: widened(x, w).sum(0), BF16, "f32"),
    "that is read in both types": (both, BF16, "f32"),
}
"""Programs, the type of their operands, and that of the matmul's result."""


@pytest.mark.parametrize("recipe", FP8)
class TestResults:
    @pytest.mark.parametrize("name", PRODUCTS)
    def test_have_a_type(self, recipe: str, name: str) -> None:
        function, dtype, found = PRODUCTS[name]
        assert results(rewritten(recipe, function, *matrices(dtype))) == [found]

    @pytest.mark.parametrize("output", ["f32", "bf16"])
    def test_are_of_the_format_that_the_recipe_names(self, recipe: str, output: str) -> None:
        settings = {"matmul.output": output}
        assert results(rewritten(recipe, jnp.matmul, *matrices(BF16), **settings)) == [output]

    @pytest.mark.parametrize(
        "moved", [lambda y: y, jnp.transpose, lambda y: y.T.reshape(4, -1), lambda y: y.ravel()]
    )
    def test_that_are_only_rounded_are_bf16(self, recipe: str, moved: Any) -> None:
        module = rewritten(recipe, lambda x, w: moved(widened(x, w)).astype(BF16), *matrices(BF16))
        assert results(module) == ["bf16"]
        tensors = ops(module, "convert", "reshape", "transpose")
        large = [op for op in tensors if op.operands[0].owner == ops(module, "dot_general")[0]]
        assert {element(op.results[0]) for op in large} <= {"bf16"}


@pytest.mark.parametrize("output", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp8-current", "fp8-delayed"])
def test_results_are_reported_in_the_format_of_the_recipe(recipe: str, output: str) -> None:
    """In f16 they are rounded after the scale."""
    settings = {"matmul.output": output, "matmul.smallest": 1}
    program = program_of(jnp.matmul, *matrices(np.float32))
    new, told = sh.rewrite(program, recipe=recipe, settings=settings, report=True)
    assert [matmul.formats[2] for matmul in told.matmuls] == [output]
    assert f"x{output}>" in new.mlir_module()


@pytest.mark.parametrize("recipe", OWN)
def test_one_product_by_a_bf16_scale_stands_behind_a_matmul(recipe: str) -> None:
    """A second one would be a kernel of its own."""
    module = rewritten(recipe, lambda x, w: jnp.tanh(x @ w), *matrices(BF16))
    (dot,) = ops(module, "dot_general")
    (scaled,) = [use.owner.operation for use in dot.results[0].uses]
    assert scaled.name == "stablehlo.multiply"
    assert [element(v) for v in scaled.operands] == ["bf16", "bf16"]
    assert [use.owner.operation.name for use in scaled.results[0].uses] == ["stablehlo.tanh"]


class TestWidenedOperands:
    """JAX widens an operand of a matmul whose sum is f32; other matmuls read it as it was."""

    @staticmethod
    def shared(x: jax.Array, w: jax.Array) -> jax.Array:
        return x @ w + widened(x, w).astype(BF16)

    @pytest.mark.parametrize("recipe", FP8)
    def test_share_the_cast_of_what_was_widened(self, recipe: str) -> None:
        module = rewritten(recipe, self.shared, *matrices(BF16))
        casts = [op for op in ops(module, "convert") if element(op.results[0]).startswith("f8")]
        assert len(casts) == 2
        assert results(module) == ["bf16", "bf16"]

    @pytest.mark.parametrize("recipe", ["fp8-current", "fp8-delayed"])
    def test_are_measured_once(self, recipe: str) -> None:
        module = rewritten(recipe, self.shared, *matrices(BF16))
        amaxes = ops(module, "reduce")
        read = [
            op for op in amaxes if op.operands[0].type.rank == 2 and K in op.operands[0].type.shape
        ]
        assert len(read) == 2

    def test_are_read_in_f32_if_bf16_could_not_hold_them(self) -> None:
        def rounding(x: jax.Array, w: jax.Array) -> jax.Array:
            return x.astype(BF16).astype(jnp.float32) @ w

        module = rewritten("fp8-current", rounding, *matrices(np.float32))
        made = [op.results[0] for op in ops(module, "convert")]
        rounds = [value for value in made if element(value) == "bf16" and value.type.rank]
        assert len(rounds) == 1


@pytest.mark.parametrize(
    ("wide", "narrow", "included"),
    [
        *[("f32", "bf16", True), ("f32", "f16", True), ("f64", "f32", True)],
        *[("bf16", "bf16", True), ("bf16", "f16", False), ("f16", "bf16", False)],
        ("f32", "f64", False),
    ],
)
def test_formats_include_others(wide: str, narrow: str, included: bool) -> None:
    assert FORMATS[wide].includes(FORMATS[narrow]) == included
