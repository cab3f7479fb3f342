"""`scalify-hlo search`: find a recipe at a budget of low precision."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from scalify_hlo.cli import console
from scalify_hlo.cli.blame import effect_text
from scalify_hlo.cli.command import command
from scalify_hlo.cli.running import MakingRecipe
from scalify_hlo.recipes.fields import option
from scalify_hlo.results.model import cells, headers

if TYPE_CHECKING:
    from scalify_hlo.commands.choose.front import Point
    from scalify_hlo.commands.choose.model import Effect
    from scalify_hlo.commands.choose.model import Search as Found


@command(
    "scalify-hlo search step.jax_export --recipe fp8-current --inputs x.npz "
    "--budget 'narrow>=0.95' -o better.toml"
)
class Search(MakingRecipe):
    """Search for the matmuls of the program IN that are left wide at a budget.

    The casts of each site have a cost, which is a share of the loss: the gradient of the loss with
    respect to the result of the matmul, times the error that the casts make in it; and their part
    of the noise in gradients, times what a step takes away from the loss. Sites with the highest
    costs are left wide, as many as the budget allows. The formats are those of the recipe; with
    --formats, gradients with more precision are tried too.

    The tables list the sites with their costs, and the cost at other shares of low precision. Then
    the found recipe is run, and its error is printed with the part of a recipe that it adds. With
    -o, the whole recipe is written, for `rewrite --recipe`. Programs run with XLA on the CPU.

    Attributes:
        budget: How much has to be in low precision, as in 'narrow>=0.95' or 'narrow-flops>=0.9'.
        formats: Try a format of gradients with more precision too.
    """

    budget: str = option(metavar="REQUIREMENT,...")
    formats: bool = False

    def run(self) -> None:
        """See `Command.run`."""
        from scalify_hlo.commands.choose.search import search

        source = self.read()
        arrays = self.arrays(source)
        with console.progress("Searching") as progress:
            found = search(
                source,
                arrays,
                self.recipe,
                self.budget,
                formats=self.formats,
                signature=self.signature,
                profile=self.profile,
                progress=progress,
            )
        self.finish(found, lines(found, self.rows))


_SITES: Final = "cost:.3g by=effect dB=snr_db:dB =wide:wide source=site.source site=site.name"
_FRONT: Final = "narrow:.1% flops:.1% wide gradients=gradient cost:.3g"


def lines(found: Found, rows: int) -> Iterator[str]:
    """Yields the lines on a search, with so many rows of each table; 0 for all."""
    loss = "" if found.loss is None else f" (loss of the original: {found.loss:.6g})"
    yield f"{found.recipe}: {_error(found.whole, found.whole_cost)}{loss}"
    if len(found.formats) > 1:
        tried = ", ".join(f"{each.name} {each.cost:.3g}" for each in found.formats)
        taken = next(each.name for each in found.formats if each.taken)
        yield f"formats of gradients by cost: {tried}; {taken} is taken"
    yield ""
    yield from console.listing(_SITES, found.sites, rows)
    yield ""
    points = some_points(found.front, found.chosen, rows // 2 or len(found.front))
    marked = [(*cells(p, _FRONT), "chosen" if p == found.chosen else "") for p in points]
    yield from console.table((*headers(_FRONT), ""), marked)
    yield ""
    yield _at_budget(found)
    yield ""
    yield from found.fragment.rstrip().split("\n")


def _at_budget(found: Found) -> str:
    count = len(found.left_out)
    return (
        f"at {found.budget}, with {count} site{'s' * (count != 1)} wide: "
        f"{_error(found.effect, found.chosen.cost)}"
    )


def _error(effect: Effect, cost: float) -> str:
    (narrow,) = cells(effect, "narrow:.1%")
    return f"{narrow} narrow, cost {cost:.3g}, {effect_text(effect)}"


def some_points(front: Sequence[Point], chosen: Point, most: int) -> list[Point]:
    """Returns points that are evenly spaced on a front, with the chosen one.

    Args:
        front: The points.
        chosen: The point at the budget.
        most: The most points besides the chosen one.
    """
    step = max(-(-len(front) // most), 1)
    found = [*front[::step], *([] if chosen in front[::step] else [chosen])]
    return sorted(found, key=lambda point: point.wide)
