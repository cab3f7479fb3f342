"""Matmuls of 8-bit data as matmuls of matrices, and matmuls and state behind copies."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax import export
from jax.sharding import AxisType, NamedSharding
from jax.sharding import PartitionSpec as P

import scalify_hlo
from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.casts.propagated import Flattening
from scalify_hlo.dataflow.frames import Frame
from scalify_hlo.dataflow.matmuls import _matmuls_of
from scalify_hlo.dataflow.state import is_used_elsewhere
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.program.program import read_text
from scalify_hlo.rules.placement import on_one_device
from scalify_hlo.run.runner import compile_module
from tests.py.shared.judge import parse, program_of, stablehlo_of

SIZES = {"a": 3, "b": 4, "c": 5, "d": 6, "e": 7}


def text_of(spec: str) -> tuple[str, list[np.ndarray]]:
    """An einsum of small integers, whose sums are exact in any order, and its operands."""
    names = spec.partition("->")[0].split(",")
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-8, 8, [SIZES[n] for n in name]).astype(np.float32) for name in names]
    exported = program_of(lambda *xs: jnp.einsum(spec, *xs), *arrays)
    return str(exported.mlir_module()), arrays


def matmul_of(module: ir.Module) -> ir.OpView:
    return ops_in(module.operation, {"stablehlo.dot_general"})[0].opview


@pytest.mark.parametrize(
    "spec",
    [
        *("abc,cde->abde", "abc,cd->abd", "ab,bcd->acd", "abc,abd->cd", "abc,bcd->ad"),
        *("abc,dab->cd", "abcd,bcde->ae", "abc,dbc->ad"),
    ],
)
def test_equal_to_the_matmul(spec: str) -> None:
    text, arrays = text_of(spec)
    expected = compile_module(text)(arrays)[0]
    module = parse(text)
    with module.context, ir.Location.unknown():
        op = matmul_of(module)
        made = Flattening().of(op, list(op.operands))
        assert made is not None
        operands = made.operands(list(op.operands), op)
        assert all(value.type.rank == 2 for value in operands)
        old = op.results[0]
        type_ = ir.RankedTensorType.get(made.shape, old.type.element_type)
        new = ir.Operation.create(
            "stablehlo.dot_general",
            results=[type_],
            operands=operands,
            attributes={"dot_dimension_numbers": made.numbers},
            loc=op.location,
            ip=ir.InsertionPoint(op),
        )
        back = stablehlo.reshape(old.type, new.result, loc=op.location, ip=ir.InsertionPoint(op))
        old.replace_all_uses_with(back)
        op.operation.erase()
        assert module.operation.verify()
        np.testing.assert_array_equal(compile_module(str(module))(arrays)[0], expected)


def test_alike_ones_are_looked_at_once() -> None:
    """What is summed over counts: the operands of both matmuls have the same types."""
    text = """func.func @main(%x: tensor<2x3x3xf32>, %w: tensor<3x3x4xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0]
    : (tensor<2x3x3xf32>, tensor<3x3x4xf32>) -> tensor<2x3x3x4xf32>
  %1 = stablehlo.dot_general %x, %w, contracting_dims = [1, 2] x [0, 1]
    : (tensor<2x3x3xf32>, tensor<3x3x4xf32>) -> tensor<2x4xf32>
  return
}"""
    module = parse(text)
    with module.context, ir.Location.unknown():
        main = module.body.operations[0]
        ops = list(main.regions[0].blocks[0].operations)[:2]
        flattening = Flattening()
        one, other = (flattening.of(op, list(op.operands)) for op in ops)
        assert one is not None
        assert other is not None
        assert (one.shape, other.shape) == ([6, 12], [2, 4])
        assert flattening.of(ops[0], list(ops[0].operands)) is one


@pytest.mark.parametrize(
    "spec", ["ab,bc->ac", "abc,abd->acd", "abc,bd->acd", "abc,b->ac", "ab,cab->c"]
)
def test_others_stay_as_they_are(spec: str) -> None:
    module = parse(text_of(spec)[0])
    with module.context:
        op = matmul_of(module)
        assert Flattening().of(op, list(op.operands)) is None


def test_dynamic_shapes_stay_as_they_are() -> None:
    shapes = jax.export.symbolic_args_specs([np.zeros((2, 3, 4), np.float32)], ["b, 3, 4"])
    exported = program_of(lambda x: x @ jnp.ones((4, 5)), *shapes)
    module = parse(str(exported.mlir_module()))
    with module.context:
        op = matmul_of(module)
        assert Flattening().of(op, list(op.operands)) is None


@pytest.mark.parametrize(
    ("head", "one"),
    [
        ("module {", True),
        ("module attributes {mhlo.num_partitions = 1 : i32} {", True),
        ("module attributes {mhlo.num_partitions = 8 : i32} {", False),
        ('module { sdy.mesh @mesh = <["x"=8]>', False),
    ],
)
def test_programs_of_several_devices_are_left(head: str, one: bool) -> None:
    module = parse(f"{head} func.func @main(%x: tensor<2xf32>) {{ return }} }}")
    with module.context:
        assert on_one_device(module.operation) == one


def test_both_matmuls_of_a_gradient_take_the_same_matrix() -> None:
    def step(w: jax.Array, x: jax.Array) -> Any:
        y, back = jax.vjp(lambda w, x: x @ w, w, x)
        return back(y)

    x, w = np.ones((2, 32, 64), np.float32), np.ones((64, 16), np.float32)
    text = stablehlo_of(step, w, x)
    rewritten = scalify_hlo.rewrite(text, recipe="fp8-current")
    lines = [line for line in rewritten.splitlines() if "stablehlo.dot_general" in line]
    assert len(lines) == 3
    assert all("tensor<2x32x" not in line for line in lines)


PROGRAM = """
sdy.mesh @mesh = <["devices"=1]>
func.func @main(%w: tensor<8x8xf32>, %x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {{
  {copies}
  %0 = stablehlo.{reads}
  %new = stablehlo.subtract %w, %0 : tensor<8x8xf32>
  return %new, %0 : tensor<8x8xf32>, tensor<8x8xf32>
}}
"""
COPIES = {
    "a barrier": "%d, %c = stablehlo.optimization_barrier %x, %w"
    " : tensor<8x8xf32>, tensor<8x8xf32>",
    "a constraint": "%c = sdy.sharding_constraint %w <@mesh, [{}, {}]> : tensor<8x8xf32>",
}
READS = {
    True: "dot_general %x, %c, contracting_dims = [1] x [0]"
    " : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>",
    False: "multiply %x, %c : tensor<8x8xf32>",
}


@pytest.mark.parametrize("matmul", [True, False])
@pytest.mark.parametrize("copies", COPIES)
def test_the_model_uses_a_weight_behind_a_copy(copies: str, *, matmul: bool) -> None:
    module = read_text(PROGRAM.format(copies=COPIES[copies], reads=READS[matmul])).module
    with module.context:
        main = main_function(module.operation)
        assert main is not None
        frame = Frame.of(main)
        assert is_used_elsewhere(frame.place(main.arguments[0])) is matmul
        frame.release()


@pytest.mark.parametrize("copies", COPIES)
def test_matmuls_of_a_tensor_behind_a_copy(copies: str) -> None:
    module = read_text(PROGRAM.format(copies=COPIES[copies], reads=READS[True])).module
    with module.context:
        main = main_function(module.operation)
        assert main is not None
        (matmul,) = ops_in(main, {"stablehlo.dot_general"})
        for value in (main.arguments[0], matmul.operands[1]):
            assert _matmuls_of(value) == [matmul]


def test_state_of_a_step_on_explicit_axes() -> None:
    """Explicit axes constrain each tensor; the state is found as on automatic ones."""
    optimizer = optax.adam(1e-3)

    def loss(w: Any, x: jax.Array) -> jax.Array:
        return jnp.mean((jnp.tanh(x @ w["a"]) @ w["b"]) ** 2)

    def step(w: Any, state: Any, x: jax.Array) -> Any:
        updates, state = optimizer.update(jax.grad(loss)(w, x), state, w)
        return optax.apply_updates(w, updates), state

    def stored(axes: AxisType) -> list[Any]:
        mesh = jax.make_mesh((1,), ("devices",), axis_types=(axes,))
        with jax.set_mesh(mesh):
            data = NamedSharding(mesh, P("devices", None))
            w = {
                name: jax.device_put(np.eye(16, dtype="f"), NamedSharding(mesh, P()))
                for name in "ab"
            }
            x = jax.device_put(np.ones((16, 16), "f"), data)
            exported = export.export(jax.jit(step))(w, optimizer.init(w), x)
        scaled = scalify_hlo.rewrite(exported, recipe="fp8-state8", signature="scaled")
        return [aval.dtype for aval in scaled.in_avals]

    assert stored(AxisType.Explicit) == stored(AxisType.Auto)
    assert jnp.float8_e4m3fn in stored(AxisType.Explicit)
