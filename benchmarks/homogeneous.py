"""Programs that carry powers of two through: f(2^a X, 2^b Y, ...) = 2^c f(X, Y, ...), exactly.

One or more for each op, and a bias-free ReLU network forward and backward. Moving the scale of an
input must then move the scale of the result and leave its data alone, bit for bit.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

MOVE = 12
"""An exponent that square and cube roots divide."""


@dataclass(frozen=True)
class Case:
    """A homogeneous program.

    Attributes:
        name: the StableHLO op, without its dialect, or the network.
        function: takes float arrays only.
        shapes: one for each argument.
        moves: exponent by which the scale of each argument moves.
        expected: exponent by which the scale of each float result must move.
        positive: whether the arguments have to be positive.
    """

    name: str
    function: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    moves: tuple[int, ...]
    expected: tuple[int, ...]
    positive: bool = False


def _case(
    name: str,
    function: Callable[..., Any],
    *shapes: tuple[int, ...],
    moves: tuple[int, ...] | None = None,
    expected: int = MOVE,
    positive: bool = False,
) -> Case:
    moved = (MOVE,) * len(shapes) if moves is None else moves
    return Case(name, function, shapes, moved, (expected,), positive)


M = (4, 6)
V = (6,)
MASK = (jnp.arange(24).reshape(M) % 3) == 0
IMAGE, KERNEL = (2, 8, 8, 3), (3, 3, 3, 4)


def _window_sum(x: jax.Array) -> jax.Array:
    return lax.reduce_window(x, 0.0, lax.add, (2, 2), (1, 1), "VALID")


def _window_max(x: jax.Array) -> jax.Array:
    return lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (2, 2), "VALID")


def _max_pool_backward(x: jax.Array, cotangent: jax.Array) -> jax.Array:
    return jax.vjp(_window_max, x)[1](cotangent)[0]


def _convolution(x: jax.Array, kernel: jax.Array) -> jax.Array:
    return lax.conv_general_dilated(
        x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


def _complex(x: jax.Array, y: jax.Array, z: jax.Array) -> jax.Array:
    product = lax.complex(x, y) * lax.complex(z, z)
    return lax.real(product) + lax.imag(product)


def _while(x: jax.Array) -> jax.Array:
    return lax.fori_loop(0, 3, lambda _, carry: carry[::-1] + carry, x)


def _branches(x: jax.Array) -> jax.Array:
    branches = [lambda v: v + v, lambda v: -v, lambda v: v[::-1]]
    return lax.switch(jnp.argmax(x[:3]), branches, x)


OPS = (
    _case("abs", jnp.abs, M),
    _case("add", lax.add, M, M),
    _case("broadcast_in_dim", lambda x: jnp.broadcast_to(x, M), V),
    _case("case", _branches, V),
    _case("cbrt", lax.cbrt, M, expected=MOVE // 3),
    _case("clamp", lax.clamp, M, M, M),
    _case("compare", lambda x, y: jnp.where(x < y, x, y), M, M),
    _case("complex, real, imag", _complex, M, M, M, moves=(5, 5, 7)),
    _case("concatenate", lambda x, y: jnp.concatenate([x, y]), M, M),
    _case("convert", lambda x: x.astype(jnp.bfloat16), M),
    _case("convolution", _convolution, IMAGE, KERNEL, moves=(5, 7)),
    _case("divide", lax.div, M, M, moves=(24, 12)),
    _case("dot_general", jnp.matmul, M, (6, 5), moves=(5, 7)),
    _case("dynamic_slice", lambda x: lax.dynamic_slice(x, (jnp.argmax(x[:, 0]), 0), (2, 3)), M),
    _case("dynamic_update_slice", lambda x, y: lax.dynamic_update_slice(x, y, (1, 2)), M, (2, 2)),
    _case("fft", jnp.fft.rfft, M),
    _case("gather", lambda x: x[jnp.array([3, 0, 2])], M),
    _case("maximum", lax.max, M, M),
    _case("minimum", lax.min, M, M),
    _case("multiply", lax.mul, M, M, moves=(5, 7)),
    _case("negate", lax.neg, M),
    _case("optimization_barrier", lax.optimization_barrier, M),
    _case("pad", lambda x: jnp.pad(x, 1), M),
    _case("power", lambda x: lax.pow(x, 3.0), M, expected=3 * MOVE, positive=True),
    _case("reduce (add)", lambda x: x.sum(axis=0), M),
    _case("reduce (maximum)", lambda x: x.max(axis=1), M),
    _case("reduce_precision", lambda x: lax.reduce_precision(x, 8, 10), M),
    _case("reduce_window (add)", _window_sum, M),
    _case("reduce_window (maximum)", _window_max, M),
    _case("remainder", lax.rem, M, M),
    _case("reshape", lambda x: x.reshape(3, 8), M),
    _case("reverse", lambda x: x[::-1], M),
    _case("rsqrt", lax.rsqrt, M, expected=-MOVE // 2, positive=True),
    _case("scatter", lambda x, y: x.at[jnp.array([3, 0, 3])].add(y), M, (3, 6)),
    _case("select", lambda x, y: jnp.where(MASK, x, y), M, M),
    _case("select_and_scatter", _max_pool_backward, M, (2, 3)),
    _case("slice", lambda x: x[1:3, ::2], M),
    _case("sort", lambda x: jnp.sort(x, axis=1), M),
    _case("sqrt", lax.sqrt, M, expected=MOVE // 2, positive=True),
    _case("subtract", lax.sub, M, M),
    _case("transpose", jnp.transpose, M),
    _case("while", _while, V),
)
"""Cases for the ops with a scaled form that JAX writes on CPU, in alphabetical order."""


def _network(x: jax.Array, *weights: jax.Array) -> jax.Array:
    *hidden, last = weights
    for weight in hidden:
        x = jax.nn.relu(x @ weight)
    return x @ last


def _forward_backward(cotangent: jax.Array, *inputs: jax.Array) -> tuple[jax.Array, ...]:
    result, backward = jax.vjp(_network, *inputs)
    return (result, *backward(cotangent))


NETWORK = Case(
    "linear/ReLU network, forward and backward",
    _forward_backward,
    shapes=((8, 4), (8, 16), (16, 32), (32, 32), (32, 4)),
    moves=(10, 2, 4, 6, 8),
    # The result, then the gradient of each input: the moves of everything it is a product of.
    expected=(20, *(10 + 20 - move for move in (2, 4, 6, 8))),
)
