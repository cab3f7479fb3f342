"""The optimizers that `benchmarks.optimizers` trains with, among them three written out by hand.

Each takes its learning rate from the model it trains; see `OPTIMIZERS`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from optax import contrib

Params = Any
"""A pytree of arrays."""

LONG, SHORT = 1000, 200
"""Steps of training: for one optimizer of each kind of state, and for the others."""

_DECAY = 0.99
"""Of the mean of parameters that `averaged` keeps."""

_ACCUMULATED = 4
"""Batches whose gradients `optax.MultiSteps` adds up for one update."""

_NEWTON_SCHULZ = (3.4445, -4.7750, 2.0315)
_TURNS = 5
"""The coefficients of Muon's polynomial, and how often it is applied."""


@dataclass(frozen=True)
class Optimizer:
    """An optimizer and how long it trains.

    Attributes:
        make: Makes the transformation for a learning rate.
        rates: The learning rate for each model.
        steps: Steps of training.
        prepare: Applied to gradients before the transformation, which then has all of the state.
    """

    make: Callable[[float], optax.GradientTransformation]
    rates: Mapping[str, float]
    steps: int = SHORT
    prepare: Callable[[Params], Params] = lambda gradients: gradients

    def of(self, model: str) -> optax.GradientTransformation:
        """The transformation for a model."""
        return self.make(self.rates[model])


class TextbookState(NamedTuple):
    """State of `textbook_adamw`."""

    step: jax.Array
    m: Params
    v: Params


def textbook_adamw(
    rate: float, b1: float = 0.9, b2: float = 0.999, decay: float = 1e-2, eps: float = 1e-8
) -> optax.GradientTransformation:
    """AdamW as papers write it: the second moment takes `(1 - b2) * g * g`, from left to right."""

    def init(params: Params) -> TextbookState:
        zeros = jax.tree.map(jnp.zeros_like, params)
        return TextbookState(jnp.zeros((), jnp.int32), zeros, zeros)

    def update(gradients: Params, state: TextbookState, params: Params) -> Any:
        step = state.step + 1
        m = jax.tree.map(lambda m, g: b1 * m + (1 - b1) * g, state.m, gradients)
        v = jax.tree.map(lambda v, g: b2 * v + (1 - b2) * g * g, state.v, gradients)

        def moved(m: jax.Array, v: jax.Array, p: jax.Array) -> jax.Array:
            m_hat, v_hat = m / (1 - b1**step), v / (1 - b2**step)
            return -rate * (m_hat / (jnp.sqrt(v_hat) + eps) + decay * p)

        return jax.tree.map(moved, m, v, params), TextbookState(step, m, v)

    return optax.GradientTransformation(init, update)


def orthogonalized(x: jax.Array) -> jax.Array:
    """A matrix with the same singular vectors and singular values near 1.

    Newton-Schulz iteration (Jordan, `Muon`, 2024) with its five turns written one after another.
    """
    a, b, c = _NEWTON_SCHULZ
    tall = x.shape[0] > x.shape[1]
    x = x.T if tall else x
    x = x / (jnp.sqrt(jnp.sum(x * x)) + 1e-7)
    for _ in range(_TURNS):
        gram = x @ x.T
        x = a * x + (b * gram + c * gram @ gram) @ x
    return x.T if tall else x


class MomentumState(NamedTuple):
    """State of `written_out_muon` for matrices."""

    momentum: Params


def written_out_muon(rate: float, beta: float = 0.95) -> optax.GradientTransformation:
    """Muon for matrices and Adam for all else, without a loop and without library code."""

    def init(params: Params) -> MomentumState:
        return MomentumState(jax.tree.map(jnp.zeros_like, params))

    def update(gradients: Params, state: MomentumState, params: Params | None = None) -> Any:
        del params
        momentum = jax.tree.map(lambda m, g: beta * m + g, state.momentum, gradients)

        def moved(m: jax.Array, g: jax.Array) -> jax.Array:
            widening = max(1.0, m.shape[1] / m.shape[0]) ** 0.5
            return -rate * widening * orthogonalized(beta * m + g)

        return jax.tree.map(moved, momentum, gradients), MomentumState(momentum)

    matrices = optax.GradientTransformation(init, update)
    return optax.partition({"matrix": matrices, "other": optax.adam(rate)}, _kinds)


