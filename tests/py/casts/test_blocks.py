"""Block scales: the operands of matmuls, compared with NumPy bit by bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.ir import emit
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.run.runner import compile_module
from tests.py.devices import eight_devices, sharded_blocks
from tests.py.shared.block_numpy import Array, Quantized, blocked
from tests.py.shared.judge import (
    assert_all_equal,
    decibels,
    evaluate,
    main_of,
    parse,
    program_of,
    shaped,
    stablehlo_of,
)

PRESETS = {
    "mxfp8": ("f8E4M3FN", 32, "e8m0", False),
    "fp8-block": ("f8E4M3FN", 128, "f32", True),
    "nvfp4": ("f4E2M1FN", 16, "e4m3", True),
    "mxfp4": ("f4E2M1FN", 32, "e8m0", False),
}
ROUNDINGS = ("floor", "even", "ceil", "rceil")
SIZES = [(32, 64, 48), (20, 100, 17), (130, 200, 150)]
"""M, K and N: whole blocks, blocks with a rest, and squares with a rest."""

INTERPRETED = 10_000
"""The interpreter takes milliseconds for each element of larger tensors."""


@pytest.fixture(autouse=True)
def _code_for_f4(request: pytest.FixtureRequest) -> None:
    if "fp4" in request.node.name:
        request.getfixturevalue("default_code")


def gradients(x: jax.Array, w: jax.Array, d: jax.Array) -> Any:
    y, vjp = jax.vjp(lambda x, w: x @ w, x, w)
    return y, *vjp(d)


def rewritten(fn: Callable[..., Any], inputs: Sequence[Any], recipe: str, **settings: Any) -> str:
    text = stablehlo_of(fn, *inputs)
    settings = {"matmul.smallest": 1} | {k.replace("__", "."): v for k, v in settings.items()}
    return str(scalify_hlo.rewrite(text, recipe=recipe, settings=settings, strict=True))


def decomposed(op: ir.OpView) -> list[ir.Value]:
    """Returns the data and the scales of a decomposition in the program."""
    products = [list(value.owner.operands) for value in op.operands]
    data = [product[0].owner.operands[0] for product in products]
    scales = [product[1] for product in products]
    return data + [scale.owner.operands[0].owner.operands[0] for scale in scales]


def operands(text: str, inputs: Sequence[Any]) -> list[list[Array]]:
    """Returns the data and the scales of each matmul in f32, by XLA and by the interpreter."""
    module = parse(text)
    with module.context, ir.Location.unknown():
        main = main_of(module)
        block = main.regions[0].blocks[0]
        end = list(block.operations)[-1].operation
        found: list[ir.Value] = []
        for op in block.operations:
            if op.operation.name == "stablehlo.composite":
                assert op.attributes["name"].value == "xla.scaled_dot"
                found += list(op.operands)
            elif op.operation.name == "stablehlo.dot_general":
                found += decomposed(op)
        wide = [emit.convert(value, ir.F32Type.get(), end) for value in found]
        ir.Operation.create(
            "func.return", operands=wide, loc=end.location, ip=ir.InsertionPoint(end)
        )
        end.erase()
        types = ir.FunctionType.get([a.type for a in block.arguments], [v.type for v in wide])
        main.attributes["function_type"] = ir.TypeAttr.get(types)
        if "res_attrs" in main.attributes:
            del main.attributes["res_attrs"]
        edited = str(module)
    values = [np.asarray(each) for each in compile_module(edited)(inputs)]
    if sum(value.size for value in values) < INTERPRETED:
        assert_all_equal(values, evaluate(parse(edited), inputs))
    return [values[i : i + 4] for i in range(0, len(values), 4)]


def normal(*shape: int, seed: int = 0) -> Array:
    """Numbers of many magnitudes."""
    rng = np.random.default_rng(seed)
    sizes = np.exp2(rng.integers(-8, 8, size=(*shape[:-1], 1)))
    return (rng.normal(size=shape) * sizes).astype(np.float32)


def assert_same(found: list[Array], lhs: Quantized, rhs: Quantized) -> None:
    assert_all_equal(found, (lhs.data, rhs.data, lhs.scale, rhs.scale))


def check(recipe: str, sizes: tuple[int, int, int], rounding: str = "rceil") -> None:
    m, k, n = sizes
    x, w, d = normal(m, k), normal(k, n, seed=1), normal(m, n, seed=2)
    settings = {"blocks__rounding": rounding} if rounding != "rceil" else {}
    format_, size, scale, square = PRESETS[recipe]

    def of(value: Array, *, weight: bool = False) -> Quantized:
        return blocked(value, format_, size, scale, rounding, square and weight)

    pairs = [
        (of(x), of(w.T, weight=True)),
        (of(d), of(w, weight=True)),
        (of(x.T), of(d.T)),
    ]
    text = rewritten(gradients, (x, w, d), recipe, **settings)
    found = operands(text, (x, w, d))
    assert len(found) == len(pairs)
    results = compile_module(text)((x, w, d))
    wanted = {tuple(p[0].data.shape[:1]) + tuple(p[1].data.shape[:1]): p for p in pairs}
    for each in found:
        key = each[0].shape[0], each[1].shape[0]
        if key in wanted:
            assert_same(each, *wanted[key])
        else:  # JAX writes the gradient of a weight as the transpose of this product.
            assert_same(each, *reversed(wanted[key[::-1]]))
    for value, (lhs, rhs) in zip(results, pairs, strict=True):
        exact, most = lhs.wide @ rhs.wide.T, np.abs(lhs.wide) @ np.abs(rhs.wide).T
        np.testing.assert_array_less(np.abs(value - exact), 1e-5 * most + 1e-30)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("recipe", PRESETS)
def test_operands_forward_and_backward_are_those_of_numpy(
    recipe: str, sizes: tuple[int, int, int]
) -> None:
    check(recipe, sizes)


def one_matmul(recipe: str, settings: dict[str, object]) -> str:
    """A rewritten matmul."""
    x, w = (shaped(*shape) for shape in ((64, 256), (256, 48)))
    exported = program_of(lambda x, w: x @ w, x, w)
    new, _ = scalify_hlo.rewrite(exported, recipe=recipe, settings=settings, report=True)
    return str(new.mlir_module())


@pytest.mark.parametrize(
    ("recipe", "settings", "composites"),
    [
        ("mxfp8", {}, True),
        ("mxfp8", {"blocks.size": 64}, False),
        ("fp8-block", {"blocks.scale": "e8m0"}, False),
        ("fp8-block", {}, True),
        ("nvfp4", {}, True),
        ("mxfp4", {}, False),
    ],
)
def test_there_is_no_composite_that_gpus_refuse(
    recipe: str, settings: dict[str, object], composites: bool
) -> None:
    for target in ("any", "gpu"):
        text = one_matmul(recipe, {"target": target, **settings})
        assert ("stablehlo.composite" in text) == composites, target


@pytest.mark.parametrize(
    ("recipe", "settings", "operand"),
    [
        ("mxfp4", {"target": "any"}, "f32"),
        ("mxfp4", {"target": "gpu"}, "bf16"),
        ("mxfp8", {"target": "gpu"}, "bf16"),
        ("fp8-block", {"target": "gpu", "blocks.scale": "e8m0"}, "bf16"),
        ("fp8-block", {"target": "gpu"}, "f32"),
        ("nvfp4", {"target": "gpu"}, "bf16"),
    ],
)
def test_gpus_multiply_bf16_if_it_is_exact(
    recipe: str, settings: dict[str, object], operand: str
) -> None:
    operands = f"(tensor<64x256x{operand}>, tensor<48x256x{operand}>)"
    assert f"{operands} -> tensor<64x48xf32>" in one_matmul(recipe, settings)


@pytest.mark.parametrize("rounding", ROUNDINGS)
@pytest.mark.parametrize("recipe", ["mxfp8", "mxfp4"])
def test_power_of_two_scales_are_rounded_as_the_recipe_says(recipe: str, rounding: str) -> None:
    check(recipe, (20, 100, 17), rounding)


def edges() -> Array:
    """One block for each case at the ends of f32, and around the largest number of a format."""
    most = np.finfo(np.float32).max
    firsts = [0.0, 1.0, 2.0**-149, 2.0**-126, 2.0**-120, 2.0**-118, 2.0**-110, most, 2.0**127]
    for largest in (448.0, 57344.0, 6.0):
        firsts += [largest, np.nextafter(np.float32(largest), np.float32(1e9)), largest * 2.0**-100]
    rows = np.zeros((len(firsts), 32), np.float32)
    rows[:, 0] = np.asarray(firsts, np.float32)
    rows[:, 1] = -rows[:, 0] / 3
    return rows


@pytest.mark.parametrize("format_", ["f8E4M3FN", "f4E2M1FN", "f8E5M2"])
@pytest.mark.parametrize("rounding", ROUNDINGS)
def test_scales_at_the_ends_of_the_range(rounding: str, format_: str) -> None:
    x, w = edges(), np.eye(32, dtype=np.float32)
    recipe = "mxfp4" if format_ == "f4E2M1FN" else "mxfp8"
    settings = {"blocks__rounding": rounding}
    if format_ == "f8E5M2":
        settings["matmul__activation"] = format_
    text = rewritten(lambda x, w: x @ w, (x, w), recipe, **settings)
    (found,) = operands(text, (flushed(x), w))
    expected = blocked(flushed(x), format_, 32, "e8m0", rounding)
    np.testing.assert_array_equal(found[0], expected.data)
    np.testing.assert_array_equal(found[2], expected.scale)
    assert (np.abs(np.log2(found[2])) <= 126).all()


def flushed(value: Array) -> Array:
    """Returns numbers as XLA reads them: it has no subnormal ones."""
    return np.where(np.abs(value) < 2.0**-126, np.float32(0), value)


@pytest.mark.parametrize("target", ["cpu", "any"])
@pytest.mark.parametrize("recipe", PRESETS)
def test_a_block_that_is_not_finite_makes_its_row_nan(recipe: str, target: str) -> None:
    x, w = normal(4, 256), normal(256, 16)
    run = compile_module(rewritten(lambda x, w: x @ w, (x, w), recipe, target=target))
    size = {"nvfp4": 16, "fp8-block": 128}.get(recipe, 32)
    for column in (0, 3, 31, 200, 255):
        without = x.copy()
        without[1, column // size * size :][:size] = 0
        (others,) = run((without, w))
        for bad in (np.inf, -np.inf, np.nan, -np.nan):
            given = x.copy()
            given[1, column] = bad
            (found,) = run((given, w))
            assert np.isnan(found[1]).all()
            np.testing.assert_array_equal(found[[0, 2, 3]], others[[0, 2, 3]])


@pytest.mark.parametrize("recipe", PRESETS)
def test_the_decomposition_is_what_the_composite_says(recipe: str) -> None:
    inputs = normal(20, 100), normal(100, 17), normal(20, 17)
    plain, composite = (
        compile_module(rewritten(gradients, inputs, recipe, target=target))(inputs)
        for target in ("cpu", "any")
    )
    for one, other in zip(plain, composite, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5 * np.abs(one).max())


CONTRACTIONS = {
    "batched": ("bqd,bkd->bqk", (3, 8, 40), (3, 24, 40)),
    "heads": ("bqhd,bkhd->bhqk", (2, 8, 3, 40), (2, 24, 3, 40)),
    "two dimensions": ("bthd,hdk->btk", (2, 8, 3, 20), (3, 20, 16)),
    "a vector": ("k,kn->n", (40,), (40, 16)),
    "no free dimension": ("bk,bk->b", (4, 40), (4, 40)),
}


@pytest.mark.parametrize("how", CONTRACTIONS)
@pytest.mark.parametrize("recipe", PRESETS)
def test_any_contraction_is_quantized(recipe: str, how: str) -> None:
    equation, left, right = CONTRACTIONS[how]
    x, w = np.abs(normal(*left)), np.abs(normal(*right, seed=1))
    text = rewritten(lambda x, w: jnp.einsum(equation, x, w), (x, w), recipe)
    (each,) = operands(text, (x, w))
    (found,) = compile_module(text)((x, w))
    exact = np.einsum(equation, x.astype(np.float64), w.astype(np.float64))
    assert decibels(exact, found) > (12 if "fp4" in recipe else 24)
    assert each[0].shape[-1] == each[1].shape[-1]


def count(text: str, format_: str) -> int:
    module = parse(text)
    casts = ops_in(module.operation, {"stablehlo.convert"})
    return sum(str(op.results[0].type.element_type) == format_ for op in casts)


def test_an_operand_is_cast_once_for_each_contracted_axis() -> None:
    x, w, d = normal(32, 64), normal(64, 32), normal(32, 32)
    assert count(rewritten(gradients, (x, w, d), "mxfp8", residuals="keep"), "f8E4M3FN") == 6
    shared = rewritten(lambda x, w, v: (x @ w, x @ v), (x, w, normal(64, 48)), "mxfp8")
    assert count(shared, "f8E4M3FN") == 3


def test_values_that_were_rounded_to_bf16_are_quantized_as_they_are() -> None:
    x, w = normal(32, 64), normal(64, 32)

    def fn(x: jax.Array, w: jax.Array) -> jax.Array:
        return (x.astype(jnp.bfloat16) @ w.astype(jnp.bfloat16)).astype(jnp.float32)

    (found,) = operands(rewritten(fn, (x, w), "mxfp8"), (x, w))
    short = [np.asarray(jnp.asarray(v, jnp.bfloat16), np.float32) for v in (x, w.T)]
    assert_same(found, *(blocked(v, "f8E4M3FN", 32, "e8m0") for v in short))


# What is left alone


def test_a_convolution_and_a_matmul_of_unknown_size_stay_wide_with_a_remark() -> None:
    def conv(x: jax.Array, w: jax.Array) -> jax.Array:
        return lax.conv(x, w, (1, 1), "SAME")

    exported = program_of(conv, normal(1, 16, 8, 8), normal(16, 16, 3, 3))
    _, report = scalify_hlo.rewrite(exported, recipe="mxfp8", report=True)
    assert any("only matmuls of two tensors have block scales" in r.message for r in report.remarks)
    (size,) = jax.export.symbolic_shape("b")
    x = shaped(size, 64)
    exported = program_of(lambda x, w: x @ w, x, normal(64, 32))
    _, report = scalify_hlo.rewrite(exported, recipe="mxfp8", report=True)
    assert any("need a static shape" in r.message for r in report.remarks)


def test_the_report_has_the_formats() -> None:
    exported = program_of(lambda x, w: x @ w, normal(32, 64), normal(64, 32))
    for recipe, (format_, *_) in PRESETS.items():
        _, report = scalify_hlo.rewrite(exported, recipe=recipe, report=True)
        assert report.narrowed == 1
        assert [m.formats for m in report.matmuls] == [(format_, format_, "f32")]


@pytest.mark.slow
def test_a_step_on_several_devices_is_that_on_one() -> None:
    errors = eight_devices.run(sharded_blocks.main, *PRESETS)
    assert len(errors) == len(PRESETS)
    assert max(map(max, errors)) < 1e-6
