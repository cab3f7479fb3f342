"""The report of a rewrite as one line, and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from scalify_hlo.casts.selection import KEPT, NONE_ASKED, deciding
from scalify_hlo.dataflow.names import BACKWARD, FORWARD
from scalify_hlo.errors import shown, warn
from scalify_hlo.ir.traits import MATMULS
from scalify_hlo.report.matmuls import MatmulEntry, matmul_entries
from scalify_hlo.report.model import MEASURED, MatmulReport, Report
from scalify_hlo.report.totals import Part, Totals
from scalify_hlo.results.model import dump, keys, result
from scalify_hlo.results.shown import size_text


def summary(report: Report) -> str:
    """Returns one line on the matmuls and convolutions of a rewritten program.

    A matmul is counted for each call of its function. Matmuls that stay wide are counted by reason.
    If the recipe quantizes matmuls and finds none, the line names the argument that decides this.
    Statistics are counted for each layer, which is a forward matmul or convolution with a weight.
    Inputs whose scales are measured at run time are counted too.

    Example:
        >>> summary(Report(recipe="fp8", compute="bf16"))
        'fp8: the program has no matmul'
        >>> summary(Report(recipe="fp8", quantizes=True))
        'fp8: the program has no matmul; --recipe propagate asks for none'
    """
    matmuls = report.matmuls
    total = _calls(matmuls) or sum(report.ops[name] for name in MATMULS)
    if not total or all(matmul.wide == KEPT for matmul in matmuls):
        left = f"{_counted(total)} left as they are" if total else "the program has no matmul"
        asked = NONE_ASKED if report.quantizes else _unscaled(report)
        told = (asked, _optimized(report), _residuals(report), _baseline(report))
        return "; ".join([f"{report.recipe}: {left}", *filter(None, told)])
    narrow = [matmul for matmul in matmuls if matmul.wide is None]
    totals = report.totals
    shares = [_share(FORWARD, totals.forward), _share(BACKWARD, totals.backward)]
    parts = f" ({', '.join(filter(None, shares))})" if any(shares) else ""
    line = f"{report.recipe}: {_calls(narrow)} of {_counted(total)} in {_format(narrow)}{parts}"
    more = (
        _wide(matmuls),
        "" if narrow else deciding(matmuls),
        _measured(report),
        _statistics(totals),
        _state(totals),
        _averages(report),
        _computes(report),
        _optimized(report),
        _residuals(report),
        _baseline(report),
    )
    return shown("; ".join([line, *filter(None, more)]))


def _unscaled(report: Report) -> str:
    """Returns what to ask for, as text, if a rewrite without casts has no scale to propagate."""
    changed = report.compute or report.sites or report.state_bytes or report.baseline
    scaled = report.has_scales or changed or report.kept_before
    return "" if scaled else "nothing is scaled: give --input-scale or --signature scaled"


def _baseline(report: Report) -> str:
    """Returns what a baseline of the literature does, as text."""
    if not report.baseline:
        return ""
    kept = report.kept
    skipped = f"; a step that overflows keeps {kept} result{'s' * (kept != 1)}"
    return f"a baseline: {report.baseline}{skipped * (kept is not None)}"


def _optimized(report: Report) -> str:
    """Returns the numbers of ops that were replaced, which is apart from formats, as text."""
    scatters, matmuls = report.optimized, report.ordered
    found = f"{scatters} scatter{'s' * (scatters != 1)} replaced by selects" if scatters else ""
    moved = f"{matmuls} matmul{'s' * (matmuls != 1)} in another order of dimensions"
    return "; ".join(filter(None, [found, moved * (matmuls > 0)]))


def _residuals(report: Report) -> str:
    """Returns what loops kept for the backward pass and what they keep now, as text."""
    if not report.kept_before:
        return ""
    count = report.kept_rounded
    rounded = f", {count} value{'s' * (count != 1)} rounded" if count else ""
    return f"residuals: {size_text(report.kept_before)} to {size_text(report.kept_after)}{rounded}"


def _wide(matmuls: Iterable[MatmulReport]) -> str:
    """Returns the numbers of matmuls that stay wide, by the kind of the reason."""
    kinds: dict[str, list[MatmulReport]] = {}
    for matmul in matmuls:
        if matmul.wide is not None:
            kinds.setdefault(matmul.wide.kind, []).append(matmul)
    if not kinds:
        return ""
    ordered = sorted(kinds.items(), key=lambda item: -_calls(item[1]))
    total = sum(_calls(some) for some in kinds.values())
    counts = ["" if len(kinds) == 1 else f"{_calls(some)} " for _, some in ordered]
    texts = [
        f"{count}{kind}{_labels(some)}" for count, (kind, some) in zip(counts, ordered, strict=True)
    ]
    return f"{total} wide: {', '.join(texts)}"


def _labels(matmuls: Iterable[MatmulReport]) -> str:
    """Returns the first name of some matmuls and the number of others, in parentheses."""
    labels = list(dict.fromkeys(label for matmul in matmuls if (label := matmul.label)))
    if not labels:
        return ""
    more = f" and {len(labels) - 1} more" if len(labels) > 1 else ""
    return f" ({labels[0]}{more})"


def _statistics(totals: Totals) -> str:
    if not totals.statistics:
        return "no statistics"
    count = totals.statistics if totals.per_layer is None else totals.per_layer
    return f"{count:.2g} statistic{'s' * (count != 1)}{' per layer' * bool(totals.layers)}"


def _state(totals: Totals) -> str:
    if totals.state is None or totals.state.before == totals.state.after:
        return ""
    return f"state {totals.state.ratio:.2f} of its bytes"


def _averages(report: Report) -> str:
    """Returns the number of averages of weights that are not stored as weights are, as text."""
    count = report.averages
    text = f"{count} average{'s' * (count != 1)} of weights in the format of the program"
    return text if count else ""


def _computes(report: Report) -> str:
    """Returns the format of what the model computes besides matmuls, as text."""
    return f"the rest of the model in {_NAMES[report.compute]}" if report.compute else ""


def _measured(report: Report) -> str:
    """Returns the number of inputs whose scales the program measures, as text."""
    count = sum(site.kind == MEASURED for site in report.sites)
    how = "declare them with --input-scale or --input-values"
    return f"{count} input{'s' * (count != 1)} measured at run time ({how})" if count else ""


def warn_of(report: Report) -> None:
    """Issues a warning of one line if the report has remarks.

    Args:
        report: The report of a rewrite.
    """
    if not report.remarks:
        return
    first = report.remarks[0]
    others = {(each.op, each.message) for each in report.remarks} - {(first.op, first.message)}
    more = f" (and {len(others)} more kinds of remarks)" if others else ""
    told = f"{summary(report)}; {first}{more}"
    hint = "scalify_hlo.rewrite(..., report=True) lists all, and strict=True raises"
    warn(shown(f"{told}; {hint}"))


@result("scalify-hlo report", version=2)
@keys(
    "*report(recipe) summary *report(totals) matmuls *report(rescalings=sites compute "
    "optimized=(scatters=optimized matmuls=ordered) "
    "residuals=(before=kept_before after=kept_after rounded=kept_rounded) estimate remarks)"
)
class ReportRecord(NamedTuple):
    """A report, with its summary."""

    report: Report

    @property
    def summary(self) -> str:
        """The report in one line."""
        return summary(self.report)

    @property
    def matmuls(self) -> list[MatmulEntry]:
        """The matmuls with the remarks on them."""
        return matmul_entries(self.report.matmuls, self.report.remarks)


def dump_report(report: Report, name: str = "<program>") -> str:
    """Returns a report as JSON.

    Args:
        report: The report that `rewrite` returned.
        name: The name of the program in source locations without a file.

    Returns:
        An object with the name of its ``format`` and its ``version``, the ``recipe``, the
        ``summary``, the ``totals``, the ``matmuls``, the ``rescalings`` that the recipe inserted,
        the ``estimate`` or null, and the ``remarks``. `json_schema` returns its JSON Schema.
    """
    return dump(ReportRecord(report), name)


def _share(part: str, counts: Part) -> str:
    """Returns the share of quantized matmuls of a part as text; empty if the part has none."""
    return f"{counts.narrow} of {counts.total} {part}" if counts.total else ""


def _calls(matmuls: Iterable[MatmulReport]) -> int:
    return sum(matmul.calls for matmul in matmuls)


def _counted(count: int) -> str:
    return f"{count} matmul{'s' if count != 1 else ''}"


def _format(narrow: Iterable[MatmulReport]) -> str:
    """Returns one name for all formats of the operands of matmuls."""
    formats = {format_ for matmul in narrow for format_ in matmul.formats[:2]}
    names = {
        _NAMES.get(format_, "FP8" if format_.startswith("f8") else format_) for format_ in formats
    }
    return " and ".join(sorted(names)) or "low precision"


_NAMES: Final = {"f16": "FP16", "bf16": "BF16", "f4E2M1FN": "FP4"}
