"""Statistics as a figure in the PNG format, drawn with Matplotlib.

The figure is that of the appendix of "Unit Scaling" (Blake et al., 2023, figures A.4 to A.7): the
magnitudes of tensors in program order, by octaves, against the ranges of formats.
"""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

import numpy as np

from scalify_hlo.algebra.limits import FIGURE_ROWS
from scalify_hlo.commands.stats.page import PAGE_FORMATS, format_range
from scalify_hlo.commands.stats.record import StatsRecord, ValueStats
from scalify_hlo.errors import UsageError, shown

_LEAST_SHARE: Final = 1e-4
_LABEL: Final = 48
_DPI: Final = 200

Row: TypeAlias = tuple[ValueStats | None, ...]


def require_matplotlib() -> None:
    """Checks that figures can be drawn.

    Raises:
        UsageError: Matplotlib is not installed.
    """
    if find_spec("matplotlib") is None:
        raise UsageError(
            "a figure needs Matplotlib, which is not installed",
            hint="install scalify-hlo[plot], or write a page with -o stats.html",
        )


def chosen(record: StatsRecord) -> list[Row]:
    """Returns the rows of a figure: operands of matmuls, or all tensors if there are none.

    Args:
        record: The statistics.

    Returns:
        At most `FIGURE_ROWS` rows, in program order.
    """
    operands = {operand.value for operand in record.operands}
    rows = [row for row in record.beside() if _is_shown(row, operands)]
    if len(rows) <= FIGURE_ROWS:
        return rows
    return [rows[round(i * (len(rows) - 1) / (FIGURE_ROWS - 1))] for i in range(FIGURE_ROWS)]


def _is_shown(row: Row, operands: set[str]) -> bool:
    one = next(value for value in row if value is not None)
    return one.id in operands if operands else math.prod(one.shape) > 1


def histograms(record: StatsRecord) -> bytes:
    """Returns the histograms of values as a PNG picture, a panel for each variant.

    Args:
        record: The statistics.
    """
    from matplotlib import style

    with style.context("default"):  # The working folder may have a matplotlibrc that runs LaTeX.
        return _picture(record)


def _picture(record: StatsRecord) -> bytes:
    from matplotlib.figure import Figure

    rows = chosen(record)
    low, high = _span(rows)
    count = len(record.variants)
    size = (3.2 + 4.6 * count, 1.6 + 0.16 * max(len(rows), 8))
    figure = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(1, count, sharey=True, squeeze=False)[0]
    for number, (panel, variant) in enumerate(zip(panels, record.variants, strict=True)):
        cells = _cells([row[number] for row in rows], low, high)
        drawn = _draw(panel, cells, low, high)
        pad = 8 + 11 * len(PAGE_FORMATS)
        panel.set_title(shown(variant.name), pad=pad, fontsize=10, parse_math=False)
    labels = [_label(row) for row in rows]
    panels[0].set_yticks(np.arange(len(rows)) + 0.5, labels, fontsize=6, parse_math=False)
    panels[0].invert_yaxis()
    figure.colorbar(drawn, ax=list(panels), label="share of the non-zero elements", shrink=0.6)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=_DPI)
    return buffer.getvalue()


def _draw(panel: Any, cells: Any, low: int, high: int) -> Any:
    """Draws histograms as lines of a table of colors, and the ranges of formats over them."""
    from matplotlib.colors import LogNorm

    edges = np.arange(low, high + 1), np.arange(len(cells) + 1)
    masked = np.ma.masked_less(cells, _LEAST_SHARE)
    drawn = panel.pcolormesh(*edges, masked, norm=LogNorm(_LEAST_SHARE, 1), cmap="viridis_r")
    panel.set_xlim(low, high)
    panel.set_xlabel("log2 of magnitudes", fontsize=9)
    panel.tick_params(labelsize=7)
    for number, (label, name) in enumerate(PAGE_FORMATS.items()):
        _bracket(panel, label, name, 6 + 11 * number)
    return drawn


def _bracket(panel: Any, label: str, name: str, height: float) -> None:
    """Draws the range of a format above a panel: normal numbers solid, subnormal ones dotted."""
    from matplotlib.transforms import offset_copy

    range_ = format_range(name)
    least, normal, end = range_["least"], range_["normal"], range_["top"] + 1
    shifted = offset_copy(
        panel.get_xaxis_transform(), panel.figure, y=height, units="points"
    )  # above the panel, in points
    low, high = panel.get_xlim()
    for ends, style in (((least, normal), ":"), ((normal, end), "-")):
        bounded = [min(max(x, low), high) for x in ends]
        panel.plot(bounded, [1, 1], style, color="0.25", lw=1, transform=shifted, clip_on=False)
    middle = (max(normal, low) + min(end, high)) / 2
    panel.text(
        middle, 1, f" {label} ", transform=shifted, fontsize=7, ha="center", va="center",
        backgroundcolor="white", bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
    )  # fmt: skip


def _span(rows: Sequence[Row]) -> tuple[int, int]:
    """The octaves of a figure, from the first up to the last."""
    found = [v.histogram for row in rows for v in row if v is not None and v.histogram.counts]
    lows = sorted(one.first for one in found) or [0]
    highs = sorted(one.first + len(one.counts) for one in found) or [0]
    low, high = lows[len(lows) // 20], highs[-1 - len(highs) // 20]
    return min(low, -26), max(high, 17)


def _cells(values: Sequence[ValueStats | None], low: int, high: int) -> Any:
    """The shares of octaves, ``[values, octaves]``."""
    cells = np.zeros((len(values), high - low))
    for line, value in zip(cells, values, strict=True):
        if value is None or not value.histogram.counts:
            continue
        counts = np.array(value.histogram.counts, float)
        octaves = value.histogram.first + np.arange(len(counts))
        np.add.at(line, np.clip(octaves, low, high - 1) - low, counts / counts.sum())
    return cells


def _label(row: Row) -> str:
    """The end of a name, as plain text."""
    one = next(value for value in row if value is not None)
    name = shown(one.name or one.op)
    return name if len(name) <= _LABEL else f"...{name[3 - _LABEL :]}"
