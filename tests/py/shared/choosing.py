"""Training steps for the tests of `compare` and `blame`, with their inputs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.py.shared.judge import program_of

WIDTH = 64
LAYERS = ("first", "second", "planted", "fourth")
OUTLIER = 2.0**18
"""The size of a channel that leaves nothing of the others in E4M3 with one scale."""


def parameters() -> dict[str, Any]:
    """Weights of layers; those of an outlier channel are as small as the channel is large."""
    rng = np.random.default_rng(3)
    shape = (WIDTH, WIDTH)
    return {name: rng.standard_normal(shape, np.float32) / 8 for name in LAYERS}


def batch() -> tuple[Any, Any]:
    """Inputs and labels."""
    rng = np.random.default_rng(4)
    x = rng.standard_normal((2, WIDTH, WIDTH), np.float32)
    return x[0], x[1]


def loss_of(params: Any, x: Any, y: Any, outlier: float = 1.0) -> Any:
    """A loss of four layers; one channel of the input of the third is multiplied by a factor."""
    h = x
    for name in LAYERS:
        if name == "planted":
            h = jnp.concatenate([h[:, :1] * outlier, h[:, 1:]], axis=1)
        with jax.named_scope(name):
            h = h @ params[name]
        if name == "planted":
            h = h / jnp.sqrt(1e-3 + jnp.mean(h**2, axis=-1, keepdims=True))
        h = jnp.tanh(h)
    return jnp.mean((h - y) ** 2)


def planted_loss(params: Any, x: Any, y: Any) -> Any:
    """The loss with an outlier channel, whose weights make it as large as others in the sum."""
    row = jnp.ones((WIDTH, 1), np.float32).at[0].set(1 / OUTLIER)
    scaled = params | {"planted": params["planted"] * row}
    return loss_of(scaled, x, y, OUTLIER)


def descent(loss: Any, params: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """A step of gradient descent."""
    value, gradients = jax.value_and_grad(loss)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.125 * g, params, gradients), value


def good_step(params: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """A step in which all matmuls are fine."""
    return descent(loss_of, params, x, y)


def planted_step(params: Any, x: Any, y: Any) -> tuple[Any, Any]:
    """A step with one bad matmul."""
    return descent(planted_loss, params, x, y)


def exported(step: Any) -> Any:
    """A step as an Exported."""
    return program_of(step, parameters(), *batch())


def write(step: Any, folder: Path) -> tuple[str, str]:
    """Writes a step and its inputs, and returns their paths."""
    program, inputs = folder / "step.jax_export", folder / "x.npz"
    program.write_bytes(exported(step).serialize())
    x, y = batch()
    named = {f"params['{name}']": array for name, array in parameters().items()}
    np.savez(inputs, **named, x=x, y=y)
    return str(program), str(inputs)
