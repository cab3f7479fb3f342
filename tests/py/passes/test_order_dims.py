"""Matmuls for GPUs have their dimensions in the order of their largest tensor."""

from __future__ import annotations

import math
import random
import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.passes.summary import summary
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.transforms.matmul_dims import order_dims
from tests.py.shared.judge import (
    assert_all_equal,
    evaluate,
    normals,
    parse,
    shaped,
    stablehlo_of,
    unrecorded,
)

Shapes = tuple[tuple[int, ...], ...]

GROUPED = ((2, 16, 2, 4, 8), (2, 16, 2, 8), (2, 16, 2, 8))
"""Queries, keys and values: batch, positions, groups, heads of a group, and width."""


def ordered(text: str, *, sums: bool = True) -> tuple[ir.Module, int]:
    module = parse(text)
    with module.context, ir.Location.unknown():
        count = order_dims(module.operation, sums=sums)
    assert module.operation.verify()
    return module, count


def transposed_sizes(text: str) -> list[int]:
    """The numbers of elements of all tensors that are transposed."""
    shapes = re.findall(r"stablehlo\.transpose.*?: \(tensor<([\dx]*)x\w+>\)", text)
    return [math.prod(map(int, shape.split("x"))) for shape in shapes]


def drawn_matmul(rng: random.Random) -> tuple[str, list[np.ndarray]]:
    """A matmul of random dimensions, and its inputs.

    What is rounded and scaled of its result is transposed. The inputs are small integers.
    """
    groups = [rng.randint(0, 2), rng.randint(1, 2), rng.randint(1, 3), rng.randint(1, 3)]
    sizes = [[rng.choice((1, 2, 3, 4)) for _ in range(count)] for count in groups]
    sizes[2:] = [[size + 1 for size in dims] for dims in sizes[2:]]
    batch, summed, *free = sizes
    operands, numbers = list[list[int]](), list[tuple[list[int], list[int]]]()
    for dims in free:
        tagged = [
            (size, kind, i)
            for kind, s in enumerate((batch, summed, dims))
            for i, size in enumerate(s)
        ]
        rng.shuffle(tagged)
        places = [
            [next(d for d, t in enumerate(tagged) if t[1:] == (kind, i)) for i in range(len(s))]
            for kind, s in enumerate((batch, summed))
        ]
        # The free dimensions of a result are in the order in which the operand has them.
        operands.append([size for size, *_ in tagged])
        numbers.append((places[0], places[1]))
    result = list(batch)
    for shape, (batched, contracted) in zip(operands, numbers, strict=True):
        result += [n for d, n in enumerate(shape) if d not in (*batched, *contracted)]
    moves = list(range(len(result)))
    rest = moves[len(batch) :]
    rng.shuffle(rest)
    moves[len(batch) :] = rest
    types = ["x".join([*map(str, shape), "f32"]) for shape in (*operands, result)]
    last = "x".join([*(str(result[d]) for d in moves), "f32"])
    text = f"""func.func @main(%x: tensor<{types[0]}>, %w: tensor<{types[1]}>) -> tensor<{last}> {{
  %0 = stablehlo.dot_general %x, %w, batching_dims = {numbers[0][0]} x {numbers[1][0]},
    contracting_dims = {numbers[0][1]} x {numbers[1][1]}
    : (tensor<{types[0]}>, tensor<{types[1]}>) -> tensor<{types[2]}>
  %c = stablehlo.constant dense<0.5> : tensor<{types[2]}>
  %1 = stablehlo.multiply %0, %c : tensor<{types[2]}>
  %2 = stablehlo.transpose %{rng.choice((0, 1))}, dims = {moves}
    : (tensor<{types[2]}>) -> tensor<{last}>
  return %2 : tensor<{last}>
}}"""
    draw = np.random.default_rng(rng.randrange(1 << 30))
    arrays = [draw.integers(-8, 8, shape).astype(np.float32) for shape in operands]
    return text.replace("batching_dims = [] x [],", ""), arrays


