"""Arrays of scales: a scale for each channel or block of an argument changes no bit."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as jsa
from tests.py.shared import judge
from tests.py.shared.judge import program_of, shaped

Function = Callable[..., Any]

W = shaped(8, 12)
X = shaped(6, 8)
WIDE = shaped(60, 8)
STACK = shaped(3, 8, 8)


def numbers(shape: Sequence[int], seed: int) -> jax.Array:
    """Numbers whose blocks differ by many octaves."""
    rng = np.random.default_rng(seed)
    octaves = sum(np.ix_(*(rng.integers(-6, 7, size) for size in shape)))
    return jnp.asarray(np.ldexp(rng.standard_normal(shape), octaves), jnp.float32)


def arguments(types: Sequence[Any], seed: int = 0) -> list[jax.Array]:
    return [
        numbers(type_.shape, seed + i)
        if jnp.issubdtype(type_.dtype, jnp.floating)
        else jnp.asarray([7, 0, 3, 3, 1], type_.dtype)
        for i, type_ in enumerate(types)
    ]


def rewritten(
    function: Function, types: Sequence[Any], blocks: Sequence[str], **options: Any
) -> tuple[jax.export.Exported, jax.export.Exported]:
    original = program_of(function, *types)
    settings = {"inputs.blocks": list(blocks), **options.pop("settings", {})}
    how: Any = {"recipe": "propagate", "signature": "scaled", "settings": settings} | options
    return original, jsa.rewrite(original, **how)


def assert_exact(function: Function, types: Sequence[Any], blocks: Sequence[str]) -> str:
    """Compares all bits on the interpreter, and returns the rewritten program."""
    original, program = rewritten(function, types, blocks)
    plain = arguments(types)
    scaled = jsa.scaled_state(program, tuple(plain))
    for ours, theirs in zip(
        judge.interpreted(program, *scaled), judge.interpreted(original, *plain), strict=True
    ):
        np.testing.assert_array_equal(ours.astype(theirs.dtype), theirs)
    return str(program.mlir_module())


def products_of(text: str, shape: str) -> int:
    """The number of multiplications of tensors of a shape."""
    found = re.findall(r"stablehlo\.multiply .*: tensor<(.*)xf32>", text)
    return found.count(shape)


CASES: dict[str, tuple[Function, list[Any], list[str]]] = {
    "columns": (lambda w, x: x @ w, [W, X], ["w=0x1"]),
    "rows": (lambda w, x: x @ w, [W, X], ["w=1x0"]),
    "blocks": (lambda w, x: x @ w, [W, X], ["w=4x3"]),
    "elements": (lambda w, x: x @ w, [W, X], ["w=1x1"]),
    "both": (lambda w, x: x @ w, [W, X], ["w=0x1", "x=1x0"]),
    "both summed": (lambda w, x: x @ w, [W, X], ["w=1x0", "x=0x1"]),
    "transposed": (lambda w, x: x @ w.T.reshape(4, 3, 8)[1].T, [W, X], ["w=0x1"]),
    "halved": (lambda w, x: x @ (-w[:, 4:10]), [W, X], ["w=0x2"]),
    "cut": (lambda w, x: x @ w[:, 3:10:2], [W, X], ["w=0x1"]),
    "within a block": (lambda w, x: x @ w[:, 3:10], [W, X], ["w=0x4"]),
    "reversed": (lambda w, x: x @ w[:, ::-1], [W, X], ["w=0x4"]),
    "looked up": (lambda w, i: w[i] * 2, [W, shaped(5, dtype=jnp.int32)], ["w=1x0"]),
    "looked up in blocks": (
        lambda w, i: w[i] * 2,
        [W, shaped(5, dtype=jnp.int32)],
        ["w=2x3"],
    ),
    "product": (lambda w, x: jnp.tanh(w * w) @ x.T, [W, W], ["w=0x1"]),
    "squares": (lambda w, x: (w * w * w) @ x.T, [W, W], ["w=0x1", "x=1x0"]),
    "quotient": (lambda w, x: w / x, [W, W], ["w=0x1", "x=1x0"]),
    "sums of one": (lambda w, x: (w * 3 - w) @ x.T, [W, W], ["w=0x1", "x=1x0"]),
    "choices of one": (
        lambda w, x: jnp.where(w > 0, jnp.maximum(w, w * 0.5), -w) @ x.T,
        [W, W],
        ["w=0x1", "x=1x0"],
    ),
    "sum": (lambda w, x: w + x, [W, W], ["w=0x1", "x=1x0"]),
    "broadcast": (
        lambda w, x: jnp.broadcast_to(w[:, None], (8, 3, 12)) * x,
        [W, shaped(8, 3, 12)],
        ["w=2x1"],
    ),
    "batched": (
        lambda w, x: jnp.einsum("bkn,bmk->bmn", w, x),
        [
            shaped(3, 8, 4),
            shaped(3, 5, 8),
        ],
        ["w=1x0x2"],
    ),
    "convolution": (
        lambda w, x: jax.lax.conv(x, w, (1, 1), "SAME"),
        [
            shaped(6, 4, 3, 3),
            shaped(2, 4, 5, 5),
        ],
        ["w=1x0x0x0"],
    ),
    "branches": (
        lambda w, x: jax.lax.cond(x[0, 0] > 0, lambda: x @ w, lambda: x @ (w + 1)),
        [W, X],
        ["w=0x1"],
    ),
    "called": (lambda w, x: jax.jit(lambda a, b: b @ a)(w, x), [W, X], ["w=0x1"]),
    "returned": (lambda w, x: (w, w.T, x @ w), [W, X], ["w=0x1"]),
    "gradient of a loop": (
        jax.grad(lambda w, x: jnp.sum(layers(w, x))),
        [STACK, X],
        ["w=1x0x1"],
    ),
    "a carry that changes": (
        lambda w, x: (jax.lax.fori_loop(0, 3, lambda _, y: y @ w, x), w),
        [shaped(8, 8), X],
        ["w=0x1", "x=1x0"],
    ),
    "rounded to fewer exponents": (
        lambda w, x: (jax.lax.reduce_precision(w, 7, 3) @ x.T, jax.lax.reduce_precision(w, 8, 3)),
        [W, W],
        ["w=0x1"],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_bits_stay_the_same(name: str) -> None:
    assert_exact(*CASES[name])


@pytest.mark.parametrize("name", ["columns", "transposed", "halved", "cut", "called"])
def test_factors_of_channels_wait_behind_matmuls(name: str) -> None:
    text = assert_exact(*CASES[name])
    assert products_of(text, "8x12") == 0
    assert "stablehlo.reduce" in text


def test_factors_along_the_summed_dimension_are_applied_to_the_smaller_operand() -> None:
    text = assert_exact(*CASES["rows"])
    assert products_of(text, "8x12") == 0
    assert products_of(text, "6x8") == 1
    assert products_of(assert_exact(CASES["rows"][0], [W, WIDE], ["w=1x0"]), "8x12") == 1


def layers(w: jax.Array, x: jax.Array) -> jax.Array:
    def layer(x: jax.Array, w: jax.Array) -> tuple[jax.Array, None]:
        return jnp.tanh(x @ w), None

    return jax.lax.scan(layer, x, w)[0]


def test_factors_of_stacked_layers_go_into_the_loop() -> None:
    text = assert_exact(layers, [STACK, X], ["w=1x0x1"])
    assert products_of(text, "3x8x8") == products_of(text, "8x8") == 0


def step(params: Any, batch: jax.Array) -> Any:
    def loss(params: Any) -> jax.Array:
        return jnp.mean(jnp.square(jnp.tanh(batch @ params["w"]) @ params["v"]))

    value, gradients = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.5 * g, params, gradients), value


STATE = {
    "v": shaped(32, 32),
    "w": shaped(32, 32),
}
BATCH = shaped(16, 32)


@pytest.mark.parametrize("recipe", ["propagate", "fp16-state", "fp8"])
def test_state_keeps_its_array_of_scales(recipe: str) -> None:
    _, program = rewritten(step, [STATE, BATCH], ["params*=0x1"], recipe=recipe)
    (state, _), _ = jax.tree.unflatten(program.in_tree, program.in_avals)
    (returned, _) = jax.tree.unflatten(program.out_tree, program.out_avals)
    assert {leaf.scale.shape for leaf in state.values()} == {(1, 32)}
    assert {leaf.scale.shape for leaf in returned.values()} == {(1, 32)}
    assert [a.dtype for a in jax.tree.leaves(state)] == [a.dtype for a in jax.tree.leaves(returned)]
    key, columns = jax.random.key(0), jnp.exp2(-(jnp.arange(32) % 4.0))
    params = {"v": jax.random.normal(key, (32, 32)) / 8, "w": jnp.eye(32) * columns}
    batch = jax.random.normal(jax.random.key(0), (16, 32)) / 8
    given = jsa.scaled_state(program, (params, batch))
    (new, value), (wanted, expected) = program.call(*given), step(params, batch)
    np.testing.assert_allclose(jsa.asarray(value, jnp.float32), expected, rtol=0.05)
    rounding, noise = {"propagate": (1e-6, 0), "fp16-state": (2e-3, 0), "fp8": (2e-3, 0.2)}[recipe]
    for name, theirs in wanted.items():
        ours, update = jsa.asarray(new[name]), np.abs(theirs - params[name]).max(axis=0)
        bound = rounding * np.abs(theirs).max(axis=0) + noise * update
        np.testing.assert_array_less(np.abs(ours - theirs).max(axis=0), bound)


def chain(seed: int) -> tuple[Function, list[Any], list[str]]:
    """A random chain of ops on two arguments with random blocks."""
    rng = random.Random(seed)
    shape = [rng.choice([2, 4, 6]) for _ in range(rng.choice([2, 3]))]

    def function(w: jax.Array, v: jax.Array) -> Any:
        draw, seen = random.Random(seed), [w, v, w]
        for _ in range(6):
            seen.append(draw.choice(OPS)(draw, draw.choice(seen[-3:]), draw.choice(seen)))
        return seen[-1], seen[-2], w * 3, v * 3

    def block() -> str:
        sizes = [rng.choice([0, 1, 2]) for _ in shape]
        return "x".join(map(str, sizes))

    types = [shaped(*tuple(shape))] * 2
    return function, types, [f"w={block()}", f"v={block()}"]


def matmul(draw: random.Random, a: jax.Array, b: jax.Array) -> jax.Array:
    left, right = draw.randrange(a.ndim), draw.randrange(b.ndim)
    if a.shape[left] != b.shape[right] or a.size * b.size > 20_000:
        return jnp.abs(a)
    return jnp.tensordot(a, b, ((left,), (right,)))


def cut(draw: random.Random, a: jax.Array, _: jax.Array) -> jax.Array:
    dim = draw.randrange(a.ndim)
    size = a.shape[dim]
    start = draw.randrange(size)
    return jax.lax.slice_in_dim(a, start, draw.randrange(start, size) + 1, draw.choice([1, 2]), dim)


def moved(draw: random.Random, a: jax.Array, _: jax.Array) -> jax.Array:
    return jnp.transpose(a, draw.sample(range(a.ndim), a.ndim))


def joined(draw: random.Random, a: jax.Array, _: jax.Array) -> jax.Array:
    dim = draw.randrange(a.ndim)
    return a.reshape(*a.shape[:dim], -1, *a.shape[dim + 2 :])


def parted(draw: random.Random, a: jax.Array, _: jax.Array) -> jax.Array:
    dim = draw.randrange(a.ndim)
    return a.reshape(*a.shape[:dim], -1, 2, *a.shape[dim + 1 :]) if a.shape[dim] % 2 == 0 else -a


def combined(draw: random.Random, a: jax.Array, b: jax.Array) -> Any:
    if a.shape != b.shape:
        return a * 0.75
    ops: list[Function] = [jnp.multiply, jnp.add, jnp.maximum, jnp.divide]
    return draw.choice(ops)(a, b)


def looked_up(draw: random.Random, a: jax.Array, _: jax.Array) -> jax.Array:
    return a[jnp.asarray([draw.randrange(a.shape[0]) for _ in range(3)])]


def looped(_: random.Random, a: jax.Array, __: jax.Array) -> Any:
    def turn(i: jax.Array, total: jax.Array) -> Any:
        return total + jax.lax.dynamic_index_in_dim(a, i, keepdims=False)

    return jax.lax.fori_loop(0, a.shape[0], turn, jnp.zeros(a.shape[1:]))[None]


OPS: list[Function] = [matmul, matmul, cut, moved, joined, parted, combined, looked_up, looped]


@pytest.mark.parametrize("seed", range(24))
def test_random_chains_keep_their_bits(seed: int) -> None:
    assert_exact(*chain(seed))


@pytest.mark.parametrize("recipe", ["propagate", "fp16-state"])
def test_a_column_that_grows_takes_nothing_from_the_others(recipe: str) -> None:
    growth = jnp.asarray([1.0, 16.0, 1.0, 0.0625])

    def step(params: Any, x: jax.Array) -> Any:
        return {"w": params["w"] * growth + 0.0 * (x.T @ (x @ params["w"]))}

    first = jax.random.normal(jax.random.key(0), (32, 4))
    run = jsa.scalify(step, recipe=recipe)
    state = {"w": jsa.as_scaled_array(first, block=(0, 1))}
    for _ in range(12):
        state = run(state, jnp.zeros((2, 32)))
    found = state["w"]
    assert found.scale.shape == (1, 4)
    assert found.dtype == (jnp.float32 if recipe == "propagate" else jnp.float16)
    value = np.asarray(found, np.float64)
    np.testing.assert_allclose(value, first * np.float64(growth) ** 12, rtol=2e-3)


def test_scalify_goes_on_with_arrays_of_scales() -> None:
    run = jsa.scalify(step)
    params = {name: jnp.eye(32) / 4 for name in STATE}
    state, plain = jsa.as_scaled_array(params, block=(0, 1)), params
    batch = jax.random.normal(jax.random.key(0), (16, 32))
    for _ in range(60):
        state, value = run(state, jsa.as_scaled_array(batch))
        plain, expected = step(plain, batch)
    np.testing.assert_allclose(jsa.asarray(value), expected, rtol=1e-4)
    np.testing.assert_array_equal(state["w"].scale, jnp.full((1, 32), 2.0**-5))


def test_arguments_that_are_not_used_keep_their_array_of_scales() -> None:
    w = jsa.as_scaled_array(jnp.ones((4, 4)), block=(0, 1))
    result = jsa.scalify(lambda _, x: x * 2)(w, jsa.as_scaled_array(jnp.ones(3)))
    np.testing.assert_array_equal(jsa.asarray(result), [2, 2, 2])


def test_scales_that_help_no_cast_are_named() -> None:
    with pytest.warns(jsa.ScalifyWarning, match="multiplies w with the scales of its blocks"):
        rewritten(lambda w, x: x @ w, [W16, X16], ["w=0x1"], recipe="fp8-current")
    _, program = rewritten(lambda w, x: x @ w, [W16, X16], ["w=0x1"], recipe="fp8")
    assert program.in_avals[1].shape == (1, 32)


W16 = shaped(32, 32)
X16 = shaped(32, 32)


def test_a_vjp_is_refused() -> None:
    _, program = rewritten(lambda w, x: x @ w, [W, X], ["w=0x1"])
    with pytest.raises(jsa.UsageError, match="takes arrays of scales"):
        program.vjp()


def test_blocks_are_split_and_joined() -> None:
    x = numbers((6, 8), 3)
    array = jsa.as_scaled_array(x, block=(2, 4)).check()
    assert array.scale.shape == (3, 2)
    np.testing.assert_array_equal(jsa.asarray(array), x)
    np.testing.assert_array_equal(np.asarray(array, np.float64), x)
    rms = np.sqrt(np.mean(np.square(np.asarray(array.data).reshape(3, 2, 2, 4)), axis=(1, 3)))
    assert ((rms >= 1) & (rms < 2)).all()
    one = jsa.as_scaled_array(array, 4.0)
    assert one.scale.shape == ()
    np.testing.assert_array_equal(jsa.asarray(one), x)
    moved = jsa.dynamic_rescale(jsa.ScaledArray(array.data * 8, array.scale / 8), "max")
    np.testing.assert_array_equal(jsa.asarray(moved), x)
    assert np.abs(moved.data).max() <= 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["w=0x5"], r"blocks of 0x5"),
        (["w=0x1x1"], r"blocks of 0x1x1"),
        (["w=a"], r"is not PATTERN=AxB"),
        (["z=0x1"], r"'z' matches no argument that is data and scale"),
    ],
)
def test_blocks_that_do_not_fit_are_named(settings: list[str], message: str) -> None:
    with pytest.raises(jsa.UsageError, match=message):
        rewritten(lambda w, x: x @ w, [W, X], settings)


def test_blocks_of_scalify_are_those_of_its_arguments() -> None:
    run = jsa.scalify(lambda w: w * 2, settings={"inputs.blocks": ["w=0x1"]})
    with pytest.raises(jsa.UsageError, match=r"inputs\.blocks has no effect"):
        run(jsa.as_scaled_array(jnp.ones((4, 4))))
    with pytest.raises(jsa.UsageError, match="do not divide an array of the shape"):
        jsa.as_scaled_array(jnp.ones((4, 6)), block=(3, 1))


def test_moments_have_blocks_of_one_kind() -> None:
    def step(w: jax.Array, m: jax.Array, x: jax.Array) -> Any:
        gradient = jax.grad(lambda w: jnp.sum((x @ w) ** 2))(w)
        m = 0.9 * m + 0.1 * gradient
        return w - 0.1 * m, m

    with pytest.raises(jsa.UsageError, match="m has an array of scales, and the recipe stores it"):
        rewritten(step, [W16] * 3, ["m=0x1"], recipe="fp8-state8")
