"""The table of rules: one entry for each op, for the rewriter, the command line and the docs."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple, TypeVar

from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.results.kinds import Count
from scalify_hlo.results.model import keys, result
from scalify_hlo.rules.alignment import READERS
from scalify_hlo.rules.registered import Apply as Apply
from scalify_hlo.rules.registered import Registered

_F = TypeVar("_F", bound=Apply)


@keys("op family formula exact source file line lit_test")
@dataclass(frozen=True, slots=True)
class Rule:
    """The rule of one op on data and scales.

    Attributes:
        op: The full name, such as ``stablehlo.add``.
        family: The family of the rule.
        formula: The algebra, as the docs show it.
        apply: The function that edits an op in place, and sets the scales of its results.
        exact: Whether f32 results have the bits of the original op, overflow and underflow aside.
        source: The source of the formula.
        file: The source file of the entry, relative to the package's parent.
        line: The line of the entry in it.
    """

    op: str
    family: str
    formula: str
    apply: Apply
    exact: bool
    source: str
    file: str
    line: Count

    @property
    def category(self) -> str:
        """The name of the rule's file without suffix, which is the folder of its lit test."""
        return Path(self.file).stem

    @property
    def lit_test(self) -> str:
        """The lit test of the rule."""
        return f"tests/lit/rules/{self.category}/{self.op.split('.', 1)[1]}.mlir"


@result("scalify-hlo rules", version=1)
class RuleList(NamedTuple):
    """Rules of ops, by their names."""

    rules: list[Rule]


RULES: dict[str, Rule] = {}


def meets(operands: str) -> str:
    """Returns the formula of an op that rescales operands, by their letters, to one scale."""
    scales = ", ".join(f"{each}_s" for each in operands)
    data = ", ".join(f"{each}_d*{each}_s/s" for each in operands)
    return f"s = meet({scales}); Y_d = {{op}}({data}); Y_s = s"


_FORMULAS = {
    "align": meets("AB"),
    "keep": "Y_d = {op}(X_d); Y_s = X_s",
    "read": "Y = {op}(X_d*X_s)",
    "source": "unscaled",
}
"""The formulas of most ops of some families."""


FAMILIES: dict[Apply, tuple[str, str]] = {}
"""The families of the functions of which most rules are made, with formulas of their own."""

NEUTRAL: set[Apply] = set()
"""Rules that check themselves whether an operand is scaled, and otherwise do nothing."""


def of_family(family: str, formula: str = "", *, neutral: bool = False) -> Callable[[_F], _F]:
    """Names the family of a function, for the rules that are made of it.

    Args:
        family: See `Rule`.
        formula: See `Rule`. By default that of the family.
        neutral: Whether it is one of `NEUTRAL`.
    """

    def register(apply: _F) -> _F:
        FAMILIES[apply] = family, formula
        NEUTRAL.update([apply] * neutral)
        return apply

    return register


def rule(
    ops: str | Collection[str],
    apply: Apply,
    source: str,
    formula: str = "",
    *,
    family: str = "",
    exact: bool = True,
) -> None:
    """Enters the rule of an op, or of several, into the table.

    Args:
        ops: The names in the StableHLO dialect, or the full names.
        apply: See `Rule`.
        source: See `Rule`.
        formula: See `Rule`; ``{op}`` stands for the name of the op. By default that of the
            function, or of the family.
        family: See `Rule`. By default that of the function.
        exact: See `Rule`.
    """
    file, line = _caller()
    own, usual = FAMILIES.get(apply, ("", ""))
    family = family or own
    formula = formula or usual or _FORMULAS[family]
    for op in [ops] if isinstance(ops, str) else sorted(ops):
        name = op if "." in op else f"stablehlo.{op}"
        if name in RULES:
            raise ValueError(f"two rules for {name}")
        if family == "read":
            READERS.add(name)
        says = formula.replace("{op}", name.partition(".")[2])
        RULES[name] = Rule(name, family, says, apply, exact, source, file, line)


CUSTOM_CALLS: dict[str, Apply] = {}
"""Rules of custom calls by target, and of composites by name; all other calls are opaque."""


def register_rule(op: str, apply: Apply, *, formula: str = "", source: str = "") -> None:
    """Sets the rule of an op, or of the custom calls of a target, in this process.

    The rule replaces an existing rule. It is called for each op that has a scaled operand.
    `scalify_hlo.rules.families` has the families of which most rules are made (`keep`, `align`,
    `product`, `quotient`, `unscale` ...).

    Args:
        op: The full name of an op, such as ``stablehlo.tanh``; or ``@target`` for custom calls.
        apply: The rule, a function of the op and the `ScaleRewriter`. It edits the op in place, and
            sets the scales of the results with `ScaleRewriter.result`; other results are unscaled.
        formula: The algebra, for `scalify-hlo rules`.
        source: The source of the formula.

    Raises:
        UsageError: There is no such op, or `apply` is not a function of an op and a
            `ScaleRewriter`. A rewrite raises it if the rule raises another error, or returns an
            object that is not an op. It also raises it if the rule sets no scale of a result,
            although an operand is at a scale that is not 1.

    Example:
        >>> from scalify_hlo.rules.families import keep
        >>> register_rule("@my_permutation", keep)
    """
    op = str(op)  # A name of another type is not found either.
    if op.startswith("@"):
        CUSTOM_CALLS[op[1:]] = Registered(op, apply)
        return
    if op not in RULES:
        raise UsageError(
            f"no op is named {op!r}{nearest(op, RULES)}",
            hint="give a full name, as `scalify-hlo rules` lists them, or @target",
        )
    checked = Registered(op, apply)
    READERS.discard(op)
    RULES[op] = replace(
        RULES[op],
        family="custom",
        formula=formula or RULES[op].formula,
        source=source or "the user's",
        apply=checked,
        file=checked.file,
        line=checked.line,
    )


def _caller() -> tuple[str, int]:
    """Returns file and line of the caller outside of the families."""
    here = Path(__file__).parent
    families = {str(here / "registry.py"), str(here / "families.py")}
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename in families:
        frame = frame.f_back
    if frame is None:
        return "", 0
    file = Path(frame.f_code.co_filename).relative_to(here.parent.parent)
    return file.as_posix(), frame.f_lineno
