"""Constraints, which make one factor of those of a scaled op (Unit Scaling paper, §5.2).

Where an edge is no cut edge, the op that reads it needs the same factor forward and backward. A
constraint makes it of the factors that would give unit scale, ``alpha`` and one ``beta`` for each
such input. For an edge that `cut_edges` shows to be one, give None in place of a constraint.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from scalify_hlo.errors import UsageError, caller

Constraint: TypeAlias = Callable[..., float]
"""A function of ``alpha`` and the ``betas`` that returns the one factor in their place."""


def gmean(alpha: float, *betas: float) -> float:
    """Returns the geometric mean, which the paper takes: values and gradients are equally far off.

    Args:
        alpha: The factor that gives the output unit scale.
        *betas: The factors that give the gradients of the constrained inputs unit scale.

    Example:
        >>> gmean(2.0, 8.0)
        4.0
    """
    return math.prod((alpha, *betas)) ** (1 / (1 + len(betas)))


def amean(alpha: float, *betas: float) -> float:
    """Returns the arithmetic mean of all factors.

    Args:
        alpha: As of `gmean`.
        *betas: As of `gmean`.
    """
    return sum((alpha, *betas)) / (1 + len(betas))


def hmean(alpha: float, *betas: float) -> float:
    """Returns the harmonic mean of all factors.

    Args:
        alpha: As of `gmean`.
        *betas: As of `gmean`.
    """
    return (1 + len(betas)) / sum(1 / factor for factor in (alpha, *betas))


def to_output(alpha: float, *betas: float) -> float:
    """Returns ``alpha``, so that the output has unit scale.

    Args:
        alpha: As of `gmean`.
        *betas: As of `gmean`.
    """
    del betas
    return alpha


def to_input(alpha: float, *betas: float) -> float:
    """Returns the geometric mean of ``betas``, so that the gradients have unit scale.

    Args:
        alpha: As of `gmean`.
        *betas: As of `gmean`.
    """
    return gmean(*betas) if betas else alpha


def constrained(
    constraint: Constraint | None, alpha: float, *betas: float
) -> tuple[float, tuple[float, ...]]:
    """Applies a constraint to the factors of an op.

    Args:
        constraint: The constraint; None if the inputs come on cut edges.
        alpha: As of `gmean`.
        *betas: As of `gmean`.

    Returns:
        The factor of the output, and those of the gradients.

    Raises:
        UsageError: The constraint is no function.
    """
    if constraint is None:
        return alpha, betas
    if not callable(constraint):
        raise UsageError(
            f"the constraint is {constraint!r}",
            location=caller(),
            hint="give a function such as scalify_hlo.unit.gmean, or None",
        )
    one = constraint(alpha, *betas)
    return one, (one,) * len(betas)
