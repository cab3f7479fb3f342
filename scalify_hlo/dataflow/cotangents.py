"""The cotangents of a loss in a training step: where they start, and through which ops they pass.

The backward pass is linear in the cotangent of the loss, which jax writes as constants, such as 1
or 1 over the size of a batch. Such a constant, or the first backward op that reads it, is a *seed*.
A value is linear in a seed if ops of degree 1 make it from the seed:

* an op that moves elements, rounds them, or negates them, keeps a factor S > 0 of its operand;
* sums, choices, extremes and writes keep it if all their data have it, as zeros, infinities and NaN
  always do;
* a product or a quotient has it if one factor, or the dividend, has it;
* all other ops read their operands without it.

Name stacks of jax tell which ops are backward. Without them, seeds are the gradients that backward
matmuls read first. All calls have to be inlined.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.dataflow.matmuls import GRADIENT
from scalify_hlo.dataflow.names import BACKWARD, name_of, part_of
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import traits
from scalify_hlo.ir.formats import is_real
from scalify_hlo.ir.functions import is_block, terminator
from scalify_hlo.ir.monoid import TAKES, monoid
from scalify_hlo.ir.splats import filled_with
from scalify_hlo.ir.value_map import ValueMap, ValueSet
from scalify_hlo.ir.walk import ops_in

Seeds: TypeAlias = "int | None"
"""The seeds that a value is linear in, as bits; None for zeros, infinities and NaN, which are in
any."""

_KEPT: Final = (
    traits.RESHAPES | traits.REORDERS | traits.BROADCASTS | traits.SLICES | traits.LOOKUPS
) | (traits.MAGNITUDES | traits.ROUNDS)
_EACH: Final = traits.COPIES | traits.where("gather", "exchange")
_JOINED: Final = traits.SUMS | traits.EXTREMES | traits.CHOICES
_WRITTEN: Final = traits.where("pad", "join", "write", "reduction", "scatter", "device_sum")
_LINEAR: Final = _KEPT | _EACH | _JOINED | _WRITTEN
_TESTS: Final = traits.where("test")


class Reading(NamedTuple):
    """The operands that an op reads, and its results.

    Attributes:
        scaled: For each operand, whether the op reads it with the factor S; None if it does not
            matter.
        results: The seeds of each result.
    """

    scaled: Sequence[bool | None]
    results: Sequence[Seeds]


@dataclass
class Cotangents:
    """The values of a program that are linear in the cotangent of its loss.

    Attributes:
        main: The entry function, with no calls of functions that have gradients.
        seeds: The values that are multiplied by S.
        readings: For each op that reads or returns a linear value, and is no seed, its operands.
        levels: The seeds of each value; only of values that have some, or are in any.
        known: Whether name stacks tell the backward pass.
    """

    main: ir.OpView
    seeds: ValueSet = field(default_factory=ValueSet)
    readings: list[tuple[ir.Operation, Sequence[bool | None]]] = field(default_factory=list)
    levels: ValueMap[Seeds] = field(default_factory=ValueMap)
    known: bool = True

    def is_scaled(self, value: ir.Value) -> bool:
        """Whether a value is linear in a seed."""
        return bool(self.levels.get(value, 0))

    def is_free(self, value: ir.Value) -> bool:
        """Whether a value is the same with each factor."""
        return self.levels.get(value, 0) is None


def cotangents_of(main: ir.OpView) -> Cotangents:
    """Finds the cotangents of a program.

    Args:
        main: The entry function, in which matmuls and gradients are marked with their roles, and
            calls are inlined.
    """
    block, ops = main.regions[0].blocks[0], ops_in(main)
    named = any(part_of(name_of(op)) is not None for op in ops)
    marks = attributes.argument_attributes(main)
    given = [
        argument
        for argument, mark in zip(block.arguments, marks, strict=True)
        if attributes.role_of(mark) == GRADIENT and is_real(argument.type)
    ]
    starts = ValueSet(given if named else [*given, *_read_gradients(ops)])
    search = _Search(main, _by_name if named else _anywhere, starts)
    while search.run():
        pass
    search.found.known = named
    return search.found


def _by_name(op: ir.Operation) -> bool:
    """Whether a name stack says that an op is backward, and not in a gradient that has one."""
    name = name_of(op)
    return part_of(name) == BACKWARD and "jvp(" not in name.partition("transpose(")[0]


def _anywhere(_: ir.Operation) -> bool:
    return True


def _read_gradients(ops: Sequence[ir.Operation]) -> Iterator[ir.Value]:
    """Yields the operands of marked matmuls that are gradients, and not results of such matmuls."""
    for op in ops:
        if attributes.ROLES in op.attributes:
            roles = attributes.texts(op.attributes[attributes.ROLES])
            yield from (op.operands[side] for side, role in enumerate(roles) if role == GRADIENT)


class _Search:
    """Follows the seeds of a program, and again without those that turn out to be none.

    Attributes:
        found: The cotangents of the last run.
    """

    def __init__(
        self, main: ir.OpView, inside: Callable[[ir.Operation], bool], starts: ValueSet
    ) -> None:
        self._main, self._inside, self._starts = main, inside, starts
        self._bits = ValueMap[int]()
        self._weak = 0  # Seeds of a constant and another tensor, which may be a recomputed value.
        self._dropped = self._refuted = 0
        self.found = Cotangents(main)

    def run(self) -> bool:
        """Follows the seeds that are left; returns whether to run again, without some of them."""
        self.found = Cotangents(self._main)
        self._refuted = 0
        block = self._main.regions[0].blocks[0]
        for argument in block.arguments:
            if argument in self._starts:
                self._seed(argument)
        self._block(block, note=True)
        returned = terminator(block)
        self._note(returned, [False] * len(returned.operands))
        dropped = self._dropped | self._refuted & ~1  # The first seed is that of the loss.
        again, self._dropped = dropped != self._dropped, dropped
        return again

    def _seed(self, value: ir.Value, *, weak: bool = False) -> Seeds:
        bit = 1 << self._bits.setdefault(value, len(self._bits))
        self._weak |= bit * weak
        if bit & self._dropped:
            return 0
        self.found.seeds[value] = None
        self.found.levels[value] = bit
        return bit

    def _of(self, value: ir.Value) -> Seeds:
        return self.found.levels.get(value, 0)

    def _all(self, values: Sequence[ir.Value]) -> list[Seeds]:
        return [self._of(value) for value in values]

    def _set(self, values: Sequence[ir.Value], seeds: Sequence[Seeds]) -> None:
        for value, each in zip(values, seeds, strict=True):
            if is_real(value.type) and each != 0:
                self.found.levels[value] = each
            else:
                self.found.levels.pop(value, None)

    def _note(self, op: ir.Operation, scaled: Sequence[bool | None]) -> None:
        if any(self.found.is_scaled(value) for value in op.operands):
            self.found.readings.append((op, scaled))

    def _block(self, block: ir.Block, *, note: bool) -> None:
        """Follows the ops of a block, except its terminator."""
        for view in list(block.operations)[:-1]:
            self._op(view.operation, note=note)

    def _op(self, op: ir.Operation, *, note: bool) -> None:
        name = op.name
        if name in traits.IN_ORDER:
            self._with_regions(op, name, note=note)
            return
        operands = list(op.operands)
        seeds = self._all(operands)
        if not any(seeds):
            self._set(op.results, self._without(op, name, seeds))
        else:
            reading = self._reading(op, name, seeds)
            if note:
                self._note(op, reading.scaled)
            self._set(op.results, reading.results)
        if any(result in self._starts for result in op.results) and not any(
            self.found.is_scaled(result) for result in op.results
        ):
            for result in op.results:
                self._seed(result)

    def _without(self, op: ir.Operation, name: str, seeds: Sequence[Seeds]) -> list[Seeds]:
        """Returns the seeds of the results of an op whose operands have none."""
        results = list(op.results)
        number = filled_with(results[0]) if name in traits.SOURCES and results else None
        if number is not None and is_real(results[0].type):
            return [0 if number and math.isfinite(number) else None]
        data = [s for s, v in zip(seeds, op.operands, strict=True) if is_real(v.type)]
        if data and all(each is None for each in data) and name in _LINEAR:
            return [None] * len(results)
        here = self._inside is not _anywhere and self._inside(op)
        weak = self._starting(op, name) if here else None
        if weak is None:
            return [0] * len(results)
        return [self._seed(result, weak=weak) for result in results]

    def _starting(self, op: ir.Operation, name: str) -> bool | None:
        """Returns whether an op is a weak seed; None if it is no seed."""
        data = [value for value in op.operands if is_real(value.type)]
        if len(op.results) != 1 or not is_real(op.results[0].type) or not data:
            return None
        numbers = [filled_with(value) for value in data]
        known = [number for number in numbers if number is not None]
        if not any(number and math.isfinite(number) for number in known):
            return None
        if len(known) == len(numbers):
            return None if name not in _LINEAR | traits.PRODUCTS else False
        return True if name in traits.PRODUCTS else None

    def _reading(self, op: ir.Operation, name: str, seeds: Sequence[Seeds]) -> Reading:
        """Returns how an op of a linear value reads its operands."""
        count, plain = len(seeds), [0] * len(op.results)
        if not self._reads_on(op, seeds) and not _widens(op, name):
            return Reading([False] * count, plain)
        if name in _EACH:
            return Reading([None] * count, seeds)
        if name in _KEPT and is_real(op.results[0].type):
            return Reading([None] * count, [seeds[0]])
        if name in traits.PRODUCTS or name in traits.MATMULS:
            return self._product(name, seeds)
        if name in _JOINED | _TESTS or (name in _WRITTEN and _is_homogeneous(op)):
            joined = _union(seeds)
            whole = [None if v is None else True for v in _data(op, name)]
            return Reading(whole, plain if name in _TESTS else [joined] * len(plain))
        # No cotangent is the operand of an exponential. Ops of one part, as a sort, say less.
        bent = name in traits.ELEMENTWISE | traits.WRAPPED
        self._refuted |= (_union(seeds) or 0) & (-1 if bent else self._weak)
        return Reading([False] * count, plain)

    def _reads_on(self, op: ir.Operation, seeds: Sequence[Seeds]) -> bool:
        """Whether an op of a linear value is backward; without names, no op after a gradient is."""
        if self._inside is not _anywhere:
            return self._inside(op)
        owners = [v.owner for v, each in zip(op.operands, seeds, strict=True) if each]
        return not any(
            attributes.STATE_GRADIENT in owner.attributes for owner in owners if not is_block(owner)
        )

    def _product(self, name: str, seeds: Sequence[Seeds]) -> Reading:
        """A product has one factor S: of two linear ones, the factor of the earlier seed."""
        one, other = (each or 0 for each in seeds[:2])
        rest = [None] * len(seeds[2:])
        if not (one and other):
            if other and name == "stablehlo.divide":
                self._refuted |= other
                return Reading([None, False, *rest], [0])
            return Reading([None, None, *rest], [one or other])
        first = (one & -one) <= (other & -other) or name == "stablehlo.divide"
        kept, read = (one, other) if first else (other, one)
        self._refuted |= read & ~kept
        return Reading([first, not first, *rest], [kept])

    def _with_regions(self, op: ir.Operation, name: str, *, note: bool) -> None:
        inside = self._inside(op) or self._inside is _anywhere
        if name == traits.LOOP:
            seeds = self._loop(op, inside=inside)
        elif name in traits.BODIES:
            seeds = self._all(op.operands) if inside else [0] * len(op.operands)
        else:
            seeds = []
        ends: list[list[Seeds]] = []
        for number, region in enumerate(op.regions):
            block = region.blocks[0]
            self._set(list(block.arguments), seeds)
            self._block(block, note=note)
            if not (name == traits.LOOP and number == 0):
                ends.append(self._all(terminator(block).operands))
        joined = [_union(each) for each in zip(*ends, strict=True)] if inside else []
        results = seeds if name == traits.LOOP else joined or [0] * len(op.results)
        if note:
            self._note(op, [bool(each) for each in seeds] or [None] * len(op.operands))
            for number, region in enumerate(op.regions):
                end, test = terminator(region.blocks[0]), name == traits.LOOP and number == 0
                wanted = [False] if test else [bool(each) for each in results]
                self._end(end, wanted)
        self._set(list(op.results), results)

    def _end(self, end: ir.Operation, wanted: Sequence[bool]) -> None:
        """Notes the values that a region returns, which are scaled as the results are."""
        self.found.readings.append((end, list(wanted)))

    def _loop(self, op: ir.Operation, *, inside: bool) -> list[Seeds]:
        """Returns the seeds of the carries of a loop, which have them in each turn."""
        if not inside:
            return [0] * len(op.operands)
        seeds = self._all(op.operands)
        body = op.regions[1].blocks[0]
        while True:
            self._set(list(body.arguments), seeds)
            self._block(body, note=False)
            ends = self._all(terminator(body).operands)
            joined = [_union(each) for each in zip(seeds, ends, strict=True)]
            if joined == seeds:
                return seeds
            seeds = joined


def _union(seeds: Sequence[Seeds]) -> Seeds:
    known = [each for each in seeds if each is not None]
    total = 0
    for each in known:
        total |= each
    return total if known else None


def _widens(op: ir.Operation, name: str) -> bool:
    """Whether an op converts a gradient to a wider format, in which it loses no S."""
    if name != "stablehlo.convert" or not is_real(op.results[0].type):
        return False
    return bool(op.results[0].type.element_type.width > op.operands[0].type.element_type.width)


def _data(op: ir.Operation, name: str) -> list[ir.Value | None]:
    """Returns the operands that have to have the same factor; None for others."""
    numbers = traits.OPS[name].data
    chosen = numbers is None or name == "stablehlo.clamp"
    return [
        value if is_real(value.type) and (chosen or i in (numbers or ())) else None
        for i, value in enumerate(op.operands)
    ]


def _is_homogeneous(op: ir.Operation) -> bool:
    """Whether the regions of an op, if it has any, keep a common factor of all its data."""
    combined = [monoid(region) for region in op.regions]
    if op.name == "stablehlo.select_and_scatter":
        return combined[1] in traits.HOMOGENEOUS
    return all(each == TAKES or each in traits.HOMOGENEOUS for each in combined)
