"""`scalify-hlo blame`: find the matmuls whose casts cost accuracy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import WithSettings
from scalify_hlo.cli.running import Judging, MakingRecipe
from scalify_hlo.recipes.fields import Amount, Count, Share, option
from scalify_hlo.results.model import cells, headers

if TYPE_CHECKING:
    from scalify_hlo.commands.choose.model import Blame as Found
    from scalify_hlo.commands.choose.model import Effect


@command("scalify-hlo blame step.jax_export --recipe fp8 --inputs x.npz -o better.toml")
class Blame(Judging, WithSettings, MakingRecipe):
    """Find the matmuls of the program IN whose casts by a recipe cost accuracy.

    The recipe is run with all matmuls wide except a set of sites. The set that makes most of the
    error is split until single sites make most of it. A site is a matmul by the name that
    matmul.exclude matches. Each site is listed with its share of the error: the mean of those of
    the errors of outputs and of gradients. The row also has the change of the loss, the worst
    output and the worst gradient, in dB, of a program in which only this site is in low precision.

    Then the worst sites are left wide, as many as outputs and gradients need for the ratio of
    --snr; if no number is enough, those that make half of the error of single sites. The error
    without them is printed, with the part of a recipe that excludes them. With -o, the whole recipe
    is written, for `rewrite --recipe`. XLA compiles two programs for the CPU: the original, and a
    rewrite with a switch for each site. Each run is one step of the second.

    Attributes:
        recipe: The recipe whose sites are measured: a recipe's name, or a TOML file.
        runs_at_most: The most runs of the rewrite.
        explain: Search until single sites make this share of the error.
        worst: How many sites to leave wide; by default as many as --snr needs.
        output: Write a recipe that leaves the worst sites wide.
    """

    runs_at_most: Count = option(64, flag="--runs")
    explain: Share = option(0.9, metavar="SHARE")
    worst: Amount | None = None

    def run(self) -> None:
        """See `Command.run`."""
        from scalify_hlo.commands.choose.blame import blame

        source = self.read()
        arrays = self.arrays(source)
        with console.progress("Searching") as progress:
            found = blame(
                source,
                arrays,
                self.recipe,
                settings=self.keyed,
                runs=self.runs_at_most,
                explained=self.explain,
                worst=self.worst,
                snr_db=self.snr,
                signature=self.signature,
                profile=self.profile,
                progress=progress,
            )
        self.finish(found, lines(found, self.rows))


_ERRORS: Final = "loss:+.3g outputs=output:dB gradients=gradient:dB"
_SITES: Final = (
    "share:.0% loss=effect.loss:+.3g outputs=effect.output:dB gradients=effect.gradient:dB "
    "source=site.source site=site.name"
)


def lines(found: Found, rows: int) -> Iterator[str]:
    """Yields the lines on sites, with so many rows of each table; 0 for all."""
    loss = "" if found.loss is None else f" (loss of the original: {found.loss:.6g})"
    yield f"{found.recipe}: {effect_text(found.whole)}{loss}"
    yield f"all matmuls wide: {effect_text(found.wide)}"
    if found.sites:
        yield ""
        yield from console.listing(_SITES, found.sites, rows)
    if found.rest:
        yield f"{found.rest} other sites make {found.rest_share:.0%} of the error"
    yield f"runs: {found.runs}"
    yield ""
    narrow = found.effect.narrow
    left = "" if narrow is None else f", {narrow:.0%} of matmuls in low precision"
    missed = "" if found.effect.passes(found.snr_db) else f" ({found.snr_db:g} dB is not reached)"
    count = len(found.left_out)
    yield f"with {count} site{'s' * (count != 1)} wide: {effect_text(found.effect)}{left}{missed}"
    yield ""
    if not count:
        yield "no site is left wide: the recipe stays as it is"
        return
    yield from found.fragment.rstrip().split("\n")


def effect_text(effect: Effect) -> str:
    """Returns the error of a rewrite as text."""
    named = zip(headers(_ERRORS), cells(effect, _ERRORS), strict=True)
    return ", ".join(
        f"{name} {text}{' dB' if name != 'loss' and text[-1].isdigit() else ''}"
        for name, text in named
        if text != "-"
    )
