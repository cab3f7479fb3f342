"""The operands of matmuls that are tensors of a profile, and their names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import MOST_OBSERVED_MEMBERS
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.contraction import CONTRACTED, contraction_of
from scalify_hlo.dialect.value_map import ValueCache, ValueMap
from scalify_hlo.quantize.channels import grouped, independent
from scalify_hlo.quantize.marked_ops import marked_matmuls, roles_of
from scalify_hlo.transforms.hoist import block_of

_SIDES = ("lhs", "rhs")


class ObservedTensor(NamedTuple):
    """A tensor that is an operand of matmuls.

    Attributes:
        value: The value, in `main` or in a region of it.
        names: ``SITE:lhs`` or ``SITE:rhs`` for each operand that it is.
        at: A later op of its block, before which it is observed.
        members: The dimensions along which each index is a tensor of the profile; empty if the
            operand is one tensor.
    """

    value: ir.Value
    names: tuple[str, ...]
    at: ir.Operation
    members: tuple[int, ...] = ()

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The names of each tensor of the profile, in row-major order of the members."""
        if not self.members:
            return [self.names]
        count = math.prod(self.value.type.shape[dim] for dim in self.members)
        return list(zip(*(numbered(name, count) for name in self.names), strict=True))


def tensors_of(main: ir.OpView) -> list[ObservedTensor]:
    """Returns the operands of the matmuls of a function, with their names in a profile.

    Args:
        main: The function, in which all calls of functions with matmuls were inlined.
    """
    names: ValueMap[list[str]] = ValueMap()
    first: ValueMap[ir.Operation] = ValueMap()
    for value, name, op, _ in named_operands(marked_matmuls(main)):
        names.setdefault(value, []).append(name)
        first.setdefault(value, op)
    return [ObservedTensor(v, tuple(names[v]), _beside(op, v)) for v, op in first.items()]


def members_of(main: ir.OpView) -> list[ObservedTensor]:
    """Returns the operands that have members, with the dimensions of these.

    Args:
        main: As for `tensors_of`. The members of convolutions are set apart in it.
    """
    found: ValueMap[dict[tuple[int, ...], ObservedTensor]] = ValueMap()
    for value, name, op, side in named_operands(marked_matmuls(main)):
        dims = independent(op.opview, side, each=False)
        if dims is None or not value.type.has_static_shape or member_names(name, op, side) is None:
            continue
        same, at = found.setdefault(value, {}), _beside(op, value)
        if (one := same.get(dims.dims)) is None:
            part = grouped(op.opview)[side]
            whole = value if part is None else part.apart(value, at)
            one = ObservedTensor(whole, (), at, dims.dims)
        same[dims.dims] = one._replace(names=(*one.names, name))
    return [one for same in found.values() for one in same.values()]


def member_names(name: str, op: ir.Operation, side: int) -> list[str] | None:
    """Returns the names of the members of an operand in a profile, in row-major order.

    Args:
        name: The name of the operand.
        op: The matmul.
        side: The side of the operand.

    Returns:
        None if it has none, or more than `MOST_OBSERVED_MEMBERS`.
    """
    dims, part = independent(op.opview, side, each=False), grouped(op.opview)[side]
    if dims is None:
        return None
    shape = op.operands[side].type.shape
    count = math.prod(shape[dim] for dim in dims.dims) if part is None else part.size
    return numbered(name, count) if 0 < count <= MOST_OBSERVED_MEMBERS else None


def numbered(name: str, count: int) -> list[str]:
    """Returns the names of the members of an operand."""
    return [f"{name}[{i}]" for i in range(count)]


def names_of(matmuls: Sequence[ir.Operation]) -> ValueCache[Sequence[str]]:
    """Returns the names of matmul operands in a profile, by the result of each and the side.

    Args:
        matmuls: As for `named_operands`.
    """
    names: ValueMap[list[str]] = ValueMap()
    places: ValueCache[Sequence[str]] = ValueCache()
    for value, name, op, side in named_operands(matmuls):
        places[op.results[0], side] = shared = names.setdefault(value, [])
        shared.append(name)
    return places


class NamedOperand(NamedTuple):
    """A float operand of a matmul that has roles.

    Attributes:
        value: The value.
        name: ``SITE:lhs`` or ``SITE:rhs``, by which profiles, statistics and state know it.
        op: The matmul.
        side: 0 for the left operand, 1 for the right one.
    """

    value: ir.Value
    name: str
    op: ir.Operation
    side: int

    @property
    def role(self) -> str:
        """The role of the operand."""
        return roles_of(self.op.opview)[self.side]

    @property
    def part(self) -> str:
        """The part of the program."""
        return str(self.op.attributes[attributes.PART].value)

    @property
    def summed(self) -> tuple[int, ...]:
        """The dimensions of the value that are summed over."""
        if self.op.name in CONTRACTED:
            return contraction_of(self.op)[self.side].summed
        convolved = stablehlo.ConvDimensionNumbers(self.op.attributes["dimension_numbers"])
        if self.side == 0:
            return (convolved.input_feature_dimension,)
        spatial = convolved.kernel_spatial_dimensions
        return tuple(sorted([convolved.kernel_input_feature_dimension, *spatial]))

    @property
    def contracted(self) -> int:
        """The number of elements that are summed over, of static sizes."""
        return math.prod(self.value.type.shape[d] for d in self.summed)


def named_operands(matmuls: Iterable[ir.Operation]) -> Iterator[NamedOperand]:
    """Yields the float operands of matmuls, in program order.

    If sites have the same name, all but the first in program order have a number, as in
    ``SITE#2:lhs``.

    Args:
        matmuls: The matmuls with roles of `main`, in which all calls of functions with matmuls were
            inlined, in the order of a walk.
    """
    counts: dict[str, int] = {}
    for op in matmuls:
        site = op.attributes[attributes.SITE].value
        number = counts[site] = counts.get(site, 0) + 1
        unique = site if number == 1 else f"{site}#{number}"
        for side, value in enumerate(list(op.operands)[:2]):
            if isinstance(value.type.element_type, ir.FloatType):
                yield NamedOperand(value, f"{unique}:{_SIDES[side]}", op, side)


def _beside(op: ir.Operation, value: ir.Value) -> ir.Operation:
    """Returns the op of the value's block that uses the value, itself or in a region."""
    block = block_of(value)
    while op.block != block:
        op = op.parent.operation
    return op
