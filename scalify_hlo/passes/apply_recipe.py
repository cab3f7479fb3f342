"""scalify-apply-recipe: puts casts where a recipe wants low precision, and narrow matmuls between.

What it writes is plain StableHLO of narrow types. Propagation, which comes after, sees to it that
the casts are of data near unit size.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, TypeAlias

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.algorithms import dot_algorithm
from scalify_hlo.dialect.formats import format_of
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

Extent: TypeAlias = tuple[int, int, int] | None
"""M, N and K of a matmul, where they are known."""


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
            Rescaling(main, self.recipe, report, partial(_marked, module)).run()
        casts = Casts()
        sites = Sites(self.recipe.matmul)
        marked: list[ir.OpView] = []
        for op in _marked(module, *_LEFT):
            matmul = attributes.ROLES in op.attributes
            marked += self._narrowed(op, sites, casts, report) if matmul else [op]
        sites.refuse_unmatched()
        if main is not None:
            narrow_arguments(main, self.recipe.state)
            narrow_results(main, self.recipe.state, casts)
        for op in marked:
            for number in _gradients(op):
                _narrow_gradient(op.results[number], self.recipe.state.gradient, casts)
        if main is not None and self.recipe.compute != KEEP:
            narrow_model(main, self.recipe.compute, casts)
            marked = _marked(module, *_LEFT)  # it copies functions, and erases others
        for op in marked:
            _clear(op, _LEFT)
        report.casts = casts.count

    def _narrowed(
        self, op: ir.OpView, sites: Sites, casts: Casts, report: Report
    ) -> list[ir.OpView]:
        """What stands in the place of a matmul with roles: itself, or a narrow one."""
        extent = sizes(op)
        formats = _formats(op, self.recipe.matmul, sites, extent)
        if formats is None:
            _clear(op, _MARKS)
            return [op]
        report.narrowed += 1
        return _narrow(op, formats, self.recipe.matmul, casts, extent)


def _marked(module: ir.Operation, *marks: str) -> list[ir.OpView]:
    """The ops that have one of some marks: matmuls with roles, what makes gradients of weights."""
    found: list[ir.OpView] = []
    note, go_on = found.append, ir.WalkResult.ADVANCE

    def visit(op: ir.Operation) -> ir.WalkResult:
        present = op.attributes
        for mark in marks:
            if mark in present:
                note(op.opview)
                break
        return go_on

    module.walk(visit)
    return found


def _formats(op: ir.OpView, recipe: Matmul, sites: Sites, extent: Extent) -> tuple[str, str] | None:
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
        if extent is None or min(extent) < recipe.smallest:
            return None
    return lhs, rhs


_NO_PAIR = "f8E5M2"
"""Two operands of this format, or of its variants, have no kernel anywhere."""


def _is_small(format_: str) -> bool:
    return format_.startswith("f8")


def _narrow(
    op: ir.OpView, formats: tuple[str, str], recipe: Matmul, casts: Casts, extent: Extent
) -> list[ir.OpView]:
    """Puts a matmul of narrow operands in a matmul's place.

    Returns:
        What has marks: it, and the convert to what it was if that is the gradient of a weight.
    """
    operands = list(op.operands)
    roles = [ir.StringAttr(role).value for role in op.attributes[attributes.ROLES]]
    narrow = [
        casts.cast(value, format_, kept=role == GRADIENT)
        for value, format_, role in zip(operands, formats, roles, strict=False)
    ]
    part = op.attributes[attributes.PART].value
    kept = {key: value for key, value in op.attributes.items() if key not in _DROPPED}
    if op.operation.name == "stablehlo.dot_general" and _has_kernel(formats, extent):
        algorithm = dot_algorithm(*formats, imprecise=part == FORWARD)
        kept |= {"algorithm": algorithm} if algorithm is not None else {}
    old = op.results[0]
    output = old.type.element_type if recipe.output == KEEP else casts.element(recipe.output)
    if recipe.output == "f16":
        output = ir.F32Type.get()  # rounded after, as data: sums of many terms could leave f16
    result = ir.RankedTensorType.get(old.type.shape, output, old.type.encoding)
    matmul = ir.Operation.create(
        op.operation.name,
        results=[result],
        operands=[*narrow, *operands[2:]],
        attributes=kept,
        loc=op.location,
        ip=ir.InsertionPoint(op),
    )
    made = matmul.result
    if recipe.output == "f16":
        made = casts.cast(made, "f16")
    if made.type.element_type != old.type.element_type:
        made = stablehlo.convert(old.type, made, loc=op.location, ip=ir.InsertionPoint(op))
    marked = [matmul]
    if attributes.STATE_GRADIENT in op.attributes:
        numbers = op.attributes[attributes.STATE_GRADIENT]
        made.owner.attributes[attributes.STATE_GRADIENT] = numbers
        # Other converts may be erased, where only matmuls take them, which are narrow.
        marked += [made.owner] if made != matmul.result else []
    old.replace_all_uses_with(made)
    op.operation.erase()
    for value in dict.fromkeys(operands):
        if widened_from(value) is not None and next(iter(value.uses), None) is None:
            value.owner.erase()
    return marked


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


def _has_kernel(formats: tuple[str, str], extent: Extent) -> bool:
    """Whether an algorithm may be asked for: XLA has none for vectors, and refuses the program."""
    return all(map(_is_small, formats)) and extent is not None and min(extent[:2]) > 1


def _gradients(op: ir.OpView) -> list[int]:
    """The numbers of the results of an op that are gradients of weights."""
    if attributes.STATE_GRADIENT not in op.attributes:
        return []
    return [number.value for number in op.attributes[attributes.STATE_GRADIENT]]


def _clear(op: ir.OpView, marks: Iterable[str]) -> None:
    present = op.attributes
    for mark in marks:
        if mark in present:
            del present[mark]
