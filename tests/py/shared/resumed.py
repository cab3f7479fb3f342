"""Training runs that are interrupted.

`python -m tests.py.shared.resumed FOLDER` goes on with them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import scalify_hlo as jsa
from examples.training import training_step
from tests.py.shared.judge import program_of

Tree = Any
Step = Callable[[Tree], Tree]

OPTIMIZER = optax.adamw(2.0**-6)


def settings(recipe: str) -> dict[str, object]:
    """Returns the settings over a recipe: small matmuls in FP8, and state that is rescaled."""
    small = {"matmul.smallest": 8} if recipe.startswith("fp8") else {}
    return {**small, "state_rescale.statistic": "l2"}


def loss(params: Tree, x: Any) -> Any:
    """The mean square of two layers."""
    return jnp.mean((jnp.tanh(x @ params["up"] + params["bias"]) @ params["down"]) ** 2)


plain_step = training_step(loss, OPTIMIZER)


def plain_state() -> Tree:
    """Parameters and optimizer state, in f32."""
    rng = np.random.default_rng(0)
    shapes = {"up": (16, 32), "bias": (32,), "down": (32, 16)}
    params = {
        name: jnp.asarray(rng.standard_normal(shape) / 4, jnp.float32)
        for name, shape in shapes.items()
    }
    return params, OPTIMIZER.init(params)


def batch() -> Any:
    return jnp.asarray(np.random.default_rng(1).standard_normal((8, 16)), jnp.float32)


def scaled(recipe: str) -> tuple[Step, Tree]:
    """A step in scaled form and what it starts from, as it takes it first."""
    run = jsa.scalify(plain_step, recipe=recipe, settings=settings(recipe))

    def step(state: Tree) -> Tree:
        return run(*state, jsa.as_scaled_array(batch()))[:2]

    return step, jsa.as_scaled_array(plain_state())


def exported(recipe: str) -> tuple[Step, Tree]:
    """A step of a rewritten program, and its state in the formats in which it keeps it."""
    plain = program_of(plain_step, *plain_state(), batch())
    program = jsa.rewrite(plain, recipe=recipe, signature="scaled", settings=settings(recipe))
    call = jax.jit(program.call)

    def step(state: Tree) -> Tree:
        return tuple(call(*state, jsa.as_scaled_array(batch()))[:2])

    return step, jsa.scaled_state(program, plain_state())


def delayed() -> tuple[Step, Tree]:
    """A step with delayed scales, whose state goes along."""
    exported = program_of(plain_step, *plain_state(), batch())
    program = jsa.rewrite(exported, recipe="fp8-delayed", settings={"matmul.smallest": 8})
    call = jax.jit(program.call)

    def step(carried: Tree) -> Tree:
        state, scaling = carried
        (params, opt_state, _), scaling = call(*state, batch(), scaling)
        return (params, opt_state), scaling

    return step, (plain_state(), jsa.init_scaling_state(program))


RUNS: dict[str, Callable[[], tuple[Step, Tree]]] = {
    "propagate": lambda: scaled("propagate"),
    "fp16-state": lambda: scaled("fp16-state"),
    "fp8-state": lambda: scaled("fp8-state"),
    "fp8-state8": lambda: scaled("fp8-state8"),
    "fp8-state8-exported": lambda: exported("fp8-state8"),
    "fp8-delayed": delayed,
}


def bits(array: Any) -> Any:
    """An array of unsigned integers with the same bytes, since a file knows no narrow floats."""
    array = np.asarray(array)
    flat = np.atleast_1d(array).view(f"u{array.dtype.itemsize}")
    return flat.reshape(array.shape)


def save_bits(file: Path, tree: Tree) -> None:
    """Writes the leaves of a pytree, with NumPy alone."""
    np.savez(file, *map(bits, jax.tree.leaves(tree)))


def load_bits(file: Path, like: Tree) -> Tree:
    """Reads them into a pytree of the same structure, shapes and dtypes."""
    leaves, tree = jax.tree.flatten(like)
    with np.load(file) as found:
        arrays = [
            np.atleast_1d(found[name]).view(leaf.dtype).reshape(leaf.shape)
            for name, leaf in zip(found.files, leaves, strict=True)
        ]
    return jax.tree.unflatten(tree, [jnp.asarray(array) for array in arrays])


def abstract(step: Step, start: Tree) -> Tree:
    """The structure, shapes and dtypes of what a step gives back."""
    return jax.eval_shape(step, start)


def dequantize(folder: Path, target: Tree) -> Tree:
    """Returns the arrays in a folder, in the tree of a target."""
    if (folder / "leaves.npz").exists():
        return load_bits(folder / "leaves.npz", target)
    checkpoint = importlib.import_module("orbax.checkpoint")
    with checkpoint.StandardCheckpointer() as checkpointer:
        return checkpointer.restore(folder / "orbax", target)


def main(folder: Path) -> None:
    """Goes on with each run that stands in a folder, for one step."""
    for place in sorted(folder.iterdir()):
        step, start = RUNS[place.name]()
        state = dequantize(place, abstract(step, start))
        save_bits(place / "found.npz", state)
        save_bits(place / "next.npz", step(state))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