@pytest.mark.parametrize("seed", range(8))
def test_random_matmuls_keep_their_bits(seed: int) -> None:
    """Without sums, products of random floats are added in the same order."""
    rng, changed, draw = random.Random(seed), 0, np.random.default_rng(seed)
    for _ in range(40):
        text, integers = drawn_matmul(rng)
        floats = [draw.standard_normal(each.shape).astype(np.float32) for each in integers]
        new, count = ordered(text)
        changed += count
        assert ordered(str(new))[1] == 0
        for module, arrays in ((new, integers), (ordered(text, sums=False)[0], floats)):
            assert_all_equal(evaluate(module, arrays), evaluate(parse(text), arrays))
    assert changed


def scores_of(q: jax.Array, k: jax.Array) -> jax.Array:
    return jnp.einsum("bqghd,bkgd->bghqk", q, k) * 0.5


def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    weights = jax.nn.softmax(scores_of(q, k), axis=-1)
    return jnp.einsum("bghqk,bkgd->bqghd", weights, v)


def gradients() -> tuple[jax.export.Exported, list[np.ndarray]]:
    arrays = normals(*GROUPED)
    fn = jax.jit(jax.grad(lambda *a: jnp.sum(jnp.square(attention(*a))), (0, 1, 2)))
    return jax.export.export(fn)(*arrays), arrays


@pytest.mark.parametrize("recipe", ["unit", "fp8", "fp8-current"])
def test_gradients_of_attention_are_equal(recipe: str) -> None:
    """Sums in another order may round to another number of f8."""
    exported, arrays = gradients()
    found = []
    for target in ("any", "gpu"):
        settings = {"target": target, "matmul.smallest": 1, "compute": "keep"}
        new, report = scalify_hlo.rewrite(exported, recipe=recipe, settings=settings, report=True)
        found.append(new.call(*arrays))
        assert (report.ordered > 0) == (target == "gpu")
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=0, atol=1e-3 * float(np.abs(other).max()))


def product(shapes: Shapes, summed: Any, *orders: tuple[int, ...]) -> str:
    """A matmul whose first operand is transposed."""

    def fn(x: jax.Array, w: jax.Array) -> jax.Array:
        for order in orders:
            x = x.transpose(order)
        return jax.lax.dot_general(x, w, (summed, ((), ())))

    return stablehlo_of(fn, *(shaped(*shape) for shape in shapes))


@pytest.mark.parametrize(
    ("shapes", "summed", "orders", "found"),
    [
        (((4, 3, 5, 8), (5, 3, 2)), ((2, 3), (0, 1)), [(0, 3, 2, 1)], "[3, 2] x [1, 0]"),
        (((4, 3, 5, 8), (5, 3, 2)), ((1, 0), (0, 1)), [(1, 2, 3, 0)], "[0, 1] x [1, 0]"),
        (
            ((4, 3, 5, 8), (5, 3, 2)),
            ((1, 3), (0, 1)),
            [(3, 0, 1, 2), (0, 3, 1, 2)],
            "[3, 1] x [1, 0]",
        ),
    ],
    ids=["exchanged", "rotated", "twice"],
)
def test_a_sum_has_the_order_of_its_larger_operand(
    shapes: Shapes, summed: Any, orders: list[tuple[int, ...]], found: str
) -> None:
    """That in memory: the one before all transposes."""
    text = product(shapes, summed, *orders)
    new, count = ordered(text)
    assert count == 1
    assert f"contracting_dims = {found}" in str(new)
    assert ordered(text, sums=False)[1] == 0


MATMUL = """func.func @main(%x: tensor<2x8x4xf32>, %w: tensor<2x3x5x4xf32>) -> {result} {{
  %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [3] {mark}
    : (tensor<2x8x4xf32>, tensor<2x3x5x4xf32>) -> tensor<2x8x3x5xf32>
  {more}
}}"""
RESULT = "tensor<2x8x5x3xf32>"
TURN = f"%1 = stablehlo.transpose %0, dims = [0, 1, 3, 2] : (tensor<2x8x3x5xf32>) -> {RESULT}"


