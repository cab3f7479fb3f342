"""The members of a program: dimensions for each index of which a weight has its own numbers.

A vmapped sweep or ensemble has a weight for each member, and a mixture of experts one for each
expert. What is computed from one member does not depend on the others, so that they share no scale.
A batch, or the heads of an attention, are dimensions that only activations have.

The evidence is a forward matmul of a weight with such a dimension as a batch dimension. It is then
followed through the program, as the first layer of an ensemble may read data that all members
share, so that it is no batch dimension there. If all matmuls with weights are of that kind, the
evidence is the first dimension of a weight in a matmul of `vmap`, over which no op sums. Those of
the heads of an attention sum over them. The matrices of a ragged matmul are of experts.

A convolution has no batch dimension of its kernel. `vmap` makes members the first part of its
output features, and groups of the convolution. The evidence is such a part of a kernel that is a
dimension by itself in the argument.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from enum import Enum
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.dims import Dims
from scalify_hlo.dataflow.matmuls import WEIGHT, Matmul
from scalify_hlo.dataflow.names import FORWARD
from scalify_hlo.dataflow.origins import MOVING
from scalify_hlo.ir.contraction import RAGGED_DOT, contraction_of
from scalify_hlo.ir.convolutions import CONVOLUTION, groups
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.ragged import dimensions
from scalify_hlo.ir.splats import is_constant, splat_of
from scalify_hlo.ir.through import behind


class _Evidence(Enum):
    """The evidence that an operand is a weight, and not the keys or values of an attention."""

    KNOWN, LIKELY, UNSURE, NONE = range(4)


_DOT: Final = "stablehlo.dot_general"
_VMAP: Final = re.compile(r"\bvmap\(")
_ROOT: Final = re.compile(r"[\[.]")


class Members:
    """The dimensions of the operands of matmuls that have members.

    Args:
        module: The module.
        matmuls: Its matmuls.
        role_of: Returns the role of an operand of a matmul.
        weights: The numbers of the arguments that are known to be weights.
        names: The names of the arguments.
    """

    def __init__(
        self,
        module: ir.Operation,
        matmuls: Sequence[Matmul],
        role_of: Callable[[Matmul, int], str],
        weights: Collection[int],
        names: Sequence[str],
    ) -> None:
        self._weights, self._names = weights, names
        found = [
            (matmul, side, dims)
            for matmul in matmuls
            if matmul.part == FORWARD and matmul.op.operation.name in (_DOT, CONVOLUTION)
            for side, dims in enumerate(_candidates(matmul))
            if dims and role_of(matmul, side) == WEIGHT
        ]
        self._dims = Dims(module) if found else None
        main = main_function(module)
        self._arguments = () if main is None else main.regions[0].blocks[0].arguments
        classes: dict[_Evidence, set[int]] = {evidence: set() for evidence in _Evidence}
        apart = set[int]()
        for matmul, side, dims in found:
            mine = self._of_weight(matmul, side, dims)
            classes[self._evidence(matmul, side)] |= mine
            apart |= mine if _batches(matmul.op)[side] else set()
        unsure = classes[_Evidence.UNSURE]
        self._classes = classes[_Evidence.KNOWN] | (classes[_Evidence.LIKELY] - unsure)
        self._independent = set[int]()
        if self._dims is not None:
            self._independent = self._classes - self._dims.summed
            self._classes &= apart | self._independent

    def dims(self, op: ir.OpView) -> tuple[list[int], list[int]] | None:
        """Returns the dimensions of both operands of a matmul that have members, without sums.

        Returns:
            None if neither operand has one. Of a convolution, not the dimensions, but how many
            members they have: they are the first part of those of `groups`.
        """
        if op.operation.name == RAGGED_DOT:
            experts = list(dimensions(op).rhs_group)
            return ([], experts) if experts else None
        if self._dims is None or not self._classes:
            return None
        if op.operation.name == CONVOLUTION:
            return self._of_groups(op, self._dims)
        if op.operation.name != _DOT:
            return None
        summed = contraction_of(op).summed
        lhs, rhs = (self._with_members(op.operands[i], summed[i]) for i in (0, 1))
        return (lhs, rhs) if lhs or rhs else None

    def independent(self, value: ir.Value) -> bool:
        """Whether a tensor has members, over which the program sums nothing but all numbers.

        The members of a sweep or ensemble are so, and experts are not, whose results are summed.
        """
        if not self._independent:
            return False
        dims = [d for d, size in enumerate(value.type.shape) if size > 1]
        return not self._independent.isdisjoint(self._with_parts(value, dims))

    def _of_groups(self, op: ir.OpView, dims: Dims) -> tuple[list[int], list[int]] | None:
        """Returns the number of members of the image and of the kernel of a convolution."""
        count, _, place = groups(op)
        parts = dims.parts(op.operands[1], place)
        found = [size for size, part in parts.items() if part in self._classes]
        if not found:
            return None
        of_image = count % max(found) == 0
        return ([count], [count]) if of_image else ([], [max(found)])

    def _of_weight(self, matmul: Matmul, side: int, dims: Collection[int]) -> set[int]:
        """Returns the classes of dimensions that are dimensions of the weight's argument, too."""
        value = matmul.op.operands[side]
        if matmul.op.operation.name == _DOT:
            return set(self._of(value, dims))
        classes = set(self._with_parts(value, dims))
        argument = matmul.origins[side].argument
        if argument is None:
            return set()
        whole = self._arguments[argument]
        return classes & set(self._of(whole, range(whole.type.rank)))

    def _with_parts(self, value: ir.Value, dims: Collection[int]) -> Iterator[int]:
        """Yields the classes of dimensions and of their first parts."""
        yield from self._of(value, dims)
        if self._dims is not None:
            for d in dims:
                yield from self._dims.parts(value, d).values()

    def _with_members(self, value: ir.Value, summed: Collection[int]) -> list[int]:
        dims = [d for d, size in enumerate(value.type.shape) if size > 1 and d not in summed]
        classes = self._of(value, dims)
        return [d for d, found in zip(dims, classes, strict=True) if found in self._classes]

    def _of(self, value: ir.Value, dims: Collection[int]) -> Iterator[int]:
        if self._dims is None:
            return
        for d in dims:
            yield self._dims.of(value, d)

    def _evidence(self, matmul: Matmul, side: int) -> _Evidence:
        """Returns the evidence that an operand with a batch dimension is a weight.

        Both operands may be arguments, as the queries and keys of an attention are. Then the weight
        is a leaf of a pytree that the other one is no leaf of.
        """
        here, other = (matmul.origins[i].argument for i in (side, 1 - side))
        if here in self._weights or (here is None and _is_table(matmul.op.operands[side])):
            return _Evidence.KNOWN
        if here is None or other is None:
            return _Evidence.LIKELY if here is not None else _Evidence.NONE
        roots = [_ROOT.split(self._names[number], maxsplit=1)[0] for number in (here, other)]
        apart = roots[0] != roots[1] and roots[0] != self._names[here]
        return _Evidence.LIKELY if apart else _Evidence.UNSURE


