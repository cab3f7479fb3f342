"""An explanation as one HTML page that loads nothing else and runs no script.

All names come from programs, and are escaped. Colors follow those of the reader, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Final

from scalify_hlo.commands.explain.memory import HELD_COLUMNS
from scalify_hlo.commands.explain.model import (
    BEFORE_COLUMNS,
    CAUSE_COLUMNS,
    Cause,
    ExplainedMatmul,
    Explanation,
)
from scalify_hlo.commands.explain.record import ExplainRecord, warnings_of
from scalify_hlo.errors import place_of_text
from scalify_hlo.report.page_style import escape, page
from scalify_hlo.results.model import cells, headers, mebibytes, microseconds

_MATMULS: Final = (
    *("matmul", "M x N x K", "formats", "kernel", "flops"),
    *("µs", "µs in bf16"),
)
_CAUSES: Final = ("kernels", "number", "MiB", "µs", "in bf16", "MiB in bf16", "µs in bf16")
_NUMBERS: Final = frozenset(
    {"flops", "number", "in bf16", "µs", "µs in bf16", "MiB", "MiB in bf16"}
)
_RATIOS: Final[Mapping[str, str]] = {
    "speedup": "speed over bf16",
    "speedup-with-launches": "with 2 µs for each kernel",
    "speedup-reached": "at the speeds that kernels reached",
    "fp8-flops": "flops in FP8 kernels",
    "kernels": "kernels over bf16",
    "memory": "memory over bf16",
    "temporaries": "temporaries over bf16",
    "collectives": "bytes in collectives over bf16",
    "compile-time": "compile time over bf16",
}
"""The figures at the head of the page, by their names in checks."""


def explain_page(explanation: Explanation, name: str = "<program>") -> str:
    """Returns an explanation as an HTML page.

    Args:
        explanation: What `explain` returned.
        name: The name of the program.

    Returns:
        The page, which needs no other file and no network.
    """
    style = files("scalify_hlo.commands.explain").joinpath("page.css").read_text("utf-8")
    title = f"{name}: matmuls on {explanation.target.name}"
    return page(title, style, "".join(_body(explanation, name)))


def _body(explanation: Explanation, name: str) -> Iterator[str]:
    target, recipe = explanation.target, explanation.recipe
    yield f"<h1>{escape(name)}</h1>\n"
    yield f"<p>{escape(f'{target.title}, {recipe}' if recipe else target.title)}</p>\n"
    yield f"<p>multiplies without a conversion: {escape(', '.join(target.native))}</p>\n"
    yield from _facts(explanation)
    if warnings := list(warnings_of(explanation)):
        lines = (f'<li class="bad">{escape(text)}</li>\n' for text in warnings)
        yield f"<h2>Warnings</h2>\n<ul>\n{''.join(lines)}</ul>\n"
    yield "<h2>Matmuls and convolutions</h2>\n"
    yield _table(_MATMULS, (_matmul(each, name) for each in explanation.matmuls))
    yield "<h2>Kernels by cause</h2>\n"
    yield _table(_CAUSES, map(_cause, explanation.causes))
    if explanation.memory is not None:
        held = (list(map(escape, cells(row, HELD_COLUMNS))) for row in explanation.memory.grouped)
        yield "<h2>In memory at the peak</h2>\n"
        yield _table(headers(HELD_COLUMNS), held)
    if exchanged := _collectives(explanation):
        yield "<h2>Collectives</h2>\n"
        yield _table(("format", "MiB", "MiB in bf16"), exchanged)


def _facts(explanation: Explanation) -> Iterator[str]:
    yield '<ul class="facts">\n'
    figures, work = ExplainRecord(explanation).figures, explanation.program.work
    for key, text in _RATIOS.items():
        value = figures[key]
        if value is not None:
            low = key.startswith("speedup") and value < 1
            kind = ' class="bad"' if low else ""
            yield f"<li><strong{kind}>{value:.2f}</strong><span>{text}</span></li>\n"
    if work.seconds is not None:
        time = f"{microseconds(work.seconds)} µs"
        yield f"<li><strong>{time}</strong><span>estimated time</span></li>\n"
    peak = mebibytes(explanation.program.compiled.peak)
    yield f"<li><strong>{peak} MiB</strong><span>peak of memory</span></li>\n"
    yield f"<li><strong>{work.launches:,}</strong><span>kernels</span></li>\n</ul>\n"


def _matmul(each: ExplainedMatmul, program: str) -> list[str]:
    """Returns the cells of a matmul, as HTML."""
    matmul, (lhs, rhs, result) = each.matmul, each.matmul.formats
    extent = " x ".join(f"{n.least:,}" if n.known else "?" for n in matmul.extent[:3])
    names = ", ".join(dict.fromkeys(kernel.name for kernel in each.kernels))
    kind = "bad" if each.falls_back else "good" if lhs.startswith("f8") else ""
    wide = f"<small>{escape(matmul.wide.reason)}</small>" if matmul.wide else ""
    return [
        f"{escape(matmul.name)}<small>{escape(place_of_text(matmul.location, program))}</small>",
        extent,
        escape(f"{lhs} {rhs} → {result}") + wide,
        f'<span class="{kind}">{escape(each.labels)}</span><small>{escape(names)}</small>',
        f"{sum(each.flops.values()):.3g}",
        microseconds(each.seconds),
        microseconds(each.before),
    ]


def _cause(cause: Cause) -> list[str]:
    """Returns the cells of a cause, as HTML."""
    before = cells(cause, BEFORE_COLUMNS) if cause.before else ("", "", "")
    return list(map(escape, [*cells(cause, CAUSE_COLUMNS), *before]))


def _collectives(explanation: Explanation) -> list[list[str]]:
    """Returns the bytes in collectives of each format."""
    new = explanation.program.work.collectives
    old = explanation.original.work.collectives if explanation.original else {}
    counts = {key: (new.get(key, 0), old.get(key, 0)) for key in {**new, **old}}
    return [[escape(key), *map(mebibytes, pair)] for key, pair in counts.items()]


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns a table, whose cells are HTML."""
    kinds = ["number" if name in _NUMBERS else "long" for name in header]
    head = "".join(
        f'<th scope="col" class="{k}">{escape(n)}</th>' for k, n in zip(kinds, header, strict=True)
    )
    lines = "".join(
        "<tr>"
        + "".join(f'<td class="{k}">{c}</td>' for k, c in zip(kinds, row, strict=True))
        + "</tr>\n"
        for row in rows
    )
    return (
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{lines}</tbody>\n</table></div>\n"
    )
