"""The command `scalify-hlo inspect`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.options import format_option, read, rewrite_options, to_options
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.results.model import dump

if TYPE_CHECKING:
    from scalify_hlo.cli.matmul_table import Selection


@click.command(
    name="inspect", epilog="Example: scalify-hlo inspect step.mlir --recipe fp8 --matmuls --wide"
)
@click.argument("program", metavar="IN")
@click.option("--arguments", is_flag=True, help="List the arguments and results.")
@click.option("--matmuls", is_flag=True, help="List the matmuls and convolutions.")
@click.option("--lint", is_flag=True, help="List what is likely to go wrong in low precision.")
@click.option("--sites", is_flag=True, help="List each dynamic rescaling of the recipe.")
@click.option(
    "--name",
    "names",
    metavar="PATTERN",
    multiple=True,
    help="Of the matmuls, list those whose name matches.",
)
@click.option(
    "--role",
    "roles",
    metavar="ROLE",
    multiple=True,
    help="Of the matmuls, list those of a part, or with an operand of a role.",
)
@click.option("--wide", is_flag=True, help="Of the matmuls, list those that stay wide.")
@click.option("--sort", metavar="KEY", default="program", help="Order the matmuls by a key.")
@click.option(
    "--exclude",
    metavar="PATTERN",
    multiple=True,
    help="Mark the matmuls that matmul.exclude=PATTERN would take out.",
)
@format_option("Print text, or everything as JSON.")
@rewrite_options
def command(
    program: str,
    arguments: bool,
    matmuls: bool,
    lint: bool,
    sites: bool,
    names: Sequence[str],
    roles: Sequence[str],
    wide: bool,
    sort: str,
    exclude: Sequence[str],
    form: str,
    recipe: str | None,
    signature: str,
    input_scale: Sequence[str],
    settings: Sequence[str],
    profile: str | None,
) -> None:
    """Show the arguments, ops, matmuls and layers of the program IN, and its scales.

    By default, arguments, results and matmuls are counted, and values by static and run-time scale.
    Layers are listed: they are recognized by their values, and not by their names. Ops that read
    values at scale 1 are listed with the families of their rules; some, such as tanh, always do so.
    `rewrite --strict` refuses the ops that the last column marks, since they have no scaled form.
    Matmuls are counted by the roles of their operands. The evidence for the roles is the name
    stacks of jax, data flow, or habit: only a habit of jax decides then. Sites are the places where
    a recipe rescales values at run time. The findings of the lints are counted.

    --arguments lists the names, types and scales of arguments and results. --matmuls lists each
    matmul with its part, operands, M x N x K, number of calls, formats, the least trusted scale,
    source line and name. --lint lists what is likely to go wrong in the program that the recipe
    makes; with --recipe propagate, in the program as it is. Several of these may be given. In a
    pipe, names are never cut.

    Roles are forward, backward, other, activation, weight, gradient and vocabulary. Keys of --sort
    are program, name, size, calls, part, source and trust. Patterns of --name and --exclude match
    as those of matmul.exclude do. A program that was rewritten before is shown with the version,
    recipe and options of that rewrite, and with its pairs of data and scale. The program is not
    changed.
    """
    options = to_options(recipe, signature, input_scale, settings, profile)
    selection = _selection(names, roles, sort, wide=wide, exclude=exclude)
    source = read(program)
    with console.progress("Inspecting"):
        from scalify_hlo.cli.inspected import Inspected

        inspected = Inspected.of(source, options, selection)
    if form == "json":
        console.echo(dump(inspected, source.name), nl=False)
        return
    chosen = {
        "arguments": arguments,
        "matmuls": matmuls or selection.given,
        "lint": lint,
    }
    inspected.show([name for name, asked in chosen.items() if asked], sites=sites)


def _selection(
    names: Sequence[str], roles: Sequence[str], sort: str, *, wide: bool, exclude: Sequence[str]
) -> Selection:
    """Returns the selection of matmuls that options ask for.

    Raises:
        UsageError: A role or a key is unknown.
    """
    from scalify_hlo.cli.matmul_table import ROLES, SORTS, Selection

    for option, given, known in (("--role", roles, ROLES), ("--sort", [sort], tuple(SORTS))):
        for value in given:
            if value not in known:
                raise UsageError(
                    f"{option} knows no {value!r}{nearest(value, known)}",
                    hint=f"give one of: {', '.join(known)}",
                )
    return Selection(tuple(names), tuple(roles), wide, sort, tuple(exclude))
