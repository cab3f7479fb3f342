"""The comparison of an original and its rewrite that `check` prints, with its limits.

A cast to a format with m mantissa bits has a relative error of at most 2^-(m+1). If it is uniform,
the signal-to-noise ratio of the cast is 10 log10(3 · 4^(m+1)) dB: 28.9 for E4M3, 22.8 for E5M2,
71.0 for f16 and 52.9 for bf16. The errors of casts are independent, so their powers add up. A
product of two values that depend on one cast, such as the square of a gradient, has twice its
error.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import RUN_OPS
from scalify_hlo.commands.check.check import WrongSize
from scalify_hlo.commands.check.parting import ComparedValue
from scalify_hlo.commands.check.training import Training
from scalify_hlo.dataflow.runs import count_runs
from scalify_hlo.ir.formats import FORMATS, format_of
from scalify_hlo.program.program import Program
from scalify_hlo.program.record import rewrites_of
from scalify_hlo.results.kinds import Count, Finite
from scalify_hlo.results.model import keys, result
from scalify_hlo.run.differences import Difference

_SQUARE: Final = 20 * math.log10(2)
"""The ratio in dB that a square loses."""

LEAST: Final = 3.0
"""The least bound in dB, however many casts there are. A result of zeros has 0 dB."""

_CONVERT: Final = "stablehlo.convert"


@dataclass(frozen=True)
class Bound:
    """The least signal-to-noise ratio of the results of a rewrite.

    Attributes:
        snr_db: The ratio in dB.
        casts: The number of casts that the rewrite added, by format.
    """

    snr_db: float
    casts: dict[str, int]

    @property
    def of_values(self) -> Bound:
        """The bound for values inside of the program, whose errors no sum has averaged yet."""
        return Bound(max(self.snr_db - _SQUARE, LEAST), self.casts)

    def __str__(self) -> str:
        added = ", ".join(f"{count} to {name}" for name, count in sorted(self.casts.items()))
        return f"{self.snr_db:.1f} dB (casts: {added})"


def bound_of(original: ir.Module, rewritten: ir.Module) -> Bound | None:
    """Returns the bound for the results of a rewrite; None if it adds no casts.

    Args:
        original: The program before the rewrite.
        rewritten: The program after it.
    """
    before, after = casts_of(original), casts_of(rewritten)
    added = {name: after[name] - before[name] for name in after if after[name] > before[name]}
    if not added:
        return None
    noise = sum(min(count, RUN_OPS) * 10 ** (-snr_of(name) / 10) for name, count in added.items())
    return Bound(max(-10 * math.log10(noise) - _SQUARE, LEAST), added)


def snr_of(format_: str) -> float:
    """Returns the signal-to-noise ratio of one cast to a format, in dB."""
    return 10 * math.log10(3 * 4.0 ** (FORMATS[format_].mantissa_bits + 1))


def casts_of(module: ir.Module) -> Counter[str]:
    """Returns how many casts to a format of fewer mantissa bits a program runs, by format.

    Casts in a function count for each call, and those in a loop for each turn, if the number of
    turns is known.
    """
    return count_runs(module.operation, _cast)


def _cast(op: ir.Operation) -> Counter[str]:
    """Returns the format of a cast, if it is one to a format of fewer mantissa bits."""
    if op.name != _CONVERT:
        return Counter()
    before, after = (format_of(value.type) for value in (op.operands[0], op.results[0]))
    if before is None or after is None or after.mantissa_bits >= before.mantissa_bits:
        return Counter()
    return Counter([after.name])


EPSILONS: Final = 64
"""The largest relative error that passes without a limit, in epsilons of the dtype."""


@keys("rtol max_ulp min_snr_db=least epsilons casts")
@dataclass(frozen=True)
class Limits:
    """The limits on the differences of results.

    Attributes:
        rtol: The largest relative error; None for no limit.
        max_ulp: The largest distance in ulps; None for no limit.
        min_snr: The smallest signal-to-noise ratio in dB that was given; None for no limit.
        bound: The limit without any of these; None for one in epsilons.
    """

    rtol: Finite | None
    max_ulp: Finite | None
    min_snr: float | None
    bound: Bound | None

    @property
    def least(self) -> Finite | None:
        """The smallest signal-to-noise ratio in dB, given or from the casts; None for no limit."""
        if self.rtol is self.max_ulp is self.min_snr is None and self.bound is not None:
            return self.bound.snr_db
        return self.min_snr

    @property
    def epsilons(self) -> int | None:
        """The largest relative error in epsilons of the dtype, if there is no other limit."""
        return EPSILONS if self.rtol is self.max_ulp is self.least is None else None

    @property
    def casts(self) -> dict[str, Count]:
        """The number of casts that the rewrite adds, by format."""
        return {} if self.bound is None else dict(sorted(self.bound.casts.items()))

    def allow(self, difference: Difference) -> bool:
        """Whether a difference is within the limits, or within the default if there are none."""
        if difference.mismatched:
            return False
        if self.epsilons is not None:
            return difference.relative_error <= self.epsilons * difference.epsilon
        return (
            (self.rtol is None or difference.relative_error <= self.rtol)
            and (self.max_ulp is None or difference.max_ulp <= self.max_ulp)
            and (self.least is None or difference.snr_db >= self.least)
        )

    def __str__(self) -> str:
        limits = {"rtol": self.rtol, "max-ulp": self.max_ulp, "min-snr": self.least}
        if self.bound is not None and self.least == self.bound.snr_db:
            return str(self.bound)
        given = [f"{name} {value:g}" for name, value in limits.items() if value is not None]
        return ", ".join(given) or f"{EPSILONS} epsilon"


@keys("limits compared=counts.1 within=counts.0 parted")
@dataclass(frozen=True)
class Inside:
    """The comparison of the values inside of an original and its rewrite.

    Attributes:
        values: The values in the order of execution, in each of some turns of loops.
        limits: The limits on their differences.
    """

    values: Sequence[ComparedValue]
    limits: Limits

    @property
    def parted(self) -> list[ComparedValue]:
        """The values that exceed a limit."""
        return [each for each in self.values if not self.limits.allow(each.difference)]

    @property
    def counts(self) -> tuple[Count, Count]:
        """The number of values that are within the limits in all turns, and that of all."""
        count = len({each.id for each in self.values})
        return count - len({each.id for each in self.parted}), count


class Rewritten(NamedTuple):
    """A program, and the rewrites that it records: version, recipe and options of each."""

    name: str
    rewrites: list[str]

    @classmethod
    def of(cls, program: Program) -> Rewritten:
        """Returns a program with its rewrites."""
        return cls(program.name, rewrites_of(program.module))


@keys("*difference(name type max_ulp relative_error snr_db nonfinite mismatched) passed")
class CheckedResult(NamedTuple):
    """The difference of a result, and whether it is within the limits."""

    difference: Difference
    passed: bool


@result("scalify-hlo check", version=1)
@keys("original rewritten passed limits results=checked values=inside wrong_sizes=wrong training")
@dataclass(frozen=True)
class Comparison:
    """The comparison of an original and its rewrite.

    Attributes:
        programs: The original and the rewrite.
        results: The difference of each result.
        limits: The limits on these.
        inside: The comparison of values; None if they were not compared.
        wrong: The declared sizes that are wrong for the inputs.
        training: The steps of training; None if only one step was run.
    """

    programs: tuple[Program, Program]
    results: Sequence[Difference]
    limits: Limits
    inside: Inside | None
    wrong: Sequence[WrongSize] = ()
    training: Training | None = None

    @property
    def failed(self) -> list[Difference]:
        """The results that exceed a limit."""
        return [each for each in self.results if not self.limits.allow(each)]

    @property
    def passed(self) -> bool:
        """Whether all results are within the limits, and losses and updates in theirs."""
        return not self.failed and not (self.training is not None and self.training.failed)

    @property
    def checked(self) -> list[CheckedResult]:
        """The results, and whether each is within the limits."""
        return [CheckedResult(each, self.limits.allow(each)) for each in self.results]

    @property
    def original(self) -> Rewritten:
        """The original, with the rewrites that it records."""
        return Rewritten.of(self.programs[0])

    @property
    def rewritten(self) -> Rewritten:
        """The rewrite, with the rewrites that it records."""
        return Rewritten.of(self.programs[1])
