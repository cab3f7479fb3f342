"""The matmuls that a device computes no faster in FP8, casts and transposes included."""

from __future__ import annotations

import math
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import COST_PASSES, ROW_STEPS
from scalify_hlo.algebra.search import Search
from scalify_hlo.casts.casts import unwidened
from scalify_hlo.casts.matmuls import Matmul
from scalify_hlo.dataflow.matmuls import ACTIVATION, WEIGHT
from scalify_hlo.ir import traits
from scalify_hlo.ir.contraction import contraction_of
from scalify_hlo.ir.functions import is_block, maker
from scalify_hlo.ir.through import readers
from scalify_hlo.ir.traits import CONTRACTED, MATMULS, where
from scalify_hlo.ir.value_map import ValueMap, ValueSet, uses_of
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.matmuls import Wide
from scalify_hlo.targets.description import BATCHED, CONVOLVED, LAUNCH, Target, load_target

NOT_FASTER: Final = "not faster"
"""The kind of the reason why a matmul stays wide on a device."""

_MULTIPLES: Final = {1: 16, 2: 8}
"""The numbers of which the sizes of a matmul are multiples, by the bytes of its operands. XLA pads
operands of other sizes for cuBLAS, in kernels of their own. Kernels of Triton need none in bf16;
which of both computes a matmul is measured on the device."""
_MARGIN: Final = 0.02
"""The share of the time of matmuls by which they are to be faster wide. Estimates that are nearer
say nothing, and the matmuls get the formats of the recipe."""
_NOTHING: Final = 1e-12
"""Seconds that are no difference."""
_MICRO: Final = 1e6


def not_faster(
    candidates: Sequence[Matmul], recipe: Recipe, stored: Container[ir.Value] = ()
) -> list[Wide | None]:
    """Returns the reason why matmuls stay wide on the device of a recipe.

    A matmul takes the time of its floating-point operations at the peak of its format, or that of
    its bytes at the bandwidth of the memory, whichever is longer. In FP8, casts come on top. A cast
    is shared by all matmuls that read the tensor. If the device multiplies f8 operands only with
    the contracted dimension last, as Hopper does, a tensor of which matmuls sum over the last and
    over another dimension is transposed too. Those matmuls stay wide of which the time in bf16 is
    shorter than that in FP8 with the casts that only they need, by `_MARGIN`. The same is asked of
    all matmuls that read a tensor at once, and of all that share tensors.

    Args:
        candidates: The matmuls that the recipe would quantize.
        recipe: The recipe.
        stored: The weights that the caller passes in f8, in the layout that the device prefers.

    Returns:
        For each matmul the reason; None if it is faster in FP8, or a size is not known.
    """
    device = load_target(recipe.target) if recipe.platform.device else None
    if device is None or not device.bandwidth or recipe.matmul.slower != "wide":
        return [None] * len(candidates)
    return _Choice(candidates, device, recipe.scaling.kind, stored).reasons()


