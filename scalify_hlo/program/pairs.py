"""Pairs of data and scale among the arguments of a program that was rewritten."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.algebra.moments import SCALE_FORMAT, scale_shape
from scalify_hlo.algebra.scale_shapes import are_blocks
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.formats import format_of
from scalify_hlo.ir.functions import main_function
from scalify_hlo.program.record import rewrites_of
from scalify_hlo.rules.isolated import scale_element

_SUFFIX = ".scale"
"""The end of the name of the scale of an argument, after the name of its data."""


def pairs_of(module: ir.Module) -> dict[int, int]:
    """Returns the numbers of the arguments that are data, each with that of its scale.

    A rewrite with signature ``scaled`` puts the scale of an argument right after its data, and
    names it after them. Without names, a number of the type of scales after a float is taken to be
    its scale. Only one of rank 0 is without names, and with names, each block may have one.

    Args:
        module: The module of a program. One that has no record of a rewrite has no pairs.
    """
    if not any(", signature scaled" in done for done in rewrites_of(module)):
        return {}
    main = main_function(module.operation)
    if main is None:
        return {}
    with module.context:
        types = list(attributes.function_type(main).inputs)
        names = attributes.argument_names(main)
        pairs: dict[int, int] = {}
        for scale in range(1, len(types)):
            data = scale - 1
            if data not in pairs.values() and _is_scale(types[data], types[scale]):
                named = not names[data].startswith("arg")
                unnamed = not named and not types[scale].rank
                if unnamed or names[scale] == names[data] + _SUFFIX:
                    pairs[data] = scale
        return pairs


def _is_scale(data: ir.Type, scale: ir.Type) -> bool:
    """Whether a type is that of the scale of another."""
    if format_of(data) is None or not isinstance(scale, ir.RankedTensorType):
        return False
    if str(scale.element_type) == SCALE_FORMAT:
        return bool(data.has_static_shape) and scale.shape == scale_shape(data.shape)
    element: ir.Type = scale_element(data)
    if scale.element_type != element:
        return False
    static = data.has_static_shape and scale.has_static_shape
    return not scale.rank or (static and are_blocks(list(scale.shape), list(data.shape)))
