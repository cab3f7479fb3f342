"""The rule of roots, whose scales are roots of the scales of their operands."""

from __future__ import annotations

from collections.abc import Sequence

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import Scale, Scaled, Splat
from scalify_hlo.algebra.scale_origins import ScaleOrigin
from scalify_hlo.rules.families import unscale
from scalify_hlo.rules.registry import Apply, of_family
from scalify_hlo.rules.scale_rewriter import ScaleRewriter


def root(n: int, sign: int = 1) -> Apply:
    """Degree 1/n: ``Y_d = f(X_d * r), Y_s = h`` with ``X_s = h^n * r`` and r a small power of two.

    Even powers leave nothing over. For an odd static exponent r is static; for odd powers of
    run-time scales h is a run-time scale of its own.
    """

    @of_family("root", f"X_s = h^{n}*r; Y_d = {{op}}(X_d*r); Y_s = {'h' if sign > 0 else '1/h'}")
    def apply(op: ir.Operation, rewriter: ScaleRewriter) -> None:
        info = rewriter.info(op.operands[0])
        if not isinstance(info, Scaled) or isinstance(
            op.operands[0].type.element_type, ir.ComplexType
        ):
            return unscale(op, rewriter) if isinstance(info, Splat) else rewriter.read_all(op)
        scale = info.scale
        for target in _divisible(scale, n, rewriter):
            rewriter.rescale(op, 0, target)
            scale = target
        level = info.level / n if rewriter.predicts else info.level // n
        uncertainty = info.uncertainty ** (sign / n)
        return rewriter.result(op, scale.root(n) ** sign, sign * level, uncertainty)

    return apply


def _divisible(scale: Scale, n: int, rewriter: ScaleRewriter) -> Sequence[Scale]:
    """Scales to rescale a value to, one by one, the last of which has an n-th root."""
    targets = []
    up = rewriter.recipe.rounding == "up"
    if scale.exponent % n:
        scale = scale.shift(-scale.exponent % n if up else -(scale.exponent % n))
        targets.append(scale)
    rest = [(g, k % n) for g, k in scale.powers if k % n]
    for start in range(0, len(rest), 2):
        part = Scale(0, tuple(rest[start : start + 2]))
        h = rewriter.runtime_scales.derive(ScaleOrigin((part,), n, up))
        scale = scale / part * Scale(0, ((h, n),))
        targets.append(scale)
    return targets