class _Choice:
    """The choice of the matmuls that are narrow.

    Args:
        candidates: The matmuls.
        device: The device, of which the bandwidth is known.
        kind: The kind of the scales.
        stored: The tensors that are not cast.
    """

    def __init__(
        self,
        candidates: Sequence[Matmul],
        device: Target,
        kind: str,
        stored: Container[ir.Value] = (),
    ) -> None:
        self._device, self._bandwidth = device, device.bandwidth or 1.0
        self._kind, self._stored = kind, stored
        self._times = [_times(candidate, device) for candidate in candidates]
        self._formats = [_format(candidate) for candidate in candidates]
        self._narrow = [True] * len(candidates)
        self._tensors: list[Tensor] = []
        self._uses: list[list[tuple[int, bool]]] = [[] for _ in candidates]
        places: ValueMap[int] = ValueMap()
        results = ValueSet(candidate.op.results[0] for candidate in candidates)
        for number, candidate in enumerate(candidates):
            self._read(number, candidate, places, results)

    def reasons(self) -> list[Wide | None]:
        """Returns the reason for each matmul that stays wide."""
        groups = self._groups()
        for _ in range(COST_PASSES):
            if sum(map(self._improve, groups)) == 0:
                break
        return [self._reason(number) for number in range(len(self._narrow))]

    def total(self) -> float:
        """Returns the seconds of all matmuls, and of the casts that are chosen."""
        pairs = zip(self._times, self._narrow, strict=True)
        return sum(times[narrow] for times, narrow in pairs) + sum(
            tensor.cost(tensor.narrow) for tensor in self._tensors
        )

    def _read(
        self, number: int, candidate: Matmul, places: ValueMap[int], results: ValueSet
    ) -> None:
        """Adds the operands of a matmul to the tensors."""
        ends = contracted_last(candidate.op)
        for side, role in enumerate(candidate.roles):
            root, moved = root_of(candidate.op.operands[side])
            place = places.setdefault(root, len(self._tensors))
            if place == len(self._tensors):
                second = elements(root) / self._bandwidth * (root not in self._stored)
                made = tensor_of(root, role, self._kind, second=second, device=self._device)
                self._tensors.append(made)
                self._tensors[place].stored = is_stored(root, results)
            last = ends[side] != moved
            tensor = self._tensors[place]
            tensor.readers += 1
            tensor.narrow = _added(tensor.narrow, last, 1)
            self._uses[number].append((place, last))

    def _groups(self) -> list[list[int]]:
        """Returns the matmuls that are changed together.

        These are single ones, all that read a tensor, and all that share tensors.
        """
        readers: list[list[int]] = [[] for _ in self._tensors]
        for number, uses in enumerate(self._uses):
            for place in {place for place, _ in uses}:
                readers[place].append(number)
        groups = [[number] for number in range(len(self._narrow))]
        groups += [numbers for numbers in readers if len(numbers) > 1]
        return groups + self._connected(readers)

    def _connected(self, readers: Sequence[Sequence[int]]) -> list[list[int]]:
        """Returns the sets of matmuls that share tensors."""

        def near(number: int) -> Iterator[int]:
            return (n for place, _ in self._uses[number] for n in readers[place])

        seen: dict[int, None] = {}
        every = (sorted(Search([n], near, seen=seen)) for n in range(len(self._narrow)))
        return [group for group in every if group]

    def _improve(self, group: Sequence[int]) -> bool:
        """Makes a group wide if that is faster, or else narrow if that is; True if one is."""
        wide = [number for number in group if self._narrow[number]]
        before = sum(self._times[number][0] for number in wide)
        if wide and self._change(wide, narrow=False) < -_MARGIN * before:
            self._apply(wide, narrow=False)
            return True
        narrow = [number for number in group if not self._narrow[number]]
        if narrow and self._change(narrow, narrow=True) < -_NOTHING:
            self._apply(narrow, narrow=True)
            return True
        return False

    def _counts(self, group: Iterable[int], step: int) -> dict[int, tuple[int, int]]:
        """Returns the narrow readers of the tensors of a group after all of it was changed."""
        counts: dict[int, tuple[int, int]] = {}
        for number in group:
            for place, last in self._uses[number]:
                counts[place] = _added(counts.get(place, self._tensors[place].narrow), last, step)
        return counts

    def _change(self, group: Collection[int], *, narrow: bool) -> float:
        """Returns the seconds that are added if matmuls of the other kind become narrow or wide."""
        step = 1 if narrow else -1
        times = sum(after - before for before, after in map(self._times.__getitem__, group))
        return step * times + self._casts(group, step)

    def _casts(self, group: Iterable[int], step: int) -> float:
        """Returns the seconds of casts and transposes that a change of a group adds."""
        changed = ((self._tensors[place], new) for place, new in self._counts(group, step).items())
        return sum(tensor.cost(new) - tensor.cost(tensor.narrow) for tensor, new in changed)

    def _apply(self, group: Iterable[int], *, narrow: bool) -> None:
        for place, new in self._counts(group, 1 if narrow else -1).items():
            self._tensors[place].narrow = new
        for number in group:
            self._narrow[number] = narrow

    def _reason(self, number: int) -> Wide | None:
        if self._narrow[number]:
            return None
        before, after = (seconds * _MICRO for seconds in self._times[number])
        casts = self._casts([number], 1) * _MICRO
        return Wide(
            NOT_FASTER,
            f"on {self._device.name}, it is estimated at {before:.1f} µs in "
            f"{self._formats[number]}, and at {after:.1f} in FP8 with {casts:.1f} for casts",
            chosen=True,
            hint="matmul.slower=narrow quantizes it",
            option="matmul.slower",
        )


def _times(candidate: Matmul, device: Target) -> tuple[float, float]:
    """Returns the seconds in the format of the program, and in FP8.

    The first is infinite if a size is not known.
    """
    if not all(size.known for size in candidate.extent):
        return float("inf"), 0.0
    operands = list(candidate.op.operands)[:2]
    before = _seconds(candidate, _format(candidate), max(map(width, operands)), device)
    return before, _seconds(candidate, "f8", NARROW, device)


def _format(candidate: Matmul) -> str:
    """Returns the format of the wider operand in the program."""
    operands = list(candidate.op.operands)[:2]
    return str(unwidened(max(operands, key=width)).type.element_type)


def _seconds(candidate: Matmul, format_: str, size: int, device: Target) -> float:
    """Returns the seconds of a matmul with operands in a format, of some bytes for an element."""
    m, n, k, batch = (extent.least for extent in candidate.extent)
    format_ = format_ if size > NARROW else "f8"
    name, operands = candidate.op.operation.name, list(candidate.op.operands)[:2]
    convolves = name == "stablehlo.convolution"
    kind = format_ + (CONVOLVED if convolves else BATCHED * (batch > 1))
    flops = (device.flops(format_) or float("inf")) * device.share(kind)
    # The windows of a convolution overlap, so that M times K counts elements several times.
    read = sum(map(elements, operands)) if convolves else batch * (m * k + k * n)
    moved = size * read + width(candidate.op.results[0]) * batch * m * n
    bandwidth = (device.bandwidth or float("inf")) * device.share("memory")
    seconds = max(2 * batch * m * n * k / flops, moved / bandwidth)
    if name != "stablehlo.dot_general" or size not in _MULTIPLES:
        return seconds
    multiple = _MULTIPLES[size]
    sides = (free * k for free in (m, n) if any(each > 1 and each % multiple for each in (free, k)))
    share = device.share("pad_f8" if size == NARROW else "pad") / device.share("memory")
    return seconds + 2 * size * batch * sum(sides) / bandwidth / share


