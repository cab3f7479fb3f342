"""Regions that capture no values: functions, and the bodies of per-device computations.

Scales that are computed outside become arguments of the body. The scales of its results are
monomials of these, and need no IR.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from scalify_hlo._compat import ir
from scalify_hlo.algebra.runtime_size import powers_of, sized
from scalify_hlo.algebra.scale import RuntimeScale, Scale, Scaled, ScaleInfo
from scalify_hlo.algebra.uncertainty import UNKNOWN
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import is_f64
from scalify_hlo.ir.value_map import erase, erase_argument
from scalify_hlo.rules.probes import probe_block
from scalify_hlo.rules.scale_rewriter import ScaleRewriter


def placeholder(block: ir.Block) -> ir.Operation:
    """Inserts an op at the top of a block, before which factors are built, and erases it later."""
    type_ = emit.scalar_type(ir.IntegerType.get_signless(32))
    return emit.constant(type_, 0, block.operations[0].operation).owner.operation


def finish(rewriter: ScaleRewriter, top: ir.Operation) -> None:
    """Removes unused ops of a rewriter, and its placeholder."""
    if rewriter.settings.probed:
        rewriter.rescaler.erase_dead()
        probe_block(top.block, rewriter)
    rewriter.rescaler.finish()
    erase(top)


def runtimes(infos: Sequence[ScaleInfo]) -> tuple[RuntimeScale, ...]:
    """Returns the run-time scales of several values, each once, in order of appearance."""
    return tuple(dict.fromkeys(g for info in infos for g in runtimes_of(info)))


def runtimes_of(info: ScaleInfo) -> Iterator[RuntimeScale]:
    """Returns the run-time scales of a value's scale, and of its level."""
    if isinstance(info, Scaled):
        yield from (g for g, _ in info.scale.powers)
        yield from powers_of(info.level)


def add_parameters(
    block: ir.Block, infos: Sequence[ScaleInfo], rewriter: ScaleRewriter
) -> tuple[RuntimeScale, ...]:
    """Adds the run-time scales of the arguments' scales as extra arguments of a block.

    Args:
        block: The block.
        infos: The scale information of the arguments, with the run-time scales outside.
        rewriter: The rewriter of the block.

    Returns:
        The run-time scales of the block, in the order of `runtimes`.
    """
    arguments = list(block.arguments)
    inner: dict[RuntimeScale, RuntimeScale] = {}
    for argument, info in zip(arguments, infos, strict=True):
        for runtime in runtimes_of(info):
            if runtime not in inner:
                type_ = emit.scalar_type(scale_element(argument.type))
                value = block.add_argument(type_, argument.location)
                inner[runtime] = rewriter.runtime_scales.bind(
                    value,
                    state=runtime.state,
                    bound=runtime.bound,
                    like=runtime,
                )
    for argument, info in zip(arguments, infos, strict=True):
        rewriter.assume(argument, _renamed(info, inner))
    return tuple(inner.values())


def drop_unused(block: ir.Block, count: int) -> tuple[int, ...]:
    """Erases last arguments without uses, and returns the numbers of the others."""
    start = len(block.arguments) - count
    used = [next(iter(a.uses), None) is not None for a in list(block.arguments)[start:]]
    for i in reversed(range(count)):
        if not used[i]:
            erase_argument(block, start + i)
    return tuple(i for i in range(count) if used[i])


def scale_element(type_: ir.Type) -> ir.Type:
    """Returns the element type of a scale: f64 for f64 and complex<f64> data, else f32."""
    return ir.F64Type.get() if is_f64(type_) else ir.F32Type.get()


def scale_operands(
    block: ir.Block, taken: Sequence[RuntimeScale], rewriter: ScaleRewriter, at: ir.Operation
) -> list[ir.Value]:
    """Returns the values of run-time scales outside, for the last arguments of a block."""
    arguments = list(block.arguments)
    wanted = [argument.type for argument in arguments[len(arguments) - len(taken) :]]
    return [
        emit.convert(rewriter.runtime_scales.value(runtime), type_.element_type, at)
        for runtime, type_ in zip(taken, wanted, strict=True)
    ]


def translated(
    info: ScaleInfo,
    rewriter: ScaleRewriter,
    inner: ScaleRewriter,
    names: dict[RuntimeScale, RuntimeScale],
) -> ScaleInfo:
    """Returns the scale information of a body's result, with the run-time scales outside.

    Args:
        info: The scale information in the body.
        rewriter: The rewriter outside.
        inner: The rewriter of the body.
        names: The run-time scales outside, by those of the body.
    """
    if not isinstance(info, Scaled):
        return info
    rewriter.runtime_scales.location = rewriter.next.location
    translate = rewriter.runtime_scales.translate
    scale = translate(info.scale, inner.runtime_scales, names)
    for runtime in powers_of(info.level):
        size = Scale(0, ((runtime, 1),))
        if not inner.runtime_scales.is_made_of(size, names):  # It is measured in the body.
            return info._replace(scale=scale, level=float(info.level), uncertainty=UNKNOWN)
        translate(size, inner.runtime_scales, names)
    return info._replace(scale=scale, level=_renamed_level(info.level, names))


def _renamed(info: ScaleInfo, names: Mapping[RuntimeScale, RuntimeScale]) -> ScaleInfo:
    if not isinstance(info, Scaled):
        return info
    powers = ((names[g], k) for g, k in info.scale.powers)
    level = _renamed_level(info.level, names)
    return info._replace(scale=Scale.of(info.scale.exponent, powers), level=level)


def _renamed_level(level: float, names: Mapping[RuntimeScale, RuntimeScale]) -> float:
    """Returns a level with other run-time scales, which may be expected to have other sizes."""
    powers = powers_of(level)
    moved = sum([k * (names[g].size - g.size) for g, k in powers.items()])
    return (
        sized(float(level) + moved, {names[g]: k for g, k in powers.items()}) if powers else level
    )
