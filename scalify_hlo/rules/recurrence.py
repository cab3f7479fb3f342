"""How far the sizes of a loop's carries can be trusted.

A turn makes a carry of degree d in itself, and of other values whose sizes are uncertain by o
octaves. For d below 1 the errors of the turns converge, to ``o / (1 - d)``; for 1 they add up; a
carry that multiplies itself has no size that could be predicted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import attributes
from scalify_hlo.scale import Form, Scaled
from scalify_hlo.uncertainty import UNKNOWN, Root, Uncertainty, of_root

_CONVERGES: Final = 0.75
"""The degree up to which errors of turns are taken to converge."""

_SQUARE: Final = 1.01
"""The degree from which on a carry multiplies itself."""

_TURNS: Final = 64
"""How many turns a loop is taken to have where they are not known."""

_LESS: Final = "LT"


def has_casts(block: ir.Block, functions: Collection[str] = ()) -> bool:
    """Whether a recipe's casts are among the ops of a block, or in what these call.

    Args:
        block: The block.
        functions: The functions that have some.
    """
    for op in block.operations:
        operation = op.operation
        if attributes.CAST in operation.attributes:
            return True
        if operation.name == "func.call" and operation.attributes["callee"].value in functions:
            return True
        for region in operation.regions:
            if any(has_casts(inner, functions) for inner in region.blocks):
                return True
    return False


def entered(forms: Sequence[Form]) -> tuple[list[Form], list[Root | None]]:
    """The forms of carries at the start of a turn, each uncertain for its own reason.

    Returns:
        The forms, and the root of each that has one.
    """
    inside: list[Form] = []
    roots: list[Root | None] = []
    for form in forms:
        root = None
        if isinstance(form, Scaled):
            root = Root(form.uncertainty.octaves, form.uncertainty.in_powers)
            form = form._replace(uncertainty=Uncertainty({root: 1.0}))
        inside.append(form)
        roots.append(root)
    return inside, roots


def after_turns(
    op: ir.Operation, forms: Sequence[Form], ends: Sequence[Form], roots: Sequence[Root | None]
) -> list[Uncertainty | None]:
    """How uncertain carries are after all turns of a loop; None where no size is predicted.

    Args:
        op: The loop.
        forms: Those with which the carries enter the loop.
        ends: Those that one turn makes of them.
        roots: The root of each carry in that turn.
    """
    turns = _turns(op)
    return [
        None
        if root is None or not isinstance(form, Scaled) or not isinstance(end, Scaled)
        else _after(form, end, root, turns)
        for form, end, root in zip(forms, ends, roots, strict=True)
    ]


def doubted(forms: Sequence[Form], uncertainties: Sequence[Uncertainty | None]) -> list[Form]:
    """Forms with other uncertainties, where there are some."""
    return [
        form._replace(uncertainty=found) if isinstance(form, Scaled) and found else form
        for form, found in zip(forms, uncertainties, strict=True)
    ]


def made_anew(op: ir.Operation, writing: Collection[str]) -> list[bool]:
    """Which carries a turn of a loop makes anew: not those handed on, or written to in one place.

    Args:
        op: The loop.
        writing: The functions that return what they write into.
    """
    yielded = op.regions[1].blocks[0].operations[-1].operands
    return [
        not isinstance(value.owner, ir.Block) and not _writes(value.owner, writing)
        for value in yielded
    ]


def writing_functions(functions: Mapping[str, ir.OpView]) -> frozenset[str]:
    """The functions that return a value after they have written into it, as scans do."""
    found: set[str] = set()
    for name, function in functions.items():
        blocks = function.regions[0].blocks
        returned = list(blocks[0].operations[-1].operands) if blocks else []
        if len(returned) == 1 and not isinstance(returned[0].owner, ir.Block):
            found |= {name} if _writes(returned[0].owner, found) else set()
    return frozenset(found)


def _writes(op: ir.OpView, writing: Collection[str]) -> bool:
    operation = op.operation
    if operation.name == "func.call":
        return operation.attributes["callee"].value in writing
    return operation.name in _WRITING


def recurring(
    ends: Sequence[Form], roots: Sequence[Root | None], anew: Sequence[bool]
) -> list[Form]:
    """The forms of a loop's results: those that each turn makes of themselves are uncertain.

    Args:
        ends: The forms of the carries after the last turn.
        roots: The root of each carry in that turn.
        anew: Whether the turn makes it anew.
    """
    return [
        end._replace(uncertainty=end.uncertainty.with_root(_RECURRENCE))
        if isinstance(end, Scaled) and root in end.uncertainty.degrees and made
        else end
        for end, root, made in zip(ends, roots, anew, strict=False)
    ]


_WRITING: Final = frozenset({"stablehlo.dynamic_update_slice", "stablehlo.scatter"})

_RECURRENCE: Final = 4.0
"""Octaves by which what comes out of a recurrence is uncertain."""


def _after(form: Scaled, end: Scaled, root: Root, turns: int) -> Uncertainty:
    made = end.uncertainty
    degree = made.degrees.get(root, 0.0)
    if degree > _SQUARE:
        return UNKNOWN
    others = Uncertainty({r: k for r, k in made.degrees.items() if r is not root}, made.rest)
    entry = root.deviation
    if not degree:
        return of_root(max(entry, others.octaves + made.bias))
    grown = others.octaves + made.bias + _moved(form, end)
    if degree <= _CONVERGES:
        return of_root(max(entry, grown / (1.0 - degree)))
    return of_root(entry + grown * turns)


def _moved(form: Scaled, end: Scaled) -> float:
    """By how many octaves a turn changes the predicted size."""
    between = end.scale / form.scale
    return abs(end.level + between.exponent - form.level) if between.static else 0.0


def _turns(op: ir.Operation) -> int:
    """How often a loop runs: as its condition says, or as is assumed."""
    condition = op.regions[0].blocks[0]
    end = condition.operations[-1].operands[0].owner
    if isinstance(end, ir.Block) or end.name != "stablehlo.compare":
        return _TURNS
    direction = stablehlo.ComparisonDirectionAttr(end.attributes["comparison_direction"]).value
    limit = end.operands[1].owner
    if direction != _LESS or isinstance(limit, ir.Block) or limit.name != "stablehlo.constant":
        return _TURNS
    attribute = limit.attributes["value"]
    if not isinstance(attribute, ir.DenseIntElementsAttr):
        return _TURNS
    try:
        return max(1, int(attribute[0]))
    except TypeError:  # of a width that the bindings do not read
        return _TURNS
