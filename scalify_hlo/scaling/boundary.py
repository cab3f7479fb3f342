"""The boundary of `main`, where scales enter and leave."""

from __future__ import annotations

import math
from collections.abc import Sequence

from scalify_hlo._compat import ir, sdy
from scalify_hlo.algebra.limits import COMPUTED_BOUND, GIVEN_BOUND, STORED_HEADROOM
from scalify_hlo.algebra.measured import Measured
from scalify_hlo.algebra.scale import ONE, Scale, Scaled, ScaleInfo
from scalify_hlo.algebra.uncertainty import CERTAIN, UNKNOWN, of_root
from scalify_hlo.dataflow.carried import carried_arguments, may_come_back
from scalify_hlo.dataflow.frames import Frame
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.attributes import Attributes
from scalify_hlo.errors import InputError
from scalify_hlo.ir import emit, markers
from scalify_hlo.ir.formats import is_narrow, is_scalar, is_small
from scalify_hlo.ir.functions import terminator
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.value_map import ValueSet, erase, redirect, replace_uses, uses_of
from scalify_hlo.report.model import ValueReport
from scalify_hlo.rules.isolated import scale_element
from scalify_hlo.rules.marker_ops import dynamic_rescale
from scalify_hlo.rules.placement import MHLO, SDY
from scalify_hlo.rules.scale_rewriter import INPUT, ScaleRewriter
from scalify_hlo.transforms.marker_barriers import rescaled_before

_MISSED = "may miss that a result is an argument of the next call, since {}"
_ALIAS = "tf.aliasing_output"
_INFO = "jax.result_info"


