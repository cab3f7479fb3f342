"""Layouts of arguments that XLA chooses.

By default, the last dimension of an argument is contiguous in memory. Hopper's FP8 matmuls read
both operands along the contracted dimension, so that a weight ``[k, n]`` is transposed in each
call. A caller that keeps weights on the device may keep them in the layout that XLA prefers:
`jax.experimental.layout.Format(Layout.AUTO)` asks for it.
"""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function

_MODE = "mhlo.layout_mode"


def with_free_layouts(module: ir.Operation) -> ir.Operation:
    """Returns a copy of a program in which XLA chooses the layouts of all arguments.

    Args:
        module: The program; its function ``main`` is what is compiled.
    """
    copy = module.clone().operation
    main = main_function(copy)
    if main is None:
        return copy
    marks = attributes.argument_attributes(main)
    for mark, argument in zip(marks, main.regions[0].blocks[0].arguments, strict=True):
        ranked = isinstance(argument.type, ir.RankedTensorType) and argument.type.rank > 1
        mark[_MODE] = ir.StringAttr.get("auto" if ranked else "default")
    attributes.set_argument_attributes(main, marks)
    return copy
