"""The ops after the last cast of a program, such as the optimizer: half of a training step.

Sizes are predicted for casts. After the last cast, an op on values at scale 1 is not changed,
whatever the sizes. So if all scales are static, the ops after the last cast need no rule.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, starmap
from typing import Final, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ONE, Scaled
from scalify_hlo.dataflow.frames import Named, named
from scalify_hlo.ir.formats import element_type
from scalify_hlo.ir.functions import callee_of
from scalify_hlo.ir.traits import BINARY, LAYOUT, MAGNITUDES, WITH_REGIONS, data_of, where
from scalify_hlo.rules.marked_ops import BARRIER
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.table import RULES

_BROADCAST: Final = "stablehlo.broadcast_in_dim"

_PASSED: Final = data_of(
    LAYOUT | MAGNITUDES | where("root", of_positive=True) | BINARY | {"stablehlo.select"}
)
"""Ops whose rules do not change them, without a remark, if all float operands are at scale 1, with
the numbers of these operands. Each op has one result."""

_CASTING: Final = frozenset({"call", "control", "expanded", "opaque", "refused"})
"""Families of ops that may contain casts, or be replaced."""

_PLAIN: Final = frozenset(
    name
    for name, rule in RULES.items()
    if rule.family not in _CASTING
    and name != BARRIER
    and (name not in WITH_REGIONS or name == "stablehlo.reduce")
)


Visit: TypeAlias = Callable[[str, ir.Operation, ir.Operation, ScaleRewriter], None]


class LastOps:
    """The ops of `main` after its last cast.

    Args:
        ops: All ops of `main`.
        functions: The functions of the module by name.
        rewriter: The rewriter of `main`.
        wide: The number of last ops that are known to make no narrow floats.

    Attributes:
        start: The number of the first op after the last cast.
    """

    def __init__(
        self,
        ops: Sequence[Named],
        functions: Mapping[str, ir.OpView],
        rewriter: ScaleRewriter,
        wide: int = 0,
    ) -> None:
        self._ops, self._functions, self._rewriter = ops, functions, rewriter
        self._plain: dict[str, bool] = {}
        self.start = self._after_last(len(ops) - 1, len(ops) - 1 - wide)

    def _after_last(self, end: int, wide_from: int) -> int:
        """Returns the number of the first op from which on all ops are plain."""
        for number in range(end - 1, -1, -1):
            name, op = self._ops[number]
            wide = number >= wide_from
            if not (name in _PASSED and wide) and not self._is_plain(name, op, wide=wide):
                return number + 1
        return 0

    def _is_plain(self, name: str, op: ir.Operation, *, wide: bool = False) -> bool:
        """Whether an op is not a cast, and contains none."""
        if name == "func.call":
            return self._is_plain_function(callee_of(op))
        if name == "stablehlo.convert" and isinstance(
            element_type(op.operands[0].type), ir.F64Type
        ):
            return False  # No other format has the range of f64.
        return name in _PLAIN and (wide or all(map(self._is_wide, op.results)))

    def _is_wide(self, value: ir.Value) -> bool:
        format_ = self._rewriter.format(value)
        return format_ is None or format_.wide

    def _is_plain_function(self, name: str) -> bool:
        if name not in self._plain:
            blocks = self._functions[name].regions[0].blocks
            ops = named(blocks[0]) if blocks else ()
            self._plain[name] = bool(blocks) and all(starmap(self._is_plain, ops))
        return self._plain[name]

    def walk(self, visit: Visit) -> None:
        """Visits the ops, if all scales are static.

        Args:
            visit: Applies the rule of an op, given with its name and the next op.
        """
        is_moved = self._rewriter.values.is_moved
        for (name, op), (_, following) in pairwise(self._ops[self.start :]):
            numbers = _PASSED.get(name)
            if numbers is not None and not is_moved(op, numbers):
                continue
            for operand in op.operands:
                self._recall(operand)
            visit(name, op, following, self._rewriter)

    def _recall(self, value: ir.Value) -> None:
        """Sets the scale information of an operand whose op was skipped, such as a constant."""
        rewriter, owner = self._rewriter, value.owner
        if isinstance(owner, ir.Block) or rewriter.info(value) is not None:
            return
        if owner.name == _BROADCAST:
            source = owner.operands[0]
            self._recall(source)
            rewriter.pass_on(source, value)
        elif owner.name in _PASSED and rewriter.format(value) is not None:
            rewriter.assume(value, Scaled(ONE))
