"""The numbers of a report: what `rewrite` prints, and what `--require` compares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from scalify_hlo.dataflow.names import BACKWARD, FORWARD
from scalify_hlo.report.matmuls import MatmulReport
from scalify_hlo.results.kinds import Count, Ratio, Share
from scalify_hlo.results.model import keys

STATE_ROLES: Final = frozenset({"weight", "first_moment", "second_moment"})
"""The roles of arguments that a training step keeps between steps."""


class StateBytes(NamedTuple):
    """The bytes of weights and moments that a program takes in other formats, with their scales.

    Attributes:
        before: The bytes before the rewrite.
        after: The bytes after it.
    """

    before: int
    after: int

    @property
    def ratio(self) -> Ratio:
        """The bytes after the rewrite over those before it."""
        return self.after / self.before if self.before else 1.0


@keys("total narrow share")
class Part(NamedTuple):
    """The matmuls of a part of the program.

    Attributes:
        total: Their number, with each call of a function counted.
        narrow: The number of those whose operands are quantized.
    """

    total: Count
    narrow: Count

    @property
    def share(self) -> Share | None:
        """The share of matmuls that are quantized; None if there are no matmuls."""
        return self.narrow / self.total if self.total else None


@keys(
    "matmuls forward backward narrow_flops=flops statistics layers statistics_per_layer=per_layer "
    "state_bytes=state.ratio assumed_scales=assumed remarks"
)
class Totals(NamedTuple):
    """The numbers of a report.

    Attributes:
        matmuls: All matmuls and convolutions.
        forward: Those of the forward pass.
        backward: Those of the backward pass.
        flops: The share of floating-point operations in matmuls that are quantized; None if a size
            is unknown, or if there are no matmuls.
        statistics: The number of statistics that the program takes at run time.
        layers: The number of layers: forward matmuls and convolutions by a weight.
        state: The bytes of state; None if the program is not known to have state.
        remarks: The number of remarks.
        assumed: The number of arguments that are quantized at a scale which no one declared.
    """

    matmuls: Part
    forward: Part
    backward: Part
    flops: Share | None
    statistics: Count
    layers: Count
    state: StateBytes | None
    remarks: Count
    assumed: Count

    @property
    def per_layer(self) -> Ratio | None:
        """The number of statistics for each layer; None if there are no layers."""
        return self.statistics / self.layers if self.layers else None

    @classmethod
    def of(
        cls,
        matmuls: Sequence[MatmulReport],
        *,
        statistics: int,
        state: StateBytes | None,
        remarks: int,
        assumed: int,
    ) -> Totals:
        """Returns the numbers of a list of matmuls.

        Args:
            matmuls: The matmuls of a program.
            statistics: The number of statistics that the program computes at run time.
            state: The bytes of its state; None if the recipe changes no format of state.
            remarks: The number of remarks.
            assumed: The number of arguments without a declared scale.
        """
        return cls(
            _part(matmuls),
            _part(m for m in matmuls if m.part == FORWARD),
            _part(m for m in matmuls if m.part == BACKWARD),
            _flops_share(matmuls),
            statistics,
            sum(m.calls for m in matmuls if m.is_layer),
            state,
            remarks,
            assumed,
        )


def _part(matmuls: Iterable[MatmulReport]) -> Part:
    every = list(matmuls)
    return Part(sum(m.calls for m in every), sum(m.calls for m in every if m.wide is None))


def _flops_share(matmuls: Sequence[MatmulReport]) -> float | None:
    flops = [m.flops for m in matmuls]
    known = [n for n in flops if n is not None]
    if len(known) < len(flops) or not sum(known):
        return None
    narrow = (n for m, n in zip(matmuls, known, strict=True) if m.wide is None)
    return sum(narrow) / sum(known)
