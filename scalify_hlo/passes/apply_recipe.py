"""scalify-apply-recipe: puts casts where a recipe wants low precision, and narrow matmuls between.

What it writes is plain StableHLO of narrow types. Propagation, which comes after, sees to it that
the casts are of data near unit size.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.algorithms import dot_algorithm
from scalify_hlo.dialect.formats import element_of, format_of
from scalify_hlo.passes.base import Pass, main_function
from scalify_hlo.passes.casts import Casts, widened_from
from scalify_hlo.passes.compute import narrow_model
from scalify_hlo.passes.report import Report
from scalify_hlo.passes.rescaling import Rescaling
from scalify_hlo.passes.sites import Sites
from scalify_hlo.passes.state_formats import narrow_arguments, narrow_results
from scalify_hlo.recipe import KEEP, Matmul, Recipe
from scalify_hlo.roles.matmuls import FORWARD, GRADIENT, OTHER
from scalify_hlo.roles.sizes import sizes


@dataclass(frozen=True)
class ApplyRecipePass(Pass):
    """Inserts the casts of a recipe, by the roles that `scalify-roles` wrote.

    Attributes:
        recipe: A preset's name or a recipe's file. Its formats of state are those of pairs.
    """

    name: ClassVar[str] = "scalify-apply-recipe"
    recipe: Recipe = field(default_factory=Recipe)

    def apply(self, module: ir.Operation, report: Report) -> None:
        """See `Pass.apply`."""
        main = main_function(module)
        if main is not None and self.recipe.rescales:
            Rescaling(main, self.recipe, report, lambda mark: _marked(module, mark)).run()
        casts = Casts()
        sites = Sites(self.recipe.matmul)
        for op in _marked(module, attributes.ROLES):
            formats = _formats(op, self.recipe.matmul, sites)
            if formats is not None:
                _narrow(op, formats, self.recipe.matmul, casts)
                report.narrowed += 1
            else:
                _clear(op)
        sites.refuse_unmatched()
        if main is not None:
            narrow_arguments(main, self.recipe.state)
            narrow_results(main, self.recipe.state, casts)
        gradients = _marked(module, attributes.STATE_GRADIENT)
        for op in gradients:
            for number in op.attributes[attributes.STATE_GRADIENT]:
                _narrow_gradient(op.results[number.value], self.recipe.state.gradient, casts)
        if main is not None and self.recipe.compute != KEEP:
            narrow_model(main, self.recipe.compute, casts)
        for mark in _LEFT:
            for op in _marked(module, mark):
                del op.attributes[mark]
        report.casts = casts.count


def _marked(module: ir.Operation, mark: str) -> list[ir.OpView]:
    """The ops that have a mark: matmuls with roles, or what makes gradients of weights."""
    found: list[ir.OpView] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if mark in op.attributes:
            found.append(op.opview)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return found


def _formats(op: ir.OpView, recipe: Matmul, sites: Sites) -> tuple[str, str] | None:
    """The formats of a matmul's operands; None if it keeps those it has."""
    roles = [ir.StringAttr(role).value for role in op.attributes[attributes.ROLES]]
    lhs, rhs = (getattr(recipe, role) for role in roles)
    if not sites.selects(op.attributes[attributes.SITE].value):
        return None
    if KEEP in (lhs, rhs) or op.attributes[attributes.PART].value == OTHER:
        return None
    if not all(format_of(value.type) for value in list(op.operands)[:2]):
        return None
    if lhs.startswith(_NO_PAIR) and rhs.startswith(_NO_PAIR):
        return None
    if _is_small(lhs) or _is_small(rhs):
        if lhs != rhs and op.operation.name == "stablehlo.convolution":
            return None  # whose operands have one type in StableHLO
        if attributes.VOCABULARY in op.attributes and not recipe.vocabulary:
            return None
        extent = sizes(op)
        if extent is None or min(extent) < recipe.smallest:
            return None
    return lhs, rhs


_NO_PAIR = "f8E5M2"
"""Two operands of this format, or of its variants, have no kernel anywhere."""


def _is_small(format_: str) -> bool:
    return format_.startswith("f8")


def _narrow(op: ir.OpView, formats: tuple[str, str], recipe: Matmul, casts: Casts) -> None:
    """Puts a matmul of narrow operands in a matmul's place."""
    operands = list(op.operands)
    roles = [ir.StringAttr(role).value for role in op.attributes[attributes.ROLES]]
    narrow = [
        casts.cast(value, format_, kept=role == GRADIENT)
        for value, format_, role in zip(operands, formats, roles, strict=False)
    ]
    part = op.attributes[attributes.PART].value
    kept = {key: value for key, value in op.attributes.items() if key not in _DROPPED}
    if op.operation.name == "stablehlo.dot_general" and _has_kernel(op, formats):
        algorithm = dot_algorithm(*formats, imprecise=part == FORWARD)
        kept |= {"algorithm": algorithm} if algorithm is not None else {}
    old = op.results[0]
    output = old.type.element_type if recipe.output == KEEP else element_of(recipe.output)
    if recipe.output == "f16":
        output = ir.F32Type.get()  # rounded after, as data: sums of many terms could leave f16
    result = ir.RankedTensorType.get(old.type.shape, output, old.type.encoding)
    made = ir.Operation.create(
        op.operation.name,
        results=[result],
        operands=[*narrow, *operands[2:]],
        attributes=kept,
        loc=op.location,
        ip=ir.InsertionPoint(op),
    ).result
    if recipe.output == "f16":
        made = casts.cast(made, "f16")
    if made.type.element_type != old.type.element_type:
        made = stablehlo.convert(old.type, made, loc=op.location, ip=ir.InsertionPoint(op))
    if attributes.STATE_GRADIENT in op.attributes:
        numbers = op.attributes[attributes.STATE_GRADIENT]
        made.owner.attributes[attributes.STATE_GRADIENT] = numbers
    old.replace_all_uses_with(made)
    op.operation.erase()
    for value in dict.fromkeys(operands):
        if widened_from(value) is not None and next(iter(value.uses), None) is None:
            value.owner.erase()


def _narrow_gradient(value: ir.Value, format_: str, casts: Casts) -> None:
    """Rounds the gradient of a weight; those of vectors are no place to save bytes with FP8."""
    if format_ != KEEP and not (_is_small(format_) and value.type.rank < _MATRIX):
        casts.through(value, format_)


_MATRIX = 2
"""The rank from which on FP8 gradients save anything."""

_LEFT = (attributes.STATE_GRADIENT, attributes.PART)
"""What passes wrote for this one."""

_MARKS = frozenset({attributes.ROLES, attributes.SITE, attributes.VOCABULARY})
_DROPPED = _MARKS | {attributes.STATE_GRADIENT, "algorithm", "precision_config"}


def _has_kernel(op: ir.OpView, formats: tuple[str, str]) -> bool:
    """Whether an algorithm may be asked for: XLA has none for vectors, and refuses the program."""
    extent = sizes(op)
    return all(map(_is_small, formats)) and extent is not None and min(extent[:2]) > 1


def _clear(op: ir.OpView) -> None:
    for key in _MARKS:
        if key in op.attributes:
            del op.attributes[key]
