"""The output of `check` as JSON, which ``report/schemas/check.json`` describes."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from scalify_hlo.choose.decibels import stored
from scalify_hlo.cli.limits import Limits
from scalify_hlo.io.program import Program
from scalify_hlo.observe.parting import ComparedValue
from scalify_hlo.passes.record import rewrites_of
from scalify_hlo.run.compare import Difference
from scalify_hlo.run.declared_sizes import WrongSize

VERSION: Final = 1
"""The version of the JSON form."""


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
    def counts(self) -> tuple[int, int]:
        """The number of values that are within the limits in all turns, and that of all."""
        count = len({each.id for each in self.values})
        return count - len({each.id for each in self.parted}), count


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


def dump(found: Comparison) -> str:
    """Returns a comparison as JSON text."""
    original, rewritten = map(_program, found.programs)
    content = {
        "format": "scalify-hlo check",
        "version": VERSION,
        "original": original,
        "rewritten": rewritten,
        "passed": not found.failed,
        "limits": found.limits.entry(),
        "results": [_result(each, found.limits) for each in found.results],
        "values": None if found.inside is None else _values(found.inside),
        "wrong_sizes": [{**each._asdict(), "octaves": each.octaves} for each in found.wrong],
    }
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def _program(program: Program) -> dict[str, Any]:
    return {"name": program.name, "rewrites": rewrites_of(program.module)}


def _result(difference: Difference, limits: Limits) -> dict[str, Any]:
    return {
        "name": difference.name,
        **_difference(difference),
        "passed": limits.allow(difference),
    }


def _values(inside: Inside) -> dict[str, Any]:
    within, count = inside.counts
    return {
        "limits": inside.limits.entry(),
        "compared": count,
        "within": within,
        "parted": [_value(each) for each in inside.parted],
    }


def _value(value: ComparedValue) -> dict[str, Any]:
    return {
        "op": value.op,
        "name": value.name,
        "location": value.location,
        "loops": [asdict(turn) for turn in value.loops],
        **_difference(value.difference),
    }


def _difference(difference: Difference) -> dict[str, Any]:
    """Returns the measures of a difference; a relative error without signal is null."""
    error = difference.relative_error
    return {
        "type": difference.type,
        "max_ulp": int(difference.max_ulp),
        "relative_error": error if math.isfinite(error) else None,
        "snr_db": stored(difference.snr_db),
        "nonfinite": list(difference.nonfinite),
        "mismatched": difference.mismatched,
    }
