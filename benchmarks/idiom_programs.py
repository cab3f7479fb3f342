"""Programs whose sizes are hard to predict, for `benchmarks.idioms`.

Each computes a value from an activation x and, for some, from weights or gains. The benchmark lets
a matmul with a weight follow. All matmuls of an idiom go through its first argument, `dot`, so that
the same function also runs with operands that are rounded to a format.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn
from jax.scipy import special

Array = np.ndarray[Any, np.dtype[np.float32]]
Dot = Callable[[jax.Array, jax.Array], jax.Array]
Make = Callable[[np.random.Generator], Array]
"""Draws one argument."""

_COLUMNS = 64
"""Of the weight that follows."""

_TURNS = 16
"""Of the maps, the recurrences and the chain of gains."""

_LAYERS = 24
_GROWTH = 3.5
"""Of the logistic map, which then has a stable cycle: rounding errors do not grow."""

_NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
"""Coefficients of Muon's quintic iteration (Jordan et al., 2024)."""

_EXP = [1 / math.factorial(n) for n in range(13)]
"""Taylor coefficients of exp up to degree 12."""

_COS = [0.0 if n % 2 else (-1) ** (n // 2) / math.factorial(n) for n in range(15)]
"""Taylor coefficients of cos up to degree 14."""

_PADE = (135135.0, 17325.0, 378.0, 1.0), (135135.0, 62370.0, 3150.0, 28.0)
"""Coefficients of x², in ascending order, of the [7/6] Padé approximant of tanh(x)."""


@dataclass(frozen=True)
class Idiom:
    """A program and its arguments.

    Attributes:
        name: Its name in the table.
        function: Takes `dot`, the activation and the other arguments, and gives the value.
        makes: Draw the arguments of `function`, the activation first.
    """

    name: str
    function: Callable[..., jax.Array]
    makes: tuple[Make, ...]

    def program(self, x: jax.Array, w: jax.Array, *rest: jax.Array) -> jax.Array:
        """The idiom followed by a matmul with the weight `w`."""
        return self.function(jnp.matmul, x, *rest) @ w

    def arguments(self) -> list[Array]:
        """The arguments of `program`: the same in each run."""
        random = np.random.default_rng(0)
        x, *rest = (make(random) for make in self.makes)
        size = jax.eval_shape(lambda *a: self.function(jnp.matmul, *a), x, *rest).shape[-1]
        return [x, normal(size, _COLUMNS, rms=size**-0.5)(random), *rest]


IDIOMS: dict[str, Idiom] = {}
"""The idioms by name."""

_Function = Callable[..., jax.Array]


def idiom(*makes: Make) -> Callable[[_Function], _Function]:
    """Registers a function in `IDIOMS` under its name.

    Args:
        *makes: Draw its arguments but for `dot`, the activation first.
    """

    def register(function: _Function) -> _Function:
        name = function.__name__
        IDIOMS[name] = Idiom(name, function, makes)
        return function

    return register


def normal(*shape: int, rms: float = 1.0) -> Make:
    """Normal numbers."""
    return lambda random: np.asarray(random.standard_normal(shape) * rms, np.float32)


def uniform(low: float, high: float, *shape: int, signed: bool = False) -> Make:
    """Numbers between two bounds; with `signed`, half of them negated."""

    def make(random: np.random.Generator) -> Array:
        signs = random.choice([-1.0, 1.0], shape) if signed else 1.0
        return np.asarray(random.uniform(low, high, shape) * signs, np.float32)

    return make


def orthogonal(size: int, nudge: float) -> Make:
    """An orthogonal matrix plus noise of a given rms, relative to the rms of its elements."""

    def make(random: np.random.Generator) -> Array:
        q, _ = np.linalg.qr(random.standard_normal((size, size)))
        noise = random.standard_normal((size, size)) * nudge / math.sqrt(size)
        return np.asarray(q + noise, np.float32)

    return make


@idiom(normal(64, 128, rms=2.0**-6))
def newton_schulz(dot: Dot, x: jax.Array) -> jax.Array:
    """Muon's orthogonalization of an update, written out."""
    a, b, c = _NEWTON_SCHULZ
    x = x / (jnp.sqrt(jnp.sum(x * x)) + 1e-7)
    for _ in range(5):
        gram = dot(x, x.T)
        x = a * x + dot(b * gram + c * dot(gram, gram), x)
    return x


@idiom(orthogonal(64, 2.0**-6))
def squarings(dot: Dot, x: jax.Array) -> jax.Array:
    """A @ A four times."""
    for _ in range(4):
        x = dot(x, x)
    return x


@idiom(normal(64, 64, rms=2.0**-3))
def expm(dot: Dot, x: jax.Array) -> jax.Array:
    """The matrix exponential by scaling and squaring of its Taylor polynomial of degree 6."""
    turns = 4
    x = x * 2.0**-turns
    total, power = jnp.eye(x.shape[0]) + x, x
    for n in range(2, 7):
        power = dot(power, x) / n
        total = total + power
    for _ in range(turns):
        total = dot(total, total)
    return total


@idiom(uniform(0.0, 1.0, 64, 128))
def logistic_map(_: Dot, x: jax.Array) -> jax.Array:
    """The logistic map x ← a·x·(1 - x), unrolled."""
    for _turn in range(_TURNS):
        x = _GROWTH * x * (1 - x)
    return x


@idiom(uniform(0.0, 1.0, 64, 128))
def logistic_map_loop(_: Dot, x: jax.Array) -> jax.Array:
    """The logistic map x ← a·x·(1 - x) in a loop."""
    return lax.fori_loop(0, _TURNS, lambda _turn, x: _GROWTH * x * (1 - x), x)


@idiom(uniform(0.5, 2.0, 64, 128))
def newton_rsqrt(_: Dot, x: jax.Array) -> jax.Array:
    """Newton's iteration for 1 / sqrt(x), from 1."""
    y = jnp.ones_like(x)
    for _turn in range(6):
        y = y * (1.5 - 0.5 * x * y * y)
    return y


@idiom(uniform(-2.0, 2.0, 64, 128))
def horner(_: Dot, x: jax.Array) -> jax.Array:
    """A polynomial of degree 12 by Horner's scheme."""
    y = jnp.full_like(x, _EXP[-1])
    for coefficient in reversed(_EXP[:-1]):
        y = y * x + coefficient
    return y


@idiom(normal(64, 128))
def polyval(_: Dot, x: jax.Array) -> jax.Array:
    """A polynomial of degree 14 by `jnp.polyval`."""
    return jnp.polyval(jnp.array(_COS[::-1]), x)


@idiom(normal(64, 128))
def erf(_: Dot, x: jax.Array) -> jax.Array:
    """The error function, which is exported with its expansion."""
    return special.erf(x)


@idiom(normal(64, 128))
def erfc(_: Dot, x: jax.Array) -> jax.Array:
    """The complementary error function, which is exported with its expansion."""
    return special.erfc(x)


@idiom(normal(64, 128), *[uniform(0.5, 2.0, 128)] * _TURNS)
def gains(_: Dot, x: jax.Array, *each: jax.Array) -> jax.Array:
    """A chain of gains."""
    for gain in each:
        x = x * gain
    return x


@idiom(normal(64, 128))
def pade_tanh(_: Dot, x: jax.Array) -> jax.Array:
    """The [7/6] Padé approximant of tanh(x)."""
    square = x * x
    (p0, p1, p2, p3), (q0, q1, q2, q3) = _PADE
    above = x * (p0 + square * (p1 + square * (p2 + square * p3)))
    return above / (q0 + square * (q1 + square * (q2 + square * q3)))


@idiom(normal(64, 128, rms=2.0**2))
def rational(_: Dot, x: jax.Array) -> jax.Array:
    """The quotient x / (x² + 1)."""
    return x / (x * x + 1)


@idiom(normal(64, 128, rms=2.0**3))
def variance_rsqrt(_: Dot, x: jax.Array) -> jax.Array:
    """Variances and their reciprocal square roots, four times."""
    for _turn in range(4):
        x = x - jnp.mean(x, axis=-1, keepdims=True)
        x = x * lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
        x = x + 0.5 * x * x
    return x


@idiom(normal(64, 64), *[normal(64, 64, rms=(2 / 64) ** 0.5)] * _LAYERS)
def relu_chain(dot: Dot, x: jax.Array, *weights: jax.Array) -> jax.Array:
    """A deep network of ReLUs without normalization."""
    for weight in weights:
        x = dot(nn.relu(x), weight)
    return x


@idiom(normal(64, 64), normal(64, 64, rms=(2 / 64) ** 0.5))
def relu_chain_shared(dot: Dot, x: jax.Array, weight: jax.Array) -> jax.Array:
    """A deep network of ReLUs without normalization, all of whose layers have one weight."""
    for _ in range(_LAYERS):
        x = dot(nn.relu(x), weight)
    return x


@idiom(normal(_TURNS, 64, 64), normal(64, 192, rms=2.0**-3), normal(64, 192, rms=2.0**-3))
def gru(dot: Dot, x: jax.Array, wx: jax.Array, wh: jax.Array) -> jax.Array:
    """The carry of a GRU."""

    def cell(h: jax.Array, turn: jax.Array) -> tuple[jax.Array, None]:
        xr, xz, xn = jnp.split(dot(turn, wx), 3, axis=-1)
        hr, hz, hn = jnp.split(dot(h, wh), 3, axis=-1)
        r, z = nn.sigmoid(xr + hr), nn.sigmoid(xz + hz)
        return (1 - z) * jnp.tanh(xn + r * hn) + z * h, None

    return lax.scan(cell, jnp.zeros(x.shape[1:]), x)[0]


@idiom(normal(_TURNS, 64, 64), normal(64, 256, rms=2.0**-3), normal(64, 256, rms=2.0**-3))
def lstm(dot: Dot, x: jax.Array, wx: jax.Array, wh: jax.Array) -> jax.Array:
    """The cell state of an LSTM, which is the carry that nothing bounds."""

    def cell(
        carry: tuple[jax.Array, jax.Array], turn: jax.Array
    ) -> tuple[tuple[jax.Array, jax.Array], None]:
        h, c = carry
        i, f, g, o = jnp.split(dot(turn, wx) + dot(h, wh), 4, axis=-1)
        c = nn.sigmoid(f + 1) * c + nn.sigmoid(i) * jnp.tanh(g)
        return (nn.sigmoid(o) * jnp.tanh(c), c), None

    zeros = jnp.zeros(x.shape[1:])
    return lax.scan(cell, (zeros, zeros), x)[0][1]


@idiom(normal(64, 64), normal(8, 16, 64), normal(8, 16, 64))
def online_softmax(dot: Dot, x: jax.Array, keys: jax.Array, values: jax.Array) -> jax.Array:
    """Attention over blocks of keys with a running maximum and a running sum."""

    def block(
        carry: tuple[jax.Array, jax.Array, jax.Array], part: tuple[jax.Array, jax.Array]
    ) -> tuple[tuple[jax.Array, jax.Array, jax.Array], None]:
        largest, total, result = carry
        key, value = part
        scores = dot(x, key.T) / math.sqrt(x.shape[-1])
        new = jnp.maximum(largest, scores.max(-1, keepdims=True))
        kept, weights = jnp.exp(largest - new), jnp.exp(scores - new)
        total = total * kept + weights.sum(-1, keepdims=True)
        return (new, total, result * kept + dot(weights, value)), None

    column = (x.shape[0], 1)
    carry = jnp.full(column, -jnp.inf), jnp.zeros(column), jnp.zeros_like(x)
    _, total, result = lax.scan(block, carry, (keys, values))[0]
    return result / total


@idiom(uniform(0.5, 1.5, 64, 64))
def cumprod(_: Dot, x: jax.Array) -> jax.Array:
    """Running products along rows."""
    return jnp.cumprod(x, axis=1)


@idiom(uniform(0.5, 1.5, 64, 128, signed=True))
def power16(_: Dot, x: jax.Array) -> jax.Array:
    """The power x¹⁶, which is four squarings."""
    return x**16
