"""What a rewrite did, for callers, `inspect` and remarks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from scalify_hlo.diagnostics import Remark


@dataclass(frozen=True, slots=True)
class ValueReport:
    """One argument or result of the program.

    Attributes:
        name: Its path, such as ``params['w']``.
        type: Its MLIR type before the rewrite.
        paired: Whether it became data and scale.
        scaled: Whether a scale reached it.
        scale: The scale as text: ``2^-4``, ``s0``, ``any`` or ``unscaled``.
    """

    name: str
    type: str
    paired: bool
    scaled: bool
    scale: str


@dataclass
class Report:
    """What a rewrite did.

    Attributes:
        arguments: The arguments of ``main``, as they were.
        results: The results of ``main``, as they were.
        remarks: What the user should know, such as ops that had to be unscaled around.
        values: How many float results of ops are ``static``, ``dynamic``, ``any`` or
            ``unscaled``; counted only where forms are annotated.
        ops: How often each op occurs in the program, as it was.
        given_up: How often each op read values at scale 1 although an operand was scaled.
        plain_calls: Whether functions are named only by calls outside of regions, as far as the
            ops were counted.
    """

    arguments: list[ValueReport] = field(default_factory=list)
    results: list[ValueReport] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    values: Counter[str] = field(default_factory=Counter)
    ops: Counter[str] = field(default_factory=Counter)
    given_up: Counter[str] = field(default_factory=Counter)
    plain_calls: bool = True
