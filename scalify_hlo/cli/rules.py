"""`scalify-hlo rules`: show the rule of an op, or all rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import WithMarkdown, WithRows
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.recipes.fields import option

if TYPE_CHECKING:
    from scalify_hlo.rules.registry import Rule


@command("scalify-hlo rules dot_general")
class Rules(WithMarkdown, WithRows):
    """Show the rule of OP on data and scales, or the rules of all ops.

    OP is the name of an op, such as add or stablehlo.add. For one op, the source of its formula,
    the file and line of the rule, and its lit test are shown too.
    """

    op: str | None = option(None, metavar="[OP]", argument=True)

    def run(self) -> None:
        """See `Command.run`."""
        from scalify_hlo.rules.registry import RuleList
        from scalify_hlo.rules.table import RULES

        if self.markdown and self.op is not None:
            raise UsageError("the page has the rules of all ops", hint="leave out the op")
        if self.markdown:
            console.echo(page(RULES))
            return
        if self.op is not None:
            rule = _find(self.op, RULES)
            found, lines = [rule], _describe(rule)
        else:
            found = [rule for _, rule in sorted(RULES.items())]
            rows = [(r.op, r.family, _exactness(r), r.formula) for r in found]
            lines = console.table(("op", "family", "exact", "formula"), rows, self.rows)
        console.echo(self.text(RuleList(found), lines))


_INTRODUCTION = """\
# Rules

The rule of each op on data and scales. `make docs` writes this page from the table of the rewriter.

Do this, in a checkout:

```sh
scalify-hlo rules dot_general
scalify-hlo inspect examples/step.mlir --recipe propagate --signature scaled
```

A value X is represented by data X_d and a scale X_s, with X = X_d * X_s. `meet` chooses one scale
for several operands, which is the scale of one of them. An op is *exact* if its f32 results have
the bits of the original program, overflow and underflow aside.

Ops of the family *read* take values at scale 1, and their results are unscaled. Ops of the family
*opaque* do so too, and a remark says so. Ops of the family *expanded* are replaced by other ops if
their operands are scaled.
"""


def page(rules: Mapping[str, Rule]) -> str:
    """Returns the table of rules as Markdown, with a section for each dialect."""
    lines = [_INTRODUCTION]
    for dialect in sorted({op.partition(".")[0] for op in rules}, key=_ORDER.index):
        own = [rule for op, rule in sorted(rules.items()) if op.startswith(f"{dialect}.")]
        lines += [f"## {dialect}", "", _HEAD, "|---|---|---|---|---|", *map(_line, own), ""]
    return "\n".join(lines)


def _line(rule: Rule) -> str:
    exact = "exact" if rule.exact else "approximate"
    cells = (f"`{rule.op.partition('.')[2]}`", rule.family, rule.formula, rule.source, exact)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


_HEAD = "| op | family | formula | source | exact |"
_ORDER = ("stablehlo", "chlo", "func", "sdy")


def _find(op: str, rules: dict[str, Rule]) -> Rule:
    for name in (op, f"stablehlo.{op}", f"chlo.{op}", f"func.{op}"):
        if name in rules:
            return rules[name]
    short = {name.partition(".")[2] for name in rules}
    raise UsageError(
        f"there is no rule for the op {op!r}{nearest(op, rules if '.' in op else short)}",
        hint="`scalify-hlo rules` lists the ops",
    )


def _describe(rule: Rule) -> list[str]:
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
    return [f"{key + ':':{width}}{value}" for key, value in lines.items()]


def _exactness(rule: Rule) -> str:
    return "yes" if rule.exact else "no"
