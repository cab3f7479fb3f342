"""Parts of drawn programs: networks, and the casts that they contain themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from random import Random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

SMALL = ("float8_e4m3fn", "float8_e5m2", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz")
ACTIVATIONS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "relu": jax.nn.relu,
    "gelu": jax.nn.gelu,
    "silu": jax.nn.silu,
    "tanh": jnp.tanh,
    "softplus": jax.nn.softplus,
    "hard_swish": jax.nn.hard_swish,
}


@dataclass
class Own:
    """The program's own roundings, which become results of the program.

    Attributes:
        formats: The format of each.
        operands: The values that are rounded, in f32.
        rounded: What they become, in f32.
    """

    formats: list[str] = field(default_factory=list)
    operands: list[jax.Array] = field(default_factory=list)
    rounded: list[jax.Array] = field(default_factory=list)

    def cast(self, x: jax.Array, format_: str) -> jax.Array:
        """Rounds a value to a format, and records it."""
        made = x.astype(format_)
        self.formats.append(f"{x.dtype.name} {format_}")
        self.operands.append(jax.lax.stop_gradient(x.astype(jnp.float32)))
        self.rounded.append(jax.lax.stop_gradient(made.astype(jnp.float32)))
        return made


def amax_scale(x: jax.Array, format_: str) -> jax.Array:
    """The scale of current scaling: the amax over the largest number of the format."""
    most = float(jnp.finfo(format_).max)
    amax = jnp.maximum(jnp.max(jnp.abs(jax.lax.stop_gradient(x))), 1e-12)
    return jnp.asarray(amax / most, jnp.float32)


@partial(jax.custom_vjp, nondiff_argnums=(3,))
def rounded_cotangent(x: jax.Array, seen: jax.Array, made: jax.Array, format_: str) -> jax.Array:
    """The identity, whose cotangent is rounded; `seen` and `made` take what and to what."""
    del seen, made, format_
    return x


def _forward(x: Any, seen: Any, made: Any, format_: str) -> tuple[Any, None]:
    return rounded_cotangent(x, seen, made, format_), None


def _backward(format_: str, _: None, g: Any) -> tuple[Any, Any, Any]:
    rounded = g.astype(format_).astype(jnp.float32)
    return rounded.astype(g.dtype), g.astype(jnp.float32), rounded


rounded_cotangent.defvjp(_forward, _backward)


def quantized(x: jax.Array, how: str, format_: str, own: Own, scale: Any = None) -> jax.Array:
    """Rounds an operand of a matmul in one of the ways that models do.

    Args:
        x: The operand, in f32.
        how: ``cast``, ``qdq`` (with the scale of its amax), ``given`` (with the scale of an
            argument), ``clip`` (as ``given``, with saturation), ``precision`` (`reduce_precision`),
            or ``keep``.
        format_: The format.
        own: Takes the cast.
        scale: The scale of an argument.
    """
    if how == "keep":
        return x
    if how == "precision":
        info = jnp.finfo(format_)
        made = jax.lax.reduce_precision(x, info.nexp, info.nmant)
        own.formats.append(f"reduce_precision {info.nexp} {info.nmant}")
        own.operands.append(jax.lax.stop_gradient(x))
        own.rounded.append(jax.lax.stop_gradient(made))
        return made
    if how == "cast":
        return own.cast(x, format_).astype(x.dtype)
    scale = amax_scale(x, format_) if how == "qdq" else scale
    data = x / scale.astype(x.dtype)
    if how == "clip":
        most = float(jnp.finfo(format_).max)
        data = jnp.clip(data, -most, most)
    dequantized: jax.Array = own.cast(data, format_).astype(x.dtype) * scale.astype(x.dtype)
    return dequantized


@dataclass(frozen=True)
class Network:
    """A drawn network: dense layers with activations, and what surrounds them.

    Attributes:
        widths: The width of the input and of each layer.
        activation: The activation between layers.
        norm: Whether values are normalized before each layer but the first.
        residual: Whether layers of equal width add their input.
        casts: How each layer rounds its input and its weight; see `quantized`.
        compute: The dtype in which the layers compute.
    """

    widths: tuple[int, ...]
    activation: str
    norm: bool
    residual: bool
    casts: tuple[tuple[str, str, str], ...]
    compute: str = "float32"

    def weights(self, random: np.random.Generator) -> list[Any]:
        """Weights of ordinary initializers: 1 / sqrt(n)."""
        return [
            (random.normal(size=(a, b)) / np.sqrt(a)).astype(np.float32)
            for a, b in zip(self.widths, self.widths[1:], strict=False)
        ]

    def apply(self, weights: Any, x: jax.Array, own: Own, scales: Any = None) -> jax.Array:
        """The output of the network in f32."""
        x = x.astype(self.compute)
        for i, (w, casts) in enumerate(zip(weights, self.casts, strict=True)):
            before, (how, other, format_) = x, casts
            if i and self.norm:
                mean = jnp.mean(x.astype(jnp.float32), -1, keepdims=True)
                wide = x.astype(jnp.float32) - mean
                wide = wide * jax.lax.rsqrt(jnp.mean(wide**2, -1, keepdims=True) + 1e-5)
                x = wide.astype(self.compute)
            scale = None if scales is None else scales[i]
            x = quantized(x, how, format_, own, scale)
            w = quantized(w.astype(self.compute), other, format_, own, scale)
            x = x @ w
            if i + 1 < len(weights):
                x = ACTIVATIONS[self.activation](x)
            if self.residual and x.shape == before.shape:
                x = x + before
        return x.astype(jnp.float32)


def network(random: Random, *, hows: tuple[str, ...], compute: str = "float32") -> Network:
    """Draws a network.

    Args:
        random: The source of randomness.
        hows: The ways to round of which each operand has one.
        compute: The dtype in which the layers compute.
    """
    depth = random.randint(2, 4)
    same = random.random() < 0.5
    width = random.choice((16, 32, 48, 64))
    widths = [random.choice((16, 24, 32)), *([width] * (depth - 1)), random.choice((8, 16))]
    if not same:
        widths[1:-1] = [random.choice((16, 32, 48, 64)) for _ in range(depth - 1)]
    casts = tuple(
        (random.choice(hows), random.choice(hows), random.choice(SMALL)) for _ in range(depth)
    )
    norm, residual = random.random() < 0.4, same and random.random() < 0.5
    activation = random.choice(sorted(ACTIVATIONS))
    return Network(tuple(widths), activation, norm, residual, casts, compute)
