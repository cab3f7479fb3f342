"""The table of rules: one entry for each op, for the rewriter, the command line and the docs."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from pathlib import Path

from scalify_hlo.dialect import traits
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.rules.alignment import READERS
from scalify_hlo.rules.registered import Apply as Apply
from scalify_hlo.rules.registered import Registered


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule of one op on data and scales.

    Attributes:
        op: Full name, such as ``stablehlo.add``.
        family: The family whose reasoning it shares.
        formula: The algebra, in the words of the docs.
        apply: Edits the op in place and says what its results are.
        exact: Whether f32 results are bit-equal to the unrewritten op's, overflow and underflow
            aside.
        source: Where the formula comes from.
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
    line: int

    @property
    def category(self) -> str:
        """The rule's file without its folder and suffix, which its tests share."""
        return Path(self.file).stem

    @property
    def lit_test(self) -> str:
        """The lit test of the rule."""
        return f"tests/lit/rules/{self.category}/{self.op.split('.', 1)[1]}.mlir"


RULES: dict[str, Rule] = {}

WITH_REGIONS = traits.WITH_REGIONS
"""The ops whose regions see outer values; asking each op for regions would cost a third more."""


def rule(
    op: str, apply: Apply, *, family: str, formula: str, source: str, exact: bool = True
) -> None:
    """Enters a rule into the table.

    Args:
        op: Name in the StableHLO dialect, or full name.
        apply: See `Rule`; so are the others.
        family: See `Rule`.
        formula: See `Rule`.
        source: See `Rule`.
        exact: See `Rule`.
    """
    name = op if "." in op else f"stablehlo.{op}"
    if name in RULES:
        raise ValueError(f"two rules for {name}")
    if family == "read":
        READERS.add(name)
    file, line = _caller()
    RULES[name] = Rule(name, family, formula, apply, exact, source, file, line)


CUSTOM_CALLS: dict[str, Apply] = {}
"""Rules of custom calls by target; all others are opaque."""


def register_rule(op: str, apply: Apply, *, formula: str = "", source: str = "") -> None:
    """Gives an op, or the custom calls of a target, a rule of the caller's own.

    It takes the place of the rule that the op has, in this process, and is called for each op of
    which an operand is scaled. What rules are made of is in `scalify_hlo.rules.families` (`keep`,
    `align`, `product`, `quotient`, `unscale` ...).

    Args:
        op: The full name of an op, such as ``stablehlo.tanh``; or ``@target`` for custom calls.
        apply: Takes the op and the `ScaleRewriter`, edits the op in place, and says with
            `ScaleRewriter.result` what the results are; those that it says nothing of are unscaled.
        formula: The algebra, for `scalify-hlo rules`.
        source: Where it comes from.

    Raises:
        UsageError: There is no such op, or `apply` is no function of an op and a `ScaleRewriter`. A
            rewrite raises it where the rule raises another error, gives what is no op, or says
            nothing of the results although it leaves an operand at a scale that is not 1.

    Example:
        >>> from scalify_hlo.rules.families import keep
        >>> register_rule("@my_permutation", keep)
    """
    op = str(op)  # of any other type it is no name either
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
    """The place outside of the families where an entry is made."""
    here = Path(__file__).parent
    families = {str(here / "registry.py"), str(here / "families.py")}
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename in families:
        frame = frame.f_back
    if frame is None:
        return "", 0
    file = Path(frame.f_code.co_filename).relative_to(here.parent.parent)
    return file.as_posix(), frame.f_lineno
