"""Random training steps in which a backward pass reads what a forward pass keeps."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import export, lax

import scalify_hlo
from scalify_hlo.report.model import Report
from tests.py.shared.judge import interpreted

LAYERS, ROWS, WIDTH = 3, 4, 8
_E4M3 = ml_dtypes.float8_e4m3fn


def _normalized(x: Any, _: Any) -> Any:
    wide = x.astype(jnp.float32)
    found = wide * lax.rsqrt(jnp.mean(wide * wide, -1, keepdims=True) + 1e-5)
    return found.astype(x.dtype)


def _gated(x: Any, w: Any) -> Any:
    return jax.nn.silu(x @ w["a"]) * (x @ w["b"])


def _attended(x: Any, w: Any) -> Any:
    return jax.nn.softmax((x @ w["a"]) @ x.T, -1) @ x


def _dropped(x: Any, _: Any) -> Any:
    bits = lax.bitcast_convert_type(x.astype(jnp.float32), jnp.uint32)
    return jnp.where((bits ^ (bits >> 7)) % 3 > 0, x * 1.5, 0)


def _looped(x: Any, w: Any) -> Any:
    turns = jnp.arange(2.0, dtype=x.dtype)
    return lax.scan(lambda y, i: (jnp.sin(y @ w["b"]) + i, y[0]), x, turns)[0]


_PARTS: list[Callable[[Any, Any], Any]] = [
    *(_normalized, _gated, _attended, _dropped, _looped),
    lambda x, w: x @ w["a"],
    lambda x, w: x + w["gain"],
    lambda x, w: x * jnp.exp(-jnp.abs(x)) + w["gain"],
    lambda x, _: jnp.tanh(x).astype(jnp.bfloat16).astype(x.dtype),
    lambda x, w: (x.astype(_E4M3) @ w["b"].astype(_E4M3)).astype(x.dtype),
    lambda x, _: jnp.maximum(x, jnp.max(x, 0) / 2),
    lambda x, _: jnp.cumsum(x, 0) / 4,
    lambda x, _: jnp.concatenate([x[1:], x[:1]]) * jax.nn.gelu(x),
    lambda x, w: (x.T.reshape(WIDTH, 2, -1) * w["gain"][:, None, None]).reshape(WIDTH, -1).T,
]


def _layer(random: np.random.Generator) -> Callable[[Any, Any], Any]:
    """A layer of a few parts, with sums of earlier values."""
    parts = [_PARTS[i] for i in random.integers(0, len(_PARTS), random.integers(2, 6))]
    sums = random.random(len(parts)) < 0.5

    def layer(x: Any, w: Any) -> Any:
        for part, summed in zip(parts, sums, strict=True):
            y = part(x, w)
            x = x + y if summed else y
        return x

    policies = [None, jax.checkpoint_policies.dots_saveable]
    if random.random() < 0.25:
        return jax.checkpoint(layer, policy=policies[random.integers(2)])
    return layer


def _scanned(layer: Any, reverse: bool) -> Callable[[Any, Any], Any]:
    def loss(weights: Any, x: Any) -> Any:
        y, kept = lax.scan(lambda x, w: (layer(x, w), x[0]), x, weights, reverse=reverse)
        return jnp.sum(y * y) + jnp.sum(kept)

    return loss


def _unrolled(layer: Any, aux: bool) -> Callable[[Any, Any], Any]:
    def loss(weights: Any, x: Any) -> Any:
        for i in range(LAYERS):
            x = layer(x, jax.tree.map(operator.itemgetter(i), weights))
        return jnp.mean(x**2) + (jnp.max(x) if aux else 0)

    return loss


def _in_batches(loss: Any) -> Callable[[Any, Any], Any]:
    def step(weights: Any, x: Any) -> Any:
        def turn(total: Any, part: Any) -> Any:
            return jax.tree.map(jnp.add, total, jax.grad(loss)(weights, part)), None

        return lax.scan(turn, jax.tree.map(jnp.zeros_like, weights), jnp.stack([x, x + 1]))[0]

    return step


def random_step(seed: int) -> tuple[Callable[[Any, Any], Any], dict[str, Any], Any]:
    """Returns a random step, its weights and its inputs."""
    random = np.random.default_rng(seed)
    layer, flag = _layer(random), bool(random.integers(2))
    loss = (_scanned if random.random() < 0.6 else _unrolled)(layer, flag)
    step = _in_batches(loss) if random.random() < 0.25 else jax.value_and_grad(loss)
    type_ = [jnp.float32, jnp.bfloat16][random.integers(2)]
    shapes = {"a": (LAYERS, WIDTH, WIDTH), "b": (LAYERS, WIDTH, WIDTH), "gain": (LAYERS, WIDTH)}
    weights = {n: jnp.asarray(random.normal(0, 0.4, s), type_) for n, s in shapes.items()}
    return step, weights, jnp.asarray(random.normal(0, 1, (ROWS, WIDTH)), type_)


def both(
    fn: Callable[..., Any], *arguments: Any, **options: Any
) -> tuple[Report, list[Any], list[Any]]:
    """The report of a rewrite, and its results without and with the cut."""
    ways = ({"residuals": "keep"}, {"residuals": "auto"})
    (_, before), (report, after) = _runs(fn, *arguments, ways=ways, **options)
    return report, before, after


def _runs(
    fn: Callable[..., Any], *arguments: Any, ways: Iterable[Mapping[str, str]], **options: Any
) -> list[tuple[Report, list[Any]]]:
    """The report and the results of a rewrite with each of some settings."""
    program, runs = export.export(jax.jit(fn))(*arguments), []
    for way in ways:
        settings = {**way, **options.get("settings", {})}
        made, report = scalify_hlo.rewrite(
            program, report=True, **{**options, "settings": settings}
        )
        runs.append((report, interpreted(made, *arguments)))
    return runs


def same(before: list[Any], after: list[Any]) -> None:
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(np.asarray(one, float), np.asarray(other, float))


_RECIPES = ("propagate", "fp8-current", "fp8", "unit", "mxfp8", "bf16", "fp8-state8")


def same_values(seed: int) -> bool:
    """Checks that a random step has the same values; returns whether it keeps less.

    With values that are kept rounded, the loss is the same, and gradients stay finite.

    Raises:
        AssertionError: It has others.
    """
    step, weights, x = random_step(seed)
    keep, auto = {"residuals": "keep"}, {"residuals": "auto"}
    how: dict[str, Any] = {"recipe": _RECIPES[seed % len(_RECIPES)]}
    ways = (keep, auto, {**auto, "activations.saved": "f8"})
    (_, before), (report, after), (_, rounded) = _runs(step, weights, x, ways=ways, **how)
    same(before, after)
    if len(before) > len(weights):  # It returns the loss, and then the gradients.
        same(before[:1], rounded[:1])
    if all(np.isfinite(np.asarray(one, float)).all() for one in before):  # Some steps overflow.
        assert all(np.isfinite(np.asarray(other, float)).all() for other in rounded)
    return report.kept_after < report.kept_before
