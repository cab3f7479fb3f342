"""Statistics of the FP8 data of matmul operands in a rewritten program, and their scales."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalify_hlo import ValueStats
from scalify_hlo.io.tensors import Array
from scalify_hlo.observe.run import collect_stats
from scalify_hlo.passes.pipeline import Options


def casts_of(text: str, arrays: Sequence[Array], options: Options) -> list[ValueStats]:
    """Returns the values in FP8 of a rewrite, in program order.

    Args:
        text: The original.
        arrays: Its arguments; for the signature ``scaled``, the scales are powers of two near rms.
        options: The options of the rewrite.
    """
    rewritten = collect_stats(text, [list(arrays)], options=options).variants[1]
    return [v for v in rewritten.values if v.dtype.startswith("f8") and v.same_as is None]


def known_scales(casts: Sequence[ValueStats]) -> list[float]:
    """Returns log2 of the scale of data in the first step; those of any scale are left out."""
    known = (cast.scales[0] for cast in casts if cast.scales is not None)
    return [scale for scale in known if scale is not None]


def log2_rms(casts: Sequence[ValueStats]) -> Array:
    """Returns log2 of the rms of data; those that are all zero are left out."""
    return np.log2([cast.rms[0] for cast in casts if cast.rms[0]])
