"""`scalify-hlo stats`: run a program, and write statistics of all its values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import WithOutput, WithQuiet
from scalify_hlo.cli.running import WithOptionalRuns
from scalify_hlo.recipes.fields import option
from scalify_hlo.storage.files import form_of, write_file


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
        from scalify_hlo.commands.stats.record import StatsRecord, dump_stats
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
