"""Ops that choose one of two values, and their predicted sizes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.scale import ANY, ONE, Scale, Scaled, ScaleInfo, Splat
from scalify_hlo.algebra.scale_origins import ScaleOrigin
from scalify_hlo.ir.formats import is_real
from scalify_hlo.ir.functions import is_block, maker
from scalify_hlo.ir.splats import filled_with
from scalify_hlo.ir.through import behind
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.unit_scaling import ACTIVATIONS

_RELU: Final = ACTIVATIONS["relu"]
_COMPARE, _CONSTANT = "stablehlo.compare", "stablehlo.constant"
_MINIMUM, _MAXIMUM = "stablehlo.minimum", "stablehlo.maximum"
_IOTA, _ORDERED = "stablehlo.iota", ("GT", "GE", "LT", "LE")
_SPREADING = frozenset({"stablehlo.broadcast_in_dim", "stablehlo.convert"})


def limit(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Aligns a maximum, a minimum or a clamp; one with 0 is a ReLU."""
    operands = list(op.operands)
    halved = rewriter.narrow and any(map(is_zero, operands))
    infos = rewriter.infos(operands)
    if len(infos) > 2:
        bounds = _beyond_zero(infos[:1], -1) and _beyond_zero(infos[2:], 1)
    else:
        bounds = _beyond_zero(infos, 1 if op.operation.name == _MINIMUM else -1)
    most = _most(op, infos, rewriter, bounds=bounds)
    target = rewriter.align(op, range(len(operands)), bounds=bounds)
    limited = _limited(target, most, rewriter)
    if halved and isinstance(limited, Scaled):
        limited = _halved(limited, _RELU.size(), rewriter)
    rewriter.set(op.results[0], limited)


def _most(
    op: ir.Operation, infos: Sequence[ScaleInfo], rewriter: ScaleRewriter, *, bounds: bool
) -> list[float]:
    """Returns the sizes that a result cannot exceed.

    One is that of a value that an op moves towards zero only: ``|min(x, c)| <= |x|`` for a positive
    c. The other is the level of constants between which an op puts values.
    """
    most: list[float] = []
    limits = [info for info in infos if isinstance(info, Splat)]
    values = [info for info in infos if info not in limits and info is not ANY]
    if rewriter.narrow and bounds and limits and len(values) == 1 and isinstance(values[0], Scaled):
        most.append(rewriter.size(values[0]))
    between = _between(op, rewriter)
    return most if between is None else [*most, between]


def _between(op: ir.Operation, rewriter: ScaleRewriter) -> int | None:
    """Returns the level of constants between which an op puts values; None if it does not.

    Narrow values are rescaled to a scale of at most 1: at a larger one, the constants and the
    results would be far below unit, and a product with the values would be at its square.
    """
    known = [max(f.level for f in constants) for constants in _bounds(op, rewriter)]
    if not known or rewriter.is_wide(op.results[0]):
        return min(known) if known and rewriter.narrow else None
    for index, info in enumerate(rewriter.infos(list(op.operands))):
        if isinstance(info, Scaled) and info.scale.powers:
            inverse = ScaleOrigin((ONE / info.scale, ONE))
            least = Scale(0, ((rewriter.runtime_scales.derive(inverse), -1),))
            rewriter.rescale(op, index, least)
    return min(known)


def _bounds(op: ir.Operation, rewriter: ScaleRewriter) -> Iterator[list[Splat]]:
    """Yields the constants, other than 0, between which an op puts values."""
    operands = list(op.operands)
    pairs = [(operands[0], operands[2])] if len(operands) > 2 else []  # Of a clamp.
    for value, other in zip(operands, operands[::-1], strict=True):
        inner = maker(value)
        if inner is not None and {inner.name, op.operation.name} == {_MINIMUM, _MAXIMUM}:
            pairs += [(other, bound) for bound in inner.operands]
    for pair in pairs:
        constants = [f for f in rewriter.infos(list(pair)) if isinstance(f, Splat)]
        if constants and len(constants) + sum(map(is_zero, pair)) == len(pair):
            yield constants


