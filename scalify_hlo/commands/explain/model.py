"""The explanation of a compiled program: its matmuls, their kernels, and the estimated times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Final, NamedTuple

from scalify_hlo.commands.explain.memory import Memory
from scalify_hlo.report.matmuls import MatmulReport
from scalify_hlo.results.kinds import Microseconds, Words, one_of
from scalify_hlo.results.model import keys
from scalify_hlo.results.shown import Shown
from scalify_hlo.targets.description import Target
from scalify_hlo.targets.kernels import Kernel
from scalify_hlo.targets.record import Program
from scalify_hlo.targets.roofline import Share

_PARTS: Final = ("forward", "dgrad", "wgrad")


@keys(
    "*matmul(name op location) part *matmul(operands=roles m=extent.m n=extent.n k=extent.k "
    "batch=extent.batch calls formats=(lhs=formats.0 rhs=formats.1 result=formats.2) wide) "
    "falls_back kernels(name kernel label times flops) us=seconds us_in_bf16=before"
)
@dataclass(frozen=True, slots=True)
class ExplainedMatmul:
    """A matmul or a convolution of the source, and what a compiler made of it.

    Attributes:
        matmul: The matmul, and the decision of the recipe on it.
        kernels: The kernels that compute it; none if it shares the kernel of another one, or was
            removed.
        seconds: Their estimated time in a run of the program; None without an estimate.
        before: The same for the original in bf16; None without an original.
    """

    matmul: MatmulReport
    kernels: tuple[Kernel, ...]
    seconds: Microseconds | None
    before: Microseconds | None

    @property
    def part(self) -> Annotated[str, one_of([*_PARTS, "other"])]:
        """Its part of the program, as in `Explanation.shares`."""
        return self.matmul.use

    @property
    def flops(self) -> Mapping[str, int]:
        """The floating-point operations of a run, by the class of the formats that were used."""
        found: dict[str, int] = {}
        for kernel in self.kernels:
            for key, count in kernel.flops.items():
                found[key] = found.get(key, 0) + kernel.times * count
        return found

    @property
    def labels(self) -> str:
        """The libraries and formats of its kernels; it may be in the kernel of another matmul."""
        return ", ".join(dict.fromkeys(k.label for k in self.kernels)) or "with another"

    @property
    def falls_back(self) -> bool:
        """Whether its operands are f8 or f4, and the compiler widens them."""
        narrow = all(format_.startswith(("f8", "f4")) for format_ in self.matmul.formats[:2])
        return narrow and bool(self.flops.keys() - {"f8", "f4"})


CAUSE_COLUMNS: Final = (
    "kernels=cause number=share.launches:, MiB=share.bytes:MiB µs=share.seconds:us"
)
"""The columns of a table of causes."""
BEFORE_COLUMNS: Final = "in_bf16=before.launches:, MiB=before.bytes:MiB µs=before.seconds:us"
"""Further columns for the original."""


class Cause(NamedTuple):
    """The kernels of one cause, beside those of the original."""

    cause: str
    share: Share
    before: Share | None


@dataclass(frozen=True)
class Explanation(Shown):
    """A compiled program with its matmuls, beside the original in bf16.

    Attributes:
        target: The device.
        recipe: The name of the recipe; empty if the program was not rewritten.
        program: The compiled program.
        original: The compiled original in bf16; None without one.
        matmuls: The matmuls in program order.
        remarks: The remarks of the rewrite.
        blocks: The format of the block scales of the recipe; empty if it has none.
        memory: What the program holds at the peak of memory; None if that was not asked for.
        memory_in_bf16: The same of the original in bf16; None without one too.
    """

    DUMP = "commands.explain.record.dump_explanation"
    LINES = "cli.explain.lines"
    ROWS = "matmuls"

    target: Target
    recipe: Words
    program: Program
    original: Program | None
    matmuls: tuple[ExplainedMatmul, ...]
    remarks: tuple[str, ...]
    blocks: str = ""
    memory: Memory | None = None
    memory_in_bf16: Memory | None = None

    def __repr__(self) -> str:
        device = f"target={self.target.name!r}, recipe={self.recipe!r}"
        return f"Explanation({device}, matmuls={len(self.matmuls)})"

    @property
    def speedup(self) -> float | None:
        """The estimated time of the original over that of the program; None without one."""
        return self._ratio("seconds")

    @property
    def speedup_with_launches(self) -> float | None:
        """As `speedup`, with a time for the launch of each kernel."""
        return self._ratio("seconds_with_launches")

    @property
    def speedup_reached(self) -> float | None:
        """As that, at the speeds that kernels reached on the device; None if none were timed."""
        return self._ratio("seconds_reached")

    def _ratio(self, name: str) -> float | None:
        if self.original is None:
            return None
        before, after = (getattr(p.work, name) for p in (self.original, self.program))
        return before / after if before and after else None

    @property
    def causes(self) -> list[Cause]:
        """The causes that have kernels, in the program or in the original."""
        old = self.original.work.causes if self.original else {}
        rows = [Cause(*each, old.get(each[0])) for each in self.program.work.causes.items()]
        return [row for row in rows if row.share.launches or (row.before and row.before.launches)]

    @property
    def f8_shares(self) -> dict[str, float]:
        """The share of the floating-point operations in f8 kernels, by part."""
        return dict(self.shares())

    def shares(self) -> Iterator[tuple[str, float]]:
        """Yields the share of the floating-point operations in f8 kernels, by part.

        The parts are ``all``, ``forward``, ``dgrad`` for backward matmuls by a weight, and
        ``wgrad`` for the other backward matmuls: gradients of weights, and those of attention.
        Parts without a matmul are left out.

        Yields:
            The part and its share, from 0 to 1.
        """
        parts: dict[str, list[ExplainedMatmul]] = {"all": list(self.matmuls)}
        for each in self.matmuls:
            parts.setdefault(each.part, []).append(each)
        for part in ("all", *_PARTS):
            total, narrow = 0, 0
            for each in parts.get(part, []):
                total += sum(each.flops.values())
                narrow += each.flops.get("f8", 0)
            if total:
                yield part, narrow / total