class Boundary:
    """The arguments and results of `main`.

    Args:
        main: The function.
        rewriter: Its scale rewriter.
        top: The op before which arguments are divided by static scales.

    Attributes:
        arguments: The reports of the arguments, which `enter` adds.
        results: The reports of the results, which `leave` adds.
    """

    def __init__(self, main: ir.OpView, rewriter: ScaleRewriter, top: ir.Operation) -> None:
        self.arguments: list[ValueReport] = []
        self.results: list[ValueReport] = []
        self._main, self._rewriter, self._top = main, rewriter, top
        self._block = main.regions[0].blocks[0]
        self._texts: dict[ir.Type, str] = {}
        self._kept: dict[int, Scale] = {}
        self._measured: set[int] = set()
        self._carries: set[int] = set()
        self._returning: dict[int, dict[int, Scale]] = {}

    def enter(self) -> None:
        """Replaces the marked arguments, and sets their scales in the rewriter."""
        main, block = self._main, self._block
        old, names = list(block.arguments), attributes.argument_names(main)
        marks = attributes.argument_attributes(main)
        _check_aliases(main, names, marks)
        pairs = [mark.pop(attributes.PAIR, None) is not None for mark in marks]
        packed = self._packed()
        carried, others = self._state(names, marks, pairs, packed)
        new_marks: list[Attributes] = []
        scales: list[Scale] = []
        entering = self._paired(names, old, pairs) if any(pairs) else [(v, None) for v in old]
        for name, (data, scalar), mark, pair in zip(names, entering, marks, pairs, strict=True):
            info = self._enter_one(data, scalar, mark)
            new_marks += [mark, {attributes.IS_SCALE: ir.UnitAttr.get()}] if pair else [mark]
            self._note(self.arguments, name, data, info, pair, mark)
            scales.append(info.scale if isinstance(info, Scaled) else ONE)
        self._kept = {i: scales[n] for i, n in carried.items() if i not in self._measured}
        self._kept |= dict.fromkeys(packed, ONE)
        self._returning = {
            i: {n: scales[n] for n in some if scales[n].powers}  # Packed ones enter at scale 1.
            for i, some in others.items()
            if i not in packed
        }
        if any(pairs):
            attributes.renew_function_type(main)
        attributes.set_argument_attributes(main, new_marks)
        returned = terminator(block).operands
        returned_pairs = zip(returned, attributes.result_pairs(main), strict=True)
        self._rewriter.values.leaving = ValueSet(v for v, pair in returned_pairs if not pair)

    def _state(
        self,
        names: Sequence[str],
        marks: Sequence[Attributes],
        pairs: Sequence[bool],
        packed: Sequence[int],
    ) -> tuple[dict[int, int], dict[int, list[int]]]:
        """Finds the results that are state, and marks the arguments of those that are measured.

        Data that are cast need a scale near their size; state that enters plain may have none.

        Returns:
            See `_carried`; results of 8 bits and packed ones are left out.
        """
        if not any(pairs) and not attributes.any_result_has(self._main, attributes.PAIR):
            return {}, {}
        found, others = self._carried(names)
        types = {i: terminator(self._block).operands[i].type for i in found}
        # The program itself stores results in 8 bits at scales that fit best.
        carried = {i: n for i, n in found.items() if i not in packed and not is_small(types[i])}
        sized = [pair or attributes.SCALE in mark for pair, mark in zip(pairs, marks, strict=True)]
        near = self._rewriter.narrow
        self._measured = {
            i for i, n in carried.items() if is_narrow(types[i]) or (near and not sized[n])
        }
        for number in (carried[i] for i in self._measured if pairs[carried[i]]):
            marks[number][attributes.RESCALED] = ir.UnitAttr.get()
        return carried, others

    def _carried(self, names: Sequence[str]) -> tuple[dict[int, int], dict[int, list[int]]]:
        """Returns the results that are state, with the argument that each replaces.

        Such a result has the scale of the argument, which is 1 for one that is not a pair, or a
        measured scale in narrow formats.

        Returns:
            The arguments of these results, and the arguments that other results may become; see
            `may_come_back`.
        """
        marks = attributes.result_attributes(self._main)
        known = attributes.carried(marks)
        named = zip(attributes.result_names(marks), marks, strict=True)
        given = [name if attributes.PAIR in mark else None for name, mark in named]
        frame = Frame.of(self._main)
        found = carried_arguments(self._main, names, given, known, frame)
        others = may_come_back(self._main, names, given, known | found, frame)
        for reason in sorted(frame.ended):
            self._rewriter.remark(self._main.operation, _MISSED.format(reason))
        frame.release()
        self._carries = known.keys() | found.keys()
        return found, others

    def _packed(self) -> list[int]:
        """Returns the results that are packed: they leave at scale 1, as such arguments enter."""
        if not attributes.any_result_has(self._main, attributes.PACKED):
            return []
        marks = attributes.result_attributes(self._main)
        return [i for i, mark in enumerate(marks) if attributes.PACKED in mark]

    @property
    def scaled(self) -> bool:
        """Whether a scale enters the program with an argument."""
        return any(report.scaled for report in self.arguments)

    def _paired(
        self, names: Sequence[str], old: Sequence[ir.Value], pairs: Sequence[bool]
    ) -> list[tuple[ir.Value, ir.Value | None]]:
        """Inserts a scale after each argument that is a pair.

        Arguments can be appended, but not inserted. So existing arguments change their types, and
        their uses move to later arguments. Erasing arguments one by one would be quadratic.

        Returns:
            The data and the scale of each argument; None for the scale of plain arguments.
        """
        block = self._block
        wanted: list[tuple[ir.Type, ir.Location]] = []
        places: list[int] = []
        for name, value, pair in zip(names, old, pairs, strict=True):
            places.append(len(wanted))
            wanted.append((value.type, value.location))
            if pair:
                location = ir.Location.name(f"{name}.scale", value.location)
                wanted.append((emit.scalar_type(scale_element(value.type)), location))
        for type_, location in wanted[len(old) :]:
            block.add_argument(type_, location)
        new = list(block.arguments)
        for value, place in reversed(list(zip(old, places, strict=True))):
            if new[place] != value:
                replace_uses(value, new[place])
        for value, (type_, location) in zip(old, wanted, strict=False):
            value.set_type(type_)
            value.set_location(location)
        new = list(block.arguments)  # The arguments have their new types now.
        return [
            (new[place], new[place + 1] if pair else None)
            for place, pair in zip(places, pairs, strict=True)
        ]

    def _enter_one(self, data: ir.Value, scalar: ir.Value | None, mark: Attributes) -> ScaleInfo:
        """Enters an argument, given with its scale if it is a pair."""
        for read in attributes.OF_STATE:
            mark.pop(read, None)
        measured = mark.pop(attributes.MEASURE, None) is not None
        if scalar is not None:
            info = self._enter_pair(data, scalar, mark)
        elif measured:
            info = Scaled(ONE, float(_taken(mark) or 0))
        else:
            info = self._enter_divided(data, mark)
        if not measured or not isinstance(info, Scaled):
            return info
        if scalar is not None and is_scalar(data.type):
            return self._enter_scalar(data, info)
        size = self._rewriter.runtime_scales.of_argument(data, float(info.level))
        entered = info._replace(level=size, uncertainty=info.uncertainty * of_root(INPUT))
        self._rewriter.assume(data, entered)
        return entered

    def _enter_scalar(self, data: ir.Value, info: Scaled) -> ScaleInfo:
        """Reads a pair of rank 0, whose scale may be larger than those of tensors, as a number."""
        rewriter, uses = self._rewriter, uses_of(data)
        if uses:
            value = rewriter.multiply(data, info.scale, self._top)
            size = rewriter.runtime_scales.size_of_scalar(value, 0.0)
            rewriter.assume(value, Scaled(ONE, size, of_root(INPUT), info.right))
            rewriter.values.known.pop(data)
            redirect(uses, value)
        return info

    def _enter_pair(self, data: ir.Value, scalar: ir.Value, mark: Attributes) -> ScaleInfo:
        if attributes.PACKED in mark:
            return self._enter_packed(data, mark)
        computed = mark.pop(attributes.RESCALED, None) is not None
        bound = COMPUTED_BOUND if computed else GIVEN_BOUND
        runtime = self._rewriter.runtime_scales.bind(scalar, state=True, bound=bound)
        runtime.anchors = mark.pop(attributes.FOLLOWS, None) is None
        info = Scaled(Scale(0, ((runtime, 1),)), right=self._rewriter.settings.of_pairs)
        self._rewriter.set(data, info)
        return info

    def _enter_packed(self, data: ir.Value, mark: Attributes) -> ScaleInfo:
        """Enters a moment in blocks at scale 1; one of unknown size is measured next."""
        if mark.pop(attributes.RESCALED, None) is None:
            return None
        self._rewriter.set(data, info := Scaled(ONE, 0, UNKNOWN))
        return info

    def _enter_divided(self, data: ir.Value, mark: Attributes) -> ScaleInfo:
        """Divides an argument at entry, X_d = X / 2^e; uses at scale 1 read the argument itself.

        A narrow argument is not divided, as that could lose bits. Its size is known all the same.
        """
        rewriter, size = self._rewriter, _taken(mark)
        if size is None:
            return None
        number = math.floor(size)
        measured = rewriter.tracks_uncertainty and isinstance(size, Measured)
        drift = size - number if rewriter.narrow and not rewriter.predicts else 0.0
        size = float(size) if rewriter.predicts else number  # Else all levels are rounded down.
        known = (of_root(INPUT) if measured else CERTAIN).drifting(drift)
        kept = rewriter.keeps_values(data) or not rewriter.values.is_wide(data)
        info = Scaled(ONE, size, known) if kept else Scaled(Scale(number), size - number, known)
        divides = bool(number) and not kept
        uses = uses_of(data) if divides else []
        if not uses:
            rewriter.assume(data, info)
            return info
        divided = rewriter.multiply(data, info.scale**-1, self._top)
        _share_sharding(mark, divided.owner)
        rewriter.assume(divided, info)
        rewriter.values.note_moved(divided, ONE, data)
        rewriter.values.replaced[divided] = None  # It may have no uses.
        redirect(uses, divided)
        return info

    def leave(self) -> None:
        """Replaces the marked results by pairs, and unscales the others."""
        returned = terminator(self._block)
        before = list(returned.operands)
        values: list[ir.Value] = []
        marks: list[Attributes] = []
        positions: list[int] = []
        results = attributes.result_attributes(self._main)
        names = attributes.result_names(results)
        for i, (name, value, mark) in enumerate(zip(names, before, results, strict=True)):
            positions.append(len(values))
            pair = mark.pop(attributes.PAIR, None) is not None
            for read in attributes.OF_STATE:
                mark.pop(read, None)
            if i in self._measured:
                value = self._rescaled(value, returned.operation)
            info, kept = self._rewriter.info(value), self._kept.get(i)
            if isinstance(info, Scaled) and kept is not None:
                info = Scaled(kept)
            self._note(self.results, name, value, info, pair, mark, i)
            values += self._leave_one(value, returned.operation, pair, kept)
            marks += [mark, _scale_attributes(mark)] if pair else [mark]
        if values != before:
            attributes.return_values(self._main, values)
        attributes.set_result_attributes(self._main, marks)
        _move_aliases(self._main, positions)

    def _leave_one(
        self, value: ir.Value, at: ir.Operation, pair: bool, kept: Scale | None = None
    ) -> list[ir.Value]:
        """Returns the values that replace a result.

        Args:
            value: The result.
            at: The op that returns it.
            pair: Whether it becomes data and scale.
            kept: A fixed scale of the pair; None for the scale of the predicted size.
        """
        rewriter, info = self._rewriter, self._rewriter.info(value)
        if not pair:
            moved = isinstance(info, Scaled) and info.scale != ONE
            return [rewriter.rescale_to(value, ONE, at) if moved else value]
        scale = ONE
        if isinstance(info, Scaled):
            scale = _leaving(info) if kept is None else kept
            value = rewriter.rescale_to(value, scale, at)
        wide = isinstance(scale_element(value.type), ir.F64Type)
        return rewriter.rescaler.as_pair(value, scale, at, wide=wide)

    def _moved(self, result: int, report: ValueReport) -> ValueReport:
        """Returns the report of a result, with the arguments that it may be in the next call.

        If the scale of the result is that of such an argument times a factor, each call would
        multiply it again. The scale of a higher power of the argument grows even faster.
        """
        entered = self._returning.get(result)
        if not entered or not isinstance(report.info, Scaled):
            return report
        scale = _leaving(report.info)
        powers = dict(scale.powers)
        moved = {n: abs(powers[g]) for n, (_, ((g, _),)) in entered.items() if g in powers}
        if not moved or scale in entered.values():
            return report
        bound = GIVEN_BOUND // max(1, max(moved.values()) - 1)
        return report._replace(moved=tuple(moved), bound=bound)

    def _rescaled(self, value: ir.Value, at: ir.Operation) -> ir.Value:
        """Rescales state by its amax, as few of its elements may be large."""
        marker = rescaled_before(at, [value], "max")[0].owner
        marker.attributes[markers.HEADROOM] = attributes.integer(STORED_HEADROOM)
        (data,) = dynamic_rescale(marker, self._rewriter)
        erase(marker)
        return data

    def _note(
        self,
        reports: list[ValueReport],
        name: str,
        value: ir.Value,
        info: ScaleInfo,
        pair: bool,
        mark: Attributes,
        result: int | None = None,
    ) -> None:
        if attributes.SCALE_FACTORS in mark:
            return  # `scalify-join-scale-arrays` erases it.
        type_, packed = value.type, mark.get(attributes.PACKED)
        if packed is not None:
            element = ir.Type.parse(ir.StringAttr(packed).value)
            type_, info = ir.RankedTensorType.get(type_.shape, element), None
        text = self._texts.get(type_) or self._texts.setdefault(type_, str(type_))
        carried = result in self._carries
        report = ValueReport(name, text, pair, info, packed=packed is not None, carried=carried)
        reports.append(report if result is None else self._moved(result, report))


