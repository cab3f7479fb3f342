"""Control flow: the rules of loops, branches and calls; `loops.py` has that of loops."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.algebra.scale import Scaled
from scalify_hlo.ir.traits import BRANCHES, CALLS
from scalify_hlo.rules.families import opaque
from scalify_hlo.rules.loops import loop
from scalify_hlo.rules.registry import rule
from scalify_hlo.rules.scale_rewriter import ScaleRewriter


def branches(op: ir.Operation, rewriter: ScaleRewriter) -> None:
    """Rewrites each branch, and rescales its results to the meet of those of all branches."""
    ends = [region.blocks[0].operations[-1] for region in op.regions]
    for region in op.regions:
        with rewriter.region():
            rewriter.walk(region.blocks[0])
            rewriter.outward(region.blocks[0].operations[-1].operation)
    for index, result in enumerate(op.results):
        yielded = [end.operands[index] for end in ends]
        target = rewriter.meet(yielded, either=True)
        if isinstance(target, Scaled):
            for end in ends:
                with rewriter.region():
                    rewriter.rescale(end, index, target.scale)
        rewriter.set(result, target)


rule(
    BRANCHES,
    branches,
    "a value is one of several, as for select",
    "s = meet of the branches' Y_s; Y_d = Y_d*Y_s/s at the end of each; Y_s = s",
    family="control",
)
rule(
    "while",
    loop,
    "a scale that is multiplied in each iteration would overflow",
    "carries keep their scale s: X_d <- Y_d*Y_s/s at the end of the body; zeros take "
    "the scale of the body's result; if markers compute Y_s in each iteration, X_d <- Y_d and "
    "X_s <- Y_s, another carry",
    family="control",
)
rule(
    CALLS,
    opaque,
    "functions are copied for each combination of scales; those declared elsewhere "
    "are unscaled around",
    "the call of a copy that takes X_d and returns Y_d",
    family="call",
)
