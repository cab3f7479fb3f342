"""scalify-apply-recipe: puts casts where a recipe wants low precision, and narrow matmuls between.

What it writes is plain StableHLO of narrow types. Propagation, which comes after, sees to it that
the casts are of data near unit size.
"""

from __future__ import annotations

import fnmatch
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.formats import element_of, format_of
from scalify_hlo.passes.base import Pass, main_function
from scalify_hlo.passes.report import Report
from scalify_hlo.recipe import KEEP, Matmul, Recipe, State
from scalify_hlo.roles.matmuls import FORWARD, OTHER, contracted


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
        casts = Casts()
        sites, gradients = _marked(module)
        for op in sites:
            formats = _formats(op, self.recipe.matmul)
            if formats is not None:
                _narrow(op, formats, self.recipe.matmul, casts)
                report.narrowed += 1
            else:
                _clear(op)
        main = main_function(module)
        if main is not None:
            _narrow_arguments(main, self.recipe.state)
            _narrow_results(main, self.recipe.state, casts)
        if self.recipe.state.gradient != KEEP:
            for op in gradients:
                casts.through(op.results[0], self.recipe.state.gradient)
        for op in gradients:
            del op.attributes[attributes.STATE_GRADIENT]


class Casts:
    """The casts of a module: one for each value and format."""

    def __init__(self) -> None:
        self._made: dict[tuple[ir.Value, str, str], ir.Value] = {}

    def cast(self, value: ir.Value, format_: str, kind: str = attributes.DATA) -> ir.Value:
        """A value in another format, right after it is made; itself if it has that already."""
        element = element_of(format_)
        if value.type.element_type == element:
            return value
        if (source := _widened_from(value)) is not None and source.type.element_type == element:
            return source
        key = value, format_, kind
        if key not in self._made:
            self._made[key] = convert_after(value, element, kind)
        return self._made[key]

    def through(self, value: ir.Value, format_: str) -> None:
        """Rounds a value to a format for all its users."""
        element = value.type.element_type
        users = [(use.owner, use.operand_number) for use in value.uses]
        narrow = self.cast(value, format_)
        back = convert_after(narrow, element)
        for owner, index in users:
            owner.operands[index] = back


def _widened_from(value: ir.Value) -> ir.Value | None:
    """What a value was before a convert; a model that rounds its values writes two."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.name != "stablehlo.convert":
        return None
    return owner.operands[0]


def convert_after(value: ir.Value, element: ir.Type, cast: str = "") -> ir.Value:
    """Converts a value right after it is made; a cast of data if its kind is given."""
    type_ = value.type
    result = ir.RankedTensorType.get(type_.shape, element, type_.encoding)
    owner = value.owner
    if isinstance(owner, ir.Block):
        ip, location = ir.InsertionPoint.at_block_begin(owner), value.location
    else:
        ip, location = ir.InsertionPoint(owner), owner.location
    op = stablehlo.ConvertOp(result, value, loc=location, ip=ip)
    if not isinstance(owner, ir.Block):
        op.operation.move_after(owner)
    if cast:
        op.attributes[attributes.CAST] = ir.StringAttr.get(cast)
    return op.result


_KINDS = {"second_moment": attributes.SECOND}


def _narrow_arguments(main: ir.OpView, recipe: State) -> None:
    """Gives what a step carries in the formats in which it is kept between steps."""
    arguments = list(main.regions[0].blocks[0].arguments)
    marks = attributes.argument_attributes(main)
    for argument, mark in zip(arguments, marks, strict=True):
        role, format_ = _state_format(mark, recipe)
        if format_ == KEEP:
            continue
        wide = argument.type
        uses = [(use.owner, use.operand_number) for use in argument.uses]
        element = element_of(format_)
        argument.set_type(ir.RankedTensorType.get(wide.shape, element, wide.encoding))
        widened = convert_after(argument, wide.element_type)
        for owner, index in uses:
            owner.operands[index] = widened
        if role != "weight":
            mark[attributes.FOLLOWS] = ir.UnitAttr.get()
    attributes.set_argument_attributes(main, marks)


def _narrow_results(main: ir.OpView, recipe: State, casts: Casts) -> None:
    """Gives back what a step carries in the formats in which it is kept between steps."""
    block = main.regions[0].blocks[0]
    returned, marks = block.operations[-1], attributes.result_attributes(main)
    for index, mark in enumerate(marks):
        role, format_ = _state_format(mark, recipe)
        if format_ != KEEP:
            kind = _KINDS.get(role, attributes.STATE)
            returned.operands[index] = casts.cast(returned.operands[index], format_, kind)
    attributes.set_result_attributes(main, marks)
    types = [value.type for value in returned.operands]
    attributes.set_function_type(main, [a.type for a in block.arguments], types)


def _state_format(mark: attributes.Attributes, recipe: State) -> tuple[str, str]:
    """The role of a pair that is carried, and the format it is kept in; `mark` loses that."""
    stored = mark.pop(attributes.STORED, None)
    role = ir.StringAttr(mark[attributes.ROLE]).value if attributes.ROLE in mark else ""
    if attributes.PAIR not in mark:
        return role, KEEP
    if stored is not None:
        return role, ir.StringAttr(stored).value
    return role, getattr(recipe, role, KEEP) if role in _CARRIED else KEEP


_CARRIED = frozenset({"weight", "first_moment", "second_moment"})


def _marked(module: ir.Operation) -> tuple[list[ir.OpView], list[ir.OpView]]:
    """The matmuls with roles, and the ops that make gradients of weights."""
    matmuls: list[ir.OpView] = []
    gradients: list[ir.OpView] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if attributes.ROLES in op.attributes:
            matmuls.append(op.opview)
        if attributes.STATE_GRADIENT in op.attributes:
            gradients.append(op.opview)
        return ir.WalkResult.ADVANCE

    module.walk(visit)
    return matmuls, gradients


def _formats(op: ir.OpView, recipe: Matmul) -> tuple[str, str] | None:
    """The formats of a matmul's operands; None if it keeps those it has."""
    roles = [ir.StringAttr(role).value for role in op.attributes[attributes.ROLES]]
    lhs, rhs = (getattr(recipe, role) for role in roles)
    if KEEP in (lhs, rhs) or op.attributes[attributes.PART].value == OTHER:
        return None
    if not all(format_of(value.type) for value in list(op.operands)[:2]):
        return None
    site = op.attributes[attributes.SITE].value
    if not _selected(site, recipe):
        return None
    if _is_small(lhs) or _is_small(rhs):
        if attributes.VOCABULARY in op.attributes and not recipe.vocabulary:
            return None
        sizes = _sizes(op)
        if sizes is None or min(sizes) < recipe.smallest:
            return None
    return lhs, rhs


