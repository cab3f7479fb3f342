"""Statistics of the FP8 data of matmul operands in a rewritten program, and their scales."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from examples.xla import Executable
from scalify_hlo import ValueStats
from scalify_hlo._compat import ir
from scalify_hlo.casts.matmuls import NamedOperand
from scalify_hlo.commands.stats.prepare import Programs, Selection
from scalify_hlo.commands.stats.readout import Readout
from scalify_hlo.commands.stats.values import Watched
from scalify_hlo.ir.traits import COPIES, LAYOUT, MATMULS
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.program.program import read_text
from scalify_hlo.program.tensors import Array

_MOVES = LAYOUT | COPIES


@dataclass(frozen=True)
class FP8Operands(Selection):
    """The selection of the FP8 values of a rewrite that matmuls read; it has none of the original.

    Gradients of weights, which are rounded to FP8 for the optimizer, are left out.
    """

    pattern: str = "f8*"

    def of(self, _: Sequence[Watched], __: Sequence[NamedOperand]) -> list[Watched]:
        """Returns the values of the original: none."""
        return []

    def matches(self, one: Watched) -> bool:
        """Whether a value is such an operand, before it is moved."""
        return one.dtype.startswith("f8") and one.source is None and is_operand(one.value)


def is_operand(value: ir.Value) -> bool:
    """Whether a matmul reads a value, maybe after it is moved."""
    for use in value.uses:
        user, number = use.owner.operation, use.operand_number
        if user.name in MATMULS or (user.name in _MOVES and is_operand(user.results[number])):
            return True
    return False


def casts_of(
    text: str, arguments: Sequence[Array], options: Options, chosen: Selection | None = None
) -> list[ValueStats]:
    """Returns the FP8 operands of a rewrite, in program order.

    Args:
        text: The original.
        arguments: The flat arguments of the rewrite; they are converted to its formats.
        options: The options of the rewrite.
        chosen: Which values are returned in place of the FP8 operands.
    """
    selection = chosen or FP8Operands()
    rewrite = Programs(read_text(text).module, "program", selection).rewritten(options)
    readout = Readout(rewrite.instrumented, scaled=True)
    executable = Executable(rewrite.module.operation.get_asm(enable_debug_info=False))
    results = executable(executable.stored([jnp.asarray(array) for array in arguments]))
    readout.add([np.asarray(result) for result in results])
    return list(readout.values())


def known_scales(casts: Sequence[ValueStats]) -> list[float]:
    """Returns log2 of the scale of data in the first step; those of any scale are left out."""
    known = (cast.scales[0] for cast in casts if cast.scales is not None)
    return [scale for scale in known if scale is not None]


def log2_rms(casts: Sequence[ValueStats]) -> Array:
    """Returns log2 of the rms of data; those that are all zero are left out."""
    return np.log2([cast.rms[0] for cast in casts if cast.rms[0]])
