"""Ops with regions, run on data as far as the units of their operands let them.

A region itself is never changed: XLA takes none that reads values from outside, such as scales.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from operator import mul

from scalify_hlo._compat import ir
from scalify_hlo.rules.families import opaque, steep, unscale_captures
from scalify_hlo.rules.split import Split
from scalify_hlo.rules.units import Unit
from scalify_hlo.scale import ANY, ONE, Form, Generator, Scale, Scaled
from scalify_hlo.uncertainty import UNKNOWN


def run_on_data(
    op: ir.Operation,
    split: Split,
    operands: Mapping[int, Unit],
    results: Sequence[Unit],
    rises: Sequence[float] = (),
) -> None:
    """Brings an op's operands to scales that fit their units, and says what its results are.

    Args:
        op: The op.
        split: Where it stands.
        operands: The solved units of operands, by number.
        results: The solved units of the results.
        rises: By how much the levels of results rise; not at all by default.
    """
    units = {i: unit for i, unit in operands.items() if isinstance(unit, Scale)}
    scales = _common_scales(op, split, units, results)
    forms = [_evaluated(unit, scales) for unit in results]
    if any(_leaves_format(r, f, split) for r, f in zip(op.results, forms, strict=True)):
        return opaque(op, split)
    read = unscale_captures(op, split) + _bring_others(op, split, units, scales)
    if read:
        split.remark(op, "reads values in its region; they are multiplied with their scales")
    for number, (result, form) in enumerate(zip(list(op.results), forms, strict=True)):
        if isinstance(form, Scaled) and rises:
            form = form._replace(level=form.level + rises[number])
        if form is None and read and split.narrow and split.format(result) is not None:
            form = Scaled(ONE, 0, UNKNOWN)
        split.set(result, form)
    return None


def _leaves_format(result: ir.Value, form: Form, split: Split) -> bool:
    """Whether a region makes a power of a scale that data can't follow."""
    return isinstance(form, Scaled) and steep(result, form.scale, split)


def _common_scales(
    op: ir.Operation, split: Split, units: Mapping[int, Scale], results: Sequence[Unit]
) -> dict[Generator, Form]:
    """Brings the operands of each unknown to a scale of their own."""
    scales: dict[Generator, Form] = {}
    for generator in dict.fromkeys(g for unit in units.values() for g, _ in unit.powers):
        unit = Scale(0, ((generator, 1),))
        concerned = [i for i, other in units.items() if generator in dict(other.powers)]
        if all(split.form(op.operands[i]) is ANY for i in concerned):
            scales[generator] = ANY
            continue
        members = [i for i in concerned if units[i] == unit]
        result = results.index(unit) if unit in results else None
        form = split.align(op, members, result=result)
        scales[generator] = form if isinstance(form, Scaled) else None
    return scales


def _bring_others(
    op: ir.Operation, split: Split, units: Mapping[int, Scale], scales: Mapping[Generator, Form]
) -> int:
    """Brings the operands whose unit is 1, or follows from others, to the scale that they need.

    Returns:
        How many scaled operands are read as values.
    """
    read = 0
    for index, unit in units.items():
        if not unit.powers:
            read += isinstance(split.form(op.operands[index]), Scaled)
            split.read(op, index)
        elif unit.degree > 1 or unit.powers[0][1] < 0:
            form = _evaluated(unit, scales)
            target = form.scale if isinstance(form, Scaled) else ONE
            split.replace(op, index, split.bring(op.operands[index], target, op.operation))
    return read


def _evaluated(unit: Unit, scales: Mapping[Generator, Form]) -> Form:
    """The form of a value of a unit. What no scale could change is ANY."""
    if not isinstance(unit, Scale):
        return unit
    forms = [(scales[g], k) for g, k in unit.powers]
    if any(form is ANY for form, _ in forms):
        return ANY
    scaled = [(form, k) for form, k in forms if isinstance(form, Scaled)]
    if not scaled:
        return None
    scale = reduce(mul, (form.scale**k for form, k in scaled))
    uncertainty = reduce(mul, (form.uncertainty**k for form, k in scaled))
    return Scaled(scale, sum(form.level * k for form, k in scaled), uncertainty)
