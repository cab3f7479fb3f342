"""The matmuls that a device computes no faster in FP8, casts and transposes included."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.analysis.matmuls import WEIGHT
from scalify_hlo.analysis.sizes import Extent
from scalify_hlo.dialect import traits
from scalify_hlo.dialect.value_map import ValueMap
from scalify_hlo.recipes.model import DEVICES, Recipe
from scalify_hlo.report.matmuls import Wide
from scalify_hlo.targets.description import Target, load_target

_WIDE, _NARROW = 2, 1
"""Bytes of an element in bf16 and in f8."""

_CAST: Final[Mapping[str, int]] = {
    "propagated": _NARROW - _WIDE,
    "calibrated": _NARROW - _WIDE,
    "delayed": _WIDE + _NARROW,
    "current": 2 * _WIDE + _NARROW,
    "block": 2 * _WIDE + _NARROW,
}
"""Bytes that are moved to cast an element, by the kind of the scales.

If the scale is known, the kernel that computes the operand writes the cast in its place. Delayed
scales need the amax, which is taken as the operand is read for its cast. For a current
scale, and for scales of blocks, it is read before. `benchmarks.roofline --chosen` shows what XLA
makes of the choice.
"""
_TRANSPOSED: Final = 2 * _NARROW
"""Bytes that are moved to transpose an element in f8. A kernel that writes a cast in the place of
its result writes the transpose as well, without reading the cast."""
_MICRO: Final = 1e6


class Candidate(NamedTuple):
    """A matmul that a recipe would quantize.

    Attributes:
        op: The matmul.
        extent: M, N and K.
        roles: The roles of its operands.
    """

    op: ir.OpView
    extent: Extent
    roles: Sequence[str]


@dataclass
class _Tensor:
    """A tensor that matmuls have as an operand.

    Attributes:
        seconds: The estimated time of its cast.
        transpose: That of a transpose of the cast.
        uses: The number of each matmul that reads it, and whether it sums over the last dimension.
    """

    seconds: float
    transpose: float
    uses: list[tuple[int, bool]] = field(default_factory=list)

    def cost(self, narrow: Iterable[int]) -> float:
        """Returns the time of the casts and transposes that some matmuls need."""
        among = set(narrow)
        ways = {last for number, last in self.uses if number in among}
        return self.seconds + (len(ways) - 1) * self.transpose if ways else 0.0


def not_faster(
    candidates: Sequence[Candidate], recipe: Recipe, stored: Container[ir.Value] = ()
) -> list[Wide | None]:
    """Returns the reason why matmuls stay wide on the device of a recipe.

    A matmul takes the time of its floating-point operations at the peak of its format, or that of
    its bytes at the bandwidth of the memory, whichever is longer. In FP8, casts come on top. A cast
    is shared by all matmuls that read the tensor. If the device multiplies f8 operands only with
    the contracted dimension last, as Hopper does, a tensor of which matmuls sum over the last and
    over another dimension is transposed too. Those matmuls stay wide of which the time in bf16 is
    no longer than that in FP8 with the casts that only they need.

    Args:
        candidates: The matmuls that the recipe would quantize.
        recipe: The recipe.
        stored: The weights that the caller passes in f8, in the layout that the device prefers.

    Returns:
        For each matmul the reason; None if it is faster in FP8, or a size is not known.
    """
    device = load_target(recipe.target) if recipe.target in DEVICES else None
    if device is None or not device.bandwidth or recipe.matmul.slower != "wide":
        return [None] * len(candidates)
    return _Choice(candidates, device, _CAST[recipe.scaling.kind], stored).reasons()


class _Choice:
    """The choice of the matmuls that are narrow.

    Args:
        candidates: The matmuls.
        device: The device, of which the bandwidth is known.
        cast: The bytes that are moved to cast an element.
        stored: The tensors that are not cast.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        device: Target,
        cast: int,
        stored: Container[ir.Value] = (),
    ) -> None:
        self._device, self._bandwidth = device, device.bandwidth or 1.0
        self._saved = [self._times(candidate.extent) for candidate in candidates]
        self._narrow = set(range(len(candidates)))
        self._tensors: list[_Tensor] = []
        self._stored = stored
        self._of: list[list[_Tensor]] = [[] for _ in candidates]
        numbers: ValueMap[int] = ValueMap()
        for number, candidate in enumerate(candidates):
            self._read(number, candidate, cast, numbers)

    def reasons(self) -> list[Wide | None]:
        """Returns the reason for each matmul that stays wide."""
        self._drop_single()
        for group in self._groups():
            saved = sum(before - after for before, after in map(self._saved.__getitem__, group))
            if saved <= sum(tensor.cost(group) for tensor in self._tensors_of(group)):
                self._narrow -= group
        self._drop_single()
        return [self._reason(number) for number in range(len(self._saved))]

    def _times(self, extent: Extent) -> tuple[float, float]:
        """Returns the times in bf16 and in FP8; an infinite time in bf16 if a size is not known."""
        if not all(size.known for size in extent):
            return float("inf"), 0.0
        m, n, k, batch = (size.least for size in extent)
        times = []
        for width, key in ((_WIDE, "bf16"), (_NARROW, "f8")):
            moved = batch * (width * (m * k + k * n) + _WIDE * m * n)
            flops = 2 * batch * m * n * k / (self._device.flops(key) or float("inf"))
            times.append(max(flops, moved / self._bandwidth))
        return times[0], times[1]

    def _read(self, number: int, candidate: Candidate, cast: int, numbers: ValueMap[int]) -> None:
        """Adds the operands of a matmul to the tensors."""
        ends = _contracted_last(candidate.op)
        for side, role in enumerate(candidate.roles):
            root, moved = _root(candidate.op.operands[side])
            place = numbers.setdefault(root, len(self._tensors))
            if place == len(self._tensors):
                # No kernel computes a weight in the forward pass, so that its cast reads it.
                each = max(cast, _WIDE + _NARROW) if role == WEIGHT else cast
                known = cast < _NARROW and role != WEIGHT
                turned = (_NARROW if known else _TRANSPOSED) * self._device.contracted_last
                second = math.prod(candidate.op.operands[side].type.shape) / self._bandwidth
                second *= root not in self._stored
                self._tensors.append(_Tensor(each * second, turned * second))
            self._tensors[place].uses.append((number, ends[side] != moved))
            self._of[number].append(self._tensors[place])

    def _own(self, number: int) -> float:
        """Returns the time of the casts that only one matmul needs."""
        others = self._narrow - {number}
        tensors = self._tensors_of([number])
        return sum(t.cost({*others, number}) - t.cost(others) for t in tensors)

    def _tensors_of(self, group: Iterable[int]) -> list[_Tensor]:
        found = {id(tensor): tensor for number in group for tensor in self._of[number]}
        return list(found.values())

    def _drop_single(self) -> None:
        """Drops the matmuls that are not faster, the casts of which others share included."""
        changed = True
        while changed:
            changed = False
            for number in sorted(self._narrow):
                before, after = self._saved[number]
                if before - after <= self._own(number):
                    self._narrow.discard(number)
                    changed = True

    def _groups(self) -> list[set[int]]:
        """Returns the sets of narrow matmuls that share tensors."""
        left, groups = set(self._narrow), []
        while left:
            group, waiting = set[int](), [left.pop()]
            while waiting:
                number = waiting.pop()
                group.add(number)
                near = {n for tensor in self._of[number] for n, _ in tensor.uses} & left
                left -= near
                waiting += near
            groups.append(group)
        return groups

    def _reason(self, number: int) -> Wide | None:
        if number in self._narrow:
            return None
        before, after = (seconds * _MICRO for seconds in self._saved[number])
        casts = self._own(number) * _MICRO
        return Wide(
            "not faster",
            f"on {self._device.name}, it is estimated at {before:.1f} µs in bf16, and at "
            f"{after:.1f} in FP8 with {casts:.1f} for casts",
            chosen=True,
            hint="matmul.slower=narrow quantizes it",
        )


def _root(value: ir.Value) -> tuple[ir.Value, bool]:
    """Returns the tensor of which a value is a view, and whether its last dimension has moved."""
    moved = False
    while not isinstance(value.owner, ir.Block) and value.owner.name in _VIEWS:
        owner = value.owner
        if owner.name in traits.REORDERS:
            order = ir.DenseI64ArrayAttr(owner.attributes["permutation"])
            moved ^= order[len(order) - 1] != len(order) - 1
        value = owner.operands[0]
    return value, moved


_VIEWS: Final = traits.RESHAPES | (traits.REORDERS - {"stablehlo.reverse"})


def _contracted_last(op: ir.OpView) -> tuple[bool, bool]:
    """Returns, for each operand, whether its last dimension is one that is summed over."""
    if op.operation.name != "stablehlo.dot_general":
        return True, True
    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    lhs, rhs = (op.operands[side].type.rank - 1 for side in (0, 1))
    return (
        lhs in numbers.lhs_contracting_dimensions,
        rhs in numbers.rhs_contracting_dimensions,
    )