def _candidates(matmul: Matmul) -> tuple[list[int], list[int]]:
    """Returns the dimensions of both operands that may be those of members.

    If there are no batch dimensions, `vmap` may have made the first dimension of a weight, or the
    first part of a kernel's features.
    """
    lhs, rhs = _batches(matmul.op)
    if matmul.op.operation.name == CONVOLUTION:
        return [], rhs or [groups(matmul.op)[2]] * bool(_VMAP.search(matmul.name))
    if lhs or not _VMAP.search(matmul.name):
        return lhs, rhs
    summed = contraction_of(matmul.op).summed
    free = [matmul.op.operands[i].type.rank > 2 and 0 not in summed[i] for i in (0, 1)]
    return [0] * free[0], [0] * free[1]


def _batches(op: ir.OpView) -> tuple[list[int], list[int]]:
    """Returns the batch dimensions of both operands of a matmul, or those that have groups."""
    if op.operation.name == CONVOLUTION:
        count, image, kernel = groups(op)
        return ([image], [kernel]) if count > 1 else ([], [])
    lhs, rhs = contraction_of(op).batch
    return list(lhs), list(rhs)


def _is_table(value: ir.Value) -> bool:
    """Whether a value is a constant of several numbers, up to data movement."""
    value = behind(value, MOVING)
    return is_constant(value) and splat_of(value) is None
