"""The regions that jax itself emits: sorts, searches for extremes, cumulative ops, scatters."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from tests.py.shared.judge import assert_invariant, rewritten, shaped, stablehlo_of

Function = Callable[..., Any]
LOW = -jnp.inf
ROWS = jnp.array([2, 0])


def windows(x: jax.Array, start: float, combine: Function) -> Any:
    return lax.reduce_window(x, start, combine, (1, 2), (1, 2), "VALID")


def extremes(a: jax.Array, b: jax.Array) -> tuple[jax.Array, ...]:
    """The larger of two numbers by `jnp.where`, which is a function call in the region."""
    return tuple(lax.reduce((a, b), (LOW, 0.0), _first_larger, (1,)))


def _first_larger(p: tuple[Any, Any], q: tuple[Any, Any]) -> tuple[Any, Any]:
    larger = p[0] > q[0]
    return jnp.where(larger, p[0], q[0]), jnp.where(larger, p[1], q[1])


# All that keep the scales of whatever they are given.
KEEPING: dict[str, Function] = {
    "sort": jnp.sort,
    "sort descending": lambda x: jnp.sort(x, descending=True),
    "argsort": jnp.argsort,
    "two keys": lambda x, y: lax.sort((x, y), num_keys=2),
    "key and values": lambda x, y: lax.sort((x, y), num_keys=1),
    "sort integers with": lambda x: lax.sort((jnp.arange(24).reshape(3, 8) % 5, x)),
    "sort complex": lambda x, y: jnp.real(jnp.sort(lax.complex(x, y))),
    "lexsort": lambda x, y: jnp.lexsort((x, y)),
    "top_k": lambda x: lax.top_k(x, 3),
    "gradient of sort": jax.grad(lambda x: (jnp.sort(x) ** 2 * jnp.arange(8)).sum()),
    "argmax": lambda x: jnp.argmax(x, 1),
    "argmin": lambda x: jnp.argmin(x, 1),
    "maximum": lambda x: jnp.max(x, 1),
    "two sums": lambda x, y: lax.reduce(
        (x, y), (0.0, 0.0), lambda p, q: (p[0] + q[0], p[1] + q[1]), (1,)
    ),
    "extremes": extremes,
    "cumsum": lambda x: jnp.cumsum(x, 1),
    "cummax": lambda x: lax.cummax(x, 1),
    "cummin reversed": lambda x: lax.cummin(x, 1, reverse=True),
    "pool": lambda x: windows(x, LOW, lax.max),
    "gradient of pool": jax.grad(lambda x: (windows(x, LOW, lax.max) ** 2).sum()),
    "gradient of mean pool": jax.grad(lambda x: (windows(x, 0.0, lax.add) ** 2).sum()),
    "product": lambda x: jnp.prod(x[:, :4], 1),
    "scatter": lambda x, y: x.at[ROWS].set(y[:2]),
    "scatter minimum": lambda x, y: x.at[ROWS].min(y[:2]),
    "scatter by integers": lambda x, y: x.at[ROWS].multiply(jnp.arange(2.0)[:, None]) + y,
    "gradient of gather": jax.grad(lambda x: (x[ROWS] ** 2).sum()),
}
# All that read values somewhere.
READING: dict[str, Function] = {
    "cumprod": lambda x: jnp.cumprod(x, 1),
    "cumlogsumexp": lambda x: lax.cumlogsumexp(x, 1),
    "scatter products": lambda x, y: x.at[ROWS].multiply(y[:2]),
    "scatter apply": lambda x: x.at[ROWS].apply(jnp.sin),
    "sum of squares": lambda x: lax.reduce(x, 0.0, lambda p, q: p + q * q, (1,)),
}
EITHER: dict[str, Function] = {
    "median": lambda x: jnp.median(x, axis=1),
    "quantile": lambda x: jnp.quantile(x, 0.3, axis=1),
    "unique": lambda x: jnp.unique(x.reshape(-1), size=24),
    "searchsorted": lambda x, y: jnp.searchsorted(jnp.sort(x[0]), y[0], method="sort"),
}


def arity(function: Function) -> int:
    code = inspect.unwrap(function).__code__
    return sum(name in "xyab" for name in code.co_varnames[: code.co_argcount])


def text_of(function: Function) -> str:
    shapes = [shaped(3, 8)] * arity(function)
    return stablehlo_of(function, *shapes)


def check(function: Function) -> None:
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal((3, 8), dtype=np.float32) for _ in range(arity(function))]
    arrays[0][0, :4] = [0.0, -0.0, np.nan, np.inf]
    assert_invariant(text_of(function), arrays, (5, -3)[: len(arrays)])


@pytest.mark.slow
@pytest.mark.parametrize("name", KEEPING)
def test_keeps_scales(name: str) -> None:
    text = text_of(KEEPING[name])
    _, report = rewritten(text, "scaled")
    assert not report.remarks
    assert not report.given_up
    assert all(result.scaled for result in report.results if result.paired)
    check(KEEPING[name])


@pytest.mark.parametrize("name", READING)
def test_reads_values(name: str) -> None:
    _, report = rewritten(text_of(READING[name]), "scaled")
    assert report.remarks
    check(READING[name])


@pytest.mark.parametrize("name", EITHER)
def test_means_the_same(name: str) -> None:
    check(EITHER[name])