def _taken(mark: Attributes) -> float | None:
    """Removes the declared size of an argument from its attributes, and returns it."""
    size = attributes.size(mark)
    for name in (attributes.SIZE, attributes.MEASURED, attributes.SCALE):
        mark.pop(name, None)
    return size


def _leaving(info: Scaled) -> Scale:
    """Returns the scale of a result that does not have the scale of an argument."""
    return info.scale if info.decayed else info.normalized


def _share_sharding(mark: Attributes, op: ir.Operation) -> None:
    """Sets the sharding of an op to that of the argument that it divides."""
    if SDY in mark:
        per_value = sdy.TensorShardingPerValueAttr.get([mark[SDY]])
        op.attributes[SDY] = per_value
    if MHLO in mark:
        op.attributes[MHLO] = mark[MHLO]


def _scale_attributes(data: Attributes) -> Attributes:
    info, mark = data.get(_INFO), {attributes.IS_SCALE: ir.UnitAttr.get()}
    if not isinstance(info, ir.StringAttr):
        return mark
    return {_INFO: ir.StringAttr.get(f"{info.value}.scale"), **mark}


def _check_aliases(main: ir.OpView, names: Sequence[str], marks: Sequence[Attributes]) -> None:
    """Checks that donated arguments refer to results that exist.

    Raises:
        InputError: A donated argument refers to a result that does not exist.
    """
    count = len(attributes.function_type(main).results)
    for name, mark in zip(names, marks, strict=True):
        if _ALIAS not in mark:
            continue
        alias = mark[_ALIAS]
        if not (isinstance(alias, ir.IntegerAttr) and 0 <= alias.value < count):
            raise InputError(
                f"{_ALIAS} of {name} is {alias}, and @main has {count} result(s)",
                location=source_location(main.location),
                hint="give the number of the result that takes the memory of the argument",
            )


def _move_aliases(main: ir.OpView, positions: list[int]) -> None:
    """Updates the numbers by which donated arguments refer to results."""
    if not attributes.any_argument_has(main, _ALIAS):
        return
    marks = attributes.argument_attributes(main)
    for mark in marks:
        if _ALIAS in mark:
            old = ir.IntegerAttr(mark[_ALIAS])
            mark[_ALIAS] = ir.IntegerAttr.get(old.type, positions[old.value])
    attributes.set_argument_attributes(main, marks)