def _limited(info: ScaleInfo, most: Sequence[float], rewriter: ScaleRewriter) -> ScaleInfo:
    """Returns the size of values of at most some levels at scale 1."""
    if not most or not isinstance(info, Scaled):
        return info
    levels = [info.level, *(level - info.scale.size for level in most)]
    return info._replace(level=rewriter.sizes.least(levels))


def _beyond_zero(infos: Sequence[ScaleInfo], sign: int) -> bool:
    """Whether constants, as bounds of values, have a sign: saturated ones are bounds as well."""
    return all(info.value * sign > 0 for info in infos if isinstance(info, Splat))


def select(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Aligns a select; one of 0, by a comparison with 0, is the gradient of a ReLU."""
    chosen, *values = op.operands
    masks = rewriter.narrow and any(map(is_zero, values))
    halved = masks and _tells_signs(chosen)
    copies = max(map(_copies, values)) if masks and rewriter.predicts and _is_segment(chosen) else 1
    target = rewriter.align(op, (1, 2), either=True)
    if halved and isinstance(target, Scaled):
        target = _halved(target, _RELU.gradient_size, rewriter)
    elif copies > 1 and isinstance(target, Scaled):
        target = target._replace(level=target.level - math.log2(copies) / 2)
    rewriter.set(op.results[0], target)


def _halved(info: Scaled, size: float, rewriter: ScaleRewriter) -> Scaled:
    """Lowers the level after half of the elements became 0, if sizes are predicted."""
    if rewriter.predicts:
        return info._replace(level=info.level + size)
    return info._replace(uncertainty=info.uncertainty.with_bias(abs(size)))


def one_hot(value: ir.Value) -> int | None:
    """Returns the number of classes if booleans are a one-hot encoding; else None.

    Args:
        value: The booleans.
    """
    for operand in _compared(value):
        source = _spread(operand)
        if source is not None and source.name == _IOTA:
            dimension = ir.IntegerAttr(source.attributes["iota_dimension"]).value
            size = source.results[0].type.shape[dimension]
            return int(size) if size > 0 else None
    return None


def _tells_signs(value: ir.Value) -> bool:
    """Whether booleans are the result of a comparison with 0."""
    return any(map(is_zero, _compared(value, *_ORDERED)))


def _is_segment(value: ir.Value) -> bool:
    """Whether booleans select the positions between two numbers, such as the rows of a group."""
    owner = value.owner
    if is_block(owner) or owner.name != "stablehlo.and":
        return False
    tests = (_compared(value, *_ORDERED) for value in owner.operands)
    sources = (map(_spread, operands) for operands in tests)
    return all(any(op is not None and op.name == _IOTA for op in each) for each in sources)


def _copies(value: ir.Value) -> int:
    """Returns how often a value is repeated along a new axis; each element is in one segment."""
    owner = value.owner
    if is_block(owner) or owner.name != "stablehlo.broadcast_in_dim":
        return 1
    kept = list(owner.attributes["broadcast_dimensions"])
    new = [size for axis, size in enumerate(value.type.shape) if axis not in kept]
    return int(new[0]) if kept and len(new) == 1 and new[0] > 0 else 1


def _compared(value: ir.Value, *directions: str) -> list[ir.Value]:
    """Returns the operands of a comparison, by default for equality; None for other values."""
    owner = value.owner
    if is_block(owner) or owner.name != _COMPARE:
        return []
    direction = stablehlo.ComparisonDirectionAttr(owner.attributes["comparison_direction"]).value
    return list(owner.operands) if direction in (directions or ("EQ",)) else []


def is_zero(value: ir.Value) -> bool:
    """Whether a value is a constant of zeros, broadcast or not."""
    source = _spread(value)
    if source is None or len(source.results) != 1:
        return False
    return filled_with(source.result) == 0 and is_real(source.result.type)


def _spread(value: ir.Value) -> ir.Operation | None:
    """Returns the op of the value before broadcasts; None if that is an argument."""
    return maker(behind(value, _SPREADING))
