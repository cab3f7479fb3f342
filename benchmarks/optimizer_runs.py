"""Trains one model with one optimizer, as it is and rewritten, and measures what scales do.

Everything is measured on the program that a training loop of a user runs: what `scalify` compiles
for ScaledArray arguments.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax

import scalify_hlo
from benchmarks.optimizer_models import MODELS, Batch
from benchmarks.optimizer_rules import OPTIMIZERS
from benchmarks.optimizer_watch import watch_operands
from examples.training import Params
from examples.xla import Executable, flat
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from scalify_hlo.jax_api.stored_arrays import stored

MOMENTS_AT = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500)
"""The steps whose moments are compared, and the last one as well."""

_EACH, _EVERY = 20, 5
"""State is measured after each of the first steps, then after every fifth one, and the last."""

NUDGE, ULP = 2.0**-4, 2.0**-23
"""The most by which a nudged parameter differs, relative to itself: for the end of a training, and
for its first losses."""

_UNFUSED = {"xla_disable_hlo_passes": "fusion"}
"""XLA's options under which every op is rounded by itself, as the program says."""

_TURNS = 4
"""How often a step is traced, at most, until it returns the types that it takes."""

_NARROW = 2
"""The most bytes of an element of narrow state."""

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass
class Trace:
    """What one training gave.

    Attributes:
        losses: One for each step; NaN after a step whose loss is not finite.
        at: The steps after which state was measured.
        rms: log2 of the rms of the data of each float leaf of state, by step; -inf for zeros.
        scales: log2 of the scale of each, by step.
        saturated: Elements of the data that are infinite, NaN or the largest of their format.
        operands: Share of saturated elements of each narrow operand of a matmul, in every step.
        moments: By step, the amax of each float leaf of the optimizer's state and that of f32.
    """

    losses: Floats
    at: np.ndarray[Any, np.dtype[np.int64]]
    rms: Floats
    scales: Floats
    saturated: Floats
    operands: Floats
    moments: dict[int, Floats]


class Original:
    """The training in f32.

    Args:
        optimizer: A name in `OPTIMIZERS`.
        model: A name in `MODELS`.
        steps: How many steps each training has.
    """

    def __init__(self, optimizer: str, model: str, steps: int) -> None:
        self.steps, self._name = steps, model
        self.model = MODELS[model]
        self._prepare = OPTIMIZERS[optimizer].prepare
        self._optimizer = OPTIMIZERS[optimizer].of(model)
        self._step = jax.jit(self.step)
        self._unfused = jax.jit(self.step, compiler_options=_UNFUSED)
        self._update = jax.jit(self._moments)
        self.losses = cache(self._losses)
        self.batches = cache(self._batches)

    def step(self, params: Params, state: Any, *batch: jax.Array) -> Any:
        """The training step: (params, state, loss)."""
        return self.step_with_gradients(params, state, *batch)[:-1]

    def step_with_gradients(self, params: Params, state: Any, *batch: jax.Array) -> Any:
        """The training step: (params, state, loss, gradients that the optimizer takes)."""
        loss, gradients = jax.value_and_grad(self.model.loss)(params, *batch)
        gradients = self._prepare(gradients)
        updates, state = self._optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), state, loss, gradients

    def state(self, seed: int, nudge: int = 0, by: float = NUDGE) -> Any:
        """Parameters and the optimizer's state to begin with.

        Args:
            seed: Of the parameters.
            nudge: Parameters are multiplied by 1 + u * `by`, with u between -1 and 1 drawn for each
                element from this seed; 0 for the parameters themselves.
            by: See `nudge`.
        """
        params = _parameters(self._name, seed)
        if nudge:
            random = np.random.default_rng([seed, nudge])
            params = jax.tree.map(lambda leaf: _nudged(leaf, random, by), params)
        return params, self._optimizer.init(params)

    def first_losses(self, seed: int, nudge: int, steps: int) -> Floats:
        """The first losses from parameters nudged by at most one unit in the last place."""
        return _trained(self._step, self.state(seed, nudge, ULP), self.batches(seed)[:steps])

    def unfused_losses(self, seed: int, steps: int) -> Floats:
        """The first losses when XLA fuses nothing."""
        return _trained(self._unfused, self.state(seed), self.batches(seed)[:steps])

    def amax_after(self, gradients: Params, state: Any, params: Params) -> Floats:
        """The amax of each float leaf of the optimizer's state after gradients."""
        return np.array(self._update(gradients, state, params), np.float64)

    def _moments(self, gradients: Params, state: Any, params: Params) -> list[jax.Array]:
        new = self._optimizer.update(gradients, state, params)[1]
        return [jnp.max(jnp.abs(leaf)) for leaf in jax.tree.leaves(new) if _is_float(leaf)]

    def _batches(self, seed: int) -> list[Batch]:
        return self.model.batches(seed, self.steps)

    def _losses(self, seed: int, nudge: int = 0) -> Floats:
        return _trained(self._step, self.state(seed, nudge), self.batches(seed))


