"""Programs with f8, f16, tests for overflow and members of their own: laws that rewrites break.

    python -m benchmarks.laws --programs 500 --seed 0          # 25 ways to rewrite each
    python -m benchmarks.laws --seed 0 --only 17               # one program, in all ways
    python -m benchmarks.laws --programs 30 --train 60         # losses after 60 steps
    python -m benchmarks.laws --packages                       # layers of Qwix, Keras, jmp and Flax

A draw is a training step, a way to rewrite it (a recipe, a signature, and whether sizes of inputs
are declared), and a fault that is planted in its arguments. The laws:

1. The program's own casts round the same values to the same results.
2. Finite values stay finite, and results are as near to the original as those of `fp8-current`
   (13 dB; in FP4, they are not zero).
3. Infinities and NaN stay such, and steps that the original skips are skipped.
4. Members and rows do not change each other.

Baselines (`Recipe.baseline`) are exempt from 2 and 3, and are none of the ways.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from random import Random

from benchmarks.common import Row, report
from tests.py.laws import packages
from tests.py.laws.judge import (
    FAULTS,
    FP4,
    GAP,
    WAYS,
    Finding,
    Subject,
    Way,
    findings,
    gap,
    subject,
)
from tests.py.laws.programs import KINDS


def draws(drawn: Subject, name: str) -> Iterator[tuple[Way, str, list[Finding]]]:
    """Rewrites a drawn program in all ways, each with a fault of its own."""
    random = Random(name)
    for way in WAYS:
        fault = random.choice(FAULTS)
        yield way, fault, list(findings(drawn, way, fault, name))


def trained(drawn: Subject, steps: int) -> Iterator[tuple[Way, str, list[Finding]]]:
    """Trains a drawn program in all ways."""
    if drawn.step.rows >= 0:
        return
    for way in WAYS:
        found = []
        try:
            away = gap(drawn, way, steps)
            if away is not None and not away <= GAP and way.recipe not in FP4:
                found = [Finding(2, f"the loss after {steps} steps is off by {away:.3f}")]
        except Exception as error:  # each is a finding
            found = [Finding(0, f"{type(error).__name__}: {str(error)[:300]}")]
        yield way, "none", found


def main() -> int:
    """Runs the draws that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--programs", type=int, default=25, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--first", type=int, default=0, help="number of the first program")
    parser.add_argument("--train", type=int, metavar="STEPS", help="compare losses after training")
    parser.add_argument("--only", type=int, metavar="K", help="one program")
    parser.add_argument("--packages", action="store_true", help="needs the group models")
    given = parser.parse_args()
    kinds = packages.KINDS if given.packages else KINDS
    numbers = range(given.first, given.first + given.programs)
    counts: Counter[str] = Counter()
    warnings.simplefilter("ignore")
    for number in numbers if given.only is None else (given.only,):
        name = f"{given.seed}:{number}"
        drawn = subject(name, kinds)
        kind = drawn.step.kind
        made = trained(drawn, given.train) if given.train else draws(drawn, name)
        for way, fault, found in made:
            counts["draws"] += 1
            for finding in found[:3]:
                counts[f"law {finding.law}" if finding.law else "errors"] += 1
                print(
                    f"{number}: {kind}, {way}, {fault}: law {finding.law}: {finding.message}",
                    flush=True,
                )
    rows = [Row("draws", counts.pop("draws", 0), form=".0f")]
    names = ["errors", *(f"law {law}" for law in (1, 2, 3, 4))]
    rows += [Row(f"breaks: {name}", counts[name], 0, ".0f") for name in names]
    return report(f"Laws, seed {given.seed}", rows)


if __name__ == "__main__":
    sys.exit(main())
