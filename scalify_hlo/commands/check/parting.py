"""Compares the values of a rewrite with those of its original, one by one in program order.

The samples of the values of a block are one vector for each width of numbers, so that loops carry
few values. Some turns of each loop and all devices are kept; see `Stack`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import SAMPLE_TURNS, VALUE_ELEMENTS
from scalify_hlo.casts.encoding import dtype_of
from scalify_hlo.commands.check.check import Checked
from scalify_hlo.commands.nan.flow import Flow, Moment, Node
from scalify_hlo.commands.nan.nan_report import LoopTurn, loops_of
from scalify_hlo.commands.stats.instrument import Instrumented
from scalify_hlo.commands.stats.measures import parts_of, sampled
from scalify_hlo.commands.stats.packing import Added, concatenated, joined, log2_of, u64
from scalify_hlo.commands.stats.prepare import Programs, Selection
from scalify_hlo.commands.stats.values import Scan, Watched
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import block_of
from scalify_hlo.ir.traits import MATMULS, PRODUCTS
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.program.artifact import copy_module
from scalify_hlo.program.program import Program
from scalify_hlo.program.tensors import Array, interface
from scalify_hlo.results.model import keys
from scalify_hlo.rules.probes import Probed
from scalify_hlo.run.differences import Difference, compare
from scalify_hlo.run.runner import compiled
from scalify_hlo.run.session import Session
from scalify_hlo.transforms.hoist import Stack

_KEPT = Stack("gather", SAMPLE_TURNS)


@dataclass(eq=False)
class _Group:
    """Values of one block whose samples are one vector.

    Attributes:
        members: The values, with the number of elements of the sample of each.
        number: The number of the result.
    """

    members: list[tuple[Watched, int]]
    number: int


@dataclass(eq=False)
class _Block:
    """A block with values.

    Attributes:
        ran: The number of the result that says for each kept turn that it ran.
        groups: The groups of its values.
        scaled: The values that have scales, in order.
        logs: The number of the result with log2 of the scales, if there are any.
    """

    ran: int
    groups: list[_Group]
    scaled: list[str]
    logs: int


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of a value, times its scale.

    Attributes:
        rows: A row of f64 for each turn and device that was kept and ran.
        slots: The number of each row among those that are kept, in row-major order: the slots of
            the loops around the value, from the outside in, and then the devices.
    """

    rows: Array
    slots: tuple[int, ...]


@dataclass(eq=False)
class Sampled:
    """The meaning of the samples that were added to a program.

    Attributes:
        added: The results that were added.
        blocks: The blocks of the values.
    """

    added: Added
    blocks: list[_Block]

    def read(self, results: Sequence[Array]) -> dict[str, Samples]:
        """Returns the samples of each value, times its scale.

        Args:
            results: All results of the program.
        """
        added = self.added.read(results)
        found: dict[str, Samples] = {}
        for block in self.blocks:
            kept = added[block.ran].reshape(-1) != 0
            slots = tuple(np.flatnonzero(kept).tolist())
            logs = {}
            if block.scaled:
                columns = added[block.logs].reshape(kept.size, -1)[kept].T
                logs = dict(zip(block.scaled, columns, strict=True))
            for group in block.groups:
                parts = _split(group, added[group.number].reshape(kept.size, -1)[kept], logs)
                found |= {id_: Samples(part, slots) for id_, part in parts.items()}
        return found


def _split(group: _Group, rows: Array, logs: dict[str, Array]) -> dict[str, Array]:
    found: dict[str, Array] = {}
    at = 0
    for one, size in group.members:
        values = rows[:, at : at + size].astype(np.float64)
        at += size
        if one.id in logs:
            with np.errstate(over="ignore", invalid="ignore"):
                values = values * np.exp2(logs[one.id])[:, None]
        found[one.id] = values
    return found


