"""The ops of the model, which end at the gradients of weights, and those of the optimizer.

The model computes the gradients, and the results that are not state, such as losses and metrics.
The ops that use the gradients are the optimizer, and keep their precision. If a program has no
gradients of weights, all its ops are the model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from scalify_hlo._compat import ir
from scalify_hlo.algebra.search import Search
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.functions import callee_of, in_block, terminator
from scalify_hlo.ir.traits import CALLS
from scalify_hlo.ir.value_map import OpMap, OpSet
from scalify_hlo.ir.walk import read_by


@dataclass(slots=True)
class ModelPart:
    """The ops of the model in a block.

    Attributes:
        block: The block.
        ops: The ops of the model, in order.
    """

    block: ir.Block
    ops: list[ir.Operation] = field(default_factory=list)


def model_of(main: ir.OpView) -> list[ModelPart]:
    """Finds the ops of the model, in ``main``, in its callees, and in loops.

    Args:
        main: The entry function, in which ops that make gradients of weights are marked.
    """
    search = _ModelSearch(main)
    search.block(main.regions[0].blocks[0], _outputs(main))
    return search.parts


class _ModelSearch:
    def __init__(self, main: ir.OpView) -> None:
        self.parts: list[ModelPart] = []
        functions = functions_in(main.operation.parent)
        self._functions = {name: op.operation for name, op in functions.items()}
        self._marked: OpMap[bool] = OpMap()
        self._seen: set[str] = set()

    def block(self, block: ir.Block, outputs: Iterable[ir.Value] = ()) -> None:
        """Finds the ops of the model in a block, and in the regions of its ops."""
        ops = [op.operation for op in block.operations][:-1]
        gradients = [value for op in ops for value in _gradients(op)]
        around = [op for op in ops if self._has_gradients(op) and not _gradients(op)]
        if not gradients and not around:
            self.parts.append(ModelPart(block, ops))
            return
        if gradients:
            before, after = _upstream(gradients, block), _downstream(gradients, block)
            other = _upstream(outputs, block)
            kept = (op for op in ops if op in before or (op in other and op not in after))
            self.parts.append(ModelPart(block, [op for op in kept if op not in around]))
        for op in around:
            for inner in self._inside(op):
                self.block(inner)

    def _inside(self, op: ir.Operation) -> Iterator[ir.Block]:
        if op.name in CALLS:
            name = callee_of(op)
            if name not in self._seen:
                self._seen.add(name)
                yield self._functions[name].regions[0].blocks[0]
            return
        for region in op.regions:
            for block in region.blocks:
                if any(self._has_gradients(inner.operation) for inner in block.operations):
                    yield block

    def _has_gradients(self, op: ir.Operation) -> bool:
        """Whether an op, or an op in its regions, makes a gradient of a weight."""
        if op not in self._marked:
            self._marked[op] = attributes.STATE_GRADIENT in op.attributes or any(
                self._has_gradients(inner.operation)
                for block in self._blocks(op)
                for inner in block.operations
            )
        return self._marked[op]

    def _blocks(self, op: ir.Operation) -> list[ir.Block]:
        if op.name in CALLS:
            op = self._functions.get(callee_of(op), op)
        return [block for region in op.regions for block in region.blocks]


def _outputs(main: ir.OpView) -> list[ir.Value]:
    """Returns the results that are not state."""
    returned = terminator(main.regions[0].blocks[0]).operands
    marks = attributes.result_attributes(main)
    return [v for v, mark in zip(returned, marks, strict=True) if attributes.ROLE not in mark]


def _gradients(op: ir.Operation) -> list[ir.Value]:
    """Returns the results of an op that are gradients of weights."""
    if attributes.STATE_GRADIENT not in op.attributes:
        return []
    return [op.results[n.value] for n in ir.ArrayAttr(op.attributes[attributes.STATE_GRADIENT])]


def _upstream(values: Iterable[ir.Value], block: ir.Block) -> OpSet:
    """Returns the ops of a block that values depend on, through regions and captures too."""

    def makers(some: Iterable[ir.Value]) -> Iterator[ir.Operation]:
        owners = (value.owner for value in some)
        ops = (owner.operation for owner in owners if not isinstance(owner, ir.Block))
        return (op for op in ops if op.block == block)

    found = OpSet()
    Search(makers(values), lambda op: makers(read_by(op)), seen=found).to_end()
    return found


def _downstream(values: Iterable[ir.Value], block: ir.Block) -> OpSet:
    """Returns the ops of a block that depend on values."""

    def readers(some: Iterable[ir.Value]) -> Iterator[ir.Operation]:
        users = (in_block(use.owner.operation, block) for value in some for use in value.uses)
        return (op for op in users if op is not None)

    found = OpSet()
    Search(readers(values), lambda op: readers(op.results), seen=found).to_end()
    return found
