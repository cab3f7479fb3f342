"""The matmuls that a device computes no faster in FP8, casts and transposes included."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import COST_PASSES
from scalify_hlo.algebra.search import Search
from scalify_hlo.dialect.value_map import ValueMap, ValueSet
from scalify_hlo.quantize.cast_costs import (
    NARROW,
    Tensor,
    contracted_last,
    elements,
    is_stored,
    root_of,
    tensor_of,
    width,
)
from scalify_hlo.quantize.casts import unwidened
from scalify_hlo.quantize.matmul import Matmul
from scalify_hlo.recipes.model import DEVICES, Recipe
from scalify_hlo.report.matmuls import Wide
from scalify_hlo.targets.description import BATCHED, CONVOLVED, Target, load_target

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
    device = load_target(recipe.target) if recipe.target in DEVICES else None
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
        if wide and self._change(wide, narrow=False) < -_MARGIN * self._before(wide):
            self._apply(wide, narrow=False)
            return True
        narrow = [number for number in group if not self._narrow[number]]
        if narrow and self._change(narrow, narrow=True) < -_NOTHING:
            self._apply(narrow, narrow=True)
            return True
        return False

    def _before(self, group: Iterable[int]) -> float:
        """Returns the seconds of matmuls in the format of the program."""
        return sum(self._times[number][0] for number in group)

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
    sides = (free * k for free in (m, n) if _is_padded((free, k), _MULTIPLES[size]))
    share = device.share("pad_f8" if size == NARROW else "pad") / device.share("memory")
    return seconds + 2 * size * batch * sum(sides) / bandwidth / share


def _is_padded(sizes: Iterable[int], multiple: int) -> bool:
    return any(size > 1 and size % multiple for size in sizes)


def _added(counts: tuple[int, int], last: bool, step: int) -> tuple[int, int]:
    """Returns numbers of readers with one more, or one less, of a kind."""
    other, at_end = counts
    return (other, at_end + step) if last else (other + step, at_end)