def test_optimize_orders_the_original_for_gpus() -> None:
    exported, arrays = gradients()
    how: dict[str, Any] = {"recipe": "propagate", "optimize": True, "report": True}
    new, report = scalify_hlo.rewrite(exported, settings={"target": "gpu"}, **how)
    assert report.ordered > 0
    assert "in another order of dimensions" in summary(report)
    text, old = (str(each.mlir_module()) for each in (new, exported))
    assert sum(transposed_sizes(text)) < sum(transposed_sizes(old))
    assert_all_equal(*(evaluate(parse(each), arrays) for each in (text, old)))
    _, report = scalify_hlo.rewrite(exported, **how)
    assert report.ordered == 0
    assert any("--optimize has no effect" in remark.message for remark in report.remarks)


def test_numbers_that_two_ops_share_are_erased_once() -> None:
    """Other readers of them keep the old ones."""
    text = """func.func @main(%x: tensor<2x8x4xf32>, %w: tensor<2x3x4xf32>, %r: tensor<f32>)
    -> (tensor<2x3x8xf32>, tensor<2x8x3xf32>) {
  %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [2]
    : (tensor<2x8x4xf32>, tensor<2x3x4xf32>) -> tensor<2x8x3xf32>
  %c = stablehlo.constant dense<0.5> : tensor<2x8x3xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<2x8x3xf32>
  %1 = stablehlo.multiply %0, %c : tensor<2x8x3xf32>
  %2 = stablehlo.multiply %1, %c : tensor<2x8x3xf32>
  %3 = stablehlo.multiply %b, %2 : tensor<2x8x3xf32>
  %4 = stablehlo.transpose %3, dims = [0, 2, 1] : (tensor<2x8x3xf32>) -> tensor<2x3x8xf32>
  return %4, %b : tensor<2x3x8xf32>, tensor<2x8x3xf32>
}"""
    new, count = ordered(text)
    assert count == 1
    assert "stablehlo.transpose" not in str(new)
    assert len(re.findall(r"stablehlo\.constant.*tensor<2x8x3xf32>", str(new))) == 0
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-8, 8, shape).astype(np.float32) for shape in ((2, 8, 4), (2, 3, 4), ())]
    assert_all_equal(evaluate(new, arrays), evaluate(parse(text), arrays))


KEPT = """func.func @main(%x: tensor<2x8x4xf32>, %w: tensor<2x3x5x4xf32>) -> tensor<2x8x5x3xf32> {{
  %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [3]
    {dot} : (tensor<2x8x4xf32>, tensor<2x3x5x4xf32>) -> tensor<2x8x3x5xf32>
  {between}
  %2 = "stablehlo.transpose"(%{last}) {{permutation = array<i64: {moves}> {mark}}}
    : ({type}) -> {result}
  %3 = stablehlo.custom_call @keep(%2) : ({result}) -> tensor<2x8x5x3xf32>
  return %3 : tensor<2x8x5x3xf32>
}}"""
SCALED = (
    '%c = stablehlo.constant dense<0.5> : tensor<2x8x3x5xf32>\n  %1 = "stablehlo.multiply"(%0, %c)'
)
TYPES = "(tensor<2x8x3x5xf32>, tensor<2x8x3x5xf32>) -> tensor<2x8x3x5xf32>"


def kept(**given: str) -> str:
    plain = {
        "dot": "",
        "between": "",
        "last": "0",
        "moves": "0, 1, 3, 2",
        "mark": "",
        "type": "tensor<2x8x3x5xf32>",
        "result": "tensor<2x8x5x3xf32>",
    }
    return KEPT.format(**plain | given)


PLACED = 'mhlo.sharding = "{replicated}"'
SHARDY = 'mhlo.frontend_attributes = {xla.sdy.sharding = "#sdy.sharding_per_value<[<@m, [{}]>]>"}'


SCALE = f"{SCALED} : {TYPES}"
TURNED = MATMUL.format(mark="", more=f"{TURN}\n  return %1 : {RESULT}", result=RESULT)


def vector(x: jax.Array, w: jax.Array) -> jax.Array:
    return jax.lax.dot_general(x, w, (((1,), (3,)), ((0,), (0,)))).transpose(0, 2, 1)


