"""A matmul of the program, with all that is decided on it while it is quantized."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.formats import is_small
from scalify_hlo.algebra.limits import MOST_OBSERVED_MEMBERS
from scalify_hlo.casts.channels import grouped, independent
from scalify_hlo.casts.stored_weights import Weight
from scalify_hlo.casts.strategy import Formats, Scales
from scalify_hlo.dataflow.listing import Listing
from scalify_hlo.dataflow.matmuls import WEIGHT
from scalify_hlo.dataflow.sizes import Extent
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.contraction import contraction_of
from scalify_hlo.ir.functions import block_of, in_block, main_function
from scalify_hlo.ir.patterns import MARK, is_matmul_like, tags_of
from scalify_hlo.ir.traits import CONTRACTED, CONVOLUTIONS, IN_ORDER, MATMULS
from scalify_hlo.ir.value_map import ValueCache, ValueMap
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.report.matmuls import STORED, OperandScale, Wide


@dataclass
class Matmul:
    """A matmul with roles.

    Attributes:
        op: The op, until another takes its place.
        extent: M, N and K.
        roles: The roles of the operands.
        formats: The formats of the operands; None if the matmul stays wide.
        wide: The reason if it stays wide.
        stored: The numbers of the operands that the caller passes in these formats.
        scales: The scales of the operands, if they are quantized and the report lists them.
    """

    op: ir.OpView
    extent: Extent
    roles: Sequence[str]
    formats: Formats | None = None
    wide: Wide | None = None
    stored: Collection[int] = ()
    scales: Scales = (None, None)

    @property
    def is_small(self) -> bool:
        """Whether the operands have at most 8 bits."""
        return self.formats is not None and all(map(is_small, self.formats))

    def keep(self, wide: Wide) -> None:
        """Keeps the matmul wide, for a reason."""
        self.formats, self.wide = None, wide

    def weights(self, format_: str) -> Iterator[Weight]:
        """Yields the operands that are weights and get a format, or can be cast from it.

        A kernel that is convolved with a gradient may have the format of gradients.
        """
        if self.formats is not None:
            cast = self.is_small and self.op.operation.name in CONVOLUTIONS
            for side, role in enumerate(self.roles):
                if role == WEIGHT and (cast or self.formats[side] == format_):
                    yield Weight(self.op, side)

    def note(self, scales: Scales) -> None:
        """Notes the scales of the operands; those that are stored have the scales of arguments."""
        lhs, rhs = (OperandScale(STORED) if i in self.stored else scales[i] for i in (0, 1))
        self.scales = lhs, rhs


# The ops that `scalify-roles` marked for the passes that quantize.


MARKS = frozenset(
    {
        *(attributes.ROLES, attributes.SITE, attributes.VOCABULARY),
        *(attributes.FIRST, attributes.LAST, attributes.MEMBERS, attributes.INDEPENDENT),
    }
)
"""The attributes that `scalify-roles` writes on matmuls for the pass that quantizes them."""

LEFT = (
    attributes.STATE_GRADIENT,
    attributes.PART,
    attributes.MATMUL,
    attributes.SWAPPED,
)
"""The attributes of `scalify-roles` that the last quantizing pass removes."""


def marked_ops(module: ir.Operation, listing: Listing | None = None) -> list[ir.OpView]:
    """Returns the matmuls, and the ops that make gradients of weights, in the order of a walk.

    Args:
        module: The module.
        listing: The ops of `main`, if they were listed.
    """
    gradient, found = attributes.STATE_GRADIENT, list[ir.OpView]()

    def is_marked(name: str, op: ir.Operation) -> bool:
        return name in MATMULS or gradient in op.attributes

    main = None if listing is None else main_function(module)
    for function in module.regions[0].blocks[0].operations:
        listed = listing if main is not None and function == main else None
        found += [op.opview for op in _found(function.operation, listed, is_marked)]
    return found


def marked_matmuls(main: ir.OpView, listing: Listing | None = None) -> list[ir.Operation]:
    """Returns the matmuls of a function that have roles, in the order of a walk.

    Args:
        main: The function.
        listing: Its ops, if they were listed.
    """
    roles = attributes.ROLES
    return _found(
        main.operation, listing, lambda name, op: name in MATMULS and roles in op.attributes
    )


def _found(
    around: ir.Operation,
    listing: Listing | None,
    kind: Callable[[str, ir.Operation], bool],
) -> list[ir.Operation]:
    """Returns the ops inside of another one that are of a kind; only marked ones are.

    Args:
        around: The op.
        listing: The ops of its block, if it is a function whose ops were listed.
        kind: Whether an op, given with its name, is of the kind.
    """
    if listing is None:
        return ops_in(around, where=lambda op: kind(op.name, op))
    found: list[ir.Operation] = []
    names = listing.with_roles
    for name, op in listing.ops[: listing.touched]:
        if name in IN_ORDER:
            found += ops_in(op, where=lambda op: kind(op.name, op))
        elif (names is None or name in names) and kind(name, op):
            found.append(op)
    return found


def clear(op: ir.OpView, marks: Iterable[str]) -> None:
    """Removes attributes from an op."""
    present = op.attributes
    for mark in marks:
        if mark in present:
            del present[mark]


class Site(NamedTuple):
    """The names of a matmul, as `scalify-roles` wrote them.

    Attributes:
        name: The name by which it is shown.
        names: The names of its layer and of its weight.
        tags: What patterns may have after ``@``.
    """

    name: str
    names: Sequence[str]
    tags: Sequence[str]

    @classmethod
    def of(cls, op: ir.Operation | ir.OpView) -> Site:
        """Returns the names of a matmul that has roles."""
        name, *names = attributes.texts(op.attributes[attributes.SITE])
        use, vocabulary = name.rpartition(MARK)[-1], attributes.VOCABULARY in op.attributes
        return cls(name, names, tags_of(use, roles_of(op), vocabulary=vocabulary))

    def is_matched(self, pattern: str) -> bool:
        """Whether a pattern of a recipe matches the matmul."""
        return is_matmul_like(pattern, self.names, self.tags)


def roles_of(op: ir.Operation | ir.OpView) -> list[str]:
    """Returns the roles of a matmul's operands."""
    return attributes.texts(op.attributes[attributes.ROLES])


# The operands of matmuls that are tensors of a profile, and their names.


SIDES: Final = ("lhs", "rhs")
"""The names of the operands of a matmul."""


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
        site = attributes.texts(op.attributes[attributes.SITE])[0]
        number = counts[site] = counts.get(site, 0) + 1
        unique = site if number == 1 else f"{site}#{number}"
        for side, value in enumerate(list(op.operands)[:2]):
            if isinstance(value.type.element_type, ir.FloatType):
                yield NamedOperand(value, f"{unique}:{SIDES[side]}", op, side)


def _beside(op: ir.Operation, value: ir.Value) -> ir.Operation:
    """Returns the op of the value's block that uses the value, itself or in a region."""
    return in_block(op, block_of(value)) or op
