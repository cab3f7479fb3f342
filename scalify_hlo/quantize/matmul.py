"""A matmul of the program, with all that is decided on it while it is quantized."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import is_small
from scalify_hlo.analysis.matmuls import WEIGHT
from scalify_hlo.analysis.sizes import Extent
from scalify_hlo.quantize.stored_weights import Weight
from scalify_hlo.quantize.strategy import Formats, Scales
from scalify_hlo.report.matmuls import STORED, OperandScale, Wide


@dataclass
class Matmul:
    """A matmul with roles.

    Attributes:
        op: The op, until another takes its place.
        extent: M, N and K.
        roles: The roles of the operands.
        formats: The formats of the operands; None if the matmul stays wide.
        wide: The reason if it stays wide.
        stored: The numbers of the operands that the caller passes in these formats.
        scales: The scales of the operands, if they are quantized and the report lists them.
    """

    op: ir.OpView
    extent: Extent
    roles: Sequence[str]
    formats: Formats | None = None
    wide: Wide | None = None
    stored: Collection[int] = ()
    scales: Scales = (None, None)

    @property
    def is_small(self) -> bool:
        """Whether the operands have at most 8 bits."""
        return self.formats is not None and all(map(is_small, self.formats))

    def keep(self, wide: Wide) -> None:
        """Keeps the matmul wide, for a reason."""
        self.formats, self.wide = None, wide

    def weights(self, format_: str) -> Iterator[Weight]:
        """Yields the operands that are weights and get a format."""
        if self.formats is not None:
            for side, role in enumerate(self.roles):
                if role == WEIGHT and self.formats[side] == format_:
                    yield Weight(self.op, side)

    def note(self, scales: Scales) -> None:
        """Notes the scales of the operands; those that are stored have the scales of arguments."""
        lhs, rhs = (OperandScale(STORED) if i in self.stored else scales[i] for i in (0, 1))
        self.scales = lhs, rhs
