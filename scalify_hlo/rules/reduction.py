"""Ops with a region on single elements: reductions, scatters, sorts."""

from __future__ import annotations

from collections.abc import Sequence

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import FACTORS, POWER_STEEP
from scalify_hlo.algebra.scale import ANY, ONE, AnyScale, Scaled, Splat, scale_of
from scalify_hlo.ir.formats import is_real
from scalify_hlo.ir.monoid import TAKES, monoid
from scalify_hlo.ir.splats import filled_with
from scalify_hlo.ir.traits import HOMOGENEOUS, LOGICAL
from scalify_hlo.rules.families import Count, among_zeros, rise, static_product, steep
from scalify_hlo.rules.masks import size_of_count, uncertainty_of_count
from scalify_hlo.rules.regions import run_on_data
from scalify_hlo.rules.registry import meets, rule
from scalify_hlo.rules.result_scales import strays
from scalify_hlo.rules.scale_rewriter import ScaleRewriter
from scalify_hlo.rules.units import Inference, Unit

_INTEGER = (LOGICAL - {"stablehlo.not"}) | {"stablehlo.multiply"}


def reduce(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Rewrites a reduction by the units of its region; a short product has a power of the scale."""
    name = monoid(op.regions[0])
    if name != "stablehlo.multiply" or not _short_product(op, rewriter):
        _reduced(op, rewriter, name, _summed)


def reduce_window(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Rewrites a reduction over windows, whose products may have any number of factors."""
    _reduced(op, rewriter, monoid(op.regions[0]), _window)


def _summed(op: ir.Operation) -> int | None:
    shape = op.operands[0].type.shape
    return static_product([shape[d] for d in op.attributes["dimensions"]])


def _window(op: ir.Operation) -> int | None:
    return static_product(list(op.attributes["window_dimensions"]))


def _reduced(op: ir.Operation, rewriter: ScaleRewriter, name: str | None, count: Count) -> None:
    if name not in HOMOGENEOUS:
        if name not in _INTEGER or rewriter.concerns(op.operation):
            _reduced_by_units(op, rewriter, count)
        return
    rewriter.as_values(op, 0)  # The terms are unscaled once for all readers, and not each sum.
    n = count(op) if name == "stablehlo.add" else None
    if name == "stablehlo.add" and not rewriter.narrow:
        _kept_near(op, rewriter)
    target = _from_zero(op, rewriter) or rewriter.align(op, (0, 1))
    counts = n and rewriter.predicts and rewriter.format(op.results[0]) is not None
    if counts and (size := size_of_count(op.results[0])) is not None:
        known = target if isinstance(target, Scaled) else Scaled(ONE, 0, uncertainty_of_count())
        target = known._replace(level=known.level + size)
    elif name == "stablehlo.add" and isinstance(target, Scaled):
        terms = n * n if n and rewriter.narrow and _is_positive(op.operands[0], rewriter) else n
        target = target._replace(level=target.level + rise(terms, rewriter))
    rewriter.set(op.results[0], target)


def _kept_near(op: ir.OpView, rewriter: ScaleRewriter) -> None:
    """Rescales terms to scale 1 if the data of a sum would be far from unit, and values nearer."""
    value = op.operands[0]
    scale = scale_of(rewriter.info(value))
    if scale.static and strays(scale) and rewriter.is_wide(value):
        rewriter.rescale(op, 0, ONE)


def _from_zero(op: ir.Operation, rewriter: ScaleRewriter) -> Scaled | None:
    """Returns the scale information of narrow data that are reduced from zero; else None."""
    operands = op.operands
    info = rewriter.info(operands[0])
    if rewriter.narrow and isinstance(info, Scaled) and rewriter.info(operands[1]) is ANY:
        return info
    return None


def _is_positive(value: ir.Value, rewriter: ScaleRewriter) -> bool:
    """Whether terms are positive, such as squares, so that a sum grows with their number.

    If sizes are predicted, the terms of a softmax are included.
    """
    owner = value.owner
    if isinstance(owner, ir.Block) or isinstance(value.type.element_type, ir.ComplexType):
        return False
    if owner.name == "stablehlo.convert" and rewriter.predicts:
        return _is_positive(owner.operands[0], rewriter)
    if owner.name != "stablehlo.multiply":
        return bool(rewriter.predicts and owner.name == "stablehlo.exponential")
    lhs, rhs = owner.operands
    if lhs == rhs:
        return True
    # A positive factor, such as that of a rescaling, leaves squares positive.
    return any(
        _is_positive_number(factor, rewriter) and _is_positive(one, rewriter)
        for one, factor in ((lhs, rhs), (rhs, lhs))
    )


def _is_positive_number(value: ir.Value, rewriter: ScaleRewriter) -> bool:
    """Whether all elements are one positive number, of the program or of a rescaling."""
    known = rewriter.info(value)
    if isinstance(known, Splat):
        return known.value > 0
    owner = value.owner
    if isinstance(owner, ir.Block):
        return False
    if owner.name == "stablehlo.broadcast_in_dim":
        return _is_positive_number(owner.operands[0], rewriter)
    number = filled_with(value)
    return number is not None and number > 0 and is_real(value.type)


def _short_product(op: ir.Operation, rewriter: ScaleRewriter) -> bool:
    """Whether a product of few values, starting with 1, was rewritten to a power of the scale."""
    info, start = rewriter.infos(op.operands)
    count = _summed(op)
    if not isinstance(info, Scaled) or start != Splat(1.0) or count is None:
        return False
    if count > FACTORS or steep(op.results[0], info.scale**count, rewriter, most=POWER_STEEP):
        return False
    uncertainty = (info.uncertainty**count).with_root(count)
    rewriter.result(op, info.scale**count, info.level * count, uncertainty)
    return True


def _reduced_by_units(op: ir.Operation, rewriter: ScaleRewriter, count: Count) -> None:
    """Rewrites a reduction whose partial results and elements have one unit."""
    block, n = op.regions[0].blocks[0], len(op.results)
    inference = Inference(rewriter)
    units = [inference.unknown(argument) for argument in list(block.arguments)[:n]]
    _closed(inference, block, [*units, *units], units)
    solved = [inference.solved(unit) for unit in units]
    run_on_data(
        op, rewriter, dict(enumerate([*solved, *solved])), solved, _rises(op, count, rewriter)
    )


def _closed(
    inference: Inference, block: ir.Block, arguments: Sequence[Unit], states: Sequence[Unit]
) -> None:
    """Requires that the results of a block have the units of its arguments."""
    for state, end in zip(states, inference.run(block, arguments), strict=True):
        inference.equal((state, end))


def _rises(op: ir.Operation, count: Count, rewriter: ScaleRewriter) -> list[float]:
    """Returns the rise of the level of each result that is a sum."""
    ends = op.regions[0].blocks[0].operations[-1].operands
    return [rise(count(op), rewriter) if _is_sum(end) else 0 for end in ends]


def _is_sum(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.name == "stablehlo.add"


def scatter(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Rewrites a scatter; overwriting, sums, maxima and minima align inputs and updates.

    Other regions are rewritten by their units: products keep the scale of the inputs.
    """
    name = monoid(op.regions[0])
    if name == TAKES or name in HOMOGENEOUS:
        zeros = rewriter.info(op.operands[0]) is ANY
        info = rewriter.align(op, (0, 2))
        if rewriter.narrow and zeros and not isinstance(info, AnyScale):
            info = _spread(op, info, rewriter)
        rewriter.set(op.results[0], info)
    else:
        _scattered_by_units(op, rewriter)


def _spread(op: ir.Operation, info: Scaled | None, rewriter: ScaleRewriter) -> Scaled | None:
    """Returns the size of values that are scattered over zeros, which are part of the rms."""
    updates = rewriter.info(op.operands[2])
    if info is None and isinstance(updates, Splat):
        info = Scaled(ONE, rewriter.size(updates))
    if info is None:
        return None
    return among_zeros(info, op.operands[0], op.operands[2], rewriter)


def _scattered_by_units(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Rewrites a scatter whose combiner may get its own result again, with another update."""
    block, n = op.regions[0].blocks[0], len(op.results)
    inference = Inference(rewriter)
    units = [inference.unknown(argument) for argument in block.arguments]
    _closed(inference, block, units, units[:n])
    solved = [inference.solved(unit) for unit in units]
    operands = dict(enumerate(solved[:n])) | dict(enumerate(solved[n:], n + 1))
    run_on_data(op, rewriter, operands, solved[:n])


def select_and_scatter(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Rewrites a select_and_scatter; the selection is of degree 0 in the operand."""
    select, combine = (region.blocks[0] for region in op.regions)
    inference = Inference(rewriter)
    selected, scattered = map(inference.unknown, (op.operands[0], op.operands[1]))
    inference.run(select, [selected, selected])
    _closed(inference, combine, [scattered, scattered], [scattered])
    selected, scattered = inference.solved(selected), inference.solved(scattered)
    run_on_data(op, rewriter, {0: selected, 1: scattered, 2: scattered}, [scattered])


def sort(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Rewrites a sort; each operand keeps its scale if the comparator is homogeneous."""
    inference = Inference(rewriter)
    units = [inference.unknown(operand) for operand in op.operands]
    inference.run(op.regions[0].blocks[0], [unit for unit in units for _ in range(2)])
    solved = [inference.solved(unit) for unit in units]
    run_on_data(op, rewriter, dict(enumerate(solved)), solved)


def map_(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Rewrites a map by the units of its function."""
    inference = Inference(rewriter)
    units = [inference.unknown(operand) for operand in op.operands]
    ends = inference.run(op.regions[0].blocks[0], units)
    solved = [inference.solved(unit) for unit in units]
    run_on_data(op, rewriter, dict(enumerate(solved)), [inference.solved(end) for end in ends])


_UNITS = "unit inference over the region: homogeneous regions run on data, others read values"
_SUMS = "appendix of the Unit Scaling paper for sums"
rule(
    "reduce",
    reduce,
    f"{_UNITS}; {_SUMS}",
    "s = meet(X_s, I_s); Y_d = reduce(X_d*X_s/s)/k; Y_s = s*k; "
    "k = 2^floor(log2(sqrt(n))) for sums, 1 for max and min; products of up to 16: Y_s = X_s^n; "
    "several operands: a scale each",
    family="reduce",
)
rule(
    "reduce_window",
    reduce_window,
    f"{_UNITS}; {_SUMS}",
    "s = meet(X_s, I_s); Y_d = reduce_window(X_d*X_s/s)/k; Y_s = s*k; k as for reduce",
    family="reduce",
)
rule(
    "scatter",
    scatter,
    _UNITS,
    meets("XU") + "; products: Y_d = scatter(X_d, U_d*U_s); Y_s = X_s",
    family="align",
)
rule(
    "select_and_scatter",
    select_and_scatter,
    f"{_UNITS}; selection is of degree 0",
    "s = meet(U_s, I_s); Y_d = select_and_scatter(X_d, U_d*U_s/s, I_d*I_s/s); Y_s = s",
    family="align",
)
rule(
    "sort",
    sort,
    f"{_UNITS}; a common positive factor keeps the order",
    "Y_d = sort(X_d, ...); Y_s = X_s, for each operand",
    family="keep",
)
rule(
    "map",
    map_,
    _UNITS,
    "Y_d = map(X_d*X_s/s, ...); Y_s by the units of its function, for scales s that fit",
    family="align",
)
