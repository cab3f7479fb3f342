"""The forms in which statistics are written: JSON, a page, and a figure."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.observe.record import StatsRecord, dump_stats
from scalify_hlo.storage.files import STREAM

SUFFIXES: Final = (".json", ".html", ".png")


def form_of(output: str) -> str:
    """Returns the form in which a file is written, by the suffix of its name.

    Args:
        output: The name. JSON is written to files without a suffix, and to standard output.

    Returns:
        One of `SUFFIXES`.

    Raises:
        UsageError: The suffix is another, or that of a figure and Matplotlib is not installed.
    """
    suffix = Path(output).suffix.lower() if output != STREAM else ""
    if suffix and suffix not in SUFFIXES:
        raise UsageError(
            f"statistics cannot be written as {suffix}{nearest(suffix, SUFFIXES)}",
            hint=f"the suffixes of the output are: {', '.join(SUFFIXES)}",
        )
    if suffix == ".png":
        from scalify_hlo.observe.figures import require_matplotlib

        require_matplotlib()
    return suffix or SUFFIXES[0]


def rendered(record: StatsRecord, form: str) -> str | bytes:
    """Returns statistics in a form.

    Args:
        record: The statistics.
        form: One of `SUFFIXES`.
    """
    if form == ".html":
        from scalify_hlo.observe.page import stats_page

        return stats_page(record)
    if form == ".png":
        from scalify_hlo.observe.figures import histograms

        return histograms(record)
    return dump_stats(record)