def _trained(step: Callable[..., Any], state: Any, batches: Sequence[Any]) -> Floats:
    """The losses of a training."""
    losses = []
    for batch in batches:
        *state, loss = step(*state, *batch)
        losses.append(np.asarray(loss))
    return np.array(losses, np.float64)


@cache
def _parameters(model: str, seed: int) -> Params:
    return MODELS[model].init(jax.random.key(seed))


def _nudged(leaf: jax.Array, random: np.random.Generator, by: float) -> jax.Array:
    return leaf * jnp.float32(1 + by * random.uniform(-1, 1, leaf.shape))


class Rewritten:
    """The training rewritten under a recipe, with signature `scaled`.

    Args:
        original: The training in f32.
        recipe: A preset's name.

    Attributes:
        leaves: The names of the float leaves of state.
        narrow: Which of them are stored in 16 bits or fewer.
        moments: The names of the leaves that belong to the optimizer.
        operands: Locations and types of the narrow operands of matmuls.
    """

    def __init__(self, original: Original, recipe: str) -> None:
        self._original, self._recipe = original, recipe
        self._batch = jax.jit(_same if original.model.plain else scalify_hlo.as_scaled_array)
        scalified = scalify_hlo.scalify(
            original.step, recipe=recipe, plain_results=False, keep_unused=True
        )
        self._first = jax.eval_shape(self._batch, original.batches(0)[0])
        self._begin = jax.eval_shape(scalify_hlo.as_scaled_array, original.state(0))
        self._state, self._loss = _settled(scalified, self._begin, self._first)
        self._unfused = jax.jit(scalified, compiler_options=_UNFUSED)
        module: Any = scalified.lower(*self._state, *self._first).compiler_ir("stablehlo")
        text, self.operands = watch_operands(module.operation.get_asm(enable_debug_info=True))
        self._run = Executable(text)
        pairs = [(name, leaf) for name, leaf in _named(self._state) if _is_float(leaf)]
        self.leaves = [name for name, _ in pairs]
        self.narrow = np.array([leaf.dtype.itemsize <= _NARROW for _, leaf in pairs])
        self.moments = [name for name, leaf in _named(self._state[1]) if _is_float(leaf)]

    @cached_property
    def _with_gradients(self) -> Callable[..., Any]:
        """The rewritten step that also returns the gradients which its optimizer takes."""
        step = self._original.step_with_gradients
        made = scalify_hlo.scalify(step, recipe=self._recipe, plain_results=False)
        # The types of the first call, which are those of the model, are those it is traced at.
        jax.eval_shape(made, *self._begin, *self._first)
        return made

    def train(self, seed: int) -> Trace:
        """Trains from a seed and measures on the way."""
        steps = self._original.steps
        state = flat(_stored(self._original.state(seed), self._state))
        losses, operands, states, moments = [], [], [], {}
        for index, batch in enumerate(self._original.batches(seed)):
            pairs = self._batch(batch)
            results = self._run([*state, *flat(pairs)])
            new, told = results[: len(state)], results[len(state) :]
            losses.append(_value(told[: self._loss]))
            operands.append(np.array(told[self._loss :], np.float64).reshape(-1, 2))
            last = index == steps - 1 or not np.isfinite(losses[-1])
            if last or index in MOMENTS_AT:
                moments[index] = self._amax(state, pairs, new)
            if last or index < _EACH or index % _EVERY == 0:
                states.append([index, *_measured(self._tree(new))])
            if last:
                break
            state = new
        losses += [np.nan] * (steps - len(losses))
        at, rms, scales, saturated = (np.array(column) for column in zip(*states, strict=True))
        watched = np.array(operands)
        shares = watched[..., 0] / np.maximum(watched[..., 1], 1)
        return Trace(np.array(losses), at, rms, scales, saturated, shares, moments)

    def unfused_losses(self, seed: int, steps: int) -> Floats:
        """The first losses when XLA fuses nothing."""
        state = _stored(self._original.state(seed), self._state)
        batches = [self._batch(batch) for batch in self._original.batches(seed)[:steps]]
        return _trained(self._unfused, state, batches)

    def _tree(self, state: Sequence[jax.Array]) -> Any:
        return jax.tree.unflatten(jax.tree.structure(self._state), state)

    def _amax(self, state: Sequence[jax.Array], batch: Any, new: Sequence[jax.Array]) -> Floats:
        """The amax of each moment after a step, and that of the f32 update of the same state."""
        before, after = self._tree(state), self._tree(new)
        gradients = self._with_gradients(*before, *batch)[-1]
        params, moments, gradients = _decoded((*before, gradients))
        found = [np.abs(m).max() for m in jax.tree.leaves(_decoded(after[1])) if _is_float(m)]
        return np.stack([found, self._original.amax_after(gradients, moments, params)], axis=-1)


