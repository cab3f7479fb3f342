"""A program, and what a rewrite would do with it, as `inspect` prints it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.cli import console
from scalify_hlo.cli.matmul_table import Selection, listed
from scalify_hlo.commands.lint.model import Finding
from scalify_hlo.commands.lint.run import lint
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import leading, place_of_text, shown_place
from scalify_hlo.ir.functions import entry
from scalify_hlo.passes.normalize import NormalizePass
from scalify_hlo.passes.pipeline import Options, rewrite_module, run_passes
from scalify_hlo.passes.recognize import RecognizePass
from scalify_hlo.passes.summary import summary
from scalify_hlo.program.artifact import copy_module
from scalify_hlo.program.program import Program
from scalify_hlo.program.record import rewrites_of
from scalify_hlo.program.wellformed import located
from scalify_hlo.report.matmuls import MatmulEntry, matmul_entries
from scalify_hlo.report.model import LayerReport, MatmulReport, Report, ValueReport
from scalify_hlo.results.kinds import NAME
from scalify_hlo.results.model import cells, headers, keys, result
from scalify_hlo.rules.table import RULES


class Pair(NamedTuple):
    """A pair of data and scale among the arguments of a rewritten program, by their numbers."""

    name: str
    data: int
    scale: int


@keys("*value role")
class Argument(NamedTuple):
    """An argument, and its role; empty if it has none, or if the recipe needs none."""

    value: ValueReport
    role: str


@keys("*entry excluded")
class ListedMatmul(NamedTuple):
    """A matmul, and whether a pattern of ``--exclude`` would take it out."""

    entry: MatmulEntry
    excluded: bool


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


_ARGUMENTS = ("#", "name", "type", "form", "scale")
_MULTIPLIED = "multiplied with their scales"
"""The end of the remarks on ops without a scaled form."""
_READS = "op count=times rule=family"
_LAYERS = ("layer", "part", "input gradient", "count", "where")
_SITES = "asked_for_by=kind statistic every where=name"
_FINDINGS = ("lint", "count", "for example")
_ANEW = (
    "roles, layers and scales are found anew in the rewritten program, where casts hide which "
    "operands are weights; `inspect` of the original has those of the rewrite"
)
_REFUSED = " (--strict refuses)"
_MATMULS = ("part", "operands", "certainty", "vocabulary", "count")


@result("scalify-hlo inspect", version=1)
@keys(
    "program=(name=. kind) rewrites pairs *report(recipe) arguments *report(results) "
    "matmuls=entries *report(rescalings=sites) layers ops scales reads findings *report(remarks)",
    name=NAME,
)
@dataclass(frozen=True)
class Inspected:
    """A program, and what a rewrite would do with it.

    Attributes:
        program: The program, which is not changed.
        options: The options of the rewrite.
        selection: The matmuls that are asked for.
        report: The report of the rewrite.
        rewritten: The rewritten copy of the module.
        matmuls: The matmuls that are asked for.
    """

    program: Program
    options: Options
    selection: Selection
    report: Report
    rewritten: ir.Module
    matmuls: Sequence[MatmulReport]

    @classmethod
    def of(cls, program: Program, options: Options, selection: Selection) -> Inspected:
        """Returns a program with the report of a rewrite of a copy of it."""
        module = copy_module(program.module)
        with located(program.name):
            report = rewrite_module(module, replace(options, annotate=True, listed=True))
        return cls(program, options, selection, report, module, selection.of(report.matmuls))

    @property
    def kind(self) -> str:
        """The file format of the program."""
        return self.program.kind.value

    @property
    def rewrites(self) -> list[str]:
        """The rewrites that the program records: version, recipe and options of each."""
        return rewrites_of(self.program.module)

    @property
    def pairs(self) -> list[Pair]:
        """The pairs of data and scale among the arguments of a program that was rewritten."""
        names = [value.name for value in self.report.arguments]
        numbers = attributes.scale_numbers(entry(self.program.module))
        return [Pair(names[data], data, scale) for data, scale in numbers.items()]

    @property
    def arguments(self) -> list[Argument]:
        """The arguments with their roles."""
        roles = self.report.roles
        return [Argument(value, roles.get(value.name, "")) for value in self.report.arguments]

    @property
    def entries(self) -> list[ListedMatmul]:
        """The matmuls that are asked for, with the remarks on them."""
        found = matmul_entries(self.matmuls, self.report.remarks)
        return [ListedMatmul(each, self.selection.excludes(each.matmul)) for each in found]

    @property
    def layers(self) -> list[LayerReport]:
        """The layers of the program."""
        module = copy_module(self.program.module)
        with located(self.program.name):
            return run_passes(module, [NormalizePass(), RecognizePass()]).layers

    @property
    def ops(self) -> dict[str, int]:
        """The number of occurrences of each op."""
        return {op: count for op, count in self.report.ops.items() if count}

    @property
    def scales(self) -> dict[str, int]:
        """The number of values by the kind of their scale."""
        return {kind: count for kind, count in self.report.values.items() if count}

    @property
    def reads(self) -> list[Read]:
        """The ops that read values at scale 1."""
        remarks = [each.op for each in self.report.remarks if each.message.endswith(_MULTIPLIED)]
        counts = self.report.given_up | Counter(remarks)
        return [Read(op, n, _family(op), op in remarks) for op, n in _ordered(counts) if n]

    @property
    def findings(self) -> list[Finding]:
        """The findings of the lints."""
        original = None if self.rewrites else self.program.module
        return lint(self.rewritten, self.options, self.report, original)

    def lines(self, chosen: Sequence[str], rows: int, *, sites: bool) -> Iterator[str]:
        """Yields the lines on the parts that are chosen, or an overview.

        Args:
            chosen: ``arguments``, ``matmuls`` or ``lint``.
            rows: How many rows of each table to print; 0 for all.
            sites: Whether the overview lists each dynamic rescaling.
        """
        name, version = self.program.name, self.program.version
        yield f"{leading(name)}: {self.kind}{f' {version}' if version else ''}"
        yield from console.rewrites(self.program)
        if self.rewrites and {*chosen} != {"lint"}:
            yield f"{leading(name)}: {_ANEW}"
        if not chosen:
            yield from self._overview(rows, sites=sites)
        elif sites:
            yield from self._sites(rows, listed=True)
        if "arguments" in chosen:
            yield from self._arguments(rows)
        if "matmuls" in chosen:
            yield from listed(self.report.matmuls, self.matmuls, self.selection, name, rows)
        if "lint" in chosen:
            yield from ("", *_listed_findings(self.findings, name, rows))

    def _arguments(self, most: int) -> Iterator[str]:
        """Yields the arguments and results."""
        report, pairs = self.report, self.pairs
        header: tuple[str, ...] = _ARGUMENTS
        forms = {pair.data: f"data, scale is {pair.scale}" for pair in pairs}
        forms |= {pair.scale: f"scale of {pair.data}" for pair in pairs}
        rows = _values(report.arguments, forms)
        if self.options.recipe.narrow:
            header = (*_ARGUMENTS, "role")
            named = zip(self.arguments, rows, strict=True)
            rows = [(*row, argument.role) for argument, row in named]
        yield from _counted("arguments", header, rows, most=most)
        yield from _counted("results", _ARGUMENTS, _values(report.results, {}), most=most)

    def _overview(self, rows: int, *, sites: bool) -> Iterator[str]:
        """Yields what there is, in numbers."""
        report, recipe = self.report, self.options.recipe
        yield from _counted_values(report, self.pairs)
        matmuls = sum(matmul.calls for matmul in report.matmuls)
        yield from _counted("matmuls", _MATMULS, _matmuls(report.matmuls), matmuls, rows)
        if recipe.narrow:
            yield summary(report)
        if sites:
            yield from self._sites(rows, listed=True)
        if rows:
            yield from ("", *self._in_lines(rows, sites=recipe.rescales and not sites))
        else:
            yield from self._in_tables(sites=recipe.rescales and not sites)
        yield from ("", *_counted_findings(self.findings, self.program.name))

    def _in_lines(self, rows: int, *, sites: bool) -> Iterator[str]:
        """Yields a line on each list, with the largest numbers."""
        shown = max(rows // 2, 1)
        layers = Counter(layer.name for layer in self.layers)
        kinds = Counter(site.kind for site in self.report.sites) if sites else {}
        reads = {f"{each.op}{_REFUSED * each.refused}": each.times for each in self.reads}
        lists = {"sites": kinds, "layers": layers, "ops": self.ops, "scales": self.scales}
        for title, counts in {**lists, "read at scale 1": reads}.items():
            if counts:
                first = [f"{name} {count}" for name, count in _counts(counts)[:shown]]
                left = [f"{len(counts) - shown} more"] if len(counts) > shown else []
                yield f"{title} ({sum(counts.values())}): {', '.join([*first, *left])}"
        yield "--rows 0 lists all of these"

    def _in_tables(self, *, sites: bool) -> Iterator[str]:
        """Yields a table of each list."""
        if sites:
            yield from self._sites(0, listed=False)
        layers = self.layers
        yield from _counted("layers", _LAYERS, _layers(layers), len(layers))
        yield from _counted("ops", ("op", "count"), _counts(self.ops), sum(self.ops.values()))
        yield from _counted("scales", ("scale", "values"), _counts(self.scales))
        reads = [
            (*cells(each, _READS), "refuses" if each.refused else "accepts") for each in self.reads
        ]
        yield from _counted("read at scale 1", (*headers(_READS), "--strict"), reads)

    def _sites(self, most: int, *, listed: bool) -> Iterator[str]:
        """Yields the dynamic rescalings of the recipe."""
        rows = [cells(site, _SITES) for site in self.report.sites]
        if not listed:
            kinds = Counter(row[:-1] for row in rows)
            rows = [(*kind, f"{n} values") for kind, n in kinds.items()]
        yield from _counted("sites", headers(_SITES), rows, len(self.report.sites), most)


def _counted_findings(findings: Sequence[Finding], name: str) -> list[str]:
    """Returns the lines of a table with a line for each lint that found something.

    Args:
        findings: The findings.
        name: The name of the program in locations without a file.
    """
    if not findings:
        return [console.Heading("lint: none")]
    counts = Counter(finding.lint for finding in findings)
    first = {finding.lint: finding for finding in reversed(findings)}
    rows = [(kind, str(n), _text(first[kind], name)) for kind, n in counts.items()]
    title = console.Heading(f"lint ({len(rows)}); --lint lists all")
    return [title, *console.table(_FINDINGS, rows)]


def _listed_findings(findings: Sequence[Finding], name: str, rows: int) -> list[str]:
    """Returns each distinct finding with its place, below its lint and what to do about it.

    Args:
        findings: The findings.
        name: The name of the program in locations without a file.
        rows: How many findings to print; 0 for all.
    """
    if not findings:
        return [console.Heading("lint: none")]
    kinds: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        kinds.setdefault((finding.lint, finding.cure), []).append(finding)
    lines: list[str] = [console.Heading(f"lint ({len(findings)})")]
    for (kind, cure), some in kinds.items():
        lines.append(f"{kind} ({len(some)}): {cure}")
        counts = Counter(_text(finding, name) for finding in some)
        texts = [f"  {text}{f' ({n} times)' if n > 1 else ''}" for text, n in counts.items()]
        most = rows // len(kinds) or 1 if rows else len(texts)
        left = len(texts) - most
        lines += [*texts[:most], *([f"  {left} more; --rows 0 prints all"] if left > 0 else [])]
    return lines


def _text(finding: Finding, name: str) -> str:
    return f"{shown_place(place_of_text(finding.location, name), name)}: {finding.message}"


def _family(op: str) -> str:
    return RULES[op].family if op in RULES else "none"


def _layers(layers: Sequence[LayerReport]) -> list[tuple[str, ...]]:
    """Returns a row for each distinct kind of layers, in the order of their first occurrence."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for layer in layers:
        kinds.setdefault((layer.name, layer.part, layer.gradient), []).append(layer.where)
    return [
        (*kind, str(len(places)), ", ".join(dict.fromkeys(filter(None, places))))
        for kind, places in kinds.items()
    ]


