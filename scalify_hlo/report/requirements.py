"""Requirements on a rewrite, such as ``narrow>=0.9,statistics<=2``."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
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


def parse_requirements(text: str) -> list[Requirement]:
    """Reads requirements that are separated by commas.

    Raises:
        UsageError: A name is unknown, or the text is not of that form.
    """
    hint = "write names, comparisons and numbers, as in 'narrow>=0.9,statistics<=2'"
    return parse(text, QUANTITIES, hint)


def parse(text: str, quantities: Mapping[str, Quantity[T]], hint: str) -> list[Requirement]:
    """Reads requirements that are separated by commas.

    Args:
        text: The requirements.
        quantities: The quantities by name.
        hint: The note of an error on the form of the text.

    Raises:
        UsageError: A name is unknown, or the text is not of that form.
    """
    return [_parsed(term, quantities, hint) for term in text.split(",")]


def _parsed(term: str, quantities: Mapping[str, Quantity[T]], hint: str) -> Requirement:
    match = _TERM.fullmatch(term)
    bound = _number(match[3]) if match else None
    if match is None or bound is None:
        raise UsageError(
            f"{term.strip()!r} is not a requirement",
            hint=hint,
        )
    if match[1] not in quantities:
        raise UsageError(
            f"no quantity is named {match[1]!r}{nearest(match[1], quantities)}",
            hint=f"the quantities are: {', '.join(quantities)}",
        )
    return Requirement(match[1], match[2], bound)


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def check_requirements(totals: Totals, requirements: list[Requirement], name: str) -> None:
    """Checks that requirements hold.

    Args:
        totals: The numbers of a report.
        requirements: The requirements.
        name: The name of the program in the error.

    Raises:
        InputError: One does not hold. The message has all that do not.
    """
    hint = (
        "`scalify-hlo inspect --wide` with the same recipe and settings lists the matmuls "
        "that stay wide, with reasons"
    )
    check(totals, requirements, QUANTITIES, name, hint)


def check(
    measured: T,
    requirements: list[Requirement],
    quantities: Mapping[str, Quantity[T]],
    name: str,
    hint: str,
) -> None:
    """Checks that requirements hold.

    Args:
        measured: What has the quantities.
        requirements: The requirements.
        quantities: The quantities by name.
        name: The name of the program in the error.
        hint: The note of the error.

    Raises:
        InputError: One does not hold. The message has all that do not.
    """
    faults = [fault for each in requirements if (fault := each.fault(measured, quantities))]
    if faults:
        raise InputError("; ".join(faults), location=name, hint=hint)
