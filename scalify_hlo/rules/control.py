"""Control flow: regions that are walked with what is known of the values that enter them."""

from __future__ import annotations

from collections.abc import Sequence

from scalify_hlo._compat import ir
from scalify_hlo.rules.families import opaque
from scalify_hlo.rules.registry import rule
from scalify_hlo.rules.split import Split
from scalify_hlo.scale import ANY, ONE, Any, Form, Scaled, Splat

_ROUNDS = 4
"""How often a loop's body is tried to find the scales of carries that start with zeros."""


def branches(op: ir.OpView, split: Split) -> None:
    """Each branch is walked; its results are brought to the meet of all branches' results."""
    ends = [region.blocks[0].operations[-1] for region in op.regions]
    for region in op.regions:
        with split.region():
            split.walk(region.blocks[0])
            split.outward(region.blocks[0].operations[-1].operation)
    for index, result in enumerate(op.results):
        yielded = [end.operands[index] for end in ends]
        target = split.meet(yielded, either=True)
        if isinstance(target, Scaled):
            for end, value in zip(ends, yielded, strict=True):
                with split.region():
                    brought = split.bring(value, target.scale, end.operation)
                    split.replace(end, index, brought)
        split.set(result, target)


def loop(op: ir.OpView, split: Split) -> None:
    """Carries keep the scale they enter with: what the body yields is brought back to it.

    A carry that starts with zeros, or with one value throughout, enters with the scale that the
    body gives it.
    """
    forms = _solved(op, split, split.forms(list(op.operands)))
    for index, form in enumerate(forms):
        if isinstance(form, Scaled):
            brought = split.bring(op.operands[index], form.scale, op.operation)
            split.replace(op, index, brought)
    yielded = _walked(op, split, forms)
    for result, form, last in zip(op.results, forms, yielded, strict=True):
        if isinstance(form, Scaled):
            level = last.level if isinstance(last, Scaled) else form.level
            split.set(result, Scaled(form.scale, max(form.level, level)))
        else:
            split.set(result, form)


def _walked(op: ir.OpView, split: Split, forms: Sequence[Form]) -> list[Form]:
    """Walks a loop whose carries have forms; gives those of the next carries, brought back."""
    condition, body = (region.blocks[0] for region in op.regions)
    with split.region(op.operation):
        _enter(condition, split, forms)
    with split.region(op.operation):
        _enter(body, split, forms)
        end = body.operations[-1]
        return [_brought_back(end, split, index, form) for index, form in enumerate(forms)]


def _enter(block: ir.Block, split: Split, forms: Sequence[Form]) -> None:
    for argument, form in zip(block.arguments, forms, strict=True):
        split.assume(argument, form)
    split.walk(block)


def _brought_back(end: ir.OpView, split: Split, index: int, form: Form) -> Form:
    scale = form.scale if isinstance(form, Scaled) else ONE
    value = end.operands[index]
    if isinstance(form, Scaled) or isinstance(split.form(value), Scaled):
        split.replace(end, index, split.bring(value, scale, end.operation))
    return split.form(end.operands[index])


def _solved(op: ir.OpView, split: Split, forms: Sequence[Form]) -> list[Form]:
    """The forms of a loop's carries that its body keeps."""
    solved: list[Form] = [None if isinstance(form, Splat) else form for form in forms]
    waiting = [i for i, form in enumerate(forms) if isinstance(form, Splat | Any)]
    for _ in range(_ROUNDS):
        if not waiting:
            break
        yielded = _tried(op, split, solved)
        found = [i for i in waiting if yielded[i] is not ANY]
        if not found:
            return solved
        for i in found:
            solved[i] = _from_outside(yielded[i], split)
        waiting = [i for i in waiting if i not in found]
    for i in waiting:
        solved[i] = None
    return solved


def _from_outside(form: Form, split: Split) -> Form:
    """The form of a carry: one whose scale is born anew in each turn is carried at scale 1."""
    if not isinstance(form, Scaled):
        return None
    return form if form.scale.depth <= split.depth else Scaled(ONE)


def _tried(op: ir.OpView, split: Split, forms: Sequence[Form]) -> list[Form]:
    """The forms that a loop's body yields from those of its carries, found on a copy of it."""
    copy = op.operation.clone(ip=ir.InsertionPoint(op)).opview
    with split.trying():
        body = copy.regions[1].blocks[0]
        with split.region(copy.operation):
            _enter(body, split, forms)
            yielded = split.forms(list(body.operations[-1].operands))
        split.forget(copy.operation)
    copy.operation.erase()
    return yielded


for _name in ("if", "case"):
    rule(
        _name,
        branches,
        family="control",
        formula="s = meet of the branches' Y_s; Y_d = Y_d*Y_s/s at the end of each; Y_s = s",
        source="a value is one of several, as for select",
    )
rule(
    "while",
    loop,
    family="control",
    formula="carries keep their scale s: X_d <- Y_d*Y_s/s at the end of the body; zeros take "
    "the scale that the body gives them",
    source="a scale that moved in each turn would run away",
)
for _name in ("func.call", "composite"):
    rule(
        _name,
        opaque,
        family="call",
        formula="the call of a copy that takes X_d and returns Y_d",
        source="functions are copied for each combination of scales; those declared elsewhere "
        "are unscaled around",
    )
