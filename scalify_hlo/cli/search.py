"""The command `scalify-hlo search`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.blame import effect_text, require_recipe_file
from scalify_hlo.cli.compare import profile_option, signature_option
from scalify_hlo.cli.options import format_option, inputs_option, read, read_arrays
from scalify_hlo.results.model import cells, headers
from scalify_hlo.storage.files import STREAM, same_file, write_file

if TYPE_CHECKING:
    from scalify_hlo.choose.front import Point
    from scalify_hlo.choose.model import Effect, Search

_ROWS: Final = 16
"""The number of sites, and of points of the trade-off, that are listed by default."""


@click.command(
    name="search",
    epilog="Example: scalify-hlo search step.jax_export --recipe fp8-current --inputs x.npz "
    "--budget 'narrow>=0.95' -o better.toml",
)
@click.argument("program", metavar="IN")
@click.option(
    "--recipe",
    metavar="NAME|FILE",
    required=True,
    help="The recipe to start from: a recipe's name, or a TOML file.",
)
@inputs_option("Inputs of the step", required=True)
@click.option(
    "--budget",
    metavar="REQUIREMENT,...",
    required=True,
    help="How much has to be in low precision, as in 'narrow>=0.95' or 'narrow-flops>=0.9'.",
)
@click.option(
    "--formats",
    is_flag=True,
    help="Try a format of gradients with more precision too.",
)
@signature_option
@profile_option
@click.option(
    "--rows",
    type=click.IntRange(0),
    default=_ROWS,
    show_default=True,
    metavar="N",
    help="How many sites, and how many points of the trade-off, to list.",
)
@format_option("Print tables, or everything as JSON.")
@click.option("-o", "--output", metavar="R.TOML", help="Write the recipe.")
def command(
    program: str,
    recipe: str,
    inputs: Sequence[str],
    budget: str,
    formats: bool,
    signature: str,
    profile: str | None,
    rows: int,
    form: str,
    output: str | None,
) -> None:
    """Search for the matmuls of the program IN that are left wide at a budget.

    The casts of each site have a cost, which is a share of the loss: the gradient of the loss with
    respect to the result of the matmul, times the error that the casts make in it; and their part
    of the noise in gradients, times what a step takes away from the loss. Sites with the highest
    costs are left wide, as many as the budget allows. The formats are those of the recipe; with
    --formats, gradients with more precision are tried too.

    The tables list the sites with their costs, and the cost at other shares of low precision. Then
    the found recipe is run, and its error is printed with the part of a recipe that it adds. With
    -o, the whole recipe is written, for `rewrite --recipe`. Programs run with XLA on the CPU.
    """
    if [program, *inputs].count(STREAM) > 1:
        same_file(STREAM, STREAM)
    if output is not None:
        require_recipe_file(output)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    from scalify_hlo.choose.comparison import CompareOptions
    from scalify_hlo.choose.front import parse_budget
    from scalify_hlo.choose.model import dump_search
    from scalify_hlo.choose.search import SearchOptions, find_search
    from scalify_hlo.profile.file import load_profile
    from scalify_hlo.recipes.loading import load_recipe

    options = SearchOptions(tuple(parse_budget(budget)), formats)
    seen = None if profile is None else load_profile(profile)
    compared = CompareOptions(signature=signature, profile=seen)
    loaded = load_recipe(recipe)
    source = read(program)
    arrays = [read_arrays(path) for path in inputs]
    with console.progress("Searching") as progress:
        found = find_search(source, arrays, (recipe, loaded), options, compared, progress)
    text = dump_search(found) if form == "json" else "\n".join(_lines(found, rows)) + "\n"
    if output is not None:
        write_file(output, found.toml)
    console.echo(text, nl=False)


_SITES: Final = (
    "cost:.3g by=effect dB=snr_db:dB =wide:wide operands=site.role source=site.source "
    "site=site.name"
)
_FRONT: Final = "narrow:.1% flops:.1% wide gradients=gradient cost:.3g"


def _lines(found: Search, rows: int) -> Iterator[str]:
    """Yields the lines of the output."""
    loss = "" if found.loss is None else f" (loss of the original: {found.loss:.6g})"
    yield f"{found.recipe}: {_error(found.whole, found.whole_cost)}{loss}"
    if len(found.formats) > 1:
        tried = ", ".join(f"{each.name} {each.cost:.3g}" for each in found.formats)
        taken = next(each.name for each in found.formats if each.taken)
        yield f"formats of gradients by cost: {tried}; {taken} is taken"
    if rows:
        yield ""
        yield console.listing(_SITES, found.sites[:rows], fit=True)
        yield ""
        points = some_points(found.front, found.chosen, rows)
        marked = [(*cells(p, _FRONT), "chosen" if p == found.chosen else "") for p in points]
        yield console.table((*headers(_FRONT), ""), marked)
    yield ""
    if found.bound:
        yield (
            f"{found.bound} of the sites that are left wide cost less, but no pattern tells them "
            "from another one"
        )
    yield _at_budget(found)
    yield ""
    yield found.fragment.rstrip()


def _at_budget(found: Search) -> str:
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