def _counted_values(report: Report, pairs: Sequence[Pair]) -> list[str]:
    """Returns lines on the numbers of arguments, results and pairs."""
    roles = Counter(report.roles.values())
    known = "".join(f", {count} {role}" for role, count in roles.items())
    scaled = sum(value.scaled for value in report.arguments)
    given = f"{len(report.arguments)} arguments ({scaled} scaled{known})"
    lines = [f"{given}, {len(report.results)} results; --arguments lists them"]
    if pairs:
        first, data, scale = pairs[0]
        lines += [
            f"{len(pairs)} pairs of data and scale among the arguments, the first of which is "
            f"{first} (arguments {data} and {scale})"
        ]
    return lines


def _values(values: Sequence[ValueReport], forms: Mapping[int, str]) -> list[tuple[str, ...]]:
    """Returns a row for each argument or result.

    Args:
        values: The arguments or results.
        forms: Texts on those of a program that was rewritten, by their numbers.
    """
    return [
        (str(i), v.name, v.type, "data and scale" if v.paired else forms.get(i, "plain"), v.scale)
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


def _ordered(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _counts(counts: Mapping[str, int]) -> list[tuple[str, ...]]:
    return [(name, str(count)) for name, count in _ordered(counts)]


def _counted(
    title: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    count: int | None = None,
    most: int = 0,
) -> Iterator[str]:
    """Yields a table with the number of what it lists in the heading; by default, of its rows."""
    told = f"{title} ({len(rows) if count is None else count})"
    yield from console.titled(told if rows else f"{title}: none", header, rows, most)
