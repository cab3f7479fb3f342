"""`scalify-hlo inspect`: show arguments, ops, matmuls and layers of a program, and its scales."""

from __future__ import annotations

from dataclasses import replace

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import OfProgram, WithRemarks, WithRewrite, WithRows
from scalify_hlo.recipes.fields import names, option


@command("scalify-hlo inspect step.mlir --recipe fp8 --matmuls --wide")
class Inspect(OfProgram, WithRows, WithRewrite, WithRemarks):
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
    makes; with --recipe propagate, in the program as it is. It also lists where the original
    departs from unit scale at initialization. Several of these may be given. In a pipe, names are
    never cut. Tables have the first rows, and the overview a line for each list but
    the first; --rows 0 prints all.

    Roles are forward, dgrad, wgrad, backward, other, vocabulary and product, and those of operands:
    activation, weight and gradient. Keys of --sort are program, name, size, calls, part, source and
    trust. Patterns of --name and --exclude match as those of matmul.exclude do. A program that was
    rewritten before is shown with the version, recipe and options of that rewrite, and with its
    pairs of data and scale. The program is not changed.

    Attributes:
        arguments: List the arguments and results.
        matmuls: List the matmuls and convolutions.
        lint: List what is likely to go wrong in low precision.
        sites: List each dynamic rescaling of the recipe.
        name: Of the matmuls, list those whose name matches.
        role: Of the matmuls, list those of a part, or with an operand of a role.
        wide: Of the matmuls, list those that stay wide.
        sort: Order the matmuls by a key; by default by size, or by program if all are printed.
        exclude: Mark the matmuls that matmul.exclude=PATTERN would take out.
    """

    arguments: bool = option(False, of_text=True)
    matmuls: bool = option(False, of_text=True)
    lint: bool = option(False, of_text=True)
    sites: bool = option(False, of_text=True)
    name: tuple[str, ...] = option((), metavar="PATTERN")
    role: tuple[str, ...] = option((), metavar="ROLE")
    wide: bool = False
    sort: str | None = option(None, metavar="KEY")
    exclude: tuple[str, ...] = option((), metavar="PATTERN")

    def run(self) -> None:
        """See `Command.run`."""
        from scalify_hlo.cli.matmul_table import ROLES, SORTS, Selection

        options = self.options()
        for role in self.role:
            names(*ROLES).read("--role", role, spelt=False)
        if self.sort is not None:
            names(*SORTS).read("--sort", self.sort, spelt=False)
        given = Selection(self.name, self.role, self.wide, self.sort or "program", self.exclude)
        by_size = self.rows and self.sort is None and self.form == "text"
        selection = replace(given, sort="size") if by_size else given
        source = self.read()
        with console.progress("Inspecting"):
            from scalify_hlo.cli.inspected import Inspected

            inspected = Inspected.of(source, options, selection)
        asked = {
            "arguments": self.arguments,
            "matmuls": self.matmuls or given.given,
            "lint": self.lint,
        }
        chosen = [name for name, each in asked.items() if each]
        lines = inspected.lines(chosen, self.rows, sites=self.sites)
        console.echo(self.text(inspected, lines, source.name))
        if self.form == "text" and not chosen and not self.sites:
            console.report_remarks(
                inspected.report.remarks, source.name, verbose=self.verbose, most=2
            )