STAYING = {
    "a sum over dimensions that are apart": product(((3, 4, 5, 8), (5, 3, 2)), ((2, 0), (0, 1))),
    "a sum of operands of one size": product(((4, 3, 5), (5, 3, 4)), ((2, 1), (0, 1))),
    "an operand as large as the result": TURNED.replace("x4xf32", "x64xf32"),
    "a vector": stablehlo_of(vector, shaped(2, 4), shaped(2, 9, 8, 4)),
    "complex numbers": kept(between=SCALE, last="1")
    .replace("f32", "complex<f32>")
    .replace("dense<0.5>", "dense<(0.5, 1.0)>"),  # which the bindings of MLIR cannot read
    "a result that is read in both orders": MATMUL.format(
        mark="",
        more=f"{TURN}\n  return %1, %0 : {RESULT}, tensor<2x8x3x5xf32>",
        result=f"({RESULT}, tensor<2x8x3x5xf32>)",
    ),
    "a result that nothing transposes": MATMUL.format(
        mark="", more="return %0 : tensor<2x8x3x5xf32>", result="tensor<2x8x3x5xf32>"
    ),
    "a batch dimension that is moved": kept(moves="1, 0, 3, 2", result="tensor<8x2x5x3xf32>"),
    "a dimension that is moved further": kept(moves="0, 3, 1, 2", result="tensor<2x5x8x3xf32>"),
    # A transpose may know less of its sizes than its operand, or say more of its type.
    **{
        result: kept(result=result)
        for result in (
            "tensor<2x8x?x3xf32>",
            "tensor<2x8x?x3xf32, #stablehlo.bounds<?, ?, 5, ?>>",
            'tensor<2x8x5x3xf32, "other">',
        )
    },
    **{
        f"{op} on devices by {mark}": text
        for mark in (PLACED, SHARDY)
        for op, text in (
            ("a matmul", kept(dot=f"{{{mark}}}")),
            ("a transpose", kept(mark=f", {mark}")),
            ("a factor", kept(between=f"{SCALED} {{{mark}}} : {TYPES}", last="1")),
        )
    },
    **{
        between: kept(between=between, last="1")
        for between in (
            f"%c = stablehlo.constant dense<{[float(each) for each in range(8)]}> : tensor<8xf32>\n"
            "  %b = stablehlo.broadcast_in_dim %c, dims = [1]"
            " : (tensor<8xf32>) -> tensor<2x8x3x5xf32>\n"
            f'  %1 = "stablehlo.multiply"(%0, %b) : {TYPES}',
            "%1, %b = stablehlo.optimization_barrier %0, %w"
            " : tensor<2x8x3x5xf32>, tensor<2x3x5x4xf32>",
            SCALE.replace("multiply", "power"),
            "%1 = stablehlo.multiply %0, %0 : tensor<2x8x3x5xf32>",
            "%c = stablehlo.constant dense<0.5> : tensor<2x8x3x5xf32>\n"
            "  %l = stablehlo.broadcast_in_dim %c, dims = [0, 1, 2, 3]"
            " : (tensor<2x8x3x5xf32>) -> tensor<2x8x3x5xf32>\n"
            "  %1 = stablehlo.clamp %l, %0, %c : tensor<2x8x3x5xf32>",
        )
    },
}


@pytest.mark.parametrize("name", STAYING)
def test_others_stay(name: str) -> None:
    assert ordered(STAYING[name])[1] == 0


@pytest.mark.parametrize("text", [TURNED, kept(between=SCALE, last="1")], ids=["alone", "scaled"])
def test_what_the_others_differ_from_is_ordered(text: str) -> None:
    assert ordered(text)[1] == 1


def test_a_clamp_and_a_barrier_between_are_made_in_the_order_of_the_reader() -> None:
    between = """%low = stablehlo.constant dense<-4.0> : tensor<f32>
  %high = stablehlo.constant dense<4.0> : tensor<2x8x3x5xf32>
  %h = stablehlo.constant dense<4.0> : tensor<f32>
  %b = stablehlo.optimization_barrier %0 : tensor<2x8x3x5xf32>
  %1 = stablehlo.clamp %low, %b, %h
    : (tensor<f32>, tensor<2x8x3x5xf32>, tensor<f32>) -> tensor<2x8x3x5xf32>"""
    new, count = ordered(kept(between=between, last="1"))
    assert count == 1
    assert "optimization_barrier %1 : tensor<2x8x5x3xf32>" in str(new)
    assert transposed_sizes(str(new)) == [2 * 3 * 5 * 4]


