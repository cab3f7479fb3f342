"""Random programs and damaged files: no wrong value, no crash, no traceback, no litter.

Random programs, of StableHLO text and of jax functions, are rewritten under `propagate` in both
signatures, and bit-equal on the StableHLO interpreter, whatever powers of two their inputs are
scaled by. Under another preset each they are bit-equal with all formats set to f32, and every
operand of a matmul in `main` is NumPy's cast of its value. Where f16 data leave their format, bf16
or f32 in its place decides.

Damaged files, as text, bytecode, portable artifacts and jax.export files, are rewritten or refused
in one located sentence; one of fifty goes through the command line. With --settings, so are damaged
arrays, recipes and profiles.

With --commands, every command that runs or reads a program runs on other random programs, and with
--models on small models: complex values, one head, empty tensors, decompositions, typed keys. None
ends in a defect, and `stats` and `calibrate` have the figures of the interpreter's values.

The case that a finding names runs alone with `--seed S --only K`.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain

from benchmarks.common import Row, report
from benchmarks.fuzz_pool import Answer, Case, answers
from tests.py.fuzzing import settings, worker

LEFT_OUT = 10
"""The most programs, in percent, that may be left out since jax or a format does not take them."""


def cases(what: str, seed: int, first: int, count: int) -> Iterator[Case]:
    """Cases of a kind, by number."""
    return (Case(what, seed, number) for number in range(first, first + count))


def show(answer: Answer) -> None:
    """Prints what was found."""
    print(
        f"\n{answer.kind}\n$ python -m benchmarks.fuzz {answer.case}\n{answer.message}", flush=True
    )


def run(all_cases: Iterable[Case], jobs: int) -> tuple[Counter[str], list[Answer]]:
    """Runs cases, and prints what they find.

    Returns:
        How often there was each outcome, and what was found.
    """
    outcomes: Counter[str] = Counter()
    found = []
    for answer in answers(all_cases, jobs):
        outcomes[f"{answer.case.what}s: {answer.outcome}"] += 1
        if answer.kind:
            found.append(answer)
            show(answer)
    return outcomes, found


def rows(outcomes: Counter[str], found: list[Answer]) -> Iterator[Row]:
    """What the table says."""
    for outcome, count in sorted(outcomes.items()):
        yield Row(outcome, count, form=".0f")
    left_out = sum(n for outcome, n in outcomes.items() if "left out" in outcome)
    programs = sum(n for outcome, n in outcomes.items() if outcome.startswith("programs"))
    if programs:
        yield Row("programs left out (%)", 100 * left_out / programs, LEFT_OUT, ".1f")
    yield Row("findings", len(found), 0, ".0f")


def one(case: Case) -> int:
    """Runs a case in this process, so that a debugger or a core file shows where it ends."""
    answer = Answer(case, **worker.run(case.what, str(case.seed), case.number))
    if answer.kind:
        show(answer)
    else:
        print(answer.outcome)
    return int(bool(answer.kind))


def main() -> int:
    """Runs the cases that the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--programs", type=int, default=200, help="default: %(default)s")
    parser.add_argument("--files", type=int, default=200, help="default: %(default)s")
    parser.add_argument(
        "--settings", type=int, default=0, help="files of each kind; default: %(default)s"
    )
    parser.add_argument(
        "--commands", type=int, default=0, help="programs for all commands; default: %(default)s"
    )
    parser.add_argument(
        "--models", type=int, default=0, help="models for all commands; default: %(default)s"
    )
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first case of each kind"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes; default: %(default)s")
    parser.add_argument("--only", metavar="K", help="one case, as in program:17 or file:3")
    given = parser.parse_args()
    if given.only:
        what, _, number = given.only.partition(":")
        return one(Case(what, given.seed, int(number)))
    asked = chain(
        cases("program", given.seed, given.first, given.programs),
        cases("file", given.seed, given.first, given.files),
        *(cases(kind, given.seed, given.first, given.settings) for kind in settings.KINDS),
        cases("command", given.seed, given.first, given.commands),
        cases("model", given.seed, given.first, given.models),
    )
    outcomes, found = run(asked, given.jobs)
    return report(f"Fuzzing, seed {given.seed}", list(rows(outcomes, found)))


if __name__ == "__main__":
    sys.exit(main())
