"""What comes after the last cast of a program, such as the optimizer: half of a training step.

Sizes are followed to where casts need them. After the last one, an op on values at scale 1 stays as
it is, whatever their size: so where all scales are static, such ops need no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Final, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.roles.frames import operations
from scalify_hlo.rules.markers import BARRIER
from scalify_hlo.rules.registry import WITH_REGIONS
from scalify_hlo.rules.split import Split
from scalify_hlo.rules.table import RULES
from scalify_hlo.scale import ONE, Scaled

_BROADCAST: Final = "stablehlo.broadcast_in_dim"

_PASSED: Final = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("abs", "add", "broadcast_in_dim", "divide", "maximum", "minimum", "multiply", "negate"),
        *("reshape", "rsqrt", "select", "sqrt", "subtract", "transpose"),
    )
)
"""Ops whose rules leave them as they are, without a remark, where all operands are values."""

_CASTING: Final = frozenset({"call", "control", "expanded", "opaque", "refused"})
"""Families of ops that may have casts in them, or be replaced."""

_PLAIN: Final = frozenset(
    name
    for name, rule in RULES.items()
    if rule.family not in _CASTING and (name not in WITH_REGIONS or name == "stablehlo.reduce")
) - {BARRIER}


Visit: TypeAlias = Callable[[ir.Operation, ir.Operation, Split], None]


class AfterCasts:
    """The ops of `main` after its last cast.

    Args:
        ops: All ops of `main`.
        functions: Those of the module by name.
        split: That of `main`.

    Attributes:
        start: The number of the first of them.
    """

    def __init__(
        self, ops: Sequence[ir.Operation], functions: Mapping[str, ir.OpView], split: Split
    ) -> None:
        self._ops, self._functions, self._split = ops, functions, split
        self._plain: dict[str, bool] = {}
        before = range(len(ops) - 1, 0, -1)
        self.start = next((n for n in before if not self._is_plain(ops[n - 1])), 0)

    def _is_plain(self, op: ir.Operation) -> bool:
        """Whether an op is no cast, and has none inside."""
        name = op.name
        if name == "func.call":
            return self._is_plain_function(op.attributes["callee"].value)
        if name not in _PLAIN:
            return False
        results = op.results
        return self._is_wide(results[0]) if len(results) == 1 else all(map(self._is_wide, results))

    def _is_wide(self, value: ir.Value) -> bool:
        format_ = self._split.format(value)
        return format_ is None or format_.wide

    def _is_plain_function(self, name: str) -> bool:
        if name not in self._plain:
            self._plain[name] = False  # one that calls itself
            blocks = self._functions[name].regions[0].blocks
            ops = operations(blocks[0]) if blocks else ()
            self._plain[name] = bool(blocks) and all(map(self._is_plain, ops))
        return self._plain[name]

    def walk(self, visit: Visit) -> None:
        """Walks them, where all scales are static.

        Args:
            visit: Applies its rule to an op, given with the next.
        """
        moved = self._split.is_moved
        for op, following in pairwise(self._ops[self.start :]):
            if op.name in _PASSED and not moved(op):
                continue
            for operand in op.operands:
                self._recall(operand)
            visit(op, following, self._split)

    def _recall(self, value: ir.Value) -> None:
        """Says what an operand is, if what makes it was passed over: a constant, or a value."""
        split, owner = self._split, value.owner
        if isinstance(owner, ir.Block) or split.form(value) is not None:
            return
        if owner.name == _BROADCAST:
            source = owner.operands[0]
            self._recall(source)
            split.pass_on(source, value)
        elif owner.name in _PASSED and split.format(value) is not None:
            split.assume(value, Scaled(ONE))
