"""Unit inference: the scales that the values of a region can have together.

The region of a reduction, a scatter, a sort or a map computes with single elements. Each of its
float arguments gets an unknown unit. Each op is an equation of the units of its operands and
results: those of a sum are equal, those of a product are multiplied, and those of an exponential
are 1. Equations are solved in order, by substitution. An unknown that remains is free: the op runs
on data at any scale, and its region is not changed. If a unit has to be 1, the op reads values.
There is always a solution, as all units may be 1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from math import gcd
from operator import mul
from typing import Final, TypeAlias

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import REGION_CALL_DEPTH
from scalify_hlo.algebra.scale import ANY, ONE, AnyScale, RuntimeScale, Scale, splat_info
from scalify_hlo.ir.formats import REDUCE_PRECISION, is_real
from scalify_hlo.ir.functions import around, callee_of
from scalify_hlo.ir.splats import filled_with
from scalify_hlo.ir.value_map import ValueMap
from scalify_hlo.ir.walk import read_by
from scalify_hlo.rules.scale_rewriter import ScaleRewriter

Unit: TypeAlias = Scale | AnyScale | None
"""A monomial of unknowns; ANY for values of 0, ±inf and NaN; None for values other than floats."""


class Inference:
    """The units of the values of an op's regions.

    Args:
        rewriter: The rewriter, which has the scale information of captured values.
    """

    def __init__(self, rewriter: ScaleRewriter) -> None:
        self._rewriter = rewriter
        self._found: dict[RuntimeScale, Scale] = {}
        self._units: ValueMap[Unit] = ValueMap()
        self._count = 0
        self._depth = 0

    def unknown(self, value: ir.Value) -> Unit:
        """Returns a new unknown for a value; None if it is not a float."""
        if not self.float(value):
            return None
        self._count += 1
        return Scale(0, ((RuntimeScale(self._count, f"u{self._count}"), 1),))

    def float(self, value: ir.Value) -> bool:
        """Whether a value has float or complex elements."""
        return self._rewriter.format(value) is not None

    def solved(self, unit: Unit) -> Unit:
        """Returns a unit as a monomial of the remaining unknowns."""
        return self._solved(unit) if isinstance(unit, Scale) else unit

    def _solved(self, unit: Scale) -> Scale:
        powers = (self._found.get(g, Scale(0, ((g, 1),))) ** k for g, k in unit.powers)
        return reduce(mul, powers, ONE)

    def equal(self, units: Sequence[Unit]) -> Unit:
        """Adds the equation that units are equal; 0, inf and NaN fit any unit."""
        scales = [unit for unit in units if isinstance(unit, Scale)]
        for unit in scales[1:]:
            self._vanish(unit / scales[0])
        return self._solved(scales[0]) if scales else ANY

    def _vanish(self, unit: Scale) -> None:
        """Solves ``unit = 1`` for the last unknown that the others can express."""
        rest = self._solved(unit)
        if not rest.powers:
            return
        rest = rest.root(gcd(*(k for _, k in rest.powers)))
        last = next(((g, k) for g, k in reversed(rest.powers) if abs(k) == 1), None)
        if last is None:  # For example u^2 = v^3, which is true for units 1, and for others.
            self._found |= {g: ONE for g, _ in rest.powers}
        else:
            runtime, k = last
            self._found[runtime] = (rest / Scale(0, (last,))) ** -k
        self._found = {g: self._solved(unit) for g, unit in self._found.items()}

    def run(self, block: ir.Block, arguments: Sequence[Unit]) -> list[Unit]:
        """Returns the units of the results of a block, given those of its arguments."""
        self._units.update(zip(block.arguments, arguments, strict=True))
        ops = list(block.operations)
        for op in ops[:-1]:
            derive = DERIVATIONS.get(op.operation.name)
            units = [derive(self, op)] * len(op.results) if derive else self._other(op)
            for result, unit in zip(op.results, units, strict=True):
                self._units[result] = unit if self.float(result) else None
        return [self.of(value) for value in ops[-1].operands]

    def of(self, value: ir.Value) -> Unit:
        """Returns the unit of a value; captured values are read at scale 1."""
        if value in self._units:
            return self._units[value]
        if not self.float(value):
            return None
        return ANY if self._rewriter.info(value) is ANY else ONE

    def all_of(self, op: ir.Operation) -> list[Unit]:
        """Returns the units of an op's operands."""
        return [self.of(value) for value in op.operands]

    def _other(self, op: ir.Operation) -> list[Unit]:
        if (
            op.operation.name == "func.call"
            and (body := _callee(op))
            and self._depth < REGION_CALL_DEPTH
        ):
            self._depth += 1
            units = self.run(body, self.all_of(op))
            self._depth -= 1
            return units
        self.read(op)
        return [ONE] * len(op.results)

    def read(self, op: ir.Operation) -> Unit:
        """Requires units of 1 for an op that reads values, in its regions too."""
        for value in read_by(op):
            self.equal((ONE, self.of(value)))
        return ONE

    def keeps_range(self, op: ir.Operation) -> bool:
        """Whether a convert or a reduce_precision keeps the range of exponents."""
        source, target = map(self._rewriter.format, (op.operands[0], op.results[0]))
        if source is None or target is None:
            return False
        if op.operation.name == REDUCE_PRECISION:
            return bool(op.attributes["exponent_bits"].value >= source.exponent_bits)
        below = target.min_exponent <= source.min_exponent
        return below and target.max_exponent >= source.max_exponent


