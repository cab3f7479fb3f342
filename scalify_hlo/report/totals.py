"""The numbers of a report: what `rewrite` prints, and requirements on them."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from scalify_hlo.dataflow.names import BACKWARD, FORWARD
from scalify_hlo.errors import InputError, UsageError, nearest
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


T = TypeVar("T")


class Quantity(NamedTuple, Generic[T]):
    """A quantity that can be required.

    Attributes:
        of: Returns it; None if it is undefined for the program.
        description: The text of it in documents and errors.
        undefined: Why it is undefined, where it is.
    """

    of: Callable[[T], float | None]
    description: str
    undefined: str = ""


_NO_MATMUL: Final = "there are no such matmuls"

QUANTITIES: Final[Mapping[str, Quantity[Totals]]] = {
    "narrow": Quantity(
        lambda t: t.matmuls.share, "the share of matmuls in low precision", _NO_MATMUL
    ),
    "narrow-forward": Quantity(
        lambda t: t.forward.share, "the share of forward matmuls in low precision", _NO_MATMUL
    ),
    "narrow-backward": Quantity(
        lambda t: t.backward.share, "the share of backward matmuls in low precision", _NO_MATMUL
    ),
    "narrow-flops": Quantity(
        lambda t: t.flops,
        "the share of the matmuls' floating-point operations in low precision",
        "there are no matmuls, or the size of one is not known",
    ),
    "matmuls": Quantity(lambda t: t.matmuls.total, "the number of matmuls"),
    "wide": Quantity(
        lambda t: t.matmuls.total - t.matmuls.narrow, "the number of matmuls that stay wide"
    ),
    "statistics": Quantity(
        lambda t: 0.0 if not t.statistics else t.per_layer,
        "the number of statistics for each layer",
        "there is no forward matmul by a weight",
    ),
    "statistics-total": Quantity(lambda t: t.statistics, "the number of statistics"),
    "state-bytes": Quantity(
        lambda t: None if t.state is None else t.state.ratio,
        "the bytes of the state over those before the rewrite",
        "no state of a training step is found",
    ),
    "assumed": Quantity(
        lambda t: t.assumed, "the number of arguments quantized at a scale that no one declared"
    ),
    "remarks": Quantity(lambda t: t.remarks, "the number of remarks"),
}
"""The quantities by name."""

COMPARISONS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    ">": operator.gt,
    "<": operator.lt,
}
_TERM: Final = re.compile(r"\s*([\w-]+)\s*(>=|<=|==|>|<)\s*([^\s<>=]+)\s*")


class Requirement(NamedTuple):
    """A bound on a quantity.

    Attributes:
        name: The name of the quantity.
        comparison: One of `COMPARISONS`.
        bound: The bound.
    """

    name: str
    comparison: str
    bound: float

    def __str__(self) -> str:
        return f"{self.name}{self.comparison}{self.bound:g}"

    def fault(self, measured: T, quantities: Mapping[str, Quantity[T]]) -> str:
        """Returns what does not hold, as a sentence; empty if it holds.

        Args:
            measured: What has the quantities.
            quantities: The quantities by name.
        """
        quantity = quantities[self.name]
        found = quantity.of(measured)
        if found is None:
            return f"{self} is required, and {self.name} is undefined: {quantity.undefined}"
        if COMPARISONS[self.comparison](found, self.bound):
            return ""
        return f"{self} is required, and {quantity.description} is {found:.4g}"


class Bounds(NamedTuple, Generic[T]):
    """The requirements that a command takes.

    Attributes:
        quantities: The quantities by name.
        example: Requirements, as in the note of an error.
        hint: The note of the error if one does not hold.
    """

    quantities: Mapping[str, Quantity[T]]
    example: str
    hint: str

    def parse(self, text: str | None) -> list[Requirement]:
        """Reads requirements that are separated by commas; none if there is no text.

        Raises:
            UsageError: A name is unknown, or the text is not of that form.
        """
        return [self._parsed(term) for term in ([] if text is None else text.split(","))]

    def _parsed(self, term: str) -> Requirement:
        match = _TERM.fullmatch(term)
        bound = _number(match[3]) if match else None
        if match is None or bound is None:
            raise UsageError(
                f"{term.strip()!r} is not a requirement",
                hint=f"write names, comparisons and numbers, as in {self.example!r}",
            )
        if match[1] not in self.quantities:
            raise UsageError(
                f"no quantity is named {match[1]!r}{nearest(match[1], self.quantities)}",
                hint=f"the quantities are: {', '.join(self.quantities)}",
            )
        return Requirement(match[1], match[2], bound)

    def check(self, measured: T, requirements: Sequence[Requirement], name: str) -> None:
        """Checks that requirements hold.

        Args:
            measured: What has the quantities.
            requirements: The requirements.
            name: The name of the program in the error.

        Raises:
            InputError: One does not hold. The message has all that do not.
        """
        faults = [each.fault(measured, self.quantities) for each in requirements]
        if any(faults):
            raise InputError("; ".join(filter(None, faults)), location=name, hint=self.hint)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


BOUNDS: Final = Bounds(
    QUANTITIES,
    "narrow>=0.9,statistics<=2",
    "`scalify-hlo inspect --wide` with the same recipe and settings lists the matmuls that stay "
    "wide, with reasons",
)
"""The requirements on a rewrite."""
