"""Writes the table of targets in docs/targets.md from their data files.

python -m tools.targets_page
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scalify_hlo.targets.description import Target, load_target, target_names
from tools.pages import DOCS

PAGE = DOCS / "targets.md"
_TABLE = re.compile(r"(?<=<!-- targets -->\n).*?(?=<!-- end -->)", re.DOTALL)
_HEADER = ("target", "device", "install", "bf16", "f8", "f32", "memory", "bandwidth", "native")


def table() -> str:
    """Returns the table in Markdown."""
    rows = [
        _HEADER,
        ("---",) * len(_HEADER),
        *map(tuple, map(_row, map(load_target, target_names()))),
    ]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _row(target: Target) -> Iterator[str]:
    yield f"`{target.name}`"
    yield target.title
    yield f"`scalify-hlo[{target.extra}]`" if target.extra else "nothing"
    for key in ("bf16", "f8", "f32"):
        peak = target.flops(key)
        yield f"{peak / 1e12:,.0f}" if peak else ""
    yield f"{target.memory / 2**30:.0f} GiB" if target.memory else ""
    yield f"{target.bandwidth / 1e12:.2f} TB/s" if target.bandwidth else ""
    yield ", ".join(target.native)


def page() -> str:
    """Returns the page with the table of the data files."""
    return _TABLE.sub(lambda _: table(), PAGE.read_text())


if __name__ == "__main__":
    PAGE.write_text(page())