def _callee(op: ir.Operation) -> ir.Block | None:
    """Returns the body of the function that an op calls."""
    table, name = ir.SymbolTable(around(op, "builtin.module")), callee_of(op)
    blocks = table[name].regions[0].blocks if name in table else ()
    return blocks[0] if blocks else None


Derive: TypeAlias = Callable[[Inference, ir.Operation], Unit]
"""Computes the unit of an op's result from those of its operands."""


def _alike(inference: Inference, op: ir.Operation) -> Unit:
    return inference.equal(inference.all_of(op))


def _degree_0(inference: Inference, op: ir.Operation) -> Unit:
    inference.equal(inference.all_of(op))
    return ONE


def _keep(inference: Inference, op: ir.Operation) -> Unit:
    return inference.of(op.operands[0])


def _product(inference: Inference, op: ir.Operation, sign: int = 1) -> Unit:
    a, b = inference.all_of(op)
    if isinstance(a, Scale) and isinstance(b, Scale):
        return inference.solved(a * b**sign)
    return ANY


def _cast(inference: Inference, op: ir.Operation) -> Unit:
    return _keep(inference, op) if inference.keeps_range(op) else inference.read(op)


def _root(inference: Inference, op: ir.Operation, sign: int = 1) -> Unit:
    unit = inference.solved(inference.of(op.operands[0]))
    if isinstance(unit, Scale) and unit.divides(2):
        return unit.root(2) ** sign
    return inference.read(op)


def _constant(_: Inference, op: ir.Operation) -> Unit:
    number = filled_with(op.result) if is_real(op.result.type) else None
    return ANY if number is not None and splat_info(number) is ANY else ONE


_NAMES: Final[Mapping[Derive, str]] = {
    _alike: "add subtract maximum minimum remainder clamp complex",
    _degree_0: "compare atan2",
    _keep: "negate abs real imag reshape broadcast_in_dim",
    lambda *_: ONE: "sign is_finite",
    lambda inference, op: inference.equal(inference.all_of(op)[1:]): "select",
    _product: "multiply",
    partial(_product, sign=-1): "divide",
    _cast: "convert reduce_precision",
    _root: "sqrt",
    partial(_root, sign=-1): "rsqrt",
    _constant: "constant",
}
DERIVATIONS: dict[str, Derive] = {"sdy.sharding_constraint": _keep} | {
    f"stablehlo.{name}": derive for derive, names in _NAMES.items() for name in names.split()
}
