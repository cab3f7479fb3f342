"""What a model is to the benchmark: a forward pass and a training step, with their arguments."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

from examples.training import Loss, training_step

SGD = optax.sgd(1e-2, momentum=0.9)
ADAMW = optax.adamw(1e-3, b1=0.9, b2=0.95, weight_decay=0.1)


@dataclass(frozen=True)
class Case:
    """A function to export.

    Attributes:
        function: Takes and gives pytrees of arrays.
        arguments: What it is run with.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Model:
    """A model with random weights.

    Attributes:
        forward: The forward pass.
        train: One step of training.
    """

    forward: Case
    train: Case

    def case(self, kind: str) -> Case:
        """The case by its name, ``forward`` or ``train``."""
        return {"forward": self.forward, "train": self.train}[kind]


@dataclass(frozen=True)
class Training:
    """A model to be trained on a task.

    Attributes:
        state: A pytree of arrays: parameters, what the optimizer keeps, statistics of layers, and
            the key of dropout as ``uint32[2]``.
        step: ``(state, *batch) -> (state, loss)``.
        batch: Gives the batch of a number, from 0 on: f32 and integer arrays.
    """

    state: Any
    step: Callable[..., tuple[Any, jax.Array]]
    batch: Callable[[int], tuple[Any, ...]]


def training_of(case: Case, seed: int = 0) -> Training:
    """The training that a step of `Model.train` makes, on its one batch.

    The last result of the step is the loss; those before it are its first arguments, anew.

    Args:
        case: The step.
        seed: Of the first parameters: 0 leaves them as they are, others permute each array.
    """
    carried = len(jax.eval_shape(case.function, *case.arguments)) - 1
    params, *others = case.arguments[:carried]
    rng = np.random.default_rng(seed)
    if seed:
        params = jax.tree.map(lambda w: rng.permutation(w.reshape(-1)).reshape(w.shape), params)

    def step(state: Any, *batch: Any) -> tuple[Any, jax.Array]:
        *state, loss = case.function(*state, *batch)
        return tuple(state), loss

    return Training((params, *others), step, lambda _: case.arguments[carried:])


def trained(loss: Loss, optimizer: optax.GradientTransformation, params: Any, *batch: Any) -> Case:
    """The step of training on a loss."""
    state = amid_training(optimizer, params)
    return Case(training_step(loss, optimizer), (params, state, *batch))


def amid_training(optimizer: optax.GradientTransformation, params: Any) -> Any:
    """The state of an optimizer that has seen a gradient.

    That of a bias before a normalization is rounding noise around zero. An optimizer that has seen
    no other gives it as its state, or Adam even a whole step of it, and then no two compilations
    of one program agree.
    """
    return optimizer.update(drawn(params, seed=1, width=1e-2), optimizer.init(params), params)[1]


def drawn(shapes: Any, seed: int = 0, width: float | None = None) -> Any:
    """Random leaves for a pytree of shapes.

    Args:
        shapes: Arrays, or what `jax.eval_shape` gives.
        seed: Of the random numbers.
        width: Their standard deviation. By default leaves are drawn as parameters are, by their
            names: kernels keep the variance of what they are multiplied with, gains and variances
            are near 1, and biases are not zero, as they never are amid training.
    """
    rng = np.random.default_rng(seed)
    leaves, tree = jax.tree_util.tree_flatten_with_path(shapes)
    values = [_drawn(jax.tree_util.keystr(path), leaf, rng, width) for path, leaf in leaves]
    return jax.tree.unflatten(tree, values)


def _drawn(path: str, leaf: Any, rng: np.random.Generator, width: float | None) -> Any:
    if not jnp.issubdtype(leaf.dtype, jnp.floating):
        return jnp.zeros(leaf.shape, leaf.dtype)
    normal = rng.standard_normal(leaf.shape)
    if width is not None:
        values = width * normal
    elif len(leaf.shape) > 1:
        values = normal / np.sqrt(_fan_in(path, leaf.shape))
    elif any(word in path for word in ("scale", "gain", "gamma", "var", "norm")):
        values = np.exp(0.1 * normal)
    else:
        values = 0.1 * normal
    return jnp.asarray(values, leaf.dtype)


def _fan_in(path: str, shape: Sequence[int]) -> int:
    return shape[-1] if "embed" in path else int(np.prod(shape[:-1]))


def integers(limit: int, *shape: int, seed: int = 0) -> jax.Array:
    """Random tokens or labels below a limit."""
    return jnp.asarray(np.random.default_rng(seed).integers(0, limit, shape), jnp.int32)


def normals(*shape: int, seed: int = 0) -> jax.Array:
    """Random inputs."""
    return jnp.asarray(np.random.default_rng(seed).standard_normal(shape), jnp.float32)
