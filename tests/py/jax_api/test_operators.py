"""Operators and functions of ScaledArrays: those of the values, and no silent gradients."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import scalify_hlo as jsa
from scalify_hlo import ScaledArray, UsageError, asarray
from tests.py.shared.judge import program_of

PAIR = ScaledArray(jnp.asarray([[1.0, -3.0], [0.5, 2.0]]), jnp.float32(4))
VALUE = asarray(PAIR)
BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv]
BINARY += [operator.mod, operator.pow, operator.matmul, divmod, operator.eq, operator.ne]
BINARY += [operator.lt, operator.le, operator.gt, operator.ge]


def augmented(x: Any) -> Any:
    x += 1
    return x


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "negated": operator.neg,
    "positive": operator.pos,
    "absolute": abs,
    "row": lambda x: x[0],
    "mask": lambda x: x[x > 0],
    "iterated": list,
    "transposed": lambda x: x.T,
    "sum": lambda x: x.sum(axis=0, keepdims=True),
    "mean": lambda x: x.mean(),
    "astype": lambda x: x.astype(jnp.float16),
    "reshaped": lambda x: x.reshape(4),
    "rounded": lambda x: round(x, 1),
    "augmented": augmented,
    "numpy sum": np.sum,
    "numpy sine": np.sin,
    "numpy mean": lambda x: np.mean(x, axis=1),
    "numpy stack": lambda x: np.stack([x, x]),
    "jax.numpy sum": jnp.sum,
    "jax.numpy where": lambda x: jnp.where(x > 0, x, 0),
    "jax.numpy stack": lambda x: jnp.stack([x, x]),
    "jax.numpy einsum": lambda x: jnp.einsum("ij,kj->ik", x, x),
    "jax.nn softmax": jax.nn.softmax,
    "set": lambda x: jnp.zeros((3, 2)).at[:2].set(x),
}
OPERANDS: list[Any] = [2, 0.5, np.float32(2), np.ones(2, np.float32), jnp.full((2, 2), 3.0), PAIR]


def plain(result: Any) -> Any:
    """The leaves of a result, none of which belongs to a ScaledArray."""
    assert not any(
        isinstance(leaf, ScaledArray)
        for leaf in jax.tree.leaves(result, is_leaf=lambda leaf: isinstance(leaf, ScaledArray))
    )
    return jax.tree.leaves(result)


def assert_same(ours: Any, theirs: Any) -> None:
    for a, b in zip(plain(ours), plain(theirs), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("function", "other"),
    [(f, x) for f in BINARY for x in OPERANDS if f is not operator.matmul or np.ndim(x)],
    ids=lambda each: getattr(each, "__name__", type(each).__name__),
)
def test_operators_are_those_of_the_values(function: Callable[..., Any], other: Any) -> None:
    of_values = asarray(other)
    assert_same(function(PAIR, other), function(VALUE, of_values))
    assert_same(function(other, PAIR), function(jnp.asarray(of_values), VALUE))
    compiled = jax.jit(lambda x: (function(x, other), function(other, x)))
    for ours, theirs in zip(plain(compiled(PAIR)), plain(compiled(VALUE)), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_those_of_the_values(name: str) -> None:
    assert_same(FUNCTIONS[name](PAIR), FUNCTIONS[name](VALUE))


@pytest.mark.parametrize("name", [n for n in FUNCTIONS if n != "mask" and "numpy s" not in n[:7]])
def test_functions_may_be_compiled(name: str) -> None:
    compiled = jax.jit(FUNCTIONS[name])
    assert_same(compiled(PAIR), compiled(VALUE))


def test_a_scalar_is_a_number() -> None:
    scalar = ScaledArray(jnp.float16(1.5), jnp.float32(2))
    assert (float(scalar), int(scalar), complex(scalar), scalar.item()) == (3.0, 3, 3 + 0j, 3.0)
    assert bool(scalar)
    assert not ScaledArray(jnp.float32(0), jnp.float32(2))
    with pytest.raises(ValueError, match="ambiguous"):
        bool(PAIR)


def test_sizes_are_those_of_an_array() -> None:
    assert (len(PAIR), PAIR.ndim, PAIR.size, PAIR.T.shape) == (2, 2, 4, (2, 2))
    with pytest.raises(TypeError, match="unhashable"):
        hash(PAIR)


def test_values_are_in_the_dtype_of_asarray() -> None:
    data = jnp.asarray([1.5, -3.0])
    f16 = ScaledArray(data.astype(jnp.float16), jnp.float32(2.0**-20))
    assert_same(f16 + 0, asarray(f16) + 0)
    stored = ScaledArray(f16.data, f16.scale, np.dtype("float32"))
    assert_same(stored + 0, data * 2.0**-20)
    assert_same(stored * np.float32(2), data * 2.0**-19)
    f8 = ScaledArray(data.astype(jnp.float8_e4m3fn), jnp.float32(4))
    assert_same(f8.astype(jnp.float32), data * 4)


@pytest.mark.parametrize("power", [1, 2])
def test_moments_in_blocks_have_operators(power: int) -> None:
    scales = jnp.full((2, 1), 0.5).astype(jnp.float8_e8m0fnu)
    data = jnp.full((2, 128), 3.0).astype(jnp.float8_e4m3fn)
    moment = ScaledArray(data, scales, np.dtype("float32"), power)
    assert_same(moment + 1, jnp.full((2, 128), 1.5**power + 1))
    assert float(moment.mean()) == 1.5**power


def test_gradients_of_others_flow_through_them() -> None:
    def loss(x: Any, pair: Any) -> Any:
        return jnp.sum(pair * x * pair) + jnp.sum(jnp.dot(x, pair))

    x = jnp.asarray([[1.0, 2.0], [3.0, 4.0]])
    for transform in (jax.grad, lambda f: jax.jit(jax.grad(f)), lambda f: jax.grad(jax.jit(f))):
        assert_same(transform(loss)(x, PAIR), transform(loss)(x, VALUE))


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit], ids=["plain", "compiled"])
def test_a_gradient_that_would_be_wrong_is_refused(wrap: Any) -> None:
    """Both uses have a cotangent of scale 1, and JAX adds their scales too."""
    for loss in (lambda x: jnp.sum(x * x), lambda x: jnp.sum(jnp.sin(x))):
        with pytest.raises(UsageError, match="no gradient") as refused:
            jax.grad(wrap(loss))(PAIR)
        assert Path(__file__).name in str(refused.value)

    def cured(x: Any) -> Any:
        x = asarray(x)
        return jnp.sum(x * x)

    assert_same(asarray(jax.grad(wrap(cured))(PAIR)), 2 * VALUE)


def test_a_value_without_a_gradient_may_be_computed_beside_one() -> None:
    def loss(x: Any) -> Any:
        return jnp.sum(asarray(x)), jnp.sqrt(jnp.sum(x * x))

    gradient, norm = jax.grad(loss, has_aux=True)(PAIR)
    assert_same(asarray(gradient), jnp.ones((2, 2)))
    assert float(norm) == float(jnp.sqrt(jnp.sum(VALUE * VALUE)))


def test_lax_takes_none() -> None:
    with pytest.raises((TypeError, ValueError)):
        jax.lax.sin(PAIR)  # type: ignore[arg-type]


def test_programs_still_take_pairs() -> None:
    """A pair that became a plain array of f16 would be infinite."""
    big = ScaledArray(jnp.full(4, 1.5, jnp.float16), jnp.float32(2.0**20))
    assert np.all(np.isinf(asarray(big)))
    program = jsa.rewrite(
        program_of(lambda x: x * 2, big.data), recipe="propagate", signature="scaled"
    )
    for result in (
        jsa.scalify(lambda x: x * 2)(big),
        program.call(big),
        export.deserialize(program.serialize()).call(big),
    ):
        assert isinstance(result, ScaledArray)
        assert_same(asarray(result, jnp.float32), jnp.full(4, 3.0 * 2**20))


def test_a_short_line_shows_a_pair() -> None:
    assert repr(PAIR) == "ScaledArray(float32[2,2] * 4)"
    blocks = ScaledArray(jnp.ones((4, 2), jnp.float16), jnp.ones((1, 2)), np.dtype("float32"))
    assert repr(blocks) == "ScaledArray(float16[4,2] * float32[1,2], logical=float32)"
    moment = jax.eval_shape(lambda: ScaledArray(blocks.data, blocks.scale, blocks.logical, 2))
    assert repr(moment) == "ScaledArray(float16[4,2] * float32[1,2], logical=float32, power=2)"
    assert repr(ScaledArray(None, None)) == "ScaledArray(None * None)"


def test_a_traced_pair_is_shown_by_its_types() -> None:
    shown: list[str] = []
    jax.jit(lambda x: shown.append(repr(x)))(PAIR)
    assert shown == ["ScaledArray(float32[2,2] * float32[])"]
