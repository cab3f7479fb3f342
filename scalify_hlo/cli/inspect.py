"""The command `scalify-hlo inspect`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from scalify_hlo.cli import console
from scalify_hlo.cli.options import read, rewrite_options, to_options

if TYPE_CHECKING:
    from scalify_hlo.io.program import Program
    from scalify_hlo.passes.pipeline import Options
    from scalify_hlo.report.model import LayerReport, MatmulReport, Report, SiteReport, ValueReport


@click.command(
    name="inspect", epilog="Example: scalify-hlo inspect step.mlir --input-scale 'params*=2^-4'"
)
@click.argument("program", metavar="IN")
@click.option("--sites", is_flag=True, help="List each dynamic rescaling of the recipe.")
@rewrite_options
def command(
    program: str,
    sites: bool,
    recipe: str,
    signature: str,
    input_scale: Sequence[str],
    settings: Sequence[str],
    profile: str | None,
) -> None:
    """Show the arguments, ops, matmuls and layers of the program IN, and its scales.

    Arguments and results are shown with their names, types and scales. Values are counted by static
    and run-time scales. Ops that read values at scale 1 are listed with the families of their
    rules; some, such as tanh, always do so. `rewrite --strict` refuses the ops that the last column
    marks, since they have no scaled form.

    With a recipe of low precision, arguments have roles, and matmuls are counted by the roles of
    their operands. The evidence for the roles is the name stacks of jax, data flow, or habit: only
    a habit of jax decides then.

    Layers are recognized by their values, and not by their names. Sites are the places where a
    recipe rescales values at run time. Earlier rewrites that the program records come first. The
    program is not changed.
    """
    options = to_options(recipe, signature, input_scale, settings, profile)
    loaded = read(program)
    layers = layers_of(loaded)
    report = dry_run(loaded, options)
    console.echo(f"{loaded.name}: {_kind(loaded)}")
    console.show_rewrites(loaded)
    arguments = _values(report.arguments)
    if options.recipe.narrow:
        named = zip(report.arguments, arguments, strict=True)
        rows = [(*row, report.roles.get(value.name, "")) for value, row in named]
        _echo("arguments", (*_HEADER, "role"), rows)
    else:
        _echo("arguments", _HEADER, arguments)
    _echo("results", _HEADER, _values(report.results))
    if options.recipe.narrow:
        _echo("matmuls", _MATMULS, _matmuls(report.matmuls))
        console.echo(
            f"in low precision: {report.narrowed} {'op' if report.narrowed == 1 else 'ops'}"
        )
    if options.recipe.rescales:
        _echo("sites", _SITES, _listed(report.sites) if sites else _counted(report.sites))
    _echo("layers", _LAYERS, _layers(layers))
    _echo("ops", ("op", "count"), _counts(report.ops))
    _echo("scales", ("scale", "values"), _counts(report.values))
    _echo("read at scale 1", _READS, reads_of(report))
    console.report_remarks(report.remarks, loaded.name)


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
    from scalify_hlo.io.artifact import copy_module
    from scalify_hlo.passes.pipeline import rewrite_module

    return rewrite_module(copy_module(program.module), replace(options, annotate=True))


def reads_of(report: Report) -> list[tuple[str, ...]]:
    """Returns a row for each op that reads values at scale 1.

    Returns:
        The name, the count, the family of the rule, and whether `--strict` refuses or accepts the
        op. `--strict` refuses remarks, so they decide on the last column. Some of these ops read
        values only in their regions, and not as operands.
    """
    remarks = Counter(r.op for r in report.remarks if r.message.endswith(_MULTIPLIED))
    counts = _counts(report.given_up | remarks)
    return [
        (op, count, _family(op), "refuses" if op in remarks else "accepts") for op, count in counts
    ]


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


def _values(values: Sequence[ValueReport]) -> list[tuple[str, ...]]:
    return [
        (str(i), v.name, v.type, "data and scale" if v.paired else "plain", v.scale)
        for i, v in enumerate(values)
    ]


def _matmuls(matmuls: Sequence[MatmulReport]) -> list[tuple[str, ...]]:
    """Returns a row for each distinct kind of matmuls, in the order of their first occurrence."""
    kinds = Counter[tuple[str, tuple[str, str], str, bool]]()
    for m in matmuls:
        kinds[m.part, m.roles, m.certainty, m.vocabulary] += m.calls
    return [
        (part, " x ".join(roles), certainty, "yes" if vocabulary else "", str(count))
        for (part, roles, certainty, vocabulary), count in kinds.items()
    ]


def _counts(counts: dict[str, int]) -> list[tuple[str, ...]]:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(name, str(count)) for name, count in ordered if count]


def _echo(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    console.echo()
    console.echo(console.heading(f"{title} ({len(rows)})" if rows else f"{title}: none"))
    if rows:
        console.echo(console.table(header, rows))
