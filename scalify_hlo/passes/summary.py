"""The report of a rewrite as one line, and as JSON."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from scalify_hlo.analysis.matmuls import MATMULS
from scalify_hlo.analysis.names import BACKWARD, FORWARD
from scalify_hlo.analysis.sizes import Size
from scalify_hlo.dialect.locations import place_of_text
from scalify_hlo.errors import ScalifyWarning
from scalify_hlo.quantize.selection import KEPT
from scalify_hlo.report.model import MEASURED, MatmulReport, Report

VERSION: Final = 1
"""Of the JSON."""


def summary(report: Report) -> str:
    """Returns one line on the matmuls and convolutions of a rewritten program.

    Each counts as often as it is called. Those that stay wide are counted by the reason. Inputs of
    which the scales are measured at run time are counted as well.

    Example:
        >>> summary(Report(recipe="fp8"))
        'fp8: the program has no matmul'
    """
    matmuls = report.matmuls
    total = _calls(matmuls) or sum(report.ops[name] for name in MATMULS)
    if not total:
        return f"{report.recipe}: the program has no matmul"
    if all(matmul.wide == KEPT for matmul in matmuls):
        return f"{report.recipe}: {_counted(total)} left as they are"
    narrow = [matmul for matmul in matmuls if matmul.wide is None]
    shares = [_share(part, narrow, matmuls) for part in (FORWARD, BACKWARD)]
    parts = f" ({', '.join(filter(None, shares))})" if any(shares) else ""
    line = f"{report.recipe}: {_calls(narrow)} of {_counted(total)} in {_format(narrow)}{parts}"
    wide = Counter[str]()
    for matmul in matmuls:
        if matmul.wide is not None:
            wide[matmul.wide.kind] += matmul.calls
    reasons = ", ".join(f"{count} {kind}" for kind, count in wide.most_common())
    return "; ".join([line, *([f"wide: {reasons}"] if reasons else []), *_measured(report)])


def _measured(report: Report) -> list[str]:
    count = sum(site.kind == MEASURED for site in report.sites)
    return [f"{count} input{'s' if count != 1 else ''} measured at run time"] if count else []


def warn_of(report: Report, stacklevel: int) -> None:
    """Warns of what has no scaled form or stays wide against the recipe, in one line.

    Args:
        report: What a rewrite gave.
        stacklevel: Of `warnings.warn`, as of the caller.
    """
    if not report.remarks:
        return
    first, *others = Counter((remark.op, remark.message) for remark in report.remarks)
    more = f" (and {len(others)} more kinds of remarks)" if others else ""
    told = f"{summary(report)}; {first[0]}: {first[1]}{more}"
    hint = "scalify_hlo.rewrite(..., report=True) lists all, and strict=True raises"
    warnings.warn(f"{told}; {hint}", ScalifyWarning, stacklevel=stacklevel + 1)


def dump_report(report: Report, name: str = "<program>") -> str:
    """A report as JSON: a summary, each matmul and convolution, and the remarks.

    Args:
        report: What `rewrite` gave.
        name: What the program is called in source locations that name no file.

    Returns:
        An object with ``version``, ``recipe``, ``summary``, ``matmuls`` and ``remarks``. Of each
        matmul it has the name stack, the op, the source location, the part (``forward``,
        ``backward`` or ``other``), the roles of its operands and what they were read off, whether
        it is of the vocabulary, M, N and K (null if not known), how often it is called, the formats
        of its operands and its result, and why it stays wide (null if it does not).
    """
    content = {
        "version": VERSION,
        "recipe": report.recipe,
        "summary": summary(report),
        "matmuls": [_matmul(matmul, name) for matmul in report.matmuls],
        "remarks": [
            {"message": r.message, "location": place_of_text(r.location, name), "op": r.op}
            for r in report.remarks
        ],
    }
    return json.dumps(content, indent=1) + "\n"


def _matmul(matmul: MatmulReport, name: str) -> dict[str, Any]:
    wide = matmul.wide
    lhs, rhs, result = matmul.formats
    return {
        "name": matmul.name,
        "op": matmul.op,
        "location": place_of_text(matmul.location, name),
        "part": matmul.part,
        "operands": list(matmul.roles),
        "certainty": matmul.certainty,
        "vocabulary": matmul.vocabulary,
        **{key: _size(size) for key, size in zip("mnk", matmul.extent, strict=True)},
        "calls": matmul.calls,
        "formats": {"lhs": lhs, "rhs": rhs, "result": result},
        "wide": wide and {"kind": wide.kind, "reason": wide.reason, "chosen": wide.chosen},
    }


def _size(size: Size) -> int | None:
    return size.least if size.known else None


def _share(part: str, narrow: Iterable[MatmulReport], every: Sequence[MatmulReport]) -> str:
    """How many of the matmuls of a part are narrow; empty if there are none."""
    total = _calls(matmul for matmul in every if matmul.part == part)
    count = _calls(matmul for matmul in narrow if matmul.part == part)
    return f"{count} of {total} {part}" if total else ""


def _calls(matmuls: Iterable[MatmulReport]) -> int:
    return sum(matmul.calls for matmul in matmuls)


def _counted(count: int) -> str:
    return f"{count} matmul{'s' if count != 1 else ''}"


def _format(narrow: Iterable[MatmulReport]) -> str:
    """What the formats of the operands of matmuls are called together."""
    formats = {format_ for matmul in narrow for format_ in matmul.formats[:2]}
    names = {
        _NAMES.get(format_, "FP8" if format_.startswith("f8") else format_) for format_ in formats
    }
    return " and ".join(sorted(names)) or "low precision"


_NAMES: Final = {"f16": "FP16", "bf16": "BF16"}
