"""FP8 inference with weights in the file and calibrated scales, against NumPy's ideal scales.

    python -m benchmarks.inference
    python -m benchmarks.inference --train 100     # steps for the trained weights

A transformer and a CNN, with random and with trained weights, are exported with their weights as
constants, calibrated on other inputs than they are measured with, and rewritten. What is compared
is the signal to noise of their logits, f32's being the signal: of the rewritten program compiled by
XLA, and of `benchmarks.simulation`, which rounds the operands of the same matmuls at the ideal
scale of each tensor.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import numpy as np

import scalify_hlo
from benchmarks.common import Row, export_text, report
from benchmarks.numerics import snr
from benchmarks.simulation import MATMULS, simulate
from examples import cnn, data, gpt2
from scalify_hlo._compat import ir, new_context
from scalify_hlo.ir.formats import format_of
from scalify_hlo.run.runner import compile_module

CONFIG = gpt2.Config(
    layers=4, width=256, heads=4, sequence=128, vocab=data.VOCAB, batch=8, tied=False
)
"""Of which no weight is read by anything but one matmul."""
SMALLEST = 16
"""The least M, N and K of a matmul that takes part, by default."""

BELOW = 1.0
"""How many dB the rewritten program may be below the simulation."""

WEIGHTS = 0.27
"""Bytes of the constants that f8 matmuls take, of those in f32."""


@dataclass(frozen=True)
class Model:
    """A model with its weights.

    Attributes:
        name: How the table calls it.
        run: The model, of one array.
        samples: What it is calibrated with.
        batch: What it is measured with.
    """

    name: str
    run: Callable[[Any], jax.Array]
    samples: Sequence[Any]
    batch: Any


def models(steps: int) -> Iterator[Model]:
    """The models, with random weights and with trained ones."""
    for trained in (False, True):
        kind = "trained" if trained else "random"
        params = _transformer(steps if trained else 0)
        *samples, batch = [t[:, :-1] for t in data.batches(CONFIG.batch, CONFIG.sequence, 5, 7)]
        yield Model(f"GPT-2, {kind}", partial(gpt2.logits, params), samples, batch)
        weights, running = _cnn(steps if trained else 0)
        *images, last = [images for images, _ in pictures(5, 7)]

        def classify(x: Any, w: Any = weights, r: Any = running) -> jax.Array:
            return cnn.logits(w, r, x)[0]

        yield Model(f"CNN, {kind}", classify, images, last)


def _transformer(steps: int) -> Any:
    params, optimizer = gpt2.state(CONFIG, gpt2.ADAMW)
    step = jax.jit(gpt2.adamw_step)
    for batch in data.batches(CONFIG.batch, CONFIG.sequence, steps):
        params, optimizer, _ = step(params, optimizer, batch)
    return params


def _cnn(steps: int) -> Any:
    params, running = cnn.init(jax.random.key(0))
    state = params, running, cnn.ADAM.init(params)
    step = jax.jit(cnn.adam_step)
    for images, labels in pictures(steps, 0):
        state, _ = step(state, images, labels)
    return state[:2]


def pictures(steps: int, seed: int, batch: int = 32) -> Iterator[tuple[Any, Any]]:
    """Noisy pictures of ten classes, each with a pattern of its own."""
    patterns = np.random.default_rng(0).standard_normal((cnn.CLASSES, 16, 16, 3))
    random = np.random.default_rng(seed)
    for _ in range(steps):
        labels = random.integers(0, cnn.CLASSES, batch)
        noise = random.standard_normal((batch, *patterns.shape[1:]))
        yield (patterns[labels] + noise).astype(np.float32), labels.astype(np.int32)


def takes_part(equation: Any) -> bool:
    """Whether an equation is a matmul that is large enough."""
    lhs, rhs = (v.aval.shape for v in equation.invars[:2])
    out = equation.outvars[0].aval.shape
    if equation.primitive.name == "dot_general":
        (contracting, _), (batching, _) = equation.params["dimension_numbers"]
        k = int(np.prod([lhs[d] for d in contracting]))
        shared = k * int(np.prod([lhs[d] for d in batching]))
        return min(k, np.prod(lhs) // shared, np.prod(rhs) // shared) >= SMALLEST
    n = out[-1]
    return min(n, np.prod(rhs) // n, np.prod(out) // n) >= SMALLEST


def measured(model: Model) -> Iterator[Row]:
    """What is said of one model."""
    text = export_text(model.run, model.batch)
    wanted = np.asarray(jax.jit(model.run)(model.batch))
    ideal = snr(simulate(model.run, model.batch, takes=takes_part)[0], wanted)
    yield Row(f"{model.name}: ideal scale for each tensor (dB)", ideal, form=".2f")
    profile = scalify_hlo.calibrate(text, [[sample] for sample in model.samples])
    for method in ("max", "percentile", "mse", "rms"):
        for weights in ("tensor", "channel") if method == "max" else ("tensor",):
            settings = {"scaling.method": method, "scaling.weight_scales": weights}
            new = scalify_hlo.rewrite(text, profile=profile, settings=settings)
            (found,) = compile_module(new)([model.batch])
            bound = BELOW if method != "rms" else None
            what = f"{model.name}, {method}{' and channels' if weights == 'channel' else ''}"
            yield Row(f"{what}: below it (dB)", ideal - snr(found, wanted), bound, ".2f")
            if method == "max":
                yield from _contents(what, text, new)


def _contents(what: str, text: str, new: str) -> Iterator[Row]:
    before, after = Contents(text), Contents(new)
    narrow = after.bytes["f8"]
    left = after.total - (before.total - 4 * narrow)
    yield Row(f"{what}: bytes of f8 matmuls' constants", left / (4 * narrow), WEIGHTS)
    yield Row(f"{what}: more reductions", after.reductions - before.reductions, 0, ".0f")
    yield Row(f"{what}: more floats of rank 0 computed", after.scalars - before.scalars, 0, ".0f")


class Contents:
    """What a program has.

    Attributes:
        bytes: Of constants with elements of their own, in f8 and in others.
        reductions: How many there are.
        scalars: How many ops compute a float of rank 0.
    """

    def __init__(self, text: str) -> None:
        self.bytes: Counter[str] = Counter()
        self.reductions = self.scalars = 0
        with new_context():
            module = ir.Module.parse(text)  # whose ops live no longer than it
            module.operation.walk(self._visit)

    @property
    def total(self) -> int:
        """Bytes of all constants."""
        return sum(self.bytes.values())

    def _visit(self, op: ir.Operation) -> ir.WalkResult:
        self.reductions += op.name == "stablehlo.reduce"
        for value in op.results:
            format_ = format_of(value.type)
            if format_ is None or op.parent.name == "stablehlo.reduce":
                continue
            if op.name == "stablehlo.constant":
                splat = isinstance(op.attributes["value"], ir.DenseElementsAttr) and bool(
                    op.attributes["value"].is_splat
                )
                size = 0 if splat else int(np.prod(value.type.shape)) * format_.bits // 8
                self.bytes["f8" if format_.bits == 8 else "other"] += size
            elif not value.type.rank:
                self.scalars += 1
        return ir.WalkResult.ADVANCE


def main() -> int:
    """Prints the table; 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train", type=int, default=60, help="steps for the trained weights")
    options = parser.parse_args()
    rows = [row for model in models(options.train) for row in measured(model)]
    return report(f"FP8 inference, weights in the file; {', '.join(sorted(MATMULS))}", rows)


if __name__ == "__main__":
    sys.exit(main())
