"""Data movement."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import ANY, OF_CAST, ONE, Scale, Scaled, splat_info
from scalify_hlo.algebra.uncertainty import CONSTANT
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.splats import dense_of, filled_with
from scalify_hlo.ir.traits import where
from scalify_hlo.rules.families import align, among_zeros, keep, keep_each, source
from scalify_hlo.rules.registry import meets, rule
from scalify_hlo.rules.scalars import spread
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.source_sizes import info_of_constant, size_of_iota

_MOVED = "data movement commutes with scaling"

_MOVES = where("lookup", "reshape", "slice", "reverse", "transpose")
rule({*_MOVES, "set_dimension_size"}, keep, _MOVED)
rule(("broadcast", "broadcast_in_dim", "dynamic_broadcast_in_dim"), spread, _MOVED)
rule("optimization_barrier", keep_each, _MOVED, "Y_d = X_d; Y_s = X_s, for each operand")
rule(
    "concatenate", align(), _MOVED, "s = meet(X_s, ...); Y_d = concatenate(X_d*X_s/s, ...); Y_s = s"
)


def pad(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Aligns a pad; padded with zeros, as in the gradient of a slice, the rms is smaller."""
    zeros = rewriter.info(op.operands[1]) is ANY
    info = rewriter.align(op, (0, 1))
    if rewriter.narrow and zeros and isinstance(info, Scaled):
        info = among_zeros(info, op.results[0], op.operands[0], rewriter)
    rewriter.set(op.results[0], info)


rule(where("pad"), pad, _MOVED, meets("XP"), family="align")
rule("dynamic_update_slice", align(0, 1), _MOVED, meets("XU"))


def constant(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Sets the scale information of a constant: a splat adopts scales, others are unscaled.

    Constants that were quantized are data, and have their scale.
    """
    if attributes.CONSTANT_SCALE in op.attributes:
        scale = Scale(ir.IntegerAttr(op.attributes[attributes.CONSTANT_SCALE]).value)
        del op.attributes[attributes.CONSTANT_SCALE]
        rewriter.values.changed = True
        return rewriter.set(op.results[0], Scaled(scale, right=OF_CAST))
    if not isinstance(op.result.type.element_type, ir.FloatType):
        return None
    if (number := filled_with(op.result)) is not None:
        rewriter.set(op.results[0], splat_info(number))
    elif rewriter.narrow and (info := info_of_constant(dense_of(op.result))) is not None:
        rewriter.assume(op.results[0], info)
    return None


def iota(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Sets the size of counts, which are unscaled, if data are narrow."""
    if rewriter.narrow and rewriter.format(op.results[0]) is not None:
        rewriter.assume(op.results[0], Scaled(ONE, size_of_iota(op.operation), CONSTANT))


rule(
    "constant",
    constant,
    "§3.4 of the Scalify paper",
    "unscaled; a splat adopts a scale; 0, inf and NaN are correct at any scale",
    family="source",
)
rule("iota", iota, "no float operand", family="source")
rule(("dynamic_iota", "rng_bit_generator", "infeed", "create_token"), source, "no float operand")
rule("get_dimension_size", source, "reads no element", "Y = f(shape of X)")
