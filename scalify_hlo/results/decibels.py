"""Ratios of errors to signals, as numbers and in dB."""

from __future__ import annotations

import math


def decibels(ratio: float) -> float:
    """Returns a signal-to-noise ratio in dB.

    Args:
        ratio: The energy of the noise over that of the signal.

    Returns:
        The ratio in dB: infinite without noise, and minus infinity without signal.
    """
    if math.isnan(ratio) or ratio == math.inf:
        return -math.inf
    return math.inf if ratio <= 0 else -10 * math.log10(ratio)


def written(snr_db: float) -> str:
    """Returns a signal-to-noise ratio as text: ``exact`` without noise, ``lost`` without signal."""
    if math.isinf(snr_db):
        return "exact" if snr_db > 0 else "lost"
    return f"{snr_db:.1f}"


def stored(snr_db: float | None) -> float | str | None:
    """Returns a signal-to-noise ratio as JSON: a number, ``exact``, ``lost``, or null."""
    if snr_db is None:
        return None
    return written(snr_db) if math.isinf(snr_db) else round(snr_db, 3)
