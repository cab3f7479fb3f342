"""Warnings on a compiled program, as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scalify_hlo.commands.explain.model import ExplainedMatmul, Explanation
from scalify_hlo.targets.description import Target

_MANY: Final = 0.01
"""The share of the estimated time from which on matmuls in f32 are worth a warning."""
_TILE: Final = 16
"""The least M, N and K of the FP8 kernels of GPUs."""


def warnings_of(explanation: Explanation) -> Iterator[str]:
    """Yields warnings, those on the whole program first."""
    yield from _slow(explanation)
    yield from _wide(explanation)
    for each in explanation.matmuls:
        if each.falls_back:
            yield _fell_back(each, explanation)
    if explanation.program.loops:
        count = explanation.program.loops
        yield f"the turns of {_counted(count, 'loop')} are not known, and count once"
    yield from explanation.remarks


def name_of(each: ExplainedMatmul) -> str:
    """Returns the name of a matmul, or its operator if it has none."""
    return each.matmul.label or each.matmul.op


def _slow(explanation: Explanation) -> Iterator[str]:
    speedup, reached = explanation.speedup, explanation.speedup_reached
    if reached is not None and reached < 1:
        yield f"estimated slower than bf16, at {reached:.2f} of its speed as kernels reached it"
    elif speedup is not None and speedup < 1:
        yield f"estimated slower than bf16, at {speedup:.2f} of its speed"


def _wide(explanation: Explanation) -> Iterator[str]:
    """Yields a warning on matmuls of f32."""
    if not explanation.recipe:
        return
    wide = [each for each in explanation.matmuls if any(k.startswith("f32") for k in each.flops)]
    seconds, whole = sum(each.seconds or 0.0 for each in wide), explanation.program.work.seconds
    if whole and seconds > _MANY * whole:
        yield (
            f"{_counted(len(wide), 'matmul')} of f32 ({name_of(wide[0])}) "
            f"take {100 * seconds / whole:.0f} % of the time: export the model in bf16, or set "
            "compute=bf16"
        )


def _fell_back(each: ExplainedMatmul, explanation: Explanation) -> str:
    labels = ", ".join(sorted({kernel.label for kernel in each.kernels}))
    lhs, rhs = each.matmul.formats[:2]
    told = f"{name_of(each)}: the matmul of {lhs} and {rhs} became {labels}, which widens them"
    cause = _cause(each, explanation.target, explanation.blocks)
    return f"{told}: {cause}" if cause else told


def _cause(each: ExplainedMatmul, target: Target, blocks: str) -> str:
    """Returns the reason why a compiler widens the operands of a matmul; empty if not known."""
    formats = [format_.lower() for format_ in each.matmul.formats[:2]]
    foreign = [format_ for format_ in formats if format_ not in target.native]
    if foreign:
        return f"{target.name} multiplies no {foreign[0]}"
    if all(format_.startswith("f8e5m2") for format_ in formats):
        return "there is no kernel for E5M2 with E5M2"
    if any(size.below(_TILE) for size in each.matmul.extent[:3]):
        return f"M, N or K is below {_TILE}"
    if blocks and blocks != "e8m0":
        return f"XLA has no kernel for block scales in {blocks}"
    return ""


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"
