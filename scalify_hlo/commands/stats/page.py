"""The statistics of a program as one HTML page that loads nothing else.

The template, its style and its scripts are files in the folder ``page``. All names come from
programs: the data are JSON without ``<``, and scripts put them into the page as text.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any, Final

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import PAGE_RECORDS
from scalify_hlo.commands.stats.record import (
    FormatStats,
    OctaveCounts,
    OperandStats,
    StatsRecord,
    ValueStats,
)
from scalify_hlo.errors import shown
from scalify_hlo.report.page_style import page

PAGE_FORMATS: Final = {"E4M3": "f8E4M3FN", "E5M2": "f8E5M2", "f16": "f16", "bf16": "bf16"}
"""The formats of the page by their short names."""

_SCRIPTS: Final = ("data.js", "strips.js", "table.js", "details.js", "main.js")
_HOLE: Final = re.compile(r"\{\{(\w+)\}\}")

_LEVELS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_STEPS: Final = 4
"""The levels of an octave for each halving of its share of the elements."""


def stats_page(record: StatsRecord) -> str:
    """Returns statistics as an HTML page.

    Args:
        record: The statistics, of one or two variants.

    Returns:
        The page, which needs no other file and no network.
    """
    script = "\n".join(map(_text, _SCRIPTS))
    data = json.dumps(page_data(record), allow_nan=False, separators=(",", ":"))
    parts = {"script": script, "data": data.replace("<", "\\u003c")}
    body = _HOLE.sub(lambda hole: parts[hole[1]], _text("page.html"))
    return page(f"{record.program}: statistics", _text("page.css"), body, script)


def _text(name: str) -> str:
    return files("scalify_hlo.commands.stats").joinpath("page", name).read_text("utf-8")


def page_data(record: StatsRecord) -> dict[str, Any]:
    """Returns the data of the page, in which texts that occur often are numbers.

    Args:
        record: The statistics.
    """
    texts = _Texts()
    rows = [_row(row, texts) for row in record.beside()]
    operands = [_operand(each, texts) for each in record.operands]
    return {
        "program": shown(record.program),
        "steps": record.steps,
        "remarks": list(map(shown, record.remarks)),
        "variants": [{"name": shown(v.name), "recipe": shown(v.recipe)} for v in record.variants],
        "formats": [{"label": label, **format_range(name)} for label, name in PAGE_FORMATS.items()],
        "rows": rows,
        "operands": operands,
        "texts": texts.known,
    }


class _Texts:
    """Numbers texts.

    Attributes:
        known: The texts by their numbers.
    """

    def __init__(self) -> None:
        self.known: list[str] = []
        self._numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Returns the number of a text, as `shown` has it."""
        text = shown(text)
        if text not in self._numbers:
            self._numbers[text] = len(self.known)
            self.known.append(text)
        return self._numbers[text]


def format_range(name: str) -> dict[str, Any]:
    """Returns the range of a format, as ``floor(log2(x))`` of three of its numbers.

    Args:
        name: The format in MLIR.

    Returns:
        The smallest subnormal number is ``least``, the smallest normal one ``normal``, and the
        largest ``top``.
    """
    format_ = FORMATS[name]
    low = format_.min_exponent
    top = math.frexp(format_.max_finite)[1] - 1
    least = low - format_.mantissa_bits
    return {"name": name, "least": least, "normal": low, "top": top}


def losses(histogram: OctaveCounts) -> list[float]:
    """Returns the shares that are flushed and clipped in each format of the page, by octaves.

    An octave is flushed if it is below half the smallest subnormal number, and clipped if it is
    above the octave of the largest number.

    Args:
        histogram: The magnitudes of a value.

    Returns:
        The share that is flushed and the share that is clipped, for each format.
    """
    return [_short(share) for name in PAGE_FORMATS.values() for share in _lost(histogram, name)]


def _lost(histogram: OctaveCounts, name: str) -> tuple[float, float]:
    """The shares that are flushed and clipped in a format."""
    nonzero, format_ = max(sum(histogram.counts), 1), format_range(name)
    flushed = _between(histogram, None, format_["least"] - 1)
    clipped = _between(histogram, format_["top"] + 1, None)
    return flushed / nonzero, clipped / nonzero


