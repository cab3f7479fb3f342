"""The findings of lints as `inspect` prints them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from scalify_hlo.cli import console
from scalify_hlo.dialect.locations import place_of_text
from scalify_hlo.lint.model import Finding

_HEADER = ("lint", "count", "for example")


def counted(findings: Sequence[Finding], name: str) -> str:
    """Returns a table with a line for each lint that found something.

    Args:
        findings: The findings.
        name: The name of the program in locations without a file.
    """
    if not findings:
        return console.heading("lint: none")
    counts = Counter(finding.lint for finding in findings)
    first = {finding.lint: finding for finding in reversed(findings)}
    rows = [(lint, str(n), _text(first[lint], name)) for lint, n in counts.items()]
    title = console.heading(f"lint ({len(rows)}); --lint lists all")
    return f"{title}\n{console.table(_HEADER, rows, fit=True)}"


def listed(findings: Sequence[Finding], name: str) -> str:
    """Returns each distinct finding with its place, below its lint and what to do about it.

    Args:
        findings: The findings.
        name: The name of the program in locations without a file.
    """
    if not findings:
        return console.heading("lint: none")
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        kinds.setdefault((finding.lint, finding.cure), []).append(finding)
    lines = [console.heading(f"lint ({len(findings)})")]
    for (lint, cure), some in kinds.items():
        lines.append(f"{lint} ({len(some)}): {cure}")
        counts = Counter(_text(finding, name) for finding in some)
        lines += [f"  {text}{f' ({n} times)' if n > 1 else ''}" for text, n in counts.items()]
    return "\n".join(lines)


def _text(finding: Finding, name: str) -> str:
    return f"{place_of_text(finding.location, name)}: {finding.message}"
