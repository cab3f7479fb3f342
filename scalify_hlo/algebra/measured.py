"""Sizes that were measured from values.

This module does not depend on MLIR.
"""

from __future__ import annotations


class Measured(float):
    """The rms of an input, or log2 of it, that was measured from values.

    A power of an input multiplies the error of a declared size. A measured one has almost none.
    Levels are floats: a sum of two subclasses of float would lose the run-time part of the second.
    """

    __slots__ = ()
