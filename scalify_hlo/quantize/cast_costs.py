"""Estimated times of the casts to f8 that matmuls share, from the bytes that they move.

A cast replaces the wide tensor if a kernel computes the tensor, if the scale is known before, and
if only matmuls in FP8 read it. If a matmul that stays wide reads it as well, both are written.
These rules were read in the kernels of compiled programs. `python -m benchmarks.roofline --chosen`
lists the times of such programs.
"""

from __future__ import annotations

import math
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.analysis.matmuls import ACTIVATION, WEIGHT
from scalify_hlo.dialect import traits
from scalify_hlo.dialect.contraction import contraction_of
from scalify_hlo.dialect.through import readers
from scalify_hlo.dialect.traits import CONTRACTED, MATMULS, where
from scalify_hlo.quantize.casts import unwidened
from scalify_hlo.quantize.row_kernels import is_made_of_rows
from scalify_hlo.targets.description import Target
from scalify_hlo.targets.roofline import LAUNCH

NARROW: Final = 1
"""Bytes of an element in f8."""

_KNOWN: Final = frozenset({"propagated", "calibrated"})
"""The kinds of scales that are known before the tensor is computed.

So are delayed scales. With them, the kernel that takes the amax of a gradient is one of its own,
which reads the tensor and writes the cast. The amax of an activation is taken by the kernel that
computes it, or that computes it again in the backward pass, unless that is a kernel of rows.
"""
_READ_TWICE: Final = frozenset({"current", "block"})
"""The kinds of scales that follow from an amax of the tensor."""
_IN_MEMORY: Final = where(*("dot", "ragged_dot", "convolution", "branch", "loop", "custom_call"))
"""Ops whose results no other kernel computes along with an amax or a cast."""
_STORES: Final = where("return", "write")
"""Ops that keep a tensor as it is."""


@dataclass
class Tensor:
    """A tensor that matmuls have as an operand.

    Attributes:
        alone: The seconds that a cast adds if no wide matmul reads the tensor; less than 0 if the
            wide tensor is not written.
        beside: The same if one does.
        transpose: The seconds that a transpose of the cast takes.
        readers: How many of the candidates read it, each operand counted.
        stored: Whether it is in memory in its own format in any case.
        narrow: How many of them are narrow and sum over another dimension than the last, or over
            the last.
    """

    alone: float
    beside: float
    transpose: float
    readers: int = 0
    stored: bool = False
    narrow: tuple[int, int] = field(default=(0, 0))

    def cost(self, narrow: tuple[int, int]) -> float:
        """Returns the seconds of the casts and transposes for some readers; see `narrow`."""
        ways = sum(count > 0 for count in narrow)
        if not ways:
            return 0.0
        wide = self.stored or sum(narrow) < self.readers
        return (self.beside if wide else self.alone) + (ways - 1) * self.transpose


def tensor_of(root: ir.Value, role: str, kind: str, *, second: float, device: Target) -> Tensor:
    """Returns the costs of the casts of a tensor.

    Args:
        root: The tensor.
        role: Its role in a matmul.
        kind: The kind of the scales.
        second: The time in which the memory moves one byte for each element, at its bandwidth.
        device: The device.
    """
    wide = width(root)
    rounded, rows = _is_rounded_argument(root), is_made_of_rows(root)
    computed = rounded or (role != WEIGHT and _is_computed(root))
    activation = computed and role == ACTIVATION and not rounded
    if (kind in _KNOWN and computed) or (kind == "delayed" and activation and not rows):
        alone, beside = NARROW - wide, NARROW
    elif kind == "delayed" and rounded:
        # The kernel of the cast and its amax may read the argument itself.
        alone, beside = NARROW - wide, wide + NARROW
    else:
        # The kernel that computes a tensor takes the amax of the whole as well, not that of blocks.
        again = kind in _READ_TWICE and (kind == "block" or not computed)
        alone = beside = (1 + again) * wide + NARROW
    transpose = 2 * NARROW * second / device.share("transpose") + LAUNCH
    return Tensor(
        _seconds(alone * second, device),
        _seconds(beside * second, device),
        device.contracted_last * transpose,
    )


def _seconds(moved: float, device: Target) -> float:
    """Returns the time of a cast, of which the bytes take some time at the bandwidth.

    A cast that saves bytes has no kernel of its own.
    """
    return moved / device.share("cast") + LAUNCH if moved > 0 else moved / device.share("memory")


def _is_computed(value: ir.Value) -> bool:
    """Whether a kernel computes a tensor that may compute the cast or the amax as well."""
    while not isinstance(value.owner, ir.Block) and value.owner.name in traits.ROUNDS:
        value = value.owner.operands[0]  # XLA rounds the result of a matmul in its kernel.
    return not isinstance(value.owner, ir.Block) and value.owner.name not in _IN_MEMORY


def _is_rounded_argument(value: ir.Value) -> bool:
    """Whether a tensor is an argument that a kernel rounds to its format, such as a f32 weight."""
    argument = value = unwidened(value)
    while not isinstance(argument.owner, ir.Block) and argument.owner.name in traits.ROUNDS:
        argument = argument.owner.operands[0]
    return argument != value and isinstance(argument.owner, ir.Block)


def width(value: ir.Value) -> int:
    """Returns the bytes of an element of a tensor, before it was widened."""
    return int(unwidened(value).type.element_type.width) // 8


def elements(value: ir.Value) -> int:
    """Returns the number of elements of a tensor; 0 if a size is not known."""
    return math.prod(value.type.shape) if value.type.has_static_shape else 0


def root_of(value: ir.Value) -> tuple[ir.Value, bool]:
    """Returns the tensor of which a value is a view, and whether its last dimension has moved."""
    moved, value = False, unwidened(value)
    while not isinstance(value.owner, ir.Block) and value.owner.name in traits.VIEWS:
        owner = value.owner
        if owner.name in traits.REORDERS:
            order = ir.DenseI64ArrayAttr(owner.attributes["permutation"])
            moved ^= order[len(order) - 1] != len(order) - 1
        value = owner.operands[0]
    return value, moved


def is_stored(root: ir.Value, candidates: Container[ir.Value]) -> bool:
    """Whether a matmul that is no candidate reads a tensor, or a result or a loop keeps it.

    Args:
        root: The tensor.
        candidates: The results of the matmuls that may be narrow.
    """
    return any(
        op.name in _STORES or (op.name in MATMULS and op.results[0] not in candidates)
        for op, _ in readers(root, traits.VIEWS)
    )


def contracted_last(op: ir.OpView) -> tuple[bool, bool]:
    """Returns, for each operand, whether its last dimension is one that is summed over."""
    if op.operation.name not in CONTRACTED:
        return True, True
    lhs, rhs = (
        op.operands[i].type.rank - 1 in summed for i, summed in enumerate(contraction_of(op).summed)
    )
    return lhs, rhs
