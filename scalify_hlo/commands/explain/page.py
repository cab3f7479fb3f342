"""An explanation as one HTML page that loads nothing else and runs no script.

All names come from programs, and are escaped. Colors follow those of the reader, light or dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any, Final

from scalify_hlo.commands.explain.model import Explanation
from scalify_hlo.commands.explain.record import explain_record
from scalify_hlo.report.page_style import with_colors

_POLICY: Final = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
)
_MATMULS: Final = (
    *("matmul", "part", "M x N x K", "formats", "kernel", "flops"),
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
    record = explain_record(explanation, name)
    own = files("scalify_hlo.commands.explain").joinpath("page.css").read_text("utf-8")
    style = with_colors(own)
    title = escape(f"{name}: matmuls on {explanation.target.name}")
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f"<title>{title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        f"{''.join(_body(record, explanation))}</body>\n</html>\n"
    )


def _body(record: Mapping[str, Any], explanation: Explanation) -> Iterator[str]:
    target, recipe = explanation.target, record["recipe"]
    yield f"<h1>{escape(record['program'])}</h1>\n"
    yield f"<p>{escape(f'{target.title}, {recipe}' if recipe else target.title)}</p>\n"
    yield f"<p>multiplies without a conversion: {escape(', '.join(target.native))}</p>\n"
    yield from _facts(record)
    if record["warnings"]:
        lines = (f'<li class="bad">{escape(text)}</li>\n' for text in record["warnings"])
        yield f"<h2>Warnings</h2>\n<ul>\n{''.join(lines)}</ul>\n"
    yield "<h2>Matmuls and convolutions</h2>\n"
    yield _table(_MATMULS, map(_matmul, record["matmuls"]))
    yield "<h2>Kernels by cause</h2>\n"
    yield _table(_CAUSES, _causes(record))
    if exchanged := _collectives(record):
        yield "<h2>Collectives</h2>\n"
        yield _table(("format", "MiB", "MiB in bf16"), exchanged)


def _facts(record: Mapping[str, Any]) -> Iterator[str]:
    yield '<ul class="facts">\n'
    for key, text in _RATIOS.items():
        value = record["figures"].get(key)
        if value is not None:
            low = key.startswith("speedup") and value < 1
            kind = ' class="bad"' if low else ""
            yield f"<li><strong{kind}>{value:.2f}</strong><span>{text}</span></li>\n"
    made = record["compiled"]
    for text, value in (
        ("estimated time", _micro(made["estimate"]["us"], " µs")),
        ("peak of memory", f"{_mib(made['memory']['peak'])} MiB"),
        ("kernels", f"{made['launches']:,}"),
    ):
        if value:
            yield f"<li><strong>{value}</strong><span>{text}</span></li>\n"
    yield "</ul>\n"


def _matmul(each: Mapping[str, Any]) -> list[str]:
    """Returns the cells of a matmul, as HTML."""
    formats, wide = each["formats"], each["wide"]
    extent = " x ".join("?" if each[key] is None else f"{each[key]:,}" for key in "mnk")
    kernels = each["kernels"]
    labels = ", ".join(dict.fromkeys(k["label"] for k in kernels)) or "with another"
    names = ", ".join(dict.fromkeys(k["name"] for k in kernels))
    kind = "bad" if each["falls_back"] else "good" if formats["lhs"].startswith("f8") else ""
    arrow = f"{formats['lhs']} {formats['rhs']} → {formats['result']}"
    flops = sum(count * k["times"] for k in kernels for count in k["flops"].values())
    return [
        f"{escape(each['label'] or each['op'])}<small>{escape(each['location'])}</small>",
        escape(each["part"] or ""),
        extent,
        escape(arrow) + (f"<small>{escape(wide['reason'])}</small>" if wide else ""),
        f'<span class="{kind}">{escape(labels)}</span><small>{escape(names)}</small>',
        f"{flops:.3g}",
        _micro(each["us"]),
        _micro(each["us_in_bf16"]),
    ]


def _causes(record: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yields the cells of each cause that has kernels."""
    old = record["original"]
    for cause, share in record["compiled"]["causes"].items():
        before = old["causes"].get(cause) if old else None
        if share["launches"] or (before and before["launches"]):
            yield [escape(cause), *_share(share), *(_share(before) if before else ["", "", ""])]


def _share(share: Mapping[str, Any]) -> list[str]:
    return [f"{share['launches']:,}", _mib(share["bytes"]), _micro(share["us"])]


def _collectives(record: Mapping[str, Any]) -> list[list[str]]:
    """Returns the bytes in collectives of each format."""
    new = record["compiled"]["collectives"]
    old = record["original"]["collectives"] if record["original"] else {}
    return [[escape(key), _mib(new.get(key, 0)), _mib(old.get(key, 0))] for key in {**new, **old}]


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


def _mib(count: int) -> str:
    return f"{count / 2**20:,.1f}"


def _micro(microseconds: float | None, unit: str = "") -> str:
    return "" if microseconds is None else f"{microseconds:,.1f}{unit}"
