"""The comparison of an original and its rewrite that `check` prints, with its limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from scalify_hlo.commands.check.bounds import Bound
from scalify_hlo.commands.check.declared_sizes import WrongSize
from scalify_hlo.commands.check.parting import ComparedValue
from scalify_hlo.program.program import Program
from scalify_hlo.program.record import rewrites_of
from scalify_hlo.results.kinds import Count, Finite
from scalify_hlo.results.model import keys, result
from scalify_hlo.run.differences import Difference

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
@keys("original rewritten passed limits results=checked values=inside wrong_sizes=wrong")
@dataclass(frozen=True)
class Comparison:
    """The comparison of an original and its rewrite.

    Attributes:
        programs: The original and the rewrite.
        results: The difference of each result.
        limits: The limits on these.
        inside: The comparison of values; None if they were not compared.
        wrong: The declared sizes that are wrong for the inputs.
    """

    programs: tuple[Program, Program]
    results: Sequence[Difference]
    limits: Limits
    inside: Inside | None
    wrong: Sequence[WrongSize] = ()

    @property
    def failed(self) -> list[Difference]:
        """The results that exceed a limit."""
        return [each for each in self.results if not self.limits.allow(each)]

    @property
    def passed(self) -> bool:
        """Whether all results are within the limits."""
        return not self.failed

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
