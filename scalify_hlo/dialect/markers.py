"""Markers: what an author, or a recipe, says of a value in a program.

A marker is a call of a private function that returns what it is given, so a program that is not
rewritten runs everywhere and means the same. The call carries what it says as attributes, which
travel through serialization and symbolic shapes, where composites do not.

====================== ========================== ================ ============================
``scalify.marker``     operands                   results          what it asks
====================== ========================== ================ ============================
``set_scaling``        x, scale                   x                x takes that scale
``rebalance_scale``    x, delta                   x                x takes its scale x delta
``get_data_and_scale`` x                          x, 1             the two as plain values
``dynamic_rescale``    x [, step]                 x                x takes a statistic's scale
``stop_scaling``       x                          x                x is unscaled from here on
====================== ========================== ================ ============================

Scales and deltas are scalars of the type of a scale: f32, or f64 for f64 and complex<f64>.
``scalify.statistic`` is ``max``, ``l1`` or ``l2``; ``scalify.every`` an i64 N: the marker acts
where its operand `step`, an integer scalar, is a multiple of N. ``scalify.rounding``, which recipes
write, is ``up``, ``down`` or ``nearest``.
"""

from __future__ import annotations

from typing import Final

MARKER: Final = "scalify.marker"
STATISTIC: Final = "scalify.statistic"
EVERY: Final = "scalify.every"
ROUNDING: Final = "scalify.rounding"

SET_SCALING: Final = "set_scaling"
REBALANCE_SCALE: Final = "rebalance_scale"
GET_DATA_AND_SCALE: Final = "get_data_and_scale"
DYNAMIC_RESCALE: Final = "dynamic_rescale"
STOP_SCALING: Final = "stop_scaling"
