"""Saturation of casts: finite numbers beyond a format become its largest, and no others.

Overflow is a signal, so that what is infinite or NaN is infinite or NaN in the narrow format too:

    f16:             X_d = convert(select(is_finite(X), clamp(X), X))
    8 bits or fewer: X_d = convert(clamp(X + X * 0))

A finite X is X + X * 0, also if it is -0, and an infinite one makes it NaN. XLA moves transposes
through products with a constant, which it does not through X - X: a cast would be copied to another
order. The clamp stays next to the convert, as XLA for GPUs lets a matmul write f8 only then.

With a scale that is known at run time only, X_d may be finite where X_d * X_s leaves f32. There
f32 has an infinity, so that the formulas test X_d * X_s: X_d + X_d * X_s * 0.
"""

from __future__ import annotations

import math
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.limits import NORMAL, READER_STEPS
from scalify_hlo.ir import emit, traits
from scalify_hlo.ir.formats import FloatFormat, format_of, is_wide
from scalify_hlo.ir.functions import maker
from scalify_hlo.ir.splats import filled_with

_CLAMP, _ADD = "stablehlo.clamp", "stablehlo.add"
_CONVERT, _MULTIPLY = "stablehlo.convert", "stablehlo.multiply"
_MOVES: Final = traits.RESHAPES | traits.REORDERS | {"stablehlo.optimization_barrier"}
_SPREAD: Final = _MOVES | {"stablehlo.broadcast_in_dim", _CONVERT}
_BELOW_ONE: Final = traits.SIGMOIDS | traits.TRIGONOMETRIC - {"stablehlo.tan"}
_SUM: Final = 64
"""log2 of more than the largest sum of products of f8 numbers, each below 2^32."""


def saturated(
    value: ir.Value,
    target: FloatFormat,
    low: ir.Value,
    high: ir.Value,
    at: ir.Operation,
    *,
    splats: emit.Splats,
    own: bool = False,
    tested: ir.Value | None = None,
) -> ir.Value:
    """Returns data for a conversion to a format; see the formulas above.

    Args:
        value: The data.
        target: The format.
        low: The least finite number of the format, of rank 0.
        high: The largest finite number of the format, of rank 0.
        at: The op before which it is built.
        splats: The constants that are shared with other casts.
        own: Whether the program itself casts, so that infinities stay infinities in 8 bits too.
        tested: The values for which the data stand, if these may overflow and the data do not.
    """
    bound = _bound(value, READER_STEPS)
    if bound <= target.max_exponent:
        return value
    where = emit.before(at)
    tested = value if tested is None else tested
    if (own or not target.small) and bound > NORMAL:
        finite = stablehlo.is_finite(tested, **where)
        return stablehlo.select(finite, emit.clamp(low, value, high, at), tested, **where)
    if bound > NORMAL:
        nothing = emit.multiply(tested, emit.filled(tested, 0.0, at, splats), at)
        value = emit.elementwise(_ADD, value, nothing, **where)
    return emit.clamp(low, value, high, at)


def within(value: ir.Value, type_: ir.Type, at: ir.Operation) -> ir.Value:
    """Returns a value for a conversion to a type, whose finite numbers are in its range.

    Args:
        value: The value.
        type_: The type.
        at: The op before which it is built.
    """
    target, source = format_of(type_), format_of(value.type)
    if target is None or source is None or target.includes(source):
        return value
    scalar = emit.scalar_type(value.type.element_type)
    low, high = (emit.constant(scalar, e * target.max_finite, at) for e in (-1, 1))
    return saturated(value, target, low, high, at, splats=emit.Splats())


def before_saturation(op: ir.Operation) -> ir.Value | None:
    """Returns X of an op that makes X + X * 0 or X + Y * 0; None for others."""
    if op.name != _ADD:
        return None
    value, nothing = op.operands
    product = maker(nothing)
    if product is None or product.name != _MULTIPLY:
        return None
    return value if filled_with(product.operands[1]) == 0 else None


