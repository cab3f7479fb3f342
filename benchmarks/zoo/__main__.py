"""Trains models of the zoo under recipes that predict sizes, and compares their losses with f32's.

    python -m benchmarks.zoo                               # all, three seeds of 60 steps
    python -m benchmarks.zoo keras-cnn vit --recipe fp8    # some
    python -m benchmarks.zoo --seeds 1 --steps 30
    python -m benchmarks.zoo --models gpt2-jax lstm        # those of benchmarks.models

A line is a model under a recipe: the gap, which is the mean over the seeds of the last ten losses
less those of f32, over the initial loss; the gap of f32 whose first state is nudged by 2^-12; the
narrow share of the matmuls' FLOPs; the statistics that the recipe adds. `fp8-current`, which
measures every operand, stands beside them for comparison and has no bound: where its gap is as
large, the format is the reason and not a size.

Bound: 2 %, or the gap of the nudged f32 where that is larger. Exit code 1 if a gap is above it, or
a recipe fails. Models of packages that are not installed are left out.
"""

import argparse
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial

from benchmarks.beside import BOUND, LAST, SEEDS, STEPS
from benchmarks.models import __main__ as models
from benchmarks.models.model import Training, training_of
from benchmarks.zoo import ZOO, make
from benchmarks.zoo.measure import lines

RECIPES, REFERENCE = ("fp8", "unit", "fp8-state8"), "fp8-current"


def of_models(name: str, seed: int) -> Training:
    """A training of a model of `benchmarks.models`."""
    return training_of(models.make(name).train, seed)


MAKERS: Mapping[bool, Callable[[str, int], Training]] = {False: make, True: of_models}
"""The function that makes a model, by whether it is of `benchmarks.models`."""


def measure(name: str, options: argparse.Namespace) -> int:
    """Prints the lines of a model; returns how many recipes miss their bound."""
    missed, recipes = 0, (REFERENCE, *options.recipe)
    maker = partial(MAKERS[options.models], name)
    for line in lines(maker, recipes, options.seeds, options.steps):
        if line.failure:
            missed += 1
            print(f"{name:20}{line.recipe:12}FAILED {line.failure}", flush=True)
            continue
        bounded = line.recipe != REFERENCE
        above = bounded and not line.gap <= max(BOUND, line.spread)
        missed += above
        print(
            f"{name:20}{line.recipe:12}{line.gap:+8.2%}, nudged {line.spread:6.2%}, f32 to "
            f"{line.fell:5.1%}, narrow {line.narrow:6.1%}, statistics {line.statistics:3}"
            f"{'   NO' if above else ''}",
            flush=True,
        )
    return missed


def main() -> int:
    """Measures the models that are named, or all."""
    table = {name: package for name, (package, _) in ZOO.items()}
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(table))
    parser.add_argument("--models", action="store_true", help="names are of benchmarks.models")
    parser.add_argument("--recipe", nargs="+", default=RECIPES)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    known = tuple(models.MODELS if options.models else table)
    if unknown := [name for name in options.names if name not in known]:
        parser.error(f"no model is named {unknown[0]!r}; the models are: {', '.join(known)}")
    if options.steps < LAST:
        parser.error(f"--steps is {options.steps}, and the last {LAST} losses are compared")
    warnings.filterwarnings("ignore")
    missed = 0
    for name in options.names or known:
        try:
            missed += measure(name, options)
        except ImportError as error:
            print(f"{name}: left out, as a package is missing ({error}); {models.INSTALL}")
    print(f"{missed} above the bound")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
