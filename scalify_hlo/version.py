"""The version of the package, which rewritten programs record."""

from __future__ import annotations

from typing import Final

__version__: Final = "0.1.0"
