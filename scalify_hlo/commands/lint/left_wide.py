"""Matmuls of f32 operands in a model of 16 bits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from scalify_hlo.commands.lint.model import Place, Subject
from scalify_hlo.ir.formats import element_type
from scalify_hlo.ir.traits import CONTRACTIONS


def left_wide(subject: Subject) -> Iterator[Place]:
    """Yields the matmuls of f32 operands, if most matmuls of the program take 16-bit ones.

    The formats of operands decide. A matmul of bf16 operands that sums in f32 is as it should be.
    What a recipe leaves wide has its reason in the report.
    """
    if subject.rewritten:
        return
    matmuls = [op for op in subject.ops if op.name in CONTRACTIONS]
    formats = [tuple(str(element_type(v.type)) for v in list(op.operands)[:2]) for op in matmuls]
    counts = Counter(pair[0] for pair in formats if pair in _SMALL)
    most = counts.most_common(1)
    if not most or 2 * most[0][1] <= len(matmuls):
        return
    small, count = most[0]
    for op, pair in zip(matmuls, formats, strict=True):
        if pair == ("f32", "f32"):
            message = f"its operands are f32, and {count} of {len(matmuls)} matmuls take {small}"
            yield Place.at(op, f"{op.name}: {message}")


_SMALL = (("bf16", "bf16"), ("f16", "f16"))
