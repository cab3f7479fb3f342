"""Block scales: stochastic rounding of gradients, and Hadamard transforms of weight gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo import UsageError, load_recipe
from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import HADAMARD
from scalify_hlo.dialect.functions import main_function, terminator
from scalify_hlo.quantize.blocks import hadamard, stochastic
from scalify_hlo.quantize.encoding import dtype_of
from scalify_hlo.run.check import compile_module
from tests.py.block_numpy import Array, blocked, rounded_at_random
from tests.py.judge import evaluate, parse

pytestmark = pytest.mark.usefixtures("default_code")
F32 = np.float32
SMALL = ("f4E2M1FN", "f8E4M3FN", "f8E5M2")


def built(shape: tuple[int, ...], build: Callable[[ir.Value, ir.Operation], ir.Value]) -> str:
    """A program that returns what is built of its argument."""
    type_ = "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"
    module = parse(f"func.func @main(%x: {type_}) -> {type_} {{ return %x : {type_} }}")
    with module.context, ir.Location.unknown():
        main = main_function(module.operation)
        assert main is not None
        block = main.regions[0].blocks[0]
        end = terminator(block)
        end.operands[0] = build(block.arguments[0], end.operation)
        return str(module)


def rounded(x: Array, format_: str, number: int = 0, *, interpreted: bool = False) -> Array:
    text = built(x.shape, lambda value, at: stochastic.rounded(value, format_, number, at))
    (found,) = evaluate(parse(text), [x]) if interpreted else compile_module(text)([x])
    return np.asarray(found)


def samples(format_: str) -> Array:
    """Numbers of all magnitudes of a format, those that it flushes among them."""
    target = FORMATS[format_]
    rng = np.random.default_rng(0)
    exponents = rng.uniform(target.min_exponent - 6, np.log2(target.max_finite), (8, 40))
    return np.asarray(np.exp2(exponents) * rng.choice([-1, 1], exponents.shape), F32)


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("number", [0, 5])
@pytest.mark.parametrize("format_", SMALL)
def test_numbers_are_rounded_as_by_numpy(format_: str, number: int, interpreted: bool) -> None:
    x = samples(format_)
    found = rounded(x, format_, number, interpreted=interpreted)
    np.testing.assert_array_equal(found, rounded_at_random(x, format_, number))


@pytest.mark.parametrize("format_", SMALL)
def test_a_number_becomes_one_of_its_neighbours(format_: str) -> None:
    x = samples(format_)
    found = rounded(x, format_)
    np.testing.assert_array_equal(found, found.astype(dtype_of(format_)).astype(F32))
    every = numbers(format_)
    below = np.searchsorted(every, np.abs(x), side="right") - 1
    low, high = every[below], every[np.minimum(below + 1, len(every) - 1)]
    assert ((np.abs(found) == low) | (np.abs(found) == high)).all()
    assert (np.abs(found) == high).any()
    assert (np.abs(found) == low).any()


def numbers(format_: str) -> Array:
    """All finite numbers of a format that are not negative, in order."""
    bits = 1 << (FORMATS[format_].bits - 1)
    every = np.arange(bits).astype(np.uint8).view(dtype_of(format_)).astype(F32)
    return np.sort(every[np.isfinite(every)])


@pytest.mark.parametrize("format_", SMALL)
def test_numbers_of_the_format_stay(format_: str) -> None:
    every = numbers(format_)
    given = np.concatenate([every, -every, [np.nan, np.inf, -np.inf]]).astype(F32)
    np.testing.assert_array_equal(rounded(given, format_), given)


@pytest.mark.parametrize("value", [0.1, 0.3, -0.7, 1.1, 2.9, -5.3])
@pytest.mark.parametrize("format_", SMALL)
def test_the_mean_of_a_million_draws_is_right(format_: str, value: float) -> None:
    """Within five standard errors; rounded to nearest, most of these are not."""
    found = rounded(np.full((1000, 1000), value, F32), format_).astype(np.float64)
    spread = found.std() / 1000
    assert abs(found.mean() - float(F32(value))) <= 5 * spread + 1e-7 * abs(value)


def test_other_tensors_and_other_operands_are_rounded_otherwise() -> None:
    x = np.full((64, 64), 0.3, F32)
    first, other = rounded(x, "f4E2M1FN"), rounded(x, "f4E2M1FN", 1)
    assert 0.1 < np.mean(first != other) < 0.9
    np.testing.assert_array_equal(first, rounded(x, "f4E2M1FN"))
    changed = x.copy()
    changed[0, 0] = 0.4
    assert 0.1 < np.mean(first[1:] != rounded(changed, "f4E2M1FN")[1:]) < 0.9


# In matmuls


def gradients(x: jax.Array, w: jax.Array, d: jax.Array) -> Any:
    y, vjp = jax.vjp(lambda x, w: x @ w, x, w)
    return y, *vjp(d)


def inputs(m: int = 64, k: int = 96, n: int = 48) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(1)
    x, w, d = (rng.normal(size=size).astype(F32) for size in ((m, k), (k, n), (m, n)))
    return x, w, d


def run(arrays: tuple[Array, ...], recipe: str = "nvfp4", **blocks: Any) -> list[Array]:
    text = str(jax.export.export(jax.jit(gradients))(*arrays).mlir_module())
    given = {"gradient_rounding": "nearest", "hadamard": False} | blocks
    settings = {"matmul.smallest": 1, **{f"blocks.{k}": v for k, v in given.items()}}
    program = scalify_hlo.rewrite(text, recipe=recipe, settings=settings, strict=True)
    return [np.asarray(each) for each in compile_module(str(program))(arrays)]


def decibels(exact: Array, found: Array) -> float:
    return float(10 * np.log10(np.sum(exact**2) / np.sum((exact - found) ** 2)))


@pytest.mark.parametrize("recipe", ["nvfp4", "mxfp8"])
def test_only_gradients_are_rounded_at_random(recipe: str) -> None:
    arrays = x, w, d = inputs()
    near, random = (run(arrays, recipe, gradient_rounding=how) for how in ("nearest", "stochastic"))
    np.testing.assert_array_equal(near[0], random[0])
    for one, other, exact in zip(near[1:], random[1:], (d @ w.T, x.T @ d), strict=True):
        assert not np.array_equal(one, other)
        assert decibels(exact, one) - 6 < decibels(exact, other) < decibels(exact, one)


def test_the_transform_is_orthogonal_and_exact_in_bf16() -> None:
    matrix = hadamard.matrix()
    np.testing.assert_array_equal(matrix @ matrix.T, np.eye(HADAMARD))
    assert set(np.abs(matrix).ravel().tolist()) == {0.25}
    assert len(set(matrix[:, 0].tolist())) == 2  # The signs are random: equal terms are mixed too.
    assert len({tuple(column) for column in matrix.T}) == HADAMARD


@pytest.mark.parametrize("interpreted", [False, True])
def test_the_last_dimension_is_transformed(interpreted: bool) -> None:
    x = np.random.default_rng(2).integers(-9, 9, (3, 5, 32)).astype(F32)
    text = built(x.shape, hadamard.transformed)
    (found,) = evaluate(parse(text), [x]) if interpreted else compile_module(text)([x])
    pieces = x.reshape(3, 5, 2, 16) @ hadamard.matrix()
    np.testing.assert_array_equal(np.asarray(found), pieces.reshape(x.shape))


@pytest.mark.parametrize("tokens", [64, 50])
def test_both_operands_of_a_weight_gradient_are_transformed(tokens: int) -> None:
    """With sums of integers, which are exact, and tokens that are no multiple of a block."""
    x, w, d = (np.round(a * 4) for a in inputs(m=tokens))
    arrays = x, w, d
    plain, found = run(arrays), run(arrays, hadamard=True)
    for one, other in zip(plain[:2], found[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    sides = []
    for side in (x, d):
        padded = np.pad(side.T, [(0, 0), (0, -tokens % 16)])
        turned = padded.reshape(len(padded), -1, 16) @ hadamard.matrix()
        sides.append(blocked(turned.reshape(padded.shape), "f4E2M1FN", 16, "e4m3").wide)
    exact = sides[0] @ sides[1].T
    np.testing.assert_allclose(found[2], exact, atol=1e-5 * np.abs(exact).max())


def test_a_tensor_is_transformed_for_some_of_its_matmuls_only() -> None:
    """It is contracted along tokens with a weight, and with a gradient."""

    def loss(w: Any, x: jax.Array) -> Any:
        first, second = jnp.einsum("tk,tn->kn", x, w[0]), x @ w[1]
        return jnp.sum(jnp.tanh(first)) + jnp.sum(jnp.tanh(second)), first

    x, w, _ = inputs()
    arrays = ((inputs(96, 64, 32)[1] / 16, w / 16), x)
    program = jax.export.export(jax.jit(jax.value_and_grad(loss, has_aux=True)))(*arrays)
    plain, found = (
        scalify_hlo.rewrite(
            program, recipe="nvfp4", settings={"matmul.smallest": 1, "blocks.hadamard": on}
        ).call(*arrays)
        for on in (False, True)
    )
    np.testing.assert_array_equal(plain[0][1], found[0][1])
    for exact, gradient in zip(program.call(*arrays)[1], found[1], strict=True):
        assert decibels(np.asarray(exact), np.asarray(gradient)) > 10


def test_a_transform_spreads_large_tokens() -> None:
    """One token in 16 is large; each block has one, and it has the coarse steps of E2M1."""
    x, w, d = inputs(m=256)
    x[::16] *= 10
    d[::16] *= 10
    exact = x.T @ d
    plain, found = run((x, w, d), "mxfp4")[2], run((x, w, d), "mxfp4", hadamard=True)[2]
    assert decibels(exact, found) > decibels(exact, plain) + 3


@pytest.mark.parametrize(
    ("recipe", "key", "value"),
    [
        ("nvfp4", "blocks.hadamard", True),
        ("nvfp4", "blocks.gradient_rounding", "stochastic"),
        ("mxfp8", "matmul.gradient", "e5m2"),
        ("fp8", "matmul.gradient", "e4m3"),
        ("fp16", "matmul.gradient", "keep"),
    ],
)
def test_an_option_for_operands_that_no_matmul_has_is_told(
    recipe: str, key: str, value: Any
) -> None:
    x, w, d = inputs()
    forward = jax.export.export(jax.jit(lambda x, w: x @ w))(x, w)
    both = jax.export.export(jax.jit(gradients))(x, w, d)

    def told(program: Any, **settings: Any) -> list[str]:
        scales = {"*": 1.0}
        options: Any = {"recipe": recipe, "settings": settings, "input_scale": scales}
        _, report = scalify_hlo.rewrite(program, **options, report=True)
        return [remark.message for remark in report.remarks if "no effect" in remark.message]

    (message,) = told(forward, **{key: value})
    assert message.startswith(f"{key} has no effect: no ")
    assert told(forward) == []
    assert told(both, **{key: value}) == []


@pytest.mark.parametrize(
    ("recipe", "settings", "message"),
    [
        ("mxfp8", {"blocks.gradient_rounding": "random"}, "is not a value of"),
        ("fp8-current", {"blocks.hadamard": True}, "blocks.hadamard has no effect"),
        ("mxfp8", {"blocks.hadamard": True, "blocks.size": 40}, "transforms 16 terms"),
        ("mxfp8", {"blocks.hadamard": "true", "blocks.size": "40"}, "transforms 16 terms"),
    ],
)
def test_what_is_refused(recipe: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_recipe(recipe, settings)