def unsaturated(value: ir.Value) -> ir.Value:
    """Returns the data of which saturation made a value; the value itself if it did not."""
    op = maker(value)
    if op is None:
        return value
    name = op.name
    if name == "stablehlo.select":
        op = maker(op.operands[1])
        name = "" if op is None else op.name
    if op is None or name != _CLAMP:
        return value
    value = op.operands[1]
    inner = maker(value)
    found = None if inner is None else before_saturation(inner)
    return value if found is None else found


def _bound(value: ir.Value, steps: int) -> float:
    """Returns a bound on log2 of the magnitudes of a value that is NaN or finite; else infinity.

    Such are scaled products of f8 data without infinities, whose casts XLA for GPUs computes in the
    kernel of the matmul, and the results of a softmax, which its kernel writes in the narrow format
    if nothing else reads them.
    """
    op = maker(value) if steps else None
    if op is None:
        return math.inf
    name, operands = op.name, op.operands
    if name in traits.MATMULS:
        return _SUM if all(map(_never_infinite, list(operands)[:2])) else math.inf
    if name in _MOVES or name in traits.MAGNITUDES or (name == _CONVERT and _is_wide(op)):
        return _bound(operands[0], steps - 1) if len(operands) == 1 else math.inf
    if name in _BELOW_ONE or (name == "stablehlo.divide" and _is_share(op)):
        return 0.0
    if name == _MULTIPLY:
        factor = _constant_bound(operands[1])
        if factor is not None:
            return factor + _bound(operands[0], steps - 1)
        first = _bound(operands[0], steps // 2)
        return first if first == math.inf else first + _bound(operands[1], steps // 2)
    if name == "stablehlo.select":
        return max(_bound(each, steps // 2) for each in list(operands)[1:])
    found = _constant_bound(value) if name == "stablehlo.constant" else None
    return math.inf if found is None else found


def _constant_bound(value: ir.Value) -> float | None:
    """Returns a bound on log2 of the number of a constant; None for other values."""
    number = filled_with(value)
    if number is None:
        return None
    return float(math.frexp(number)[1]) if math.isfinite(number) else math.inf


def _is_share(op: ir.Operation) -> bool:
    """Whether a division is one of exponentials by their sums, as in a softmax."""
    terms, sums = map(_made_of, op.operands)
    if terms is None or sums is None or terms.name != "stablehlo.exponential":
        return False
    if sums.name != "stablehlo.reduce" or _made_of(sums.operands[0]) != terms:
        return False
    return bool(sums.regions[0].blocks[0].operations[0].operation.name == "stablehlo.add")


def _made_of(value: ir.Value) -> ir.Operation | None:
    """Returns the op that computes the numbers of which a value is made."""
    op = maker(value)
    while op is not None and op.name in _SPREAD and len(op.operands) == 1:
        op = maker(op.operands[0])
    return op


def _is_wide(convert: ir.Operation) -> bool:
    """Whether a convert is one between formats with the exponents of f32 or more."""
    return is_wide(convert.operands[0].type) and is_wide(convert.results[0].type)


def _never_infinite(operand: ir.Value) -> bool:
    """Whether an operand of a matmul is f8 data that have NaN in place of infinities."""
    format_ = format_of(operand.type)
    if format_ is None or not format_.small:
        return False
    if not format_.infinite:
        return True
    op = maker(operand)
    while op is not None and op.name in _MOVES and len(op.operands) == 1:
        op = maker(op.operands[0])
    clamp = None if op is None or op.name != _CONVERT else maker(op.operands[0])
    if clamp is None or clamp.name != _CLAMP:
        return False
    low, high = (filled_with(clamp.operands[end]) for end in (0, 2))
    most = format_.max_finite
    return low is not None and high is not None and -most <= low <= high <= most
