"""`scalify-hlo rules`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from scalify_hlo.cli import console
from scalify_hlo.diagnostics import UsageError, nearest

if TYPE_CHECKING:
    from scalify_hlo.rules.registry import Rule


@click.command(name="rules", epilog="Example: scalify-hlo rules dot_general")
@click.argument("op", metavar="[OP]", required=False)
def command(op: str | None) -> None:
    """Show how OP acts on data and scales, or all ops.

    OP is the name of an op, such as add or stablehlo.add. For one op, its formula is shown with
    where it comes from, the place of the rule in the source, and its lit test.
    """
    from scalify_hlo.rules.table import RULES

    if op is None:
        rows = [(r.op, r.family, _exactness(r), r.formula) for _, r in sorted(RULES.items())]
        click.echo(console.table(("op", "family", "exact", "formula"), rows))
        return
    click.echo(_describe(_find(op, RULES)))


def _find(op: str, rules: dict[str, Rule]) -> Rule:
    for name in (op, f"stablehlo.{op}", f"chlo.{op}", f"func.{op}"):
        if name in rules:
            return rules[name]
    short = {name.partition(".")[2] for name in rules}
    raise UsageError(
        f"no rule is for the op {op!r}{nearest(op, rules if '.' in op else short)}",
        hint="`scalify-hlo rules` lists the ops",
    )


def _describe(rule: Rule) -> str:
    lines = {
        "op": rule.op,
        "family": rule.family,
        "formula": rule.formula,
        "exact": _exactness(rule),
        "source": rule.source,
        "rule": f"{rule.file}:{rule.line}",
        "lit test": rule.lit_test,
    }
    width = max(map(len, lines)) + 2
    return "\n".join(f"{key + ':':{width}}{value}" for key, value in lines.items())


def _exactness(rule: Rule) -> str:
    return "yes" if rule.exact else "no"
