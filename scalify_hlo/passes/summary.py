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
from scalify_hlo.report.model import MatmulReport, Report

VERSION: Final = 1
"""The version of the JSON format."""


def summary(report: Report) -> str:
    """Returns one line on the matmuls and convolutions of a rewritten program.

    A matmul is counted for each call of its function. Matmuls that stay wide are counted by reason.

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
    return f"{line}; wide: {reasons}" if reasons else line


def warn_of(report: Report, stacklevel: int) -> None:
    """Issues a warning of one line if the report has remarks.

    Args:
        report: The report of a rewrite.
        stacklevel: The ``stacklevel`` of `warnings.warn` for the caller.
    """
    if not report.remarks:
        return
    first, *others = Counter((remark.op, remark.message) for remark in report.remarks)
    more = f" (and {len(others)} more kinds of remarks)" if others else ""
    told = f"{summary(report)}; {first[0]}: {first[1]}{more}"
    hint = "scalify_hlo.rewrite(..., report=True) lists all, and strict=True raises"
    warnings.warn(f"{told}; {hint}", ScalifyWarning, stacklevel=stacklevel + 1)


def dump_report(report: Report, name: str = "<program>") -> str:
    """Returns a report as JSON: a summary, each matmul and convolution, and the remarks.

    Args:
        report: The report that `rewrite` returned.
        name: The name of the program in source locations without a file.

    Returns:
        An object with ``version``, ``recipe``, ``summary``, ``matmuls`` and ``remarks``. For each
        matmul it has the name stack, the op, the source location, the part (``forward``,
        ``backward`` or ``other``), the roles of the operands and the evidence for them, whether it
        projects to a vocabulary, M, N and K (null if not known), the number of calls, the formats
        of operands and result, and the reason if it stays wide (else null).
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
    """Returns the share of quantized matmuls of a part as text; empty if the part has none."""
    total = _calls(matmul for matmul in every if matmul.part == part)
    count = _calls(matmul for matmul in narrow if matmul.part == part)
    return f"{count} of {total} {part}" if total else ""


def _calls(matmuls: Iterable[MatmulReport]) -> int:
    return sum(matmul.calls for matmul in matmuls)


def _counted(count: int) -> str:
    return f"{count} matmul{'s' if count != 1 else ''}"


def _format(narrow: Iterable[MatmulReport]) -> str:
    """Returns one name for all formats of the operands of matmuls."""
    formats = {format_ for matmul in narrow for format_ in matmul.formats[:2]}
    names = {
        _NAMES.get(format_, "FP8" if format_.startswith("f8") else format_) for format_ in formats
    }
    return " and ".join(sorted(names)) or "low precision"


_NAMES: Final = {"f16": "FP16", "bf16": "BF16"}