def sample_values(
    main: ir.OpView, values: Sequence[Watched], scales: ValueMap[Probed] | None = None
) -> Sampled:
    """Makes a function return samples of its values.

    Args:
        main: The function, in which all calls were inlined. It is edited in place.
        values: The values.
        scales: The scales of values; other values have scale 1.

    Returns:
        The meaning of the results that were added.
    """
    blocks: ValueMap[list[Watched]] = ValueMap()
    for one in values:
        if one.size:
            blocks.setdefault(block_of(one.value), []).append(one)
    done = Sampled(Added(), [])
    add = done.added.add
    for block, members in blocks.items():
        last = block.operations[-1].operation
        ran = add(emit.integers(emit.scalar_type(u64()), 1, last), _KEPT)
        groups: list[_Group] = []
        for wide in (False, True):
            group = [one for one in members if one.encoding.wide == wide]
            if group:
                vectors = [_vector(one, wide) for one in group]
                sizes = [int(vector.type.shape[0]) for vector in vectors]
                number = add(concatenated(vectors, 0, last), _KEPT)
                groups.append(_Group(list(zip(group, sizes, strict=True)), number))
        ids, logs = _scales(members, scales, last)
        done.blocks.append(_Block(ran, groups, ids, add(joined(logs, last), _KEPT) if ids else -1))
    done.added.finish(main)
    return done


def _vector(one: Watched, wide: bool) -> ir.Value:
    """The sample of a value as floats of rank 1; of complex numbers, of both parts in turn."""
    element = ir.F64Type.get() if wide else ir.F32Type.get()
    parts = [sampled(part, VALUE_ELEMENTS, one.at) for part in parts_of(one.value, one.at)]
    return concatenated([emit.convert(part, element, one.at) for part in parts], 0, one.at)


def _scales(
    members: Sequence[Watched], scales: ValueMap[Probed] | None, last: ir.Operation
) -> tuple[list[str], list[ir.Value]]:
    """The values of a block that have a scale, and log2 of each scale."""
    ids: list[str] = []
    logs: list[ir.Value] = []
    for one in members:
        scale = scales.get(one.value) if scales is not None else None
        if scale is not None and scale.exponent is not None:
            ids.append(one.id)
            logs.append(log2_of(scale, last))
    return ids, logs


