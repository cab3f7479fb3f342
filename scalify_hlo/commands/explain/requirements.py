"""Requirements on an explanation, such as ``fp8-flops>=0.95,speedup>=1.2``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from scalify_hlo.commands.explain.model import Explanation
from scalify_hlo.commands.explain.warnings import warnings_of
from scalify_hlo.report.requirements import Bounds, Quantity
from scalify_hlo.targets.record import Program

_NO_ORIGINAL: Final = "the program is not compared with an original, or the target has no peaks"
_NO_FLOPS: Final = "no kernel computes a matmul"


def _over_bf16(of: Callable[[Program], float]) -> Callable[[Explanation], float | None]:
    """Returns the ratio of a figure of the program to that of the original in bf16."""

    def ratio(explanation: Explanation) -> float | None:
        if explanation.original is None:
            return None
        before = of(explanation.original)
        return of(explanation.program) / before if before else None

    return ratio


QUANTITIES: Final[Mapping[str, Quantity[Explanation]]] = {
    "speedup": Quantity(lambda e: e.speedup, "the estimated speed over that of bf16", _NO_ORIGINAL),
    "speedup-with-launches": Quantity(
        lambda e: e.speedup_with_launches,
        "the estimated speed over that of bf16, with 2 µs for each kernel",
        _NO_ORIGINAL,
    ),
    "speedup-reached": Quantity(
        lambda e: e.speedup_reached,
        "the same at the speeds that kernels reached on the device",
        "the program is not compared with an original, or no kernels were timed on the device",
    ),
    "fp8-flops": Quantity(
        lambda e: dict(e.shares()).get("all"),
        "the share of the matmuls' floating-point operations in FP8 kernels",
        _NO_FLOPS,
    ),
    "kernels": Quantity(
        _over_bf16(lambda p: p.work.launches), "the kernels over those of bf16", _NO_ORIGINAL
    ),
    "temporaries": Quantity(
        _over_bf16(lambda p: p.compiled.temporaries),
        "the bytes of temporary values over those of bf16",
        _NO_ORIGINAL,
    ),
    "memory": Quantity(
        _over_bf16(lambda p: p.compiled.peak), "the peak of memory over that of bf16", _NO_ORIGINAL
    ),
    "collectives": Quantity(
        _over_bf16(lambda p: sum(p.work.collectives.values())),
        "the bytes in collectives over those of bf16",
        "the program is not compared with an original, or that has no collectives",
    ),
    "compile-time": Quantity(
        _over_bf16(lambda p: p.compiled.seconds), "the compile time over that of bf16", _NO_ORIGINAL
    ),
    "fallbacks": Quantity(
        lambda e: sum(each.falls_back for each in e.matmuls),
        "the number of FP8 matmuls that the compiler widens",
    ),
    "warnings": Quantity(lambda e: len(list(warnings_of(e))), "the number of warnings"),
}
"""The quantities by name."""

FIGURES: Final = tuple(name for name in QUANTITIES if name != "warnings")
"""The quantities of the program itself."""

CHECKS: Final = Bounds(
    QUANTITIES, "fp8-flops>=0.95,speedup>=1.2", "the table has the kernels of each matmul"
)
"""The requirements on an explanation."""
