"""Casts that a recipe inserts into a program."""

from __future__ import annotations

import math

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import element_of, format_of, is_complex, is_narrow, with_element
from scalify_hlo.ir.functions import maker
from scalify_hlo.ir.value_map import ValueCache, redirect, uses_of
from scalify_hlo.recipes.model import NONE, Recipe
from scalify_hlo.rules.saturation import within


class Casts:
    """The casts of a module, one for each value and format.

    Args:
        plain: Whether values are cast as they are. Other casts are rewritten by propagation, which
            casts data near unit.
        saturate: Whether plain casts of finite numbers saturate.
    """

    def __init__(self, *, plain: bool = False, saturate: bool = False) -> None:
        self._plain, self._saturate = plain, saturate
        self._made: ValueCache[ir.Value] = ValueCache()
        self._kept: ValueCache[ir.Value] = ValueCache()

    @property
    def count(self) -> int:
        """The number of inserted casts that propagation rewrites."""
        return 0 if self._plain else len(self._made)

    def cast(
        self, value: ir.Value, format_: str, kind: str = attributes.DATA, *, kept: bool = False
    ) -> ir.Value:
        """Returns a value in another format, cast right after its definition if needed.

        Args:
            value: The value.
            format_: The format.
            kind: The kind of the cast; see `scalify_hlo.dialect.attributes`.
            kept: Whether XLA has to keep the value in an 8-bit format; see `barrier_after`.
        """
        element = element_of(format_)
        if value.type.element_type == element:
            return value
        if (source := widened_from(value)) is not None and source.type.element_type == element:
            return source
        key = value, format_, kind
        if key not in self._made:
            self._made[key] = self._cast(value, element, kind)
        kept = kept and (self._plain or format_.startswith("f8"))
        if kept and key not in self._kept:
            self._kept[key] = barrier_after(self._made[key])
        return self._kept[key] if key in self._kept else self._made[key]

    def _cast(self, value: ir.Value, element: ir.Type, kind: str) -> ir.Value:
        if not self._plain:
            return convert_after(value, element, kind)
        cast = convert_after(value, element).owner.operation
        if self._saturate:
            cast.operands[0] = within(value, with_element(value.type, element), cast)
        return cast.results[0]

    def through(self, value: ir.Value, format_: str) -> ir.Value:
        """Rounds a value to a format for all its users, which share the narrow data."""
        element = value.type.element_type
        users = uses_of(value)
        narrow = self.cast(value, format_, attributes.GRADIENT, kept=True)
        redirect(users, convert_after(narrow, element))
        return narrow


def casts_of(recipe: Recipe) -> Casts:
    """Returns the casts of a recipe before the first of them."""
    return Casts(plain=recipe.scaling.kind == NONE, saturate=recipe.saturate)


def widened_from(value: ir.Value) -> ir.Value | None:
    """Returns the operand of a convert; a model that rounds its values writes two."""
    op = maker(value)
    return op.operands[0] if op is not None and op.name == "stablehlo.convert" else None


def unwidened(value: ir.Value) -> ir.Value:
    """Returns the value that converts to formats which hold all of its numbers were made of.

    The data of a cast are the same for both values. A matmul whose sum is f32 often has one operand
    that was widened, which other matmuls read as it was. Both should have one cast, and one amax.

    Args:
        value: Any value; it is returned itself if it is no such convert.
    """
    while (source := widened_from(value)) is not None and _is_held(source, value):
        value = source
    return value


def note_computed(operand: ir.Value) -> None:
    """Marks the convert to f16 that makes an operand of a matmul, if the program has one."""
    if is_narrow(operand.type) and widened_from(operand) is not None:
        operand.owner.operation.attributes[attributes.COMPUTED] = ir.UnitAttr.get()


def _is_held(source: ir.Value, value: ir.Value) -> bool:
    """Whether a convert changes no number; data in 8 bits may have scales of their own."""
    narrow, wide = format_of(source.type), format_of(value.type)
    if narrow is None or wide is None or is_complex(value.type):
        return False
    return not narrow.small and wide.includes(narrow)


def barrier_after(value: ir.Value) -> ir.Value:
    """Keeps XLA from repeating, in each user, the ops that make a value.

    XLA assumes that clamps and converts are cheap, and copies them, with the ops before them, into
    every fusion that reads a cast. The gradient of a weight has several readers: an update and its
    moments. LLVM takes long to compile the copies. Where such a gradient is rounded to f8 and back,
    the barrier also keeps the rounding, as XLA for GPUs may omit a convert and its inverse.
    """
    return emit.made("stablehlo.optimization_barrier", value.type, [value], **emit.after(value))


def barrier_in_order(value: ir.Value) -> ir.Value:
    """Inserts a barrier as `barrier_after`, and keeps the data in the order of their dimensions.

    XLA gives a value before a barrier the layout that the matmul prefers, so that an argument is
    transposed when it is cast. GPUs cannot compute its amax in the same kernel then. A value with
    one dimension has only one layout.
    """
    type_ = value.type
    whole = ir.RankedTensorType.get([math.prod(type_.shape)], type_.element_type)
    flat = reshape_after(value, whole)
    return reshape_after(barrier_after(flat), type_)


def reshape_after(value: ir.Value, type_: ir.Type) -> ir.Value:
    """Reshapes a value right after its definition."""
    return emit.made("stablehlo.reshape", type_, [value], **emit.after(value))


def convert_after(value: ir.Value, element: ir.Type, cast: str = "") -> ir.Value:
    """Converts a value right after its definition; with a kind, as a cast of a recipe."""
    kind = {attributes.CAST: ir.StringAttr.get(cast)} if cast else None
    type_ = with_element(value.type, element)
    return emit.made("stablehlo.convert", type_, [value], kind, **emit.after(value))