def _kinds(params: Params) -> Any:
    return jax.tree.map(lambda p: "matrix" if p.ndim == 2 else "other", params)


class AveragedState(NamedTuple):
    """State of `averaged`."""

    inner: Any
    mean: Params


def averaged(inner: optax.GradientTransformation) -> optax.GradientTransformation:
    """An optimizer that keeps an exponential moving average of the parameters beside its state."""

    def init(params: Params) -> AveragedState:
        return AveragedState(inner.init(params), params)

    def update(gradients: Params, state: AveragedState, params: Params) -> Any:
        updates, kept = inner.update(gradients, state.inner, params)
        new = optax.apply_updates(params, updates)
        mean = jax.tree.map(lambda e, p: _DECAY * e + (1 - _DECAY) * p, state.mean, new)
        return updates, AveragedState(kept, mean)

    return optax.GradientTransformation(init, update)


def _clipped(gradients: Params) -> Params:
    return optax.clip_by_global_norm(1.0).update(gradients, optax.EmptyState())[0]


def _accumulated(rate: float) -> optax.GradientTransformation:
    return optax.MultiSteps(optax.adam(rate), _ACCUMULATED).gradient_transformation()


def _rates(linear: float, mlp: float, lstm: float, gpt2: float) -> Mapping[str, float]:
    return {"linear": linear, "mlp": mlp, "lstm": lstm, "gpt2": gpt2}


_ADAM = _rates(2e-2, 3e-3, 1e-2, 2e-3)

OPTIMIZERS: Mapping[str, Optimizer] = {
    "sgd": Optimizer(optax.sgd, _rates(0.5, 0.2, 0.5, 0.1), LONG),
    "nesterov": Optimizer(
        partial(optax.sgd, momentum=0.9, nesterov=True), _rates(0.1, 0.05, 0.1, 0.1)
    ),
    "rmsprop": Optimizer(optax.rmsprop, _rates(1e-2, 1e-3, 3e-3, 5e-4)),
    "adagrad": Optimizer(optax.adagrad, _rates(0.1, 0.02, 0.1, 0.02), LONG),
    "adafactor": Optimizer(
        partial(optax.adafactor, min_dim_size_to_factor=16), _rates(0.1, 0.05, 0.1, 0.05)
    ),
    "lamb": Optimizer(optax.lamb, _rates(2e-2, 1e-2, 2e-2, 1e-2), LONG),
    "lars": Optimizer(partial(optax.lars, trust_coefficient=0.02), _rates(0.3, 0.2, 0.5, 0.1)),
    "lion": Optimizer(optax.lion, _rates(3e-3, 5e-4, 2e-3, 3e-4)),
    "adamw": Optimizer(optax.adamw, _ADAM, LONG),
    "textbook-adamw": Optimizer(textbook_adamw, _ADAM),
    "muon": Optimizer(contrib.muon, _rates(2e-2, 1e-2, 2e-2, 1e-2)),
    "written-out-muon": Optimizer(written_out_muon, _rates(2e-2, 1e-2, 2e-2, 1e-2)),
    "clipped-adam": Optimizer(optax.adam, _ADAM, prepare=_clipped),
    "multisteps-adam": Optimizer(_accumulated, _ADAM),
    "adam-with-ema": Optimizer(lambda rate: averaged(optax.adam(rate)), _ADAM),
}
"""By name; the rates are such that each model learns in the steps given, and ends alike from
parameters that differ a little: SGD at 0.5 begins by losing, and its f32 losses differ by 5 %."""
