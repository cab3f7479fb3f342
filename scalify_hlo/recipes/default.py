"""The recipe of a rewrite that names none."""

from __future__ import annotations

from typing import Final

DEFAULT: Final = "fp8-current"
"""The recipe of a rewrite without a profile. It needs no declared scale, no state and no sample."""

CALIBRATED: Final = "fp8-calibrated"
"""The recipe of a rewrite with a profile, which has the scales."""