def _between(histogram: OctaveCounts, low: int | None, high: int | None) -> int:
    """The number of elements in the octaves from one up to another."""
    start, stop = (None if end is None else max(end - histogram.first, 0) for end in (low, high))
    return sum(histogram.counts[start:stop])


def _row(row: Sequence[ValueStats | None], texts: _Texts) -> dict[str, Any]:
    """The values of one id in all variants."""
    one = next(value for value in row if value is not None)
    found: dict[str, Any] = {
        "id": one.id,
        "kind": one.kind,
        "op": texts.number(one.op),
        "name": texts.number(one.name),
        "place": texts.number(one.location),
        "type": texts.number(_type(one)),
        "inside": texts.number(", ".join(one.inside)),
        "part": one.part,
        "role": one.role,
        "of": [None if value is None else _cell(value, _type(one)) for value in row],
    }
    return found if one.same_as is None else {**found, "same": one.same_as}


def _type(value: ValueStats) -> str:
    return f"{value.dtype}[{','.join(map(str, value.shape))}]"


def _cell(value: ValueStats, type_: str) -> dict[str, Any]:
    """The numbers of a value without those that are 0, and its type if it is another."""
    histogram = value.histogram
    kept = _spaced(len(value.rms))
    lost = losses(histogram)
    found: dict[str, Any] = {
        "rms": [_short(value.rms[i]) for i in kept],
        "amax": [_short(value.amax[i]) for i in kept],
        "least": _short(value.smallest[-1]),
        "first": histogram.first,
        "octaves": levels(histogram.counts),
        "loss": lost if any(lost) else 0,
        "outside": _short(sum(_lost(histogram, value.cast))) if value.cast else 0,
    }
    totals = {"count": "count", "turns": "turns", "zeros": "zeros", "sub": "subnormals"}
    totals |= {"sat": "saturated", "inf": "infinities", "nan": "nans"}
    found |= {short: sum(getattr(value, name)) for short, name in totals.items()}
    found = {name: entry for name, entry in found.items() if entry != 0}
    found.setdefault("first", 0)
    if value.cast:
        found["cast"] = value.cast
    if _type(value) != type_:
        found["type"] = _type(value)
    if value.scales is not None:
        scales = (value.scales[i] for i in kept)
        found["scale"] = [None if scale is None else _short(scale) for scale in scales]
    return found


def _spaced(count: int) -> list[int]:
    """The numbers of the records that are shown, the first and the last among them."""
    if count <= PAGE_RECORDS:
        return list(range(count))
    return [round(i * (count - 1) / (PAGE_RECORDS - 1)) for i in range(PAGE_RECORDS)]


def levels(counts: Sequence[int]) -> str:
    """Returns a letter for each octave: ``A`` if it is empty, and else its share on a log scale.

    Args:
        counts: The number of elements in each octave.
    """
    total, most = sum(counts), len(_LEVELS) - 1
    shares = (math.log2(count / total) if count else None for count in counts)
    numbers = (0 if s is None else max(most + round(_STEPS * s), 1) for s in shares)
    return "".join(_LEVELS[number] for number in numbers)


def _operand(operand: OperandStats, texts: _Texts) -> dict[str, Any]:
    return {
        "name": shown(operand.name),
        "value": operand.value,
        "place": texts.number(operand.location),
        "part": operand.part,
        "role": operand.role,
        "contracted": operand.contracted,
        "formats": list(map(_worst, operand.formats)),
    }


def _worst(one: FormatStats) -> dict[str, Any]:
    """The effect of a cast in the worst step."""
    ratios = [db for db in one.snr_db if db is not None]
    return {
        "format": one.format,
        "scaling": one.scaling,
        "snr": round(min(ratios), 1) if ratios else None,
        "flushed": _short(max(one.flushed, default=0)),
        "clipped": _short(max(one.clipped, default=0)),
    }


def _short(number: float) -> float:
    """A number of four digits; the largest ones of f64 would be rounded to infinity."""
    rounded = float(f"{number:.4g}")
    if math.isinf(rounded):
        return number
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e6 else rounded
