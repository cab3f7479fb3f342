"""Each mechanism that keeps scales sound, broken once: the benchmark of its row notices it.

A row is run in a small configuration, as its benchmark runs it: with the mechanism it holds, and
without it it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from benchmarks import predicted_sizes
from benchmarks.idiom_programs import IDIOMS
from benchmarks.idioms import Case
from benchmarks.models import reductions
from benchmarks.models.__main__ import make
from benchmarks.models.measure import export
from benchmarks.models.run import RUNS
from benchmarks.optimizer_checks import figures
from benchmarks.optimizer_runs import Original as Training
from benchmarks.optimizer_runs import Rewritten
from benchmarks.statistics_count import most, requests
from benchmarks.wide_values import Original
from scalify_hlo.algebra.uncertainty import UNKNOWN, Uncertainty
from scalify_hlo.quantize import rescaling
from scalify_hlo.rules import drift, families, rescaler, result_scales, rounding
from scalify_hlo.scaling import boundary
from tests.py.judge import Pair, interpreted, program_of, propagated, run_scaled

pytestmark = pytest.mark.slow

Patch = pytest.MonkeyPatch
Check = Callable[[], bool]

MODEL = "gpt2-jax"
"""The model of the rows of models: it needs no other package."""


def trains(optimizer: str, model: str, recipe: str, steps: int = 40) -> Check:
    """The row of `benchmarks.optimizers`."""

    def check() -> bool:
        training = Training(optimizer, model, steps)
        rewritten = Rewritten(training, recipe)
        found = figures(training, rewritten, {0: rewritten.train(0)}, recipe)
        return all(figure.holds for figure in found.values())

    return check


def casts(idiom: str, recipe: str, scale: int = 0) -> Check:
    """The row of `benchmarks.idioms`."""
    return lambda: not Case(IDIOMS[idiom]).measure(recipe, scale).problems


def stays_near(function: Callable[..., Any], x: Any, scale: float) -> Check:
    """The row of `benchmarks.wide_values`."""

    def check() -> bool:
        text = jax.jit(function).lower(x).as_text(debug_info=True)
        original = Original(text, [x], RUNS["interpreter"], exact=True)
        declared = {"*": scale}
        rewritten = propagated(original.text, signature="same", input_scale=declared)
        return original.compare(rewritten).holds

    return check


def predicts() -> bool:
    """The row of `benchmarks.predicted_sizes`."""
    found = predicted_sizes.operands(MODEL, "train", ())
    parts = (predicted_sizes.FORWARD, predicted_sizes.BACKWARD)
    return all(
        predicted_sizes.near(found, part) >= part.share and not predicted_sizes.far(found, part)
        for part in parts
    )


def counts(tmp_path: Any) -> Check:
    """The row of `benchmarks.statistics_count`, under `unit`, state apart."""

    def check() -> bool:
        wanted = requests(export(make(MODEL).case("train")), tmp_path / "program.mlir")
        bound = most(MODEL, "unit")
        return bound is not None and reductions.added(wanted[1]) <= bound

    return check


X = np.random.default_rng(0).standard_normal((8, 32)).astype(np.float32)


def power_of_products(x: jax.Array) -> jax.Array:
    x = x - jnp.mean(x, axis=-1, keepdims=True)
    square = jnp.square(x @ x.T)
    return square * square


def masked(x: jax.Array) -> jax.Array:
    return jax.nn.softmax(x @ x.T + jnp.where(x[:, 0] > 1e30, 0.0, np.finfo(np.float32).min))


def fits_f16() -> bool:
    """A program's own cast to f16 of data that come in pairs, whose size is not certain."""
    orthogonal, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((64, 64)))
    values = orthogonal.astype(np.float32)

    def squared(a: jax.Array) -> jax.Array:
        for _ in range(4):
            a = a @ a
        return a.astype(jnp.float16)

    program = program_of(squared, values)
    (found,) = run_scaled(str(program.mlir_module()), [values * 2.0**8], [-8])
    (expected,) = interpreted(program, values)
    return isinstance(found, Pair) and bool(np.array_equal(found.value, expected))


def without_fixed_point(patch: Patch) -> None:
    patch.setattr(boundary, "carried_arguments", lambda *_: {})


def without_cap(patch: Patch) -> None:
    for module in (result_scales, drift):
        patch.setattr(module, "DRIFT", 1000)


def without_trust(patch: Patch) -> None:
    patch.setattr(rounding, "handled", lambda *_: None)


def without_measured_state(patch: Patch) -> None:
    """State in f16 leaves at the scale that it came with; two mechanisms measure it."""
    patch.setattr(rescaling, "rescaled_state", lambda *_: [])
    patch.setattr(boundary, "_is_narrow", lambda _: False)


def without_limits_of_masks(patch: Patch) -> None:
    patch.setattr(rescaler.Rescaler, "overflows", lambda *_: False)


def without_growth(patch: Patch) -> None:
    """Sums are as large as their terms."""
    patch.setattr(families, "rise", lambda *_: 0)


def without_certainty(patch: Patch) -> None:
    """Nothing is certain, so that all is measured."""
    patch.setattr(Uncertainty, "octaves", UNKNOWN.octaves)
    patch.setattr(Uncertainty, "misdeclared", UNKNOWN.octaves)


MECHANISMS: dict[str, tuple[Callable[[Patch], None], Check]] = {
    "state is a fixed point": (without_fixed_point, trains("sgd", "linear", "propagate")),
    "narrow state is measured": (without_measured_state, trains("adagrad", "mlp", "fp8-state")),
    "no scale drifts": (without_cap, stays_near(power_of_products, X, 2.0**-4)),
    "casts are trusted": (without_trust, casts("squarings", "fp8")),
    "masks stay finite": (without_limits_of_masks, stays_near(masked, X, 2.0**-4)),
    "casts to f16 are trusted": (without_trust, fits_f16),
    "sums grow": (without_growth, predicts),
}


@pytest.mark.parametrize("name", list(MECHANISMS))
def test_the_row_of_a_mechanism_needs_it(name: str, monkeypatch: Patch) -> None:
    break_it, holds = MECHANISMS[name]
    assert holds(), "the row does not hold by itself"
    break_it(monkeypatch)
    assert not holds(), "the row holds without the mechanism"


def test_the_row_of_statistics_needs_sizes_that_are_certain(
    tmp_path: Any, monkeypatch: Patch
) -> None:
    holds = counts(tmp_path)
    assert holds()
    without_certainty(monkeypatch)
    assert not holds()
