"""Small models as users write them: an MLP, a convolutional net, and a scanned GPT."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tests.py.shared.judge import program_of


def mlp(params: Any, x: Any) -> Any:
    """Layers whose weights are elements of a list."""
    for w in params[:-1]:
        x = jax.nn.relu(x @ w)
    return x @ params[-1]


def convolutions(params: Any, x: Any) -> Any:
    """Two convolutions and a linear layer."""
    for kernel in params["kernels"]:
        with jax.named_scope("conv"):
            x = jax.nn.relu(lax.conv(x, kernel, (1, 1), "SAME"))
    return x.mean((2, 3)) @ params["head"]


def layer(x: Any, params: Any) -> Any:
    """A layer of `gpt`, as `lax.scan` takes it."""
    attention, (up, down) = params["attention"], params["mlp"]
    with jax.named_scope("attention"):
        q, k, v = (x @ attention[name] for name in "qkv")
        x = x + jax.nn.softmax(q @ k.mT / 4) @ v @ attention["out"]
    return x + jax.nn.gelu(x @ up) @ down, None


def gpt(params: Any, tokens: Any) -> Any:
    """Layers in a scan with rematerialization, over stacked weights."""
    x, _ = lax.scan(jax.checkpoint(layer), params["embed"][tokens], params["layers"])
    return x @ params["head"]


def trained(model: Any) -> Any:
    """A step of SGD on the mean square of a model's outputs."""

    def loss(params: Any, x: Any) -> Any:
        return jnp.mean(model(params, x) ** 2)

    def step(params: Any, x: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(params, x)
        return value, jax.tree.map(lambda w, g: w - 0.01 * g, params, gradients)

    return step


def write(folder: Path) -> None:
    """Writes a training step of each model, with inputs."""
    random = np.random.default_rng(0)

    def normal(*shape: int) -> Any:
        return jnp.asarray(random.standard_normal(shape, np.float32) / np.sqrt(shape[-2]))

    linear = {name: normal(2, 32, 32) for name in ("q", "k", "v", "out")}
    stacked = {"attention": linear, "mlp": [normal(2, 32, 64), normal(2, 64, 32)]}
    models: dict[str, tuple[Any, Any, Any]] = {
        "mlp": (mlp, [normal(32, 32) for _ in range(12)], normal(32, 32)),
        "conv": (
            convolutions,
            {"kernels": [normal(16, 16, 3, 3)] * 2, "head": normal(16, 16)},
            normal(2, 16, 8, 8),
        ),
        "gpt": (
            gpt,
            {"embed": normal(48, 32), "layers": stacked, "head": normal(32, 48)},
            jnp.asarray(random.integers(0, 48, (2, 16))),
        ),
    }
    for name, (model, params, x) in models.items():
        (folder / f"{name}.export").write_bytes(program_of(trained(model), params, x).serialize())
        leaves = jax.tree.leaves((params, x))
        arrays = {f"arr_{i}": np.asarray(leaf) for i, leaf in enumerate(leaves)}
        np.savez(folder / f"{name}.npz", **arrays)  # type: ignore[arg-type]
