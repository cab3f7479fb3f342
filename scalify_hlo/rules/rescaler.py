"""Rescales data from one scale to another, with few ops."""

from __future__ import annotations

import math
from itertools import islice
from typing import Any

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import SAFE_REACH
from scalify_hlo.algebra.scale import ANY, AnyScale, Scale, Scaled, ScaleInfo, Splat, scale_of
from scalify_hlo.ir import emit
from scalify_hlo.ir.emit import Binary
from scalify_hlo.ir.formats import FloatFormat, is_complex
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.traits import PRODUCTS, SAME_ORDER
from scalify_hlo.ir.value_map import Eraser
from scalify_hlo.rules.huge import largest_constant
from scalify_hlo.rules.runtime_scales import RuntimeScales
from scalify_hlo.rules.values import Values, enclosing

_BROADCAST = "stablehlo.broadcast_in_dim"
_PURE = PRODUCTS | SAME_ORDER | {"stablehlo.constant", "stablehlo.convert"}
"""The ops that this module emits."""


class Rescaler:
    """Rescales data.

    Args:
        values: The scale information of the function's values.
        runtime_scales: The builder of run-time factors.

    Attributes:
        values: As given.
        runtime_scales: As given.
    """

    def __init__(self, values: Values, runtime_scales: RuntimeScales) -> None:
        self.values = values
        self.runtime_scales = runtime_scales
        self._known = values.known
        self._format = values.format
        self._direct: set[ir.Type] = set()  # Types that are multiplied without a conversion.
        self._at: ir.Operation | None = None
        self._place: dict[str, Any] = {}
        self._no_dims = ir.DenseI64ArrayAttr.get([])

    def _where(self, at: ir.Operation) -> dict[str, Any]:
        """Returns location and insertion point of ops that are built for an op."""
        if at is not self._at:
            self._at = at
            self._place = emit.before(at)
        return self._place

    def rescale_to(self, value: ir.Value, target: Scale, at: ir.Operation) -> ir.Value:
        """Returns the data of a value at another scale, built before `at` unless they exist.

        Args:
            value: A float tensor; unscaled ones are at scale 1.
            target: The scale.
            at: The op that reads the data.
        """
        info = self._known.get(value)
        if info is ANY:
            return value
        scale = scale_of(info)
        if scale == target or self._format(value) is None:
            return value
        self.values.changed = True
        moved = self.values.at_scale(value, target)
        if moved is not None:
            return moved
        factor = scale / target
        if self.values.scopes:
            return self._rescale_in_region(value, info, factor, target, at)
        return self._rescale(value, info, factor, target, at)

    def _rescale_in_region(
        self, value: ir.Value, info: ScaleInfo, factor: Scale, target: Scale, at: ir.Operation
    ) -> ir.Value:
        """Builds data before the outermost loop outside of which their value is defined."""
        chain = enclosing(value)
        for depth, scope in enumerate(self.values.scopes):
            if scope.loop is not None and factor.depth <= depth and scope.loop not in chain:
                inner, self.values.scopes = self.values.scopes, self.values.scopes[:depth]
                rescaled = self._rescale(value, info, factor, target, scope.loop)
                self.values.scopes = inner
                self.values.replaced[rescaled] = None  # It may have no uses.
                return rescaled
        return self._rescale(value, info, factor, target, at)

    def _rescale(
        self, value: ir.Value, info: ScaleInfo, factor: Scale, target: Scale, at: ir.Operation
    ) -> ir.Value:
        rescaled = self._build(value, info, factor, target, at)
        self.values.note_moved(value, target, rescaled)
        if isinstance(info, Scaled):
            self._known[rescaled] = info.at(target, factor)
            self.values.note_moved(rescaled, info.scale, value)
        else:
            self._known[rescaled] = Scaled(target)
        return rescaled

    def _build(
        self, value: ir.Value, info: ScaleInfo, factor: Scale, target: Scale, at: ir.Operation
    ) -> ir.Value:
        if isinstance(info, Splat):
            return self._adopt(value, info.value, factor, at)
        owner = value.owner
        name = "" if is_block(owner) else owner.name
        if name in PRODUCTS:
            folded = self._fold(value, owner, name, factor, at)
            return self.multiply(value, factor, at) if folded is None else folded
        source = broadcast_source(value) if name == _BROADCAST else None
        if source is None:
            return self.multiply(value, factor, at)
        moved = self.rescale_to(source.operands[0], target, at)
        self.values.replaced[value] = None
        dims, where = source.attributes["broadcast_dimensions"], ir.InsertionPoint(at)
        return emit.broadcast(value.type, moved, dims, loc=source.location, ip=where)

    def overflows(self, value: ir.Value, target: Scale) -> bool:
        """Whether a mask of huge numbers at scale 1 would be infinite at another scale."""
        grown = target.reach if target.powers else -target.exponent
        if grown <= 0:
            return False
        format_ = self._format(value)
        if format_ is None or not format_.wide:
            return False
        return largest_constant(value) + grown >= format_.max_exponent

    def takes_factor(self, value: ir.Value, target: Scale) -> bool:
        """Whether rescaling a value to a scale costs an op."""
        info = self._known.get(value)
        if isinstance(info, Splat | AnyScale):
            return False
        if scale_of(info) == target or self.values.at_scale(value, target) is not None:
            return False
        owner = value.owner
        constant = None if is_block(owner) else self._constant_operand(owner)
        return constant is None or len(list(islice(value.uses, 2))) > 1

    def _constant_operand(self, owner: ir.Operation) -> tuple[int, Splat] | None:
        """Returns the constant factor or divisor of an op, after the number of that operand."""
        name = owner.name
        if name not in PRODUCTS:
            return None
        operands = owner.operands
        for index in (1, 0) if name == "stablehlo.multiply" else (1,):
            info = self._known.get(operands[index])
            if isinstance(info, Splat):
                return index, info
        return None

    def _fold(
        self, value: ir.Value, owner: ir.Operation, name: str, factor: Scale, at: ir.Operation
    ) -> ir.Value | None:
        """Folds a factor into the constant of a product: x*(c*f) for (x*c)*f.

        Args:
            value: The product.
            owner: The op that makes it.
            name: The name of that op.
            factor: The factor.
            at: The op before which the new product is built.
        """
        found = self._constant_operand(owner)
        if found is None:
            return None
        format_ = self._format(value)
        if format_ is None or not format_.wide or is_complex(value.type):
            return None
        index, info = found
        if name == "stablehlo.divide":
            factor = factor**-1
        operands = list(owner.operands)
        constant = operands[index]
        if constant.type != value.type or not _stays_normal(info.value, factor, format_):
            return None
        self.values.replaced[value] = None
        operands[index] = self._adopt(constant, info.value, factor, at)
        return emit.elementwise(name, *operands, loc=owner.location, ip=ir.InsertionPoint(at))

    def multiply(self, value: ir.Value, factor: Scale, at: ir.Operation) -> ir.Value:
        """Returns data times a factor; exact if the product is a normal number.

        In formats of few exponent bits, the factor may not be representable although the product
        is. So the product is computed in f32, and that of bf16 data with a scale that a caller
        gives too, as the scale may have the digits of f32.
        """
        format_ = self._format(value)
        if format_ is None:
            raise TypeError(f"not a float tensor: {value.type}")
        reach = min(-format_.min_exponent, format_.max_exponent)
        given = format_.name == "bf16" and factor.given
        if (format_.wide and not given) or (factor.static and abs(factor.exponent) <= reach):
            return self._multiply_wide(value, factor, at, format_)
        element = value.type.element_type
        widened = emit.convert(value, ir.F32Type.get(), at)
        return emit.convert(self._multiply_wide(widened, factor, at, format_), element, at)

    def _multiply_wide(
        self, value: ir.Value, factor: Scale, at: ir.Operation, format_: FloatFormat
    ) -> ir.Value:
        wide = format_.name == "f64"
        if not factor.static:
            self.runtime_scales.location = self._where(at)["loc"]
            if factor.of_divisor:
                (scalar,) = self.runtime_scales.parts(factor**-1, wide=wide)
                return self._times(value, scalar, at, emit.divide)
            for scalar in self.runtime_scales.parts(factor, wide=wide):
                value = self._times(value, scalar, at)
            return value
        first, *others = factor.portions(SAFE_REACH[wide])
        value = emit.times_power(value, first.exponent, at)
        for part in others:  # XLA would make one infinite factor of both.
            value = stablehlo.optimization_barrier([value], **self._where(at))
            value = emit.times_power(value, part.exponent, at)
        return value

    def _times(
        self, value: ir.Value, scalar: ir.Value, at: ir.Operation, build: Binary = emit.multiply
    ) -> ir.Value:
        type_ = value.type
        if type_ in self._direct:
            factor = emit.broadcast(type_, scalar, self._no_dims, **self._where(at))
            return build(value, factor, at)
        element = type_.element_type
        if isinstance(element, ir.ComplexType):
            element = element.element_type
        elif element == scalar.type.element_type and type_.rank and type_.has_static_shape:
            self._direct.add(type_)
        return emit.times(value, emit.convert(scalar, element, at), at, build)

    def _adopt(self, value: ir.Value, number: float, factor: Scale, at: ir.Operation) -> ir.Value:
        """Returns a splat constant at another scale; it saturates, and does not become zero."""
        format_ = self._format(value)
        if format_ is None or is_complex(value.type):
            return self.multiply(value, factor, at)
        if factor.static:
            return emit.filled(value, _saturated(number, factor.exponent, format_), at)
        where = self._where(at)
        self.runtime_scales.location = where["loc"]
        scalar = self._adopt_scalar(value, number, factor, format_)
        type_ = value.type
        if type_ in self._direct:
            return emit.broadcast(type_, scalar, self._no_dims, **where)
        return emit.broadcast_scalar(scalar, value, at)

    def _adopt_scalar(
        self,
        value: ir.Value,
        number: float,
        factor: Scale,
        format_: FloatFormat,
    ) -> ir.Value:
        """Returns the constant as a rank-0 tensor of the value's element type, built at the top."""
        build, wide = self.runtime_scales, format_.name == "f64"
        scalar = build.times_number(number, factor, wide=wide)
        if not _stays_normal(number, factor, format_):
            sign = 1.0 if number > 0 else -1.0
            ends = sorted((sign * format_.smallest, sign * format_.max_finite))
            low, high = (build.number(end, wide=wide) for end in ends)
            scalar = build.elementwise("clamp", low, scalar, high)
        element = value.type.element_type
        if element == scalar.type.element_type:
            return scalar
        return build.op("convert", emit.scalar_type(element), scalar)

    def as_pair(
        self, value: ir.Value, scale: Scale, at: ir.Operation, *, wide: bool
    ) -> list[ir.Value]:
        """Returns data and scale of a result; the data take the part that the scale cannot hold."""
        self.runtime_scales.location = at.location
        if not scale.static:
            scalar, *rest = self.runtime_scales.parts(scale, wide=wide)
            for factor in rest:
                value = self._times(value, factor, at)
            return [value, scalar]
        bound = SAFE_REACH[wide]
        kept = Scale(max(-bound, min(bound, scale.exponent)))
        element = ir.F64Type.get() if wide else ir.F32Type.get()
        scalar = emit.constant(emit.scalar_type(element), 2.0**kept.exponent, at)
        return [value if kept == scale else self.multiply(value, scale / kept, at), scalar]

    def finish(self) -> None:
        """Removes ops without uses, and forgets what is known of all values."""
        self.values.forget()
        self.runtime_scales.forget_built()
        eraser = Eraser()
        self._erase_dead(eraser)
        self.runtime_scales.erase_unused(eraser)

    def erase_dead(self) -> None:
        """Erases what the rewriter replaced, while it is known what the other values are."""
        self._erase_dead(Eraser())

    def _erase_dead(self, eraser: Eraser) -> None:
        """Erases replaced values without uses."""
        built = self.runtime_scales.built
        while self.values.replaced:
            value, _ = self.values.replaced.popitem()
            if built and value in built:  # The run-time scales erase their own unused values.
                continue
            owner = value.owner
            if is_block(owner) or owner.name not in _PURE:
                continue
            if next(iter(value.uses), None) is None:
                self.values.replaced.add_operands(owner)
                eraser.erase_maker(value)


def broadcast_source(value: ir.Value) -> ir.Operation | None:
    """Returns the broadcast_in_dim that makes a value from fewer elements, or None."""
    owner = value.owner
    if is_block(owner) or owner.name != _BROADCAST:
        return None
    if not value.type.has_static_shape:
        return None
    source = owner.operands[0].type
    return owner if math.prod(source.shape) < math.prod(value.type.shape) else None


def _saturated(number: float, exponent: int, format_: FloatFormat) -> float:
    """Returns a constant times ``2^exponent``, clamped to the non-zero numbers of a format."""
    log = math.log2(abs(number)) + exponent
    if log > format_.max_exponent + 1:
        size = format_.max_finite
    elif log < format_.min_exponent - format_.mantissa_bits:
        size = format_.smallest
    else:
        size = math.ldexp(abs(number), exponent)
        size = max(format_.smallest, min(size, format_.max_finite))
    return math.copysign(size, number)


def _stays_normal(number: float, factor: Scale, format_: FloatFormat) -> bool:
    """Whether a constant times any factor within its reach is a normal number."""
    log, reach = math.log2(abs(number)), factor.reach
    return log + reach < format_.max_exponent and log - reach > format_.min_exponent
