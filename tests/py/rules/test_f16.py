"""f16 data whose values X overflow f16: finite and right after the rewrite, and not before."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import numpy.typing as npt
import pytest

import scalify_hlo
from tests.py.shared.judge import (
    Pair,
    evaluate,
    normals,
    parse,
    rewritten,
    run_scaled,
    stablehlo_of,
)

EPSILON = 2.0**-10
SCALE = 20
ROWS, COLUMNS = 6, 64
Wide = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Function:
    """A function in f16.

    Attributes:
        body: Takes `jax.numpy` or `numpy`, and arrays.
        shapes: Of its arguments.
        exponents: log2 of their scales.
        roundings: How many roundings to f16 an element may go through, in units of the largest.
    """

    body: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    exponents: tuple[int, ...]
    roundings: int = 4

    def __str__(self) -> str:
        return self.body.__name__


MATRIX, ROW, SQUARE = (ROWS, COLUMNS), (COLUMNS,), (COLUMNS, COLUMNS)


def product(_: Any, x: Any, y: Any) -> Any:
    return x * y


def product_of_three(_: Any, x: Any, y: Any, z: Any) -> Any:
    return x * y * z


def quotient(_: Any, x: Any, y: Any) -> Any:
    return x * y / x


def square(_: Any, x: Any) -> Any:
    return x * x


def sums(_: Any, x: Any, y: Any) -> Any:
    return x + y - 2 * x


def with_bias(_: Any, x: Any, y: Any) -> Any:
    return x * x + y


def dot(_: Any, x: Any, y: Any) -> Any:
    return x @ y


def perceptron(np: Any, x: Any, y: Any, z: Any) -> Any:
    return np.maximum(x @ y, 0) @ z


def deep_network(np: Any, x: Any, y: Any) -> Any:
    """Six sums of 64 terms, each 2^3 times as large as what went in: data must stay near unit."""
    for _ in range(6):
        x = np.maximum(x @ y, 0)
    return x


def sum_of_row(np: Any, x: Any) -> Any:
    return np.sum(x, axis=-1)


def mean_of_row(np: Any, x: Any) -> Any:
    return np.mean(x, axis=-1)


def maximum_of_row(np: Any, x: Any) -> Any:
    return np.max(x, axis=-1) - np.min(x, axis=-1)


def sum_of_squares(np: Any, x: Any) -> Any:
    return np.sum(x * x)


def deviation(np: Any, x: Any) -> Any:
    return np.sqrt(np.mean((x - np.mean(x, -1, keepdims=True)) ** 2, -1))


def root_mean_square(np: Any, x: Any) -> Any:
    return np.sqrt(np.mean(x * x, -1))


def layer_norm(np: Any, x: Any, gain: Any, bias: Any) -> Any:
    centerd = x - np.mean(x, -1, keepdims=True)
    return centerd / np.sqrt(np.mean(centerd * centerd, -1, keepdims=True)) * gain + bias


def rms_norm(np: Any, x: Any, gain: Any) -> Any:
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True)) * gain


def normalized(np: Any, x: Any) -> Any:
    return x / np.sqrt(np.sum(x * x, -1, keepdims=True))


def softmax(np: Any, x: Any) -> Any:
    e = np.exp(x - np.max(x, -1, keepdims=True))
    return e / np.sum(e, -1, keepdims=True)


def attention_weights(np: Any, x: Any, y: Any) -> Any:
    scores = (x @ y) * 0.125
    e = np.exp(scores - np.max(scores, -1, keepdims=True))
    return e / np.sum(e, -1, keepdims=True)


def stacked(np: Any, x: Any, y: Any) -> Any:
    return np.concatenate([x + x, y], -1)


FUNCTIONS = (
    Function(product, (MATRIX, MATRIX), (SCALE, SCALE)),
    Function(product_of_three, (MATRIX,) * 3, (SCALE, SCALE, -3)),
    Function(quotient, (MATRIX, MATRIX), (SCALE, SCALE)),
    Function(square, (MATRIX,), (SCALE,)),
    Function(sums, (MATRIX, MATRIX), (SCALE, SCALE - 2)),
    Function(with_bias, (MATRIX, ROW), (SCALE, SCALE)),
    Function(dot, (MATRIX, SQUARE), (SCALE, 1), COLUMNS),
    Function(perceptron, (MATRIX, SQUARE, SQUARE), (SCALE, SCALE, 2), 2 * COLUMNS),
    Function(deep_network, (MATRIX, SQUARE), (0, 0), 6 * 8),
    Function(sum_of_row, (MATRIX,), (SCALE,)),
    Function(mean_of_row, (MATRIX,), (SCALE,)),
    Function(maximum_of_row, (MATRIX,), (SCALE,)),
    Function(sum_of_squares, (MATRIX,), (SCALE,)),
    Function(deviation, (MATRIX,), (SCALE,), 8),
    Function(root_mean_square, (MATRIX,), (SCALE,), 8),
    Function(layer_norm, (MATRIX, ROW, ROW), (SCALE, 0, 0), 16),
    Function(layer_norm, (MATRIX, ROW, ROW), (SCALE, SCALE, SCALE), 16),
    Function(rms_norm, (MATRIX, ROW), (SCALE, 2), 16),
    Function(normalized, (MATRIX,), (SCALE,), 16),
    Function(softmax, (MATRIX,), (SCALE,)),
    Function(attention_weights, (MATRIX, SQUARE), (SCALE, SCALE)),
    Function(stacked, (MATRIX, MATRIX), (SCALE, SCALE + 1)),
)
EVERY_FUNCTION = pytest.mark.parametrize("function", FUNCTIONS, ids=str)


def data(function: Function) -> list[npt.NDArray[np.float16]]:
    return normals(*function.shapes, dtype=np.float16)


def reference(function: Function) -> Wide:
    values = [
        np.ldexp(d.astype(np.float64), e)
        for d, e in zip(data(function), function.exponents, strict=True)
    ]
    return np.asarray(function.body(np, *values))


def export(function: Function, dtype: Any, *, marked: bool = False) -> str:
    """The program, its arithmetic in f16, its arguments and result in `dtype`.

    If it is marked, its author sets the scales of the arguments.
    """

    def program(*arguments: jax.Array) -> jax.Array:
        scales = [2.0**e for e in function.exponents]
        if marked:
            arguments = tuple(map(scalify_hlo.set_scaling, arguments, scales))
        narrow = [a.astype(jnp.float16) for a in arguments]
        result: jax.Array = function.body(jnp, *narrow)
        assert result.dtype == jnp.float16
        return result.astype(dtype)

    types = [jax.ShapeDtypeStruct(shape, dtype) for shape in function.shapes]
    return stablehlo_of(program, *types)


def assert_right(actual: npt.NDArray[Any], function: Function) -> None:
    expected = reference(function)
    assert np.isfinite(actual).all()
    tolerance = function.roundings * EPSILON * np.abs(expected).max()
    np.testing.assert_allclose(actual, expected, rtol=0, atol=tolerance)


@EVERY_FUNCTION
def test_dynamic_scales(function: Function) -> None:
    (result,) = run_scaled(export(function, jnp.float16), data(function), function.exponents)
    assert isinstance(result, Pair)
    assert result.data.dtype == np.float16
    assert_right(result.value, function)


@EVERY_FUNCTION
def test_static_scales_keep_what_overflows_in_the_original(function: Function) -> None:
    """Arguments and result are f32, which hold the values; what lies between is f16."""
    values = [
        np.ldexp(d.astype(np.float32), e)
        for d, e in zip(data(function), function.exponents, strict=True)
    ]
    (overflown,) = evaluate(parse(export(function, jnp.float32)), values)
    assert not np.isfinite(overflown).all()
    module, _ = rewritten(export(function, jnp.float32, marked=True), "same")
    (result,) = evaluate(module, values)
    assert_right(result, function)
