"""Losses of steps with something beside the optimizer, such as statistics of data, and averages.

    python -m benchmarks.beside
    python -m benchmarks.beside --count 200 --seed 3

Steps are drawn from optax's optimizers, what `tests/py/shared/beside.py` has, averages of weights
that are kept beside them, and recipes that store state. For each, 60 steps of three seeds are run.
A row has the mean of the last ten losses less that of f32, over the initial loss, which is at most
2 %, or what f32 differs from itself where its first parameters are nudged by 2^-12.
Where f32 itself diverges, there is nothing to compare.

Exit code 1 if a row is above that.
"""

import argparse
import math
import random
import sys
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import scalify_hlo
from tests.py.dataflow.test_optimizer_roles import OPTAX, WITH_VALUE
from tests.py.dataflow.test_state_roles import AVERAGES
from tests.py.shared.beside import BESIDE, batch, params, step_of

RECIPES = ("fp8", "fp8-state", "fp8-state8", "fp16-state")
BOUND, STEPS, LAST, SEEDS, NUDGE = 0.02, 60, 10, 3, 2.0**-12


def with_average(step: Callable[..., Any], average: str) -> Callable[..., Any]:
    """A step that keeps an average of its weights, with the number of the step."""

    def averaged(p: Any, s: Any, e: Any, slow: Any, k: Any, x: Any, y: Any) -> Any:
        p, s, e, loss = step(p, s, e, x, y)
        both = {name: AVERAGES[average](slow[name], p[name], k) for name in p}
        new, slow = ({name: pair[i] for name, pair in both.items()} for i in (0, 1))
        return new, s, e, slow, k + 1, loss

    return averaged


def losses(run: Callable[..., Any], first: Any, beside: Any, init: Any, seed: int) -> Any:
    """The losses of one training."""
    state: Any = (first, init(first), beside, first, jnp.zeros((), jnp.int32))
    found = []
    for k in range(STEPS):
        *state, loss = run(*jax.tree.map(jnp.array, state), *batch(4 * seed + k % 4))
        found.append(float(scalify_hlo.asarray(loss)))
    return np.asarray(found)


def gaps(optimizer: str, beside: str, average: str, recipe: str) -> tuple[float, float]:
    """The gap of the last losses over the initial one, and that of f32 from itself."""
    how = OPTAX[optimizer][0]
    step = with_average(step_of(beside, how, with_value=optimizer in WITH_VALUE), average)
    runs = {"f32": jax.jit(step), recipe: scalify_hlo.scalify(step, recipe=recipe)}
    found, initial = [], 0.0
    for seed in range(SEEDS):
        first, around = params(seed), BESIDE[beside][1]()
        near = jax.tree.map(lambda w: w * (1 + NUDGE), first)
        given = ((runs["f32"], first), (runs[recipe], first), (runs["f32"], near))
        curves = [losses(run, each, around, how.init, seed) for run, each in given]
        initial += abs(curves[0][0])
        found.append([curve[-LAST:].mean() for curve in curves])
    exact, narrow, nudged = np.asarray(found).sum(axis=0)
    return (narrow - exact) / initial, abs(nudged - exact) / initial


def main() -> int:
    """Prints the rows."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    draw, missed = random.Random(options.seed), 0
    for _ in range(options.count):
        case = tuple(draw.choice(sorted(each)) for each in (OPTAX, BESIDE, AVERAGES, RECIPES))
        gap, spread = gaps(*case)
        diverges = math.isnan(spread)
        above = not (diverges or gap <= max(BOUND, spread))
        missed += above
        told = ": NO" if above else ": f32 diverges" if diverges else ""
        print(f"{'; '.join(case)}: {gap:+.2%}, f32 {spread:.2%}{told}", flush=True)
    print(f"{missed} of {options.count} above the bound")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