def _is_small(format_: str) -> bool:
    return format_.startswith("f8")


def _selected(site: str, recipe: Matmul) -> bool:
    """Whether the patterns of a recipe pick a site, by any of its names."""
    names = [site, *site.split()]

    def any_of(patterns: Sequence[str]) -> bool:
        globs = [pattern.replace("[", "[[]") for pattern in patterns]
        return any(fnmatch.fnmatchcase(name, glob) for name in names for glob in globs)

    return any_of(recipe.include) and not any_of(recipe.exclude)


def _sizes(op: ir.OpView) -> tuple[int, int, int] | None:
    """M, N and K of a matmul; None if one is not known."""
    lhs, rhs = (list(value.type.shape) for value in list(op.operands)[:2])
    result = list(op.results[0].type.shape)
    if min([*lhs, *rhs, *result], default=1) < 0:
        return None
    if op.operation.name == "stablehlo.dot_general":
        numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
        k = math.prod(lhs[d] for d in contracted(op)[0])
        batch = math.prod(lhs[d] for d in numbers.lhs_batching_dimensions)
        return math.prod(lhs) // (k * batch or 1), math.prod(rhs) // (k * batch or 1), k
    if op.operation.name == "stablehlo.dot":
        k = lhs[-1]
        return math.prod(lhs) // (k or 1), math.prod(rhs) // (k or 1), k
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    n = rhs[numbers.kernel_output_feature_dimension]
    return math.prod(result) // (n or 1), n, math.prod(rhs) // (n or 1)


def _narrow(op: ir.OpView, formats: tuple[str, str], recipe: Matmul, casts: Casts) -> None:
    """Puts a matmul of narrow operands in a matmul's place."""
    operands = list(op.operands)
    narrow = [casts.cast(v, f) for v, f in zip(operands, formats, strict=False)]
    part = op.attributes[attributes.PART].value
    kept = {
        key: value
        for key, value in op.attributes.items()
        if not key.startswith(attributes.PREFIX) and key not in _PRECISION
    }
    if op.operation.name == "stablehlo.dot_general" and all(map(_is_small, formats)):
        kept["algorithm"] = _algorithm(formats, imprecise=part == FORWARD)
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
    old.replace_all_uses_with(made)
    op.operation.erase()
    for value in operands:
        if _widened_from(value) is not None and next(iter(value.uses), None) is None:
            value.owner.erase()


_PRECISION = frozenset({"algorithm", "precision_config"})


def _algorithm(formats: tuple[str, str], *, imprecise: bool) -> ir.Attribute:
    """What makes XLA call an FP8 kernel: the types, and how exactly products are summed."""
    lhs, rhs = map(element_of, formats)
    return stablehlo.DotAlgorithm.get(lhs, rhs, ir.F32Type.get(), 1, 1, 1, imprecise)


def _clear(op: ir.OpView) -> None:
    for key in (attributes.PART, attributes.ROLES, attributes.SITE, attributes.VOCABULARY):
        if key in op.attributes:
            del op.attributes[key]