@keys("op name location loops *difference(type max_ulp relative_error snr_db nonfinite mismatched)")
@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A value of a program, and its difference in a rewrite.

    Attributes:
        id: Identifies the value.
        op: The op that makes it; empty for an argument.
        name: Its name stack, or the name of the argument.
        location: Its source location; empty if unknown.
        loops: The turn of each loop around it, from the outside in.
        difference: The difference of data times scale from the value of the original.
    """

    id: str
    op: str
    name: str
    location: str
    loops: tuple[LoopTurn, ...]
    difference: Difference


def compare_values(original: Program, options: Options, done: Checked) -> list[ComparedValue]:
    """Compares the values that an original and its rewrite have in common.

    Args:
        original: The original.
        options: The options of its rewrite.
        done: The comparison of the results, which has the arguments.

    Returns:
        The values in the order of execution, in each of some turns of loops, by samples of at
        least 4096 elements.

    Raises:
        InputError: The program cannot be rewritten, or XLA cannot run it.
        UsageError: The options do not fit the program.
    """
    module = copy_module(original.module)
    programs = _SampledPrograms(module, original.name, Selection())
    before = programs.original
    expected = compiled(replace(original, module=before.module))(done.values)
    after = programs.rewritten(options).module
    first, second = programs.sampled
    run = partial(compiled, replace(original, module=after))
    described = interface(original.module, original.name)
    session = Session(run, described, after, original.name, second.added.count)
    actual = session.run(done.step.fed, done.step.used).all
    return _compared(programs.flows[0], first.read(expected), second.read(actual))


class _SampledPrograms(Programs):
    """Makes programs that return samples of their values instead of statistics.

    Attributes:
        sampled: The meaning of the results of each program that was made.
        flows: The data flow of each.
    """

    def __init__(self, module: ir.Module, name: str, selection: Selection) -> None:
        self.sampled: list[Sampled] = []
        self.flows: list[Flow] = []
        super().__init__(module, name, selection)

    def _instrument(
        self, main: ir.OpView, values: list[Watched], scan: Scan, scales: ValueMap[Probed] | None
    ) -> Instrumented:
        kept = [_whole(one) for one in values if one.kind != "carry"]
        self.flows.append(Flow(main, scan.program, kept))
        self.sampled.append(sample_values(main, kept, scales))
        return Instrumented([], self.sampled[-1].added)


def _whole(one: Watched) -> Watched:
    """A value, or the product of a matmul's result with the scales of its operands.

    A recipe that measures operands multiplies the result of a matmul by their scales, in ops that
    the original does not have. Only the product has the scale of the original's result.
    """
    if one.op not in MATMULS:
        return one
    last = one.value
    while (user := _rescaling(last)) is not None:
        last = user.results[0]
    if last == one.value:
        return one
    return replace(one, value=last, at=_after(last.owner.operation))


def _rescaling(value: ir.Value) -> ir.Operation | None:
    """The only use of a value, if it is a product that a rewrite added."""
    uses = list(value.uses)
    if len(uses) != 1:
        return None
    user = uses[0].owner.operation
    added = attributes.VALUE_NUMBER not in user.attributes
    return user if added and user.name == "stablehlo.multiply" else None


def _after(op: ir.Operation) -> ir.Operation:
    following = iter([each.operation for each in op.block.operations])
    for each in following:
        if each == op:
            break
    return next(following)


def _compared(
    flow: Flow, before: Mapping[str, Samples], after: Mapping[str, Samples]
) -> list[ComparedValue]:
    """The comparison of each value that both programs have, in each turn in which it ran."""
    found: list[tuple[Moment, ComparedValue]] = []
    factored = _factored(flow, after)
    for node in flow.nodes:
        one = node.watched
        if one is None or one.id not in before or one.id not in after:
            continue
        old, new = before[one.id], after[one.id]
        if old.slots != new.slots or old.rows.shape != new.rows.shape or not old.rows.size:
            continue
        for turns, rows in _by_turns(node, old.slots).items():
            pair = old.rows[rows], new.rows[rows]
            difference = _difference(one, *pair)
            if one.id in factored:
                difference = max(difference, _difference(one, *_alike(*pair)), key=_likeness)
            loops = loops_of(node, turns)
            value = ComparedValue(one.id, one.op, one.name, one.location, loops, difference)
            found.append((node.moment(turns), value))
    return [value for _, value in sorted(found, key=lambda pair: pair[0])]


def _likeness(difference: Difference) -> tuple[int, float]:
    return -difference.mismatched, difference.snr_db


def _factored(flow: Flow, after: Collection[str]) -> set[str]:
    """The matmuls whose product with a number is not in the rewrite.

    The factor is then part of the product with the scales of the operands.
    """
    found: set[str] = set()
    for node in flow.nodes:
        one = node.watched
        if one is None or one.op not in PRODUCTS or one.id in after:
            continue
        sources = (flow.nodes[number].watched for number in node.sources)
        found.update(each.id for each in sources if each is not None and each.op in MATMULS)
    return found


def _alike(old: Array, new: Array) -> tuple[Array, Array]:
    """Values, and others times the factor in each turn that makes them most alike."""
    known = np.where(np.isfinite(old) & np.isfinite(new), new, 0)
    largest = np.abs(known).max(-1, keepdims=True)
    unit = np.divide(known, largest, out=np.zeros_like(known), where=largest > 0)
    power = np.square(unit).sum(-1, keepdims=True)
    like = (unit * np.where(np.isfinite(old), old, 0)).sum(-1, keepdims=True)
    factor = np.divide(like, power, out=np.ones_like(power), where=power > 0)
    return old, np.where(np.isfinite(new), unit * factor, new)


def _by_turns(node: Node, slots: Sequence[int]) -> dict[tuple[int, ...], list[int]]:
    """The rows of a value for each turn of the loops around it, on all devices together."""
    turns = [around.turns for around in node.around if around.is_loop]
    sizes = [SAMPLE_TURNS if each is None else min(each, SAMPLE_TURNS) for each in turns]
    devices = math.prod(around.devices for around in node.around)
    found: dict[tuple[int, ...], list[int]] = {}
    for row, slot in enumerate(slots):
        numbers = np.unravel_index(slot // devices, sizes) if sizes else ()
        pairs = zip((int(n) for n in numbers), turns, strict=True)
        found.setdefault(tuple(_turn(*pair) for pair in pairs), []).append(row)
    return found


def _turn(slot: int, turns: int | None) -> int:
    """The last turn that a slot keeps; see `Stack`."""
    if turns is None or turns <= SAMPLE_TURNS:
        return slot
    return -(-(slot + 1) * turns // SAMPLE_TURNS) - 1


def _difference(one: Watched, old: Array, new: Array) -> Difference:
    dtype = np.dtype(dtype_of(one.encoding.format.name))
    with np.errstate(over="ignore", invalid="ignore"):
        found = compare(one.name, old.astype(dtype), new.astype(dtype))
    return replace(found, type=f"{one.dtype}[{', '.join(map(str, one.shape))}]")
