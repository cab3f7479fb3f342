"""An explanation as JSON, its warnings, and requirements such as ``fp8-flops>=0.95,speedup>=1.2``.

The keys of its matmuls are in `model.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Annotated, Final, NamedTuple

from scalify_hlo.commands.explain.model import ExplainedMatmul, Explanation
from scalify_hlo.report.totals import Bounds, Quantity
from scalify_hlo.results.kinds import NAME, named
from scalify_hlo.results.model import dump, keys, result
from scalify_hlo.targets.description import Target
from scalify_hlo.targets.record import Program

_MANY: Final = 0.01
"""The share of the estimated time from which on matmuls in f32 are worth a warning."""
_TILE: Final = 16
"""The least M, N and K of the FP8 kernels of GPUs."""


def warnings_of(explanation: Explanation) -> Iterator[str]:
    """Yields warnings, those on the whole program first."""
    yield from _slow(explanation)
    yield from _wide(explanation)
    for each in explanation.matmuls:
        if each.falls_back:
            yield _fell_back(each, explanation)
    if explanation.program.loops:
        count = explanation.program.loops
        yield f"the turns of {_counted(count, 'loop')} are not known, and count once"
    yield from explanation.remarks


def _slow(explanation: Explanation) -> Iterator[str]:
    speedup, reached = explanation.speedup, explanation.speedup_reached
    if reached is not None and reached < 1:
        yield f"estimated slower than bf16, at {reached:.2f} of its speed as kernels reached it"
    elif speedup is not None and speedup < 1:
        yield f"estimated slower than bf16, at {speedup:.2f} of its speed"


def _wide(explanation: Explanation) -> Iterator[str]:
    """Yields a warning on matmuls of f32."""
    if not explanation.recipe:
        return
    wide = [each for each in explanation.matmuls if any(k.startswith("f32") for k in each.flops)]
    seconds, whole = sum(each.seconds or 0.0 for each in wide), explanation.program.work.seconds
    if whole and seconds > _MANY * whole:
        yield (
            f"{_counted(len(wide), 'matmul')} of f32 ({wide[0].matmul.name}) "
            f"take {100 * seconds / whole:.0f} % of the time: export the model in bf16, or set "
            "compute=bf16"
        )


def _fell_back(each: ExplainedMatmul, explanation: Explanation) -> str:
    labels = ", ".join(sorted({kernel.label for kernel in each.kernels}))
    lhs, rhs = each.matmul.formats[:2]
    told = f"{each.matmul.name}: the matmul of {lhs} and {rhs} became {labels}, which widens them"
    cause = _cause(each, explanation.target, explanation.blocks)
    return f"{told}: {cause}" if cause else told


def _cause(each: ExplainedMatmul, target: Target, blocks: str) -> str:
    """Returns the reason why a compiler widens the operands of a matmul; empty if not known."""
    formats = [format_.lower() for format_ in each.matmul.formats[:2]]
    foreign = [format_ for format_ in formats if format_ not in target.native]
    if foreign:
        return f"{target.name} multiplies no {foreign[0]}"
    if all(format_.startswith("f8e5m2") for format_ in formats):
        return "there is no kernel for E5M2 with E5M2"
    if any(size.below(_TILE) for size in each.matmul.extent[:3]):
        return f"M, N or K is below {_TILE}"
    if blocks and blocks != "e8m0":
        return f"XLA has no kernel for block scales in {blocks}"
    return ""


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


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


@result("scalify-hlo explain", version=1)
@keys(
    "program=. *explanation(target=target.name native=target.native recipe) figures "
    "*explanation(f8_shares compiled=program original matmuls memory memory_in_bf16) warnings",
    program=NAME,
)
class ExplainRecord(NamedTuple):
    """An explanation, with its figures and warnings."""

    explanation: Explanation

    @property
    def figures(self) -> Annotated[dict[str, float | None], named(FIGURES)]:
        """The quantities that do not count warnings, by name."""
        found = {name: QUANTITIES[name].of(self.explanation) for name in FIGURES}
        return {name: None if value is None else round(value, 4) for name, value in found.items()}

    @property
    def warnings(self) -> list[str]:
        """The warnings, as sentences."""
        return list(warnings_of(self.explanation))


def dump_explanation(explanation: Explanation, name: str = "<program>") -> str:
    """Returns an explanation as JSON.

    Args:
        explanation: What `explain` returned.
        name: The name of the program.

    Returns:
        An object with the name of its ``format`` and its ``version``, the ``figures`` on the whole
        program, the ``matmuls`` with their kernels, and ``warnings``. `json_schema` returns its
        JSON Schema.
    """
    return dump(ExplainRecord(explanation), name)
