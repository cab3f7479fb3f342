"""The command `scalify-hlo blame`."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.compare import runs_options
from scalify_hlo.cli.options import (
    format_option,
    inputs_option,
    read,
    read_arrays,
    settings_option,
)
from scalify_hlo.errors import UsageError
from scalify_hlo.results.model import cells, headers
from scalify_hlo.storage.files import STREAM, require_writable, same_file, write_file

if TYPE_CHECKING:
    from scalify_hlo.choose.model import Blame, Effect

_ROWS: Final = 16
"""The number of sites that are listed by default."""


@click.command(
    name="blame",
    epilog="Example: scalify-hlo blame step.jax_export --recipe fp8 --inputs x.npz -o better.toml",
)
@click.argument("program", metavar="IN")
@click.option(
    "--recipe",
    metavar="NAME|FILE",
    required=True,
    help="The recipe whose sites are measured: a recipe's name, or a TOML file.",
)
@settings_option("the recipe")
@inputs_option(
    "Inputs of the step",
    required=True,
)
@runs_options
@click.option(
    "--runs",
    type=int,
    default=64,
    show_default=True,
    metavar="N",
    help="The most programs to run.",
)
@click.option(
    "--explain",
    type=float,
    default=0.9,
    show_default=True,
    metavar="SHARE",
    help="Search until single sites make this share of the error.",
)
@click.option(
    "--worst",
    type=int,
    metavar="K",
    help="How many sites to leave wide.  [default: as many as --snr needs]",
)
@click.option(
    "--rows",
    type=click.IntRange(0),
    default=_ROWS,
    show_default=True,
    metavar="N",
    help="How many sites to list.",
)
@format_option("Print tables, or everything as JSON.")
@click.option(
    "-o",
    "--output",
    metavar="R.TOML",
    help="Write a recipe that leaves the worst sites wide.",
)
def command(
    program: str,
    recipe: str,
    settings: Sequence[str],
    inputs: Sequence[str],
    snr: float,
    signature: str,
    profile: str | None,
    runs: int,
    explain: float,
    worst: int | None,
    rows: int,
    form: str,
    output: str | None,
) -> None:
    """Find the matmuls of the program IN whose casts by a recipe cost accuracy.

    The recipe is run with all matmuls wide except a set of sites. The set that makes most of the
    error is split until single sites make most of it. A site is a matmul by the name that
    matmul.exclude matches. Each site is listed with its share of the error: the mean of those of
    the errors of outputs and of gradients. The row also has the change of the loss, the worst
    output and the worst gradient, in dB, of a program in which only this site is in low precision.

    Then the worst sites are left wide, as many as outputs and gradients need for the ratio of
    --snr; if no number is enough, those that make half of the error of single sites. The error
    without them is printed, with the part of a recipe that excludes them. With -o, the whole recipe
    is written, for `rewrite --recipe`. Each run is a rewrite, a compilation and one step with XLA
    on the CPU.
    """
    if [program, *inputs].count(STREAM) > 1:
        same_file(STREAM, STREAM)
    if output is not None:
        require_recipe_file(output)
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    from scalify_hlo.choose.blame import BlameOptions, find_blame
    from scalify_hlo.choose.comparison import CompareOptions
    from scalify_hlo.choose.model import dump_blame
    from scalify_hlo.profile.file import load_profile
    from scalify_hlo.recipes.loading import load_recipe

    seen = None if profile is None else load_profile(profile)
    options = BlameOptions(runs, explain, worst)
    compared = CompareOptions(snr_db=snr, signature=signature, profile=seen)
    loaded = load_recipe(recipe, settings)
    source = read(program)
    arrays = [read_arrays(path) for path in inputs]
    with console.progress("Searching") as progress:
        found = find_blame(source, arrays, (recipe, loaded), options, compared, progress)
    text = dump_blame(found) if form == "json" else "\n".join(_lines(found, rows)) + "\n"
    if output is not None:
        write_file(output, found.toml)
    console.echo(text, nl=False)


def require_recipe_file(output: str) -> None:
    """Refuses a file that no command would take as a recipe.

    Raises:
        UsageError: Its name does not end in .toml.
        InputError: It cannot be written.
    """
    if not output.endswith(".toml"):
        raise UsageError(
            f"the recipe would be written to {output!r}, whose name does not end in .toml",
            hint="name a file as in -o better.toml, so that --recipe takes it",
        )
    require_writable(output)


_ERRORS: Final = "loss:+.3g outputs=output:dB gradients=gradient:dB"
_SITES: Final = (
    "share:.0% loss=effect.loss:+.3g outputs=effect.output:dB gradients=effect.gradient:dB "
    "operands=site.role source=site.source site=site.name"
)


def _lines(found: Blame, rows: int) -> Iterator[str]:
    """Yields the lines of the output."""
    loss = "" if found.loss is None else f" (loss of the original: {found.loss:.6g})"
    yield f"{found.recipe}: {effect_text(found.whole)}{loss}"
    yield f"all matmuls wide: {effect_text(found.wide)}"
    if found.sites and rows:
        yield ""
        yield console.listing(_SITES, found.sites[:rows], fit=True)
    more = found.sites[rows:]
    others = len(more) + found.rest
    if others:
        share = found.rest_share + sum(each.share for each in more)
        yield f"{others} other sites make {share:.0%} of the error"
    yield f"programs run: {found.runs}"
    yield ""
    narrow = found.effect.narrow
    left = "" if narrow is None else f", {narrow:.0%} of matmuls in low precision"
    missed = "" if found.effect.passes(found.snr_db) else f" ({found.snr_db:g} dB is not reached)"
    count = len(found.left_out)
    yield f"with {count} site{'s' * (count != 1)} wide: {effect_text(found.effect)}{left}{missed}"
    yield ""
    yield found.fragment.rstrip()


def effect_text(effect: Effect) -> str:
    """Returns the error of a rewrite as text."""
    named = zip(headers(_ERRORS), cells(effect, _ERRORS), strict=True)
    return ", ".join(
        f"{name} {text}{' dB' if name != 'loss' and text[-1].isdigit() else ''}"
        for name, text in named
        if text != "-"
    )
