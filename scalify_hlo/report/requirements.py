"""Requirements on a rewrite, such as ``narrow>=0.9,statistics<=2``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from scalify_hlo.errors import InputError, UsageError, nearest
from scalify_hlo.report.totals import Totals

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
