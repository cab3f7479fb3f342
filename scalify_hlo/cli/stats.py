"""`scalify-hlo stats`: run a program, and write statistics of all its values."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import WithOutput, WithQuiet
from scalify_hlo.cli.running import WithOptionalRuns
from scalify_hlo.recipes.fields import option
from scalify_hlo.storage.files import form_of, write_file

if TYPE_CHECKING:
    from scalify_hlo.commands.stats.record import StatsRecord, ValueStats


def lines(record: StatsRecord, rows: int) -> Iterator[str]:
    """Yields a line on each value of a program and of its rewrite, the largest first.

    Args:
        record: The statistics.
        rows: How many rows each table has; 0 for all.
    """
    yield from record.remarks
    for variant in record.variants:
        largest = sorted(variant.values, key=lambda each: -max(each.amax, default=0))
        cells = [_row(each) for each in largest]
        yield from console.titled(f"{record.program}: {variant.name}", _HEADER, cells, rows)


_HEADER = ("rms", "amax", "NaN", "infinities", "saturated", "type", "value")


def _row(value: ValueStats) -> tuple[str, ...]:
    sizes = (f"{max(each, default=0):.4g}" for each in (value.rms, value.amax))
    counts = (str(sum(each)) for each in (value.nans, value.infinities, value.saturated))
    place = os.path.basename(value.location).rpartition(":")[0]
    named = " ".join(filter(None, (place, value.name or value.op)))
    return (*sizes, *counts, value.dtype, named)


@command("scalify-hlo stats step.jax_export --inputs x.npz --recipe fp8 -o stats.html")
class Stats(WithOptionalRuns, WithOutput, WithQuiet):
    """Run the program IN, and write statistics of all its float values.

    Each value has its rms, its largest and smallest magnitude, exact counts of zeros, subnormals,
    saturated and non-finite elements, and a histogram; each operand of a matmul has the effect of
    low-precision formats on it. With --recipe, the rewritten program runs too, and its values have
    scales. The program runs on XLA CPU. The output is written whole or not at all.

    Attributes:
        values: The values to measure, by name stacks or argument names, as in '*attention*'.
        turns: Whether the turns of a loop share a record.
        output: Where to write: JSON, or .html for a page, or .png for a figure.
    """

    values: str = option("*", metavar="PATTERN")
    turns: Literal["pooled", "each"] = "pooled"

    def run(self) -> None:
        """See `Command.run`."""
        from scalify_hlo.commands.stats.figures import histograms, require_matplotlib
        from scalify_hlo.commands.stats.page import stats_page
        from scalify_hlo.commands.stats.record import dump_stats
        from scalify_hlo.commands.stats.run import Request, collect_stats

        forms: dict[str, Callable[[StatsRecord], str | bytes]] = {
            ".json": dump_stats,
            ".html": stats_page,
            ".png": histograms,
        }
        form = form_of(self.output, "statistics", forms)
        if form is histograms:
            require_matplotlib()
        request = Request(self.steps, self.carry == "state", self.values, self.turns)
        source, arrays, options = self.sources()
        with console.progress("Running", quiet=self.quiet) as progress:
            record = collect_stats(source, arrays, request, options, progress)
        if not self.quiet:
            for remark in record.remarks:
                console.report_summary(f"remark: {remark}")
        write_file(self.output, form(record))
