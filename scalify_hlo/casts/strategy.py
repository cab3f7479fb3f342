"""The interface of the ways to cast the operands of matmuls.

A strategy says where the scale of an operand comes from, emits the cast, and applies the scales to
the result of the matmul. There is one for each kind of scales that a recipe may name:

| strategy | the scale of an operand | its cost |
|---|---|---|
| `scalify_hlo.casts.propagated.Propagated` | that of the value, by propagation | none |
| `scalify_hlo.casts.propagated.Plain` | 1 | none |
| `scalify_hlo.casts.current.Current` | from its amax | a statistic for each operand |
| `scalify_hlo.casts.calibrated.Calibrated` | from a profile | none |
| `scalify_hlo.casts.static.Static` | that of the recipe | none |
| `scalify_hlo.casts.delayed.Delayed` | from its amax in past steps | a statistic, and state |
| `scalify_hlo.casts.blocks.matmuls.Blocks` | from the amax of each block | a statistic |

Of constants, all but propagation and delayed scales take the scale from the elements, while
rewriting.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.casts.casts import Casts
from scalify_hlo.casts.exchanges import Exchanges
from scalify_hlo.casts.results import replace_transpose
from scalify_hlo.dataflow.sizes import Extent
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.value_map import ValueSet, erase, erase_unread, replace_op
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.matmuls import OperandScale
from scalify_hlo.report.model import Report

Formats: TypeAlias = tuple[str, str]
Scales: TypeAlias = tuple[OperandScale | None, OperandScale | None]


@dataclass(frozen=True)
class CastContext:
    """A program, and how its matmuls are cast.

    Attributes:
        module: The module, in which functions are inlined if a strategy needs that.
        recipe: The recipe.
        casts: The casts whose scales are propagated.
        listed: Whether the report lists the scales of operands.
        asked: Whether the author may have asked for scales in a program with narrow formats, and
            the recipe predicts no sizes.
        exchanges: The collectives that casts stand before.
    """

    module: ir.Operation
    recipe: Recipe
    casts: Casts
    listed: bool = False
    asked: bool = False
    exchanges: Exchanges = field(default_factory=Exchanges)


@dataclass(frozen=True)
class CastOperand:
    """An operand of a matmul in a narrow format.

    Attributes:
        data: X_d.
        origin: The origin of the scale; see `scalify_hlo.report.matmuls.ORIGINS`.
    """

    data: ir.Value
    origin: str

    @property
    def text(self) -> str:
        """The scale as text if it is one known power of two, or an empty text."""
        return ""


class Replacement(NamedTuple):
    """A matmul that takes the place of another one.

    Attributes:
        operands: Its operands, left and right.
        matmul: Its result.
        result: The result with the scales of the operands, which replaces that of the other one.
        transpose: The transpose whose place it takes, if the operands are swapped.
    """

    operands: Sequence[CastOperand]
    matmul: ir.Value
    result: ir.Value
    transpose: ir.Operation | None = None


class Narrowed(NamedTuple):
    """A quantized matmul.

    Attributes:
        marked: The ops with marks: the matmul, and the op that makes its final result, if that is
            the gradient of a weight.
        scales: The scales of its operands, as far as they are known before propagation.
    """

    marked: list[ir.OpView]
    scales: Scales


class CastStrategy(ABC):
    """A way to cast the operands of the matmuls of a program.

    Args:
        context: The program.

    Attributes:
        inlines: Whether each call of a function with matmuls was replaced by a copy of it.
        adds: Whether ops may be added after all that were there.
    """

    inlines: ClassVar[bool] = False
    adds: ClassVar[bool] = True

    def __init__(self, context: CastContext) -> None:
        self._context, self._recipe = context, context.recipe

    @property
    def statistics(self) -> int:
        """The number of statistics of operands that the program takes."""
        return 0

    @property
    @abstractmethod
    def count(self) -> int:
        """The number of inserted casts, but those that `CastContext.casts` counts."""

    @abstractmethod
    def replacement(self, op: ir.OpView, formats: Formats, extent: Extent) -> Replacement:
        """Builds a matmul of narrow operands before another one; see `narrow`."""

    def narrow(self, op: ir.OpView, formats: Formats, extent: Extent) -> Narrowed:
        """Replaces a matmul by one of narrow operands.

        Args:
            op: The matmul.
            formats: The formats of the operands.
            extent: M, N and K of the matmul.
        """
        wide, new = ValueSet(op.operands), self.replacement(op, formats, extent)
        made = emit.convert(new.result, op.results[0].type.element_type, op.operation)
        marked = [new.matmul.owner.opview]
        final = [made.owner.opview] if made != new.matmul else []
        if attributes.STATE_GRADIENT in op.attributes:
            numbers = op.attributes[attributes.STATE_GRADIENT]
            made.owner.attributes[attributes.STATE_GRADIENT] = numbers
            # Other converts may be erased if only quantized matmuls use them.
            marked += final
        if new.transpose is not None:
            gradient = replace_transpose(new.transpose, made)
            marked += gradient if final else []
            erase(op)
        else:
            replace_op(op, [made])
        while wide:  # Converts that widened operands may have lost their last reader.
            erase_unread(wide.popitem()[0], lambda op: op.name == "stablehlo.convert")
        lhs, rhs = (OperandScale(operand.origin, operand.text) for operand in new.operands)
        return Narrowed(marked, (lhs, rhs))

    def finish(self, report: Report) -> None:
        """Completes the program after all matmuls were replaced.

        Args:
            report: The report, which gets the number of statistics, and remarks.
        """
        self._context.exchanges.finish()
        report.statistics += self.statistics
