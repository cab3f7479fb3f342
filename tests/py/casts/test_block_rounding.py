"""Block scales: stochastic rounding of gradients, and Hadamard transforms of weight gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import HADAMARD
from scalify_hlo.casts.blocks import operands as hadamard
from scalify_hlo.casts.blocks import stochastic
from scalify_hlo.casts.blocks.stochastic import Steps, hash_of_tensor
from scalify_hlo.casts.blocks.stochastic import random_words as random_words_of
from scalify_hlo.casts.encoding import dense, dtype_of
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import terminator
from scalify_hlo.rules.emitter import Emitter
from scalify_hlo.run.runner import compile_module
from tests.py.casts.test_blocks import gradients
from tests.py.shared.block_numpy import (
    Array,
    blocked,
    hash_of,
    random_words,
    rounded_at_random,
    threefry,
)
from tests.py.shared.judge import (
    assert_all_equal,
    body_of,
    decibels,
    evaluate,
    normals,
    parse,
    program_of,
    stablehlo_of,
)

pytestmark = pytest.mark.usefixtures("default_code")
F32 = np.float32
SMALL = ("f4E2M1FN", "f8E4M3FN", "f8E5M2")
FORMATS_ROUNDED = (*SMALL, "f16", "bf16")


def built(shape: tuple[int, ...], build: Callable[[ir.Value, ir.Operation], ir.Value]) -> str:
    """A program that returns what is built of its argument."""
    type_ = "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"
    module = parse(f"func.func @main(%x: {type_}) -> {type_} {{ return %x : {type_} }}")
    with module.context, ir.Location.unknown():
        block = body_of(module)
        end = terminator(block)
        end.operands[0] = build(block.arguments[0], end.operation)
        return str(module)


def rounded(x: Array, format_: str, number: int = 0, *, interpreted: bool = False) -> Array:
    """Numbers that are rounded without a count of steps; by the interpreter, with given words."""

    def build(value: ir.Value, at: ir.Operation) -> ir.Value:
        word = Steps(at.parent.parent).word(value, at)
        words = given(x, number) if interpreted else stochastic.drawn(word, number)
        return stochastic.rounded(value, format_, words, at)

    text = built(x.shape, build)
    (found,) = evaluate(parse(text), [x]) if interpreted else compile_module(text)([x])
    return np.asarray(found)


def given(x: Array, number: int) -> stochastic.Words:
    """The words of NumPy as a constant: the interpreter has no `rng_bit_generator`."""
    words = random_words(hash_of(x), number, x.shape)

    def constant(_: ir.Value, build: Emitter) -> ir.Value:
        where = {"loc": build.at.location, "ip": ir.InsertionPoint(build.at)}
        return emit.constant_of(build.bits, dense(words, build.bits), **where)

    return constant


def samples(format_: str) -> Array:
    """Numbers of all magnitudes of a format, those that it flushes among them.

    Numbers that are subnormal in f32 are not: XLA for CPUs flushes them before they are rounded.
    """
    target = FORMATS[format_]
    rng = np.random.default_rng(0)
    exponents = rng.uniform(max(target.min_exponent - 6, -126), np.log2(target.max_finite), (8, 40))
    return np.asarray(np.exp2(exponents) * rng.choice([-1, 1], exponents.shape), F32)


@pytest.mark.parametrize("interpreted", [False, True])
@pytest.mark.parametrize("number", [0, 5])
@pytest.mark.parametrize("format_", FORMATS_ROUNDED)
def test_numbers_are_rounded_as_by_numpy(format_: str, number: int, interpreted: bool) -> None:
    x = samples(format_)
    found = rounded(x, format_, number, interpreted=interpreted)
    words = random_words(hash_of(x), number, x.shape)
    np.testing.assert_array_equal(found, rounded_at_random(x, format_, words))


def test_threefry_has_the_bits_of_its_authors() -> None:
    """The known answers of Random123, `threefry2x32` with 20 rounds; counters below 2^32."""
    zeros = np.zeros(1, np.uint32)
    assert [int(w[0]) for w in threefry(0, 0, zeros)] == [0x6B200159, 0x99BA4EFE]


@pytest.mark.parametrize("shape", [(1,), (7,), (8,), (3, 5), (5, 3), (3, 6), (4, 3, 5), (8, 8)])
def test_words_are_those_of_threefry(shape: tuple[int, ...]) -> None:
    """So they are the same on every backend."""

    def words(value: ir.Value, at: ir.Operation) -> ir.Value:
        build = Emitter(at, wide=False, shape=value.type.shape)
        seed = build.cast(build.bits, value)
        found = random_words_of(hash_of_tensor(seed, at), 0x80000003, build)
        return build.cast(build.float, found)

    x = np.arange(np.prod(shape), dtype=F32).reshape(shape)
    (found,) = compile_module(built(shape, words))([x])
    expected = random_words(hash_of(x), 0x80000003, shape)
    np.testing.assert_array_equal(np.asarray(found).view(np.uint32), expected)


def numbers(format_: str) -> Array:
    """All finite numbers of a format that are not negative, in order."""
    bits = 1 << (FORMATS[format_].bits - 1)
    word = np.uint8 if bits <= 128 else np.uint16
    every = np.arange(bits).astype(word).view(dtype_of(format_)).astype(F32)
    return np.sort(every[np.isfinite(every) & ((every == 0) | (every >= 2.0**-126))])


@pytest.mark.parametrize("format_", FORMATS_ROUNDED)
def test_numbers_of_the_format_stay(format_: str) -> None:
    every = numbers(format_)
    odd = np.asarray([0x7FFFFFFF, 0xFFFFFFFF, 0x7F800001], np.uint32).view(F32)  # NaN of GPUs
    kept = np.concatenate([every, -every, np.asarray([np.nan, np.inf, -np.inf], F32), odd])
    np.testing.assert_array_equal(rounded(kept, format_), kept)


@pytest.mark.parametrize("value", [0.1, 0.3, -0.7, 1.1, 2.9, -5.3])
@pytest.mark.parametrize("format_", FORMATS_ROUNDED)
def test_the_mean_of_a_million_draws_is_right(format_: str, value: float) -> None:
    """Within five standard errors; rounded to nearest, most of these are not."""
    found = rounded(np.full((1000, 1000), value, F32), format_).astype(np.float64)
    spread = found.std() / 1000
    assert abs(found.mean() - float(F32(value))) <= 5 * spread + 1e-7 * abs(value)


def test_tensors_of_bf16_numbers_have_other_hashes() -> None:
    """Their last 16 bits are equal, as are those of weights that were stored and updated."""

    def hashed(value: ir.Value, at: ir.Operation) -> ir.Value:
        build = Emitter(at, wide=False, shape=value.type.shape)
        word = hash_of_tensor(build.cast(build.bits, value), at)
        return build.cast(build.float, emit.broadcast_scalar(word, value, build.at))

    run, rng = compile_module(built((64,), hashed)), np.random.default_rng(0)
    given = [np.asarray(1 + rng.integers(0, 9, 64) / 128, F32) for _ in range(2000)]
    found = {int(np.asarray(run([x])[0]).view(np.uint32)[0]) for x in given}
    assert len(found) == len(given)


# In matmuls


def inputs(m: int = 64, k: int = 96, n: int = 48) -> tuple[Array, Array, Array]:
    x, w, d = normals((m, k), (k, n), (m, n), seed=1)
    return x, w, d


def run(arrays: tuple[Array, ...], recipe: str = "nvfp4", **blocks: Any) -> list[Array]:
    text = stablehlo_of(gradients, *arrays)
    given = {"gradient_rounding": "nearest", "hadamard": "none"} | blocks
    settings = {"matmul.smallest": 1, **{f"blocks.{k}": v for k, v in given.items()}}
    program = scalify_hlo.rewrite(text, recipe=recipe, settings=settings, strict=True)
    return [np.asarray(each) for each in compile_module(str(program))(arrays)]


@pytest.mark.parametrize("recipe", ["nvfp4", "mxfp8"])
def test_only_gradients_are_rounded_at_random(recipe: str) -> None:
    arrays = x, w, d = inputs()
    near, random = (run(arrays, recipe, gradient_rounding=how) for how in ("nearest", "stochastic"))
    np.testing.assert_array_equal(near[0], random[0])
    for one, other, exact in zip(near[1:], random[1:], (d @ w.T, x.T @ d), strict=True):
        assert not np.array_equal(one, other)
        assert decibels(exact, one) - 6 < decibels(exact, other) < decibels(exact, one)


def stepping(x: jax.Array, w: jax.Array, d: jax.Array, count: jax.Array) -> Any:
    """A step that counts, with three matmuls of a gradient, one of them in a loop."""
    y, dx, dw = gradients(x, w, d)

    def turn(w: jax.Array, d: jax.Array) -> tuple[jax.Array, jax.Array]:
        return w, jax.vjp(lambda x: x @ w, x)[1](d)[0]

    looped = jax.lax.scan(turn, w, jnp.stack([d, d]))[1]
    return dx, dw, looped, y, count + 1


def stepped(count: int, d: Array | None = None, recipe: str = "nvfp4") -> list[Array]:
    x, w, given = inputs()
    arrays = x, w, given if d is None else d, np.asarray(count, np.int32)
    text = stablehlo_of(stepping, *arrays)
    settings = {"matmul.smallest": 1, "blocks.gradient_rounding": "stochastic"}
    program = str(scalify_hlo.rewrite(text, recipe=recipe, settings=settings, strict=True))
    assert "rng_bit_generator" in program
    return [np.asarray(each) for each in compile_module(program)(arrays)]


def test_the_count_of_steps_is_the_key() -> None:
    """A loop does not see the count. There, other data have other bits."""
    first, again, next_ = (stepped(n) for n in (3, 3, 4))
    assert_all_equal(first, again)
    for number in (0, 1):
        assert np.mean(first[number] != next_[number]) > 0.5
    np.testing.assert_array_equal(first[2], next_[2])
    changed = inputs()[2]
    changed[0, 0] *= 2
    assert np.mean(stepped(3, changed)[2][:, 1:] != first[2][:, 1:]) > 0.5


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
    plain, found = run(arrays), run(arrays, hadamard="wgrad")
    assert_all_equal(plain[:2], found[:2])
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
    program = program_of(jax.value_and_grad(loss, has_aux=True), *arrays)
    plain, found = (
        scalify_hlo.rewrite(
            program, recipe="nvfp4", settings={"matmul.smallest": 1, "blocks.hadamard": on}
        ).call(*arrays)
        for on in ("none", "wgrad")
    )
    np.testing.assert_array_equal(plain[0][1], found[0][1])
    for exact, gradient in zip(program.call(*arrays)[1], found[1], strict=True):
        assert decibels(np.asarray(exact), np.asarray(gradient)) > 10


@pytest.mark.parametrize(
    ("recipe", "key", "value"),
    [
        ("nvfp4", "blocks.hadamard", "wgrad"),
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
    forward = program_of(lambda x, w: x @ w, x, w)
    both = program_of(gradients, x, w, d)

    def told(program: Any, **settings: Any) -> list[str]:
        scales = {"*": 1.0}
        options: Any = {"recipe": recipe, "settings": settings, "input_scale": scales}
        _, report = scalify_hlo.rewrite(program, **options, report=True)
        return [remark.message for remark in report.remarks if "no effect" in remark.message]

    (message,) = told(forward, **{key: value})
    assert message.startswith(f"{key} has no effect: no ")
    assert told(forward) == []
    assert told(both, **{key: value}) == []
