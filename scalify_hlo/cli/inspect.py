"""The command `scalify-hlo inspect`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.options import format_option, read, rewrite_options, to_options
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.results.model import keys

if TYPE_CHECKING:
    from scalify_hlo._compat import ir
    from scalify_hlo.cli.matmul_table import Selection
    from scalify_hlo.io.program import Program
    from scalify_hlo.lint.model import Finding
    from scalify_hlo.passes.pipeline import Options
    from scalify_hlo.report.model import LayerReport, MatmulReport, Report, SiteReport, ValueReport


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
        inspected = Inspected(source, options, selection)
    if form == "json":
        from scalify_hlo.cli.inspect_json import dump_inspected

        console.echo(dump_inspected(inspected), nl=False)
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


class Inspected:
    """A program, and what a rewrite would do with it.

    Args:
        program: The program, which is not changed.
        options: The options of the rewrite.
        selection: The matmuls that are asked for.

    Attributes:
        report: The report of the rewrite.
        matmuls: The matmuls that are asked for.
    """

    def __init__(self, program: Program, options: Options, selection: Selection) -> None:
        self.program, self.options, self.selection = program, options, selection
        self.report, self._rewritten = _rewritten(program, options)
        self.matmuls = selection.of(self.report.matmuls)

    def layers(self) -> list[LayerReport]:
        """Returns the layers of the program."""
        return layers_of(self.program)

    def pairs(self) -> dict[int, int]:
        """Returns the pairs among the arguments of a program that was rewritten."""
        from scalify_hlo.io.pairs import pairs_of

        return pairs_of(self.program.module)

    def findings(self) -> list[Finding]:
        """Returns what the lints found."""
        from scalify_hlo.lint.run import lint

        return lint(self._rewritten, self.options, self.report)

    def show(self, chosen: Sequence[str], *, sites: bool) -> None:
        """Prints the parts that are chosen, or an overview.

        Args:
            chosen: ``arguments``, ``matmuls`` or ``lint``.
            sites: Whether the overview lists each dynamic rescaling.
        """
        name = self.program.name
        console.echo(f"{name}: {_kind(self.program)}")
        console.show_rewrites(self.program)
        if not chosen:
            self._overview(sites=sites)
        elif sites:
            self._sites(listed=True)
        if "arguments" in chosen:
            self._arguments()
        if "matmuls" in chosen:
            from scalify_hlo.cli.matmul_table import show

            show(self.report.matmuls, self.matmuls, self.selection, name)
        if "lint" in chosen:
            from scalify_hlo.cli.lint_table import listed

            console.echo()
            console.echo(listed(self.findings(), name))
        if not chosen:
            console.report_remarks(self.report.remarks, name)

    def _arguments(self) -> None:
        """Prints the arguments and results."""
        report, pairs = self.report, self.pairs()
        header: tuple[str, ...] = _HEADER
        rows = _values(report.arguments, pairs)
        if self.options.recipe.narrow:
            header = (*_HEADER, "role")
            named = zip(report.arguments, rows, strict=True)
            rows = [(*row, report.roles.get(value.name, "")) for value, row in named]
        _echo("arguments", header, rows)
        _echo("results", _HEADER, _values(report.results))

    def _overview(self, *, sites: bool) -> None:
        """Prints what there is, in numbers."""
        report, recipe = self.report, self.options.recipe
        for line in _counted_values(report, self.pairs()):
            console.echo(line)
        _echo("matmuls", _MATMULS, _matmuls(report.matmuls))
        if recipe.narrow:
            from scalify_hlo.passes.summary import summary

            console.echo(summary(report))
        if recipe.rescales:
            self._sites(listed=sites)
        _echo("layers", _LAYERS, _layers(self.layers()))
        _echo("ops", ("op", "count"), _counts(report.ops))
        _echo("scales", ("scale", "values"), _counts(report.values))
        reads = [
            (each.op, str(each.times), each.family, "refuses" if each.refused else "accepts")
            for each in reads_of(report)
        ]
        _echo("read at scale 1", _READS, reads)
        from scalify_hlo.cli.lint_table import counted

        console.echo()
        console.echo(counted(self.findings(), self.program.name))

    def _sites(self, *, listed: bool) -> None:
        """Prints the dynamic rescalings of the recipe."""
        sites = self.report.sites
        _echo("sites", _SITES, _listed(sites) if listed else _counted(sites))


_HEADER = ("#", "name", "type", "form", "scale")
_MULTIPLIED = "multiplied with their scales"
"""The end of the remarks on ops without a scaled form."""
_READS = ("op", "count", "rule", "--strict")
_LAYERS = ("layer", "part", "input gradient", "count", "where")
_SITES = ("asked for by", "statistic", "every", "where")
_WIDEST = 48
_MATMULS = ("part", "operands", "certainty", "vocabulary", "count")


def dry_run(program: Program, options: Options) -> Report:
    """Returns the report of a rewrite of a program; the program is not changed."""
    return _rewritten(program, options)[0]


def _rewritten(program: Program, options: Options) -> tuple[Report, ir.Module]:
    """Returns the report of a rewrite of a program, and the rewritten copy of its module."""
    from scalify_hlo.io.artifact import copy_module
    from scalify_hlo.io.wellformed import located
    from scalify_hlo.passes.pipeline import rewrite_module

    module = copy_module(program.module)
    with located(program.name):
        return rewrite_module(module, replace(options, annotate=True, listed=True)), module


@keys("op count=times family refused")
class Read(NamedTuple):
    """An op that reads values at scale 1; some do so only in their regions.

    Attributes:
        op: The name of the op.
        times: How often it does so.
        family: The family of its rule.
        refused: Whether `--strict` refuses it: it refuses remarks.
    """

    op: str
    times: int
    family: str
    refused: bool


def reads_of(report: Report) -> list[Read]:
    """Returns the ops that read values at scale 1."""
    remarks = Counter(r.op for r in report.remarks if r.message.endswith(_MULTIPLIED))
    counts = _ordered(report.given_up | remarks)
    return [Read(op, count, _family(op), op in remarks) for op, count in counts]


def layers_of(program: Program) -> list[LayerReport]:
    """Returns the layers of a program; the program is not changed."""
    from scalify_hlo.io.artifact import copy_module
    from scalify_hlo.io.wellformed import located
    from scalify_hlo.passes.normalize import NormalizePass
    from scalify_hlo.passes.pipeline import run_passes
    from scalify_hlo.passes.recognize import RecognizePass

    module = copy_module(program.module)
    with located(program.name):
        return run_passes(module, [NormalizePass(), RecognizePass()]).layers


def _family(op: str) -> str:
    from scalify_hlo.rules.table import RULES

    return RULES[op].family if op in RULES else "none"


def _listed(sites: Sequence[SiteReport]) -> list[tuple[str, ...]]:
    return [(s.kind, s.statistic, str(s.every), s.name) for s in sites]


def _counted(sites: Sequence[SiteReport]) -> list[tuple[str, ...]]:
    kinds = Counter((s.kind, s.statistic, str(s.every)) for s in sites)
    return [(*kind, f"{n} values") for kind, n in kinds.items()]


def _layers(layers: Sequence[LayerReport]) -> list[tuple[str, ...]]:
    """Returns a row for each distinct kind of layers, in the order of their first occurrence."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for layer in layers:
        kinds.setdefault((layer.name, layer.part, layer.gradient), []).append(layer.where)
    return [
        (*kind, str(len(places)), _shortened(", ".join(dict.fromkeys(filter(None, places)))))
        for kind, places in kinds.items()
    ]


