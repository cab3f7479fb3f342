"""Estimated times of the matmuls of a rewrite on a device, of which no compiler is needed.

A matmul takes its floating-point operations at the peak of the wider format of its operands, or its
bytes at the bandwidth of the memory, whichever is longer: at the speeds that kernels reached on the
device, if they were measured. In a loop, it counts for each turn. Casts and all other ops are left
out. `explain` compiles a program for the device, and estimates all of its kernels.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Final

from scalify_hlo.errors import UsageError
from scalify_hlo.report.matmuls import MatmulReport
from scalify_hlo.targets.description import BATCHED, CONVOLVED, Target, load_target, target_names
from scalify_hlo.targets.products import FORMATS, format_class

_CONVOLUTION: Final = "stablehlo.convolution"
_COMPLEX: Final = "complex"
_BYTE: Final = 8


def with_speeds(name: str) -> Target:
    """Returns a device whose speeds are described.

    Args:
        name: The name, as for `load_target`.

    Raises:
        InputError: There is no device of that name.
        UsageError: Its speeds are not described.
    """
    target = load_target(name)
    if target.bandwidth is None:
        known = [each for each in target_names() if load_target(each).bandwidth is not None]
        raise UsageError(
            f"no time can be estimated: the target {name} describes no speeds",
            hint=f"the targets with speeds are: {', '.join(known)}",
        )
    return target


def matmul_seconds(matmuls: Iterable[MatmulReport], target: Target) -> float | None:
    """Returns the estimated time of all matmuls of a program.

    Args:
        matmuls: The matmuls.
        target: The device, whose speeds are described.

    Returns:
        Seconds; None if the size of a matmul is not known.
    """
    times = [_seconds(matmul, target) for matmul in matmuls]
    return None if None in times else sum(filter(None, times))


def _seconds(matmul: MatmulReport, target: Target) -> float | None:
    """Returns the estimated time of all calls and turns of a matmul."""
    flops, convolves = matmul.flops, matmul.op == _CONVOLUTION
    if flops is None:
        return None
    m, n, k, batch = (size.least for size in matmul.extent)
    class_ = max(map(format_class, matmul.formats[:2]), key=FORMATS.index)
    kind = class_ + (CONVOLVED if convolves else BATCHED * (batch > 1))
    # The windows of a convolution overlap, so that M times K counts elements several times.
    elements = (0 if convolves else m * k, k * n, m * n)
    sized = zip(elements, matmul.formats, strict=True)
    moved = matmul.calls * batch * sum(count * _bits(each) for count, each in sized) / _BYTE
    peak = (target.flops(class_) or math.inf) * target.share(kind)
    bandwidth = (target.bandwidth or math.inf) * target.share("memory")
    # A complex product is four real ones.
    products = 4 if matmul.formats[0].startswith(_COMPLEX) else 1
    return matmul.turns * max(products * flops / peak, moved / bandwidth)


def _bits(element: str) -> int:
    """Returns the bits of an element in memory, where a truth value has a byte."""
    width = re.search(r"\d+", element)
    if width is None or element == "i1":
        return _BYTE
    return int(width[0]) * (2 if element.startswith(_COMPLEX) else 1)