def _added(counts: tuple[int, int], last: bool, step: int) -> tuple[int, int]:
    """Returns numbers of readers with one more, or one less, of a kind."""
    other, at_end = counts
    return (other, at_end + step) if last else (other + step, at_end)


# Estimated times of the casts to f8 that matmuls share, from the bytes that they move.
#
# A cast replaces the wide tensor if a kernel computes the tensor, if the scale is known before, and
# if only matmuls in FP8 read it. If a matmul that stays wide reads it as well, both are written.
# These rules were read in the kernels of compiled programs. `python -m benchmarks.roofline
# --chosen` lists the times of such programs.


NARROW: Final = 1
"""Bytes of an element in f8."""

_KNOWN: Final = frozenset({"propagated", "calibrated", "static"})
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
        _cast_seconds(alone * second, device),
        _cast_seconds(beside * second, device),
        device.contracted_last * transpose,
    )


def _cast_seconds(moved: float, device: Target) -> float:
    """Returns the time of a cast, of which the bytes take some time at the bandwidth.

    A cast that saves bytes has no kernel of its own.
    """
    return moved / device.share("cast") + LAUNCH if moved > 0 else moved / device.share("memory")


def _is_computed(value: ir.Value) -> bool:
    """Whether a kernel computes a tensor that may compute the cast or the amax as well."""
    op = maker(_unrounded(value))  # XLA rounds the result of a matmul in its kernel.
    return op is not None and op.name not in _IN_MEMORY


def _is_rounded_argument(value: ir.Value) -> bool:
    """Whether a tensor is an argument that a kernel rounds to its format, such as a f32 weight."""
    value = unwidened(value)
    argument = _unrounded(value)
    return argument != value and is_block(argument.owner)


def _unrounded(value: ir.Value) -> ir.Value:
    while (op := maker(value)) is not None and op.name in traits.ROUNDS:
        value = op.operands[0]
    return value


def width(value: ir.Value) -> int:
    """Returns the bytes of an element of a tensor, before it was widened."""
    return int(unwidened(value).type.element_type.width) // 8


def elements(value: ir.Value) -> int:
    """Returns the number of elements of a tensor; 0 if a size is not known."""
    return math.prod(value.type.shape) if value.type.has_static_shape else 0


def root_of(value: ir.Value) -> tuple[ir.Value, bool]:
    """Returns the tensor of which a value is a view, and whether its last dimension has moved."""
    moved, value = False, unwidened(value)
    while (op := maker(value)) is not None and op.name in traits.VIEWS:
        if op.name in traits.REORDERS:
            order = ir.DenseI64ArrayAttr(op.attributes["permutation"])
            moved ^= order[len(order) - 1] != len(order) - 1
        value = op.operands[0]
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


# Tensors that XLA for NVIDIA GPUs computes together with a reduction of their rows.
#
# A normalization, a softmax, and the gradients of both reduce a tensor over its last dimension, and
# broadcast the result to it. XLA makes one kernel of that, which returns a single tensor. It does
# not join the readers of such a kernel either: a cast and an amax read the tensor one after the
# other. Behind an `optimization_barrier`, they are one kernel, as they are for other tensors.


_REDUCE: Final = "stablehlo.reduce"


def is_made_of_rows(value: ir.Value) -> bool:
    """Whether the kernel that computes a tensor reduces rows of the same shape.

    The ops between the tensor and the broadcast are in that kernel if nothing else reads them.
    """
    if not value.type.has_static_shape or not value.type.rank:
        return False
    shape, waiting = list(value.type.shape), [value]
    for _ in range(ROW_STEPS):
        if not waiting:
            return False
        owner = waiting.pop().owner
        if is_block(owner):
            continue
        if owner.name in traits.BROADCASTS and _is_reduced(owner.operands[0], shape):
            return True
        if owner.name in traits.EACH:
            waiting += (each for each in owner.operands if len(uses_of(each)) == 1)
    return False


def _is_reduced(rows: ir.Value, shape: list[int]) -> bool:
    """Whether numbers of rows follow from a reduction of a tensor over its last dimension."""
    waiting = [rows]
    for _ in range(ROW_STEPS):
        if not waiting:
            return False
        owner = waiting.pop().owner
        if is_block(owner) or owner.name not in traits.STATISTICS:
            continue
        if owner.name == _REDUCE and list(owner.operands[0].type.shape) == shape:
            if list(ir.DenseI64ArrayAttr(owner.attributes["dimensions"])) == [len(shape) - 1]:
                return True
            continue
        types = ((value, value.type) for value in owner.operands)
        waiting += (v for v, t in types if t.has_static_shape and list(t.shape) != shape)
    return False
