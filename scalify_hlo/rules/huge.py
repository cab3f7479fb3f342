"""Unscaled values that may hold numbers near the end of their format, as added masks do.

A mask of 0 and -3.4e38 times a power of two is infinite, and a row all of which is masked would
become NaN. So the other operand of a sum or a product with such a value is rescaled to scale 1.
"""

from __future__ import annotations

import math
from itertools import islice

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import HUGE, HUGE_VALUES
from scalify_hlo.algebra.scale import ONE, Scaled, ScaleInfo, Splat
from scalify_hlo.algebra.search import Search
from scalify_hlo.dataflow.frames import Frame, Place
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.formats import is_real
from scalify_hlo.ir.functions import around, is_block
from scalify_hlo.ir.splats import dense_of, filled_with, is_constant
from scalify_hlo.ir.traits import INSIDES, LOOP, where

_FOLLOWED = {"stablehlo.multiply", "stablehlo.optimization_barrier"} | where(
    *("reshape", "transpose", "reverse", "broadcast", "slice", "lookup", "pad", "join"),
    *("round", "magnitude", "sum", "extreme", "choice"),
)
"""Ops whose result may be as large as one of their operands."""


def is_huge(constant: ScaleInfo, other: ScaleInfo) -> bool:
    """Whether the data of a product might overflow: a mask times a constant near the end of f32."""
    return (
        isinstance(constant, Splat)
        and abs(constant.value) > HUGE
        and isinstance(other, Scaled)
        and other.scale != ONE
    )


def largest_constant(value: ir.Value) -> float:
    """Returns log2 of the largest finite magnitude of the constants from which a value is made.

    They are found in called functions and before loops too, but not behind the arguments of the
    function of the value. The result is -inf if there are none but 0, infinities and NaN.
    """
    frame = Frame({})

    def made_of(place: Place) -> list[Place]:
        places = [] if is_constant(place[0]) else _made_from(*place)
        return [each for each in places if is_real(each[0].type)]

    nearest = islice(Search([frame.place(value)], made_of, nearest=True), HUGE_VALUES)
    found = [_log_amax(each) for each, _ in nearest if is_real(each.type) and is_constant(each)]
    frame.release()
    return max(found, default=-math.inf)


def _made_from(value: ir.Value, frame: Frame) -> list[Place]:
    """Returns the values of which a value is one, a sum or a product."""
    owner = value.owner
    if is_block(owner):
        outer = owner.owner.operation
        if outer.name == LOOP and (frame.op is None or frame.op != outer):
            number, operands = ir.BlockArgument(value).arg_number, outer.operands
            # A loop that is being rewritten has arguments for scales before it has the operands.
            return [frame.place(operands[number])] if number < len(operands) else []
        return frame.source_of_argument(value)
    if owner.name in INSIDES:
        if not frame.functions:  # they are listed only where one is called
            frame.functions = functions_in(around(owner, "builtin.module"))
        return frame.sources(value, owner.operation, owner.name)
    if owner.name in _FOLLOWED:
        return [frame.place(operand) for operand in owner.operands]
    return []


def _log_amax(constant: ir.Value) -> float:
    """Returns log2 of the largest finite magnitude of a constant."""
    elements = dense_of(constant)
    if elements is None:
        return -math.inf
    if elements.is_splat:
        numbers = np.array(filled_with(constant))
    elif str(constant.type.element_type) in ("f32", "f64"):
        numbers = np.asarray(elements)
    else:
        return -math.inf
    amax = np.max(np.abs(numbers), initial=0, where=np.isfinite(numbers))
    return float(np.log2(amax)) if amax else -math.inf
