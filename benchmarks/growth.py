"""The ops that a further layer adds to a rewritten program, at depth and near the surface.

    python -m benchmarks.growth
    python -m benchmarks.growth --kind chain --recipe fp8 unit

For each kind of stack, recipe and signature, the ops that a layer adds between depths 96 and 192
are printed over those that it adds between 24 and 48, and so are statistics and the time to
rewrite. An op, or a statistic where a size is no longer trusted at depth, may be added to some
layers; the bound is on ops.

Exit code 1 if a ratio of ops is above 1.05.
"""

import argparse
import re
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import export

import scalify_hlo
from scalify_hlo.recipes.toml import preset_names

DEPTHS = (24, 48, 96, 192)
BOUND = 1.05
WIDTH, BATCH = 16, 8
SIGNATURES = ("same", "scaled")
CALIBRATED = "fp8-calibrated"
"""The preset that needs a profile."""


def _normed(x: jax.Array) -> jax.Array:
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)


def _lstm(state: jax.Array, w: jax.Array) -> jax.Array:
    hidden, cell = state
    gate = jax.nn.sigmoid(hidden @ w)
    cell = gate * cell + (1 - gate) * jnp.tanh(hidden @ w.T)
    return jnp.stack([gate * jnp.tanh(cell), cell])


LAYERS: Mapping[str, tuple[Callable[[jax.Array, jax.Array], jax.Array], bool]] = {
    "chain": (lambda x, w: jnp.tanh(x @ w), False),
    "linear": (lambda x, w: x @ w, False),
    "residual": (lambda x, w: x + jnp.tanh(x @ w), False),
    "pre-norm": (lambda x, w: x + jax.nn.gelu(_normed(x) @ w), False),
    "rnn": (lambda x, w: jnp.tanh(x @ w), True),
    "lstm": (_lstm, True),
}
"""The layer of each stack, and whether all layers have one weight, as the steps of an RNN do."""


class Count(NamedTuple):
    """The counts of a rewritten program, and the seconds that the rewrite took."""

    ops: int
    statistics: int
    seconds: float


def program(kind: str, depth: int) -> str:
    """A training step of a stack, as StableHLO text."""
    layer, shared = LAYERS[kind]

    def loss(weights: Any, x: jax.Array) -> jax.Array:
        start = jnp.stack([x, x]) if kind == "lstm" else x
        return jnp.mean(reduce(layer, weights * depth if shared else weights, start) ** 2)

    def step(weights: Any, x: jax.Array) -> Any:
        gradients = jax.grad(loss)(weights, x)
        return [w - 0.1 * g for w, g in zip(weights, gradients, strict=True)]

    weight = jax.ShapeDtypeStruct((WIDTH, WIDTH), jnp.float32)
    data = jax.ShapeDtypeStruct((BATCH, WIDTH), jnp.float32)
    exported = export.export(jax.jit(step))([weight] * (1 if shared else depth), data)
    return str(exported.mlir_module())


def count(text: str, **options: Any) -> Count:
    """Returns the counts of a program after a rewrite."""
    start = time.perf_counter()
    rewritten, report = scalify_hlo.rewrite(text, report=True, **options)
    seconds = time.perf_counter() - start
    return Count(len(re.findall(" = ", rewritten)), report.statistics, seconds)


def growth(counts: Mapping[int, Count]) -> list[float]:
    """Ops, statistics and seconds that a layer adds at depth, over those near the surface."""
    first, second, third, last = DEPTHS
    added = [
        [(b - a) / (end - start) for a, b in zip(counts[start], counts[end], strict=True)]
        for start, end in ((first, second), (third, last))
    ]
    return [high / low if low else 1.0 + (high > 0) for low, high in zip(*added, strict=True)]


def main() -> int:
    """Prints the ratios of all kinds, recipes and signatures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    recipes = [name for name in preset_names() if name != CALIBRATED]
    parser.add_argument("--kind", nargs="+", choices=LAYERS, default=list(LAYERS))
    parser.add_argument("--recipe", nargs="+", choices=recipes, default=recipes)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    missed = 0
    print(f"{'stack':10}{'recipe':14}{'signature':10}   ops  statistics  time")
    for kind in options.kind:
        texts = {depth: program(kind, depth) for depth in DEPTHS}
        for recipe in options.recipe:
            for signature in SIGNATURES:
                how = {"recipe": recipe, "signature": signature}
                ops, *others = growth({depth: count(texts[depth], **how) for depth in DEPTHS})
                missed += ops > BOUND
                figures = f"{ops:6.2f}{others[0]:12.2f}{others[1]:6.2f}"
                told = "  above the bound" if ops > BOUND else ""
                print(f"{kind:10}{recipe:14}{signature:10}{figures}{told}", flush=True)
    print(f"{missed} above {BOUND}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