def test_precisions_are_swapped_with_the_operands() -> None:
    text = """func.func @main(%x: tensor<2x3x4xf32>, %w: tensor<2x8x5x4xf32>)
    -> tensor<2x5x8x3xf32> {
  %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [2] x [3],
    precision = [HIGHEST, DEFAULT] {mhlo.other = 1 : i32}
    : (tensor<2x3x4xf32>, tensor<2x8x5x4xf32>) -> tensor<2x3x8x5xf32>
  %1 = stablehlo.transpose %0, dims = [0, 3, 2, 1] {mhlo.mark = 2 : i32}
    : (tensor<2x3x8x5xf32>) -> tensor<2x5x8x3xf32>
  return %1 : tensor<2x5x8x3xf32>
}"""
    assert ordered(text)[1] == 0  # The operand that would be transposed is larger.
    new, count = ordered(text.replace("x4xf32", "x1xf32"))
    assert count == 1
    assert "precision = [DEFAULT, HIGHEST]" in str(new)
    assert "mhlo.other = 1" in str(new)
    assert "mhlo.mark = 2" in str(new)


def test_a_scatter_of_complex_numbers_is_left() -> None:
    fn = jax.jit(jax.grad(lambda x, i: jnp.sum(jnp.abs(jnp.take_along_axis(x, i, 1)))))
    types = shaped(4, 8, dtype=jnp.complex64), shaped(4, 1, dtype=jnp.int32)
    how: dict[str, Any] = {"recipe": "propagate", "optimize": True, "report": True}
    _, report = scalify_hlo.rewrite(jax.export.export(fn)(*types), **how)
    assert report.optimized == 0


def test_the_pass_is_for_gpus_and_stands_behind_those_that_move_factors() -> None:
    exported, _ = gradients()
    settings = {"matmul.smallest": 1, "compute": "keep"}
    for target, wanted in (("rocm", True), ("b200", True), ("tpu", False), ("cpu", False)):
        if target == "cpu":
            target = "any"
        report = scalify_hlo.rewrite(
            exported,
            recipe="fp8-current",
            settings=settings | {"target": target},
            report=True,
        )[1]
        assert (report.ordered > 0) == wanted
    passes = [each.name for each in Options(load_recipe("fp8", {"target": "h200"})).passes()]
    late = ["late-factors", "round-results", "order-dims", "cast-again"]
    found = [name.removeprefix("scalify-") for name in passes]
    assert [name for name in found if name in late] == [n for n in late if n in found]
    assert "scalify-order-dims" in passes
    probed = Options(load_recipe("fp8", {"target": "h200"}), probe=True, optimize=True).passes()
    assert "scalify-order-dims" not in [each.name for each in probed]


@pytest.mark.parametrize("recipe", ["fp8-current", "unit"])
def test_programs_that_are_exported_for_cuda_alone_are_for_gpus(recipe: str) -> None:
    """Such a program runs nowhere else. The rest of the model keeps its format, as with `any`."""
    shapes = [shaped(*shape) for shape in GROUPED]
    fn = jax.jit(jax.grad(lambda *a: jnp.sum(jnp.square(attention(*a))), (0, 1, 2)))
    how: dict[str, Any] = {"recipe": recipe, "report": True}
    texts = {}
    for platforms in (("cuda",), ("cuda", "cpu")):
        exported = jax.export.export(fn, platforms=platforms)(*shapes)
        settings: dict[str, Any] = {"matmul.smallest": 1}
        new, report = scalify_hlo.rewrite(exported, settings=settings, **how)
        assert (report.ordered > 0) == (len(platforms) == 1)
        assert report.compute is None
        settings |= {"target": "gpu", "compute": "keep"}
        told, _ = scalify_hlo.rewrite(exported, settings=settings, **how)
        texts[platforms] = [unrecorded(str(each.mlir_module())) for each in (new, told)]
    assert texts["cuda",][0] == texts["cuda",][1]
    exported = jax.export.export(fn, platforms=("cuda",))(*shapes)
    _, report = scalify_hlo.rewrite(exported, recipe="propagate", optimize=True, report=True)
    assert report.ordered > 0
