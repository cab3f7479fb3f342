"""The limits of `check` on the differences of results."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from scalify_hlo.run.bounds import Bound
    from scalify_hlo.run.compare import Difference

EPSILONS: Final = 64
"""The largest relative error that passes without a limit, in epsilons of the dtype."""


class Limits:
    """The limits on the differences of results.

    Args:
        rtol: The largest relative error; None for no limit.
        max_ulp: The largest distance in ulps; None for no limit.
        min_snr: The smallest signal-to-noise ratio in dB; None for no limit.
        bound: The limit without any of these; None for one in epsilons.
    """

    def __init__(
        self,
        rtol: float | None,
        max_ulp: float | None,
        min_snr: float | None,
        bound: Bound | None,
    ) -> None:
        self._rtol, self._max_ulp, self._min_snr = rtol, max_ulp, min_snr
        self._bound = bound
        if rtol is max_ulp is min_snr is None and bound is not None:
            self._min_snr = bound.snr_db

    @property
    def is_default(self) -> bool:
        """Whether there are none, so that a relative error of `EPSILONS` epsilon passes."""
        return self._rtol is self._max_ulp is self._min_snr is None

    def entry(self) -> dict[str, Any]:
        """Returns the limits as a JSON value."""
        bound = self._bound
        return {
            "rtol": _finite(self._rtol),
            "max_ulp": _finite(self._max_ulp),
            "min_snr_db": _finite(self._min_snr),
            "epsilons": EPSILONS if self.is_default else None,
            "casts": {} if bound is None else dict(sorted(bound.casts.items())),
        }

    def allow(self, difference: Difference) -> bool:
        """Whether a difference is within the limits, or within the default if there are none."""
        if difference.mismatched:
            return False
        if self.is_default:
            return difference.relative_error <= EPSILONS * difference.epsilon
        return (
            (self._rtol is None or difference.relative_error <= self._rtol)
            and (self._max_ulp is None or difference.max_ulp <= self._max_ulp)
            and (self._min_snr is None or difference.snr_db >= self._min_snr)
        )

    def __str__(self) -> str:
        limits = {"rtol": self._rtol, "max-ulp": self._max_ulp, "min-snr": self._min_snr}
        if self._bound is not None and self._min_snr == self._bound.snr_db:
            return str(self._bound)
        given = [f"{name} {value:g}" for name, value in limits.items() if value is not None]
        return ", ".join(given) or f"{EPSILONS} epsilon"


def _finite(limit: float | None) -> float | None:
    return limit if limit is not None and math.isfinite(limit) else None