def _shortened(text: str) -> str:
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def _kind(program: Program) -> str:
    return f"{program.kind.value}{f' {program.version}' if program.version else ''}"


def _counted_values(report: Report, pairs: dict[int, int]) -> list[str]:
    """Returns lines on the numbers of arguments, results and pairs."""
    roles = Counter(report.roles.values())
    known = "".join(f", {count} {role}" for role, count in roles.items())
    scaled = sum(value.scaled for value in report.arguments)
    given = f"{len(report.arguments)} arguments ({scaled} scaled{known})"
    lines = [f"{given}, {len(report.results)} results; --arguments lists them"]
    if pairs:
        first, scale = next(iter(pairs.items()))
        lines += [
            f"{len(pairs)} pairs of data and scale among the arguments, the first of which is "
            f"{report.arguments[first].name} (arguments {first} and {scale})"
        ]
    return lines


def _values(
    values: Sequence[ValueReport], pairs: dict[int, int] | None = None
) -> list[tuple[str, ...]]:
    """Returns a row for each argument or result.

    Args:
        values: The arguments or results.
        pairs: Those of a program that was rewritten, by the number of the data.
    """
    data = pairs or {}
    forms = {n: f"data, scale is {scale}" for n, scale in data.items()}
    forms |= {scale: f"scale of {n}" for n, scale in data.items()}
    return [
        (
            str(i),
            v.name,
            v.type,
            "data and scale" if v.paired else forms.get(i, "plain"),
            v.scale,
        )
        for i, v in enumerate(values)
    ]


def _matmuls(matmuls: Sequence[MatmulReport]) -> list[tuple[str, ...]]:
    """Returns a row for each distinct kind of matmuls, in the order of their first occurrence."""
    kinds = Counter[tuple[Any, ...]]()
    for m in matmuls:
        kinds[m.part, m.roles, m.certainty, m.vocabulary] += m.calls
    return [
        (part, " x ".join(filter(None, roles)), certainty, "yes" if vocabulary else "", str(count))
        for (part, roles, certainty, vocabulary), count in kinds.items()
    ]


def _ordered(counts: dict[str, int]) -> list[tuple[str, int]]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(name, count) for name, count in ordered if count]


def _counts(counts: dict[str, int]) -> list[tuple[str, ...]]:
    return [(name, str(count)) for name, count in _ordered(counts)]


def _echo(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    console.echo()
    console.echo(console.heading(f"{title} ({len(rows)})" if rows else f"{title}: none"))
    if rows:
        console.echo(console.table(header, rows))
