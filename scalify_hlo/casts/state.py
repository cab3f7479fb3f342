"""The formats in which a training step stores its state between steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS, FloatFormat
from scalify_hlo.algebra.limits import AMAX_HEADROOM, FLOW_VALUES, MOMENT_HEADROOM
from scalify_hlo.algebra.moments import scale_shape
from scalify_hlo.algebra.search import Search
from scalify_hlo.casts.casts import Casts, convert_after
from scalify_hlo.casts.named_state import by_argument, of_result, some
from scalify_hlo.dataflow.frames import Place
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import Remark
from scalify_hlo.ir.formats import element_of, format_of, is_narrow, is_real, with_element
from scalify_hlo.ir.functions import is_block, terminator
from scalify_hlo.ir.locations import remark
from scalify_hlo.ir.value_map import redirect, uses_of
from scalify_hlo.layers.model import NORMS
from scalify_hlo.recipes.loading import asked_settings, defaults, idle_under_same, own_options
from scalify_hlo.recipes.model import KEEP, NONE, Recipe, StateOptions
from scalify_hlo.report.totals import StateBytes

_KEPT = StateOptions()
"""The option that rescales no state but the state that is marked."""

_RESULT_MARKS = (attributes.STORED, attributes.RESCALED)

SCALE_BYTES = 4
"""The bytes of a scale, which is one f32."""


class NarrowedState(NamedTuple):
    """The state that a step takes in other formats.

    Attributes:
        roles: The roles of the state whose format changed.
        bytes: The bytes of all state; None if no format was to change.
    """

    roles: set[str]
    bytes: StateBytes | None


def narrow_arguments(
    main: ir.OpView, recipe: StateOptions, *, stored: bool = False
) -> NarrowedState:
    """Casts the results of a step that are state to the formats in which they are stored.

    Args:
        main: The entry function.
        recipe: The formats.
        stored: Whether `store_weights` has given some weights their format.
    """
    roles: set[str] = set()
    before = after = 0
    if recipe == _KEPT and not attributes.any_argument_has(main, attributes.STORED):
        return NarrowedState(roles, None)
    arguments = list(main.regions[0].blocks[0].arguments)
    marks, options = attributes.argument_attributes(main), by_argument(main, recipe)
    for argument, mark, own in zip(arguments, marks, options, strict=True):
        wide = argument.type
        packs = _packs(mark, own, wide)
        role, format_ = _state_format(mark, own, wide)
        if stored and role == "weight" and str(wide.element_type) == format_:
            continue  # `store_weights` has counted it.
        if role in _CARRIED:
            before += bytes_of(wide)
            after += _packed_bytes(wide) if packs else bytes_of(wide, format_)
            after += SCALE_BYTES * (attributes.PAIR in mark and not packs)
        if format_ == KEEP:
            continue
        frozen = role == "weight" and attributes.UPDATED not in mark
        roles.add(_FROZEN if frozen and own.frozen != KEEP else role)
        uses = uses_of(argument)
        argument.set_type(with_element(wide, element_of(format_)))
        redirect(uses, convert_after(argument, wide.element_type))
        if role != "weight":
            mark[attributes.FOLLOWS] = ir.UnitAttr.get()
    attributes.set_argument_attributes(main, marks)
    return NarrowedState(roles, StateBytes(before, after) if before else None)


class PackedMoments(NamedTuple):
    """The moments of a step with a scale for each block.

    Attributes:
        arguments: The numbers of the arguments that are such moments.
        remarks: A remark for each moment that cannot have such scales.
    """

    arguments: list[int]
    remarks: list[Remark]


def pack_moments(main: ir.OpView, recipe: StateOptions) -> PackedMoments:
    """Marks the moments that are stored in blocks, for `scalify-pack-moments`."""
    found = PackedMoments([], [])
    if not recipe.blocked:
        return found
    taken, returned = attributes.argument_attributes(main), attributes.result_attributes(main)
    names, options = attributes.argument_names(main), by_argument(main, recipe)
    for number, argument in enumerate(main.regions[0].blocks[0].arguments):
        mark, own = taken[number], options[number]
        if _packs(mark, own, argument.type):
            _mark_packed(mark, own)
            found.arguments.append(number)
        elif _is_blocked(mark, own) and argument.type.rank:
            message = _NOT_PACKED.format(names[number], argument.type)
            found.remarks.append(remark(main, message, _PACKED_HINT))
    for mark, value in zip(returned, terminator(main.regions[0].blocks[0]).operands, strict=True):
        own = of_result(mark, options, recipe)
        if _packs(mark, own, value.type):
            _mark_packed(mark, own)
    attributes.set_argument_attributes(main, taken)
    attributes.set_result_attributes(main, returned)
    return found


def _is_blocked(mark: attributes.Attributes, recipe: StateOptions) -> bool:
    """Whether a pair is a moment to which the recipe gives a scale for each block."""
    here = attributes.PAIR in mark and attributes.STORED not in mark
    return here and attributes.role_of(mark) in recipe.blocked


def _packs(mark: attributes.Attributes, recipe: StateOptions, type_: ir.Type) -> bool:
    """Whether a value is such a moment, and has a type that can be stored in blocks."""
    if not _is_blocked(mark, recipe) or not is_real(type_) or not type_.has_static_shape:
        return False
    return str(type_.element_type) in _PACKABLE and type_.rank > 0 and 0 not in type_.shape


def _mark_packed(mark: attributes.Attributes, recipe: StateOptions) -> None:
    role = attributes.role_of(mark)
    mark[attributes.PACKED] = ir.StringAttr.get(getattr(recipe, role))
    if role == "second_moment":
        mark[attributes.ROOT] = ir.UnitAttr.get()


def _packed_bytes(type_: ir.Type) -> int:
    """Returns the bytes of a moment in blocks: one for each number, and one for each scale."""
    shape: list[int] = list(type_.shape)
    return math.prod(shape) + math.prod(scale_shape(shape))


def bytes_of(type_: ir.Type, format_: str = KEEP) -> int:
    """Returns the bytes of a tensor of static shape in a format, or in its own format."""
    own = format_of(type_) if format_ == KEEP else FORMATS[format_]
    if own is None or not type_.has_static_shape:
        return 0
    shape: list[int] = list(type_.shape)
    return math.prod(shape) * own.bits // 8


def without_state(main: ir.OpView, recipe: Recipe, roles: set[str]) -> Iterator[Remark]:
    """Returns a remark for each format of state without effect, in a program of pairs.

    Args:
        main: The entry function.
        recipe: The recipe; see `scalify_hlo.recipes.loading.asked_settings`.
        roles: The roles of the state that was cast.
    """
    if not attributes.any_argument_has(main, attributes.PAIR):
        return
    keys = {option.key for option in idle_under_same()}
    for key, value in asked_settings(recipe).items():
        table, _, role = key.partition(".")
        if table == "state" and key in keys and value != defaults()[key] and role not in roles:
            missing = _MISSING.get(role, "returns no such state")
            message = f"{key} is {value}, and the program {missing}"
            hint = _DECLARE if role in ("weight", _FROZEN) else ""
            yield remark(main, message, hint)


def averages_kept(main: ir.OpView, recipe: StateOptions) -> int:
    """Returns the number of averages of weights that keep their formats; see `loses_updates`."""
    marked = zip(attributes.argument_attributes(main), by_argument(main, recipe), strict=True)
    return sum(
        attributes.PAIR in mark and loses_updates(mark, own) and _is_average(mark)
        for mark, own in marked
    )


def with_updates(main: ir.OpView, recipe: Recipe) -> Iterator[Remark]:
    """Yields a remark on the weights that keep their formats as updates would be lost.

    Where only a preset asks for the format, the summary has their number, and `--strict` passes.
    """
    if not any(each.key == _WEIGHT for each in own_options(recipe, idle_under_same())):
        return
    format_ = recipe.state.weight
    yield from _kept(
        main,
        recipe.state,
        lambda mark, own: attributes.PAIR in mark and loses_updates(mark, own),
        f"format of {{}}: {_WEIGHT} is {format_}, in which updates that are rounded to nearest "
        "are lost",
        _OF_UPDATES,
    )


def with_members(main: ir.OpView, recipe: StateOptions) -> Iterator[Remark]:
    """Yields a remark on the state that keeps its format as its members share no scale."""
    if attributes.any_argument_has(main, attributes.INDEPENDENT):
        yield from _kept(
            main,
            recipe,
            lambda mark, own: attributes.INDEPENDENT in mark and _is_narrowed(mark, own),
            "formats of {} and of gradients: members share no scale",
            _OF_MEMBERS,
        )


def keeps_format(mark: attributes.Attributes, recipe: StateOptions) -> bool:
    """Whether `with_updates` or `with_members` says why an argument keeps its format."""
    return attributes.INDEPENDENT in mark or loses_updates(mark, recipe)


def _kept(
    main: ir.OpView,
    recipe: StateOptions,
    is_kept: Callable[[attributes.Attributes, StateOptions], bool],
    what: str,
    hint: str,
) -> Iterator[Remark]:
    """Yields a remark on the arguments that keep what is told of them, if there are any."""
    marks, options = attributes.argument_attributes(main), by_argument(main, recipe)
    named = zip(attributes.argument_names(main), marks, options, strict=True)
    found = [name for name, mark, own in named if is_kept(mark, own)]
    if found:
        yield remark(main, f"keeps the {what.format(some(found))}", hint)


def _is_narrowed(mark: attributes.Attributes, recipe: StateOptions) -> bool:
    """Whether a recipe stores state, or the gradient of a weight, in another format."""
    role = attributes.role_of(mark)
    gradient = role == "weight" and recipe.gradient != KEEP
    stored = attributes.PAIR in mark and role in _CARRIED and role not in recipe.blocked
    return gradient or (stored and getattr(recipe, role) != KEEP)


class NarrowedResults(NamedTuple):
    """The state that a step returns in other formats.

    Attributes:
        some: Whether there may be such state.
        rounded: The number of weights that are marked, to be rounded at random.
    """

    some: bool
    rounded: int = 0


def narrow_results(main: ir.OpView, recipe: StateOptions, casts: Casts) -> NarrowedResults:
    """Casts the state of a step to the formats in which it is stored between steps.

    Casts of weights that are rounded at random, and of second moments, which are not rounded to
    zero, are marked for `scalify-round-state`.
    """
    if recipe == _KEPT and not attributes.any_result_has(main, *_RESULT_MARKS):
        return NarrowedResults(some=False)
    block = main.regions[0].blocks[0]
    returned, marks = terminator(block), attributes.result_attributes(main)
    rounded, options = 0, by_argument(main, recipe)
    for index, mark in enumerate(marks):
        value, own = returned.operands[index], of_result(mark, options, recipe)
        role, format_ = _state_format(mark, own, value.type)
        mark.pop(attributes.RESCALED, None)
        if format_ == KEEP:
            continue
        cast = casts.cast(value, format_, attributes.STATE)
        returned.operands[index] = cast
        if not _is_rounded(cast):
            continue
        if recipe.rounded and role == "weight":
            cast.owner.attributes[attributes.ROUNDED] = attributes.integer(index)
            rounded += 1
        elif role == "second_moment" and not FORMATS[format_].wide:
            cast.owner.attributes[attributes.ROUNDED] = attributes.integer(attributes.NOT_TO_ZERO)
    attributes.set_result_attributes(main, marks)
    attributes.renew_function_type(main)
    return NarrowedResults(True, rounded)


def _is_rounded(cast: ir.Value) -> bool:
    """Whether a value is a cast of a recipe to a format of fewer digits, of known size."""
    owner = cast.owner
    if is_block(owner) or attributes.CAST not in owner.attributes:
        return False
    if not cast.type.has_static_shape or 0 in cast.type.shape:
        return False
    wide, narrow = format_of(owner.operands[0].type), format_of(cast.type)
    return wide is not None and narrow is not None and not narrow.includes(wide)


class Carried(NamedTuple):
    """A pair of state whose scale is measured in each step.

    Attributes:
        result: The number of the result.
        argument: The number of the argument.
        statistic: The statistic of the data of the result: ``l2``, ``l1`` or ``max``.
        headroom: log2 of the statistic of the data at their new scale.
    """

    result: int
    argument: int
    statistic: str
    headroom: int


def rescaled_state(main: ir.OpView, recipe: StateOptions, statistic: str) -> list[Carried]:
    """Returns the state of a step with measured scales, and marks it.

    Args:
        main: The function.
        recipe: The formats in which state is stored.
        statistic: The statistic from which the scale of all state follows. With ``none``, state in
            formats with the range of f32 keeps its scale. The scale of state in narrow formats
            follows from the rms of weights, and of first moments in f16, and from the amax of other
            moments.
    """
    taken, returned = attributes.argument_attributes(main), attributes.result_attributes(main)
    values = terminator(main.regions[0].blocks[0]).operands
    found, options = list[Carried](), by_argument(main, recipe)
    for i, mark in enumerate(returned):
        own = of_result(mark, options, recipe)
        role, format_ = _state_format(dict(mark), own, values[i].type)
        if attributes.PAIR not in mark or attributes.CARRIES not in mark or role not in _CARRIED:
            continue
        if _packs(mark, own, values[i].type):
            continue
        kept = format_of(values[i].type) if format_ == KEEP else FORMATS[format_]
        narrow = kept is not None and not kept.wide
        if statistic == NONE and not narrow:
            continue
        number = ir.IntegerAttr(mark[attributes.CARRIES]).value
        found.append(Carried(i, number, *_measured(role, statistic, kept if narrow else None)))
        mark[attributes.RESCALED] = ir.UnitAttr.get()
        if role != "weight" and attributes.PAIR in taken[number]:
            taken[number][attributes.RESCALED] = ir.UnitAttr.get()
    attributes.set_argument_attributes(main, taken)
    attributes.set_result_attributes(main, returned)
    return found


def _measured(role: str, statistic: str, narrow: FloatFormat | None) -> tuple[str, int]:
    """Returns the statistic and the headroom of state.

    Args:
        role: The role of the state.
        statistic: The statistic of the recipe, or ``none``.
        narrow: The narrow format in which the state is stored, or None.
    """
    if statistic == NONE:
        small = narrow is not None and narrow.small
        statistic = "max" if role == "second_moment" or small else "l2"
    if narrow is None or (role == "weight" and statistic != "max"):
        return statistic, 0
    if statistic == "max":
        return statistic, min(AMAX_HEADROOM, narrow.max_exponent - 1)
    return statistic, MOMENT_HEADROOM if role == "second_moment" else 0


def _state_format(
    mark: attributes.Attributes, recipe: StateOptions, type_: ir.Type
) -> tuple[str, str]:
    """Returns the role of a pair of state and its format, and removes the format from `mark`.

    Scalars, such as sums of norms and step sizes, need little memory and keep their formats.
    Complex values have no narrow format. State of independent members would need a scale for each.
    Moments with a scale for each block are not cast here. Nor are weights whose updates a format
    would lose; see `loses_updates`.
    """
    stored = mark.pop(attributes.STORED, None)
    role = attributes.role_of(mark)
    if attributes.PAIR not in mark or not is_real(type_) or attributes.INDEPENDENT in mark:
        return role, KEEP
    if stored is not None:
        return role, ir.StringAttr(stored).value
    if role not in _CARRIED or role in recipe.blocked or not type_.rank:
        return role, KEEP
    if role == "weight" and attributes.UPDATED not in mark:
        return role, recipe.read_only
    return role, KEEP if loses_updates(mark, recipe) else getattr(recipe, role)


def loses_updates(mark: attributes.Attributes, recipe: StateOptions) -> bool:
    """Whether updates of a weight are, as a rule, below half the distance of stored numbers.

    A step of an optimizer changes a weight by about 2^-7 of it or less: f8 formats have 2 or 3 bits
    after the first. A step of an average moves it by a small part of a small difference, which
    f16, with 10 bits, loses too. Where numbers are rounded at random, no update is lost in the
    mean.

    Args:
        mark: The attributes of the argument or of the result.
        recipe: The formats.
    """
    if recipe.rounded or recipe.weight == KEEP or attributes.UPDATED not in mark:
        return False
    format_ = FORMATS[recipe.weight]
    return format_.small or (_is_average(mark) and not format_.includes(FORMATS["f32"]))


def _is_average(mark: attributes.Attributes) -> bool:
    return bool(ir.StringAttr(mark[attributes.UPDATED]).value == attributes.AVERAGE)


_PACKABLE = frozenset({"f32", "bf16", "f16"})
"""The element types of moments that can be stored in blocks."""

_NOT_PACKED = (
    "keeps the format of {}, which is {}: moments in blocks are f32, bf16 or f16, of known sizes "
    "that are not 0"
)
_PACKED_HINT = "keep moments in f32, or leave state.moment_scales at tensor"
_DECLARE = (
    "declare weights that only quantized matmuls read with inputs.weight to store them; each has "
    "one scale, and not one for each channel or block"
)

_WEIGHT, _FROZEN = "state.weight", "frozen"

_OF_UPDATES = (
    "set state.weight_rounding to stochastic, or only state.frozen, which is for weights that the "
    "program reads and does not update"
)

_OF_MEMBERS = "set the formats of the table state to keep, or train one member at a time"

_MISSING = {
    "weight_rounding": "rounds no weights that it returns",
    _FROZEN: "has no weights that only quantized matmuls read",
}
"""The reasons for which options that are no formats have no effect on a program."""

_CARRIED = frozenset({"weight", "first_moment", "second_moment"})


# The casts of a recipe whose data depend on the size of an argument.


_OF_DATA: Final = frozenset({attributes.DATA, attributes.GRADIENT})

_SIZELESS: Final = NORMS | {"softmax"}
"""The layers whose results have a size that does not depend on the inputs."""


def reaches_narrow_cast(start: Place) -> bool:
    """Whether a cast to a format of less range than f32 depends on the size of an argument.

    Data are followed through all ops except normalizations and softmaxes, whose results have a
    size that does not depend on that of the argument. If there are too many values to follow, the
    answer is yes.
    """
    search = Search([start], _after, limit=FLOW_VALUES)
    casts = (_is_narrow_cast(use.owner.operation) for value, _ in search for use in value.uses)
    return any(casts) or search.ended


def _is_narrow_cast(op: ir.Operation) -> bool:
    if attributes.CAST not in op.attributes:
        return False
    return op.attributes[attributes.CAST].value in _OF_DATA and is_narrow(op.results[0].type)


def _after(place: Place) -> Iterator[Place]:
    """Yields the values that are made of a value, if they have a size."""
    value, frame = place
    for use in value.uses:
        moved = frame.passed_on(use, turns=True)
        if moved is None:
            owner = use.owner.operation
            layers = attributes.texts(owner.attributes.get(attributes.LAYER, ir.ArrayAttr.get([])))
            sized = [r for r in owner.results if format_of(r.type) is not None]
            moved = list(map(frame.place, sized)) if _SIZELESS.isdisjoint(layers) else []
        yield from moved
