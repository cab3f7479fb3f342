"""What the conformance harness calls: functions from a module's text to that of its rewrite."""

from __future__ import annotations

from itertools import count

from scalify_hlo import rewrite
from scalify_hlo.dialect.attributes import function_type
from scalify_hlo.ir.formats import format_of
from scalify_hlo.ir.functions import main_function
from scalify_hlo.program.program import read_text

_SPLIT, _STEP, _PERIOD = -4, -1, 4


def same(text: str) -> str:
    """The rewrite that keeps arguments and results; no value is scaled."""
    return rewrite(text, recipe="propagate")


def split(text: str) -> str:
    """As `same`, with each float argument split at entry, at 2^-4 to 2^-7 in turn.

    Equal scales would hide operands that meet wrongly.
    """
    scales = {
        f"arg{i}": 2.0 ** (_SPLIT + _STEP * (i % _PERIOD))
        for i, is_float in zip(count(), _floats(text))
        if is_float
    }
    return rewrite(text, recipe="propagate", input_scale=scales)


def scaled(text: str) -> str:
    """The rewrite whose float arguments and results are data and scale."""
    return rewrite(text, recipe="propagate", signature="scaled")


def _floats(text: str) -> list[bool]:
    """Which arguments of `main` are floats."""
    module = read_text(text).module
    main = main_function(module.operation)
    types = function_type(main).inputs if main is not None else ()
    return [format_of(type_) is not None for type_ in types]