def _same(batch: Batch) -> Batch:
    return batch


def _settled(step: Any, state: Any, batch: Any) -> tuple[Any, int]:
    """The types of state that a step takes and returns, and how many leaves its loss has."""
    for _ in range(_TURNS):
        *new, loss = jax.eval_shape(step, *state, *batch)
        if _types(new) == _types(state):
            return tuple(new), len(jax.tree.leaves(loss))
        state = new
    raise ValueError("the types of state are others after each step")


def _types(tree: Any) -> Any:
    leaves, structure = jax.tree.flatten(tuple(tree))
    return structure, [(leaf.shape, leaf.dtype) for leaf in leaves]


def _stored(state: Any, types: Any) -> Any:
    """State as ScaledArrays in the formats that a step stores."""

    def split(type_: Any, leaf: Any) -> Any:
        if not is_scaled_array(type_):
            return jnp.asarray(leaf, type_.dtype)
        pair = scalify_hlo.as_scaled_array(leaf)
        return stored(pair, type_.dtype, type_.power, type_.logical)

    return jax.tree.map(split, types, state, is_leaf=is_scaled_array)


def _decoded(tree: Any) -> Any:
    """The values of ScaledArrays in f32, on the host."""

    def value(leaf: Any) -> Any:
        return np.asarray(leaf, np.float32) if is_scaled_array(leaf) else np.asarray(leaf)

    return jax.tree.map(value, tree, is_leaf=is_scaled_array)


def _named(tree: Any) -> list[tuple[str, Any]]:
    leaves = jax.tree_util.tree_leaves_with_path(tree, is_leaf=is_scaled_array)
    return [(jax.tree_util.keystr(path), leaf) for path, leaf in leaves]


def _is_float(leaf: Any) -> bool:
    return bool(jnp.issubdtype(leaf.dtype, jnp.floating))


def _value(parts: Sequence[jax.Array]) -> float:
    """A loss, which is data and scale where a scale reached it."""
    return float(np.prod([float(part) for part in parts]))


def _measured(tree: Any) -> tuple[Floats, Floats, Floats]:
    """log2 of rms and of scale, and the number of saturated elements, of each float leaf."""
    leaves = [x for x in jax.tree.leaves(tree, is_leaf=is_scaled_array) if _is_float(x)]
    columns = np.array([_measured_leaf(leaf) for leaf in leaves], np.float64).T
    return columns[0], columns[1], columns[2]


def _measured_leaf(leaf: Any) -> tuple[float, float, int]:
    if (
        is_scaled_array(leaf) and leaf.power is not None
    ):  # Each block has a number near the largest.
        finite = np.isfinite(np.asarray(leaf, np.float64))
        return -np.inf, 0.0, finite.size - int(np.count_nonzero(finite))
    data, scale = (leaf.data, leaf.scale) if is_scaled_array(leaf) else (leaf, 1.0)
    magnitude = np.abs(np.asarray(data).astype(np.float64))
    with np.errstate(divide="ignore", invalid="ignore"):
        rms = 0.5 * np.log2(np.mean(magnitude * magnitude))
        exponent = np.log2(np.float64(scale))
    # NaN is below nothing, and so counts as saturated.
    below = np.count_nonzero(magnitude < float(jnp.finfo(data.dtype).max))
    return float(rms), float(exponent), magnitude.size - int(below)
