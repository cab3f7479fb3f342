"""Markers: what an author, or a recipe, says of a value in a program.

A marker is a call of a private function that returns what it is given (a `custom_scale`, of the
function that it stands for), so a program that is not rewritten runs everywhere and means the
same. The call carries what it says as attributes, which travel through serialization and symbolic
shapes, where composites do not.

====================== ========================== ================ ============================
``scalify.marker``     operands                   results          what it asks
====================== ========================== ================ ============================
``set_scaling``        x, scale                   x                x takes that scale
``rebalance_scale``    x, delta                   x                x takes its scale x delta
``get_data_and_scale`` x                          x, 1             the two as plain values
``dynamic_rescale``    x [, step]                 x                x takes a statistic's scale
``stop_scaling``       x                          x                x is unscaled from here on
``custom_scale``       x, …                       y, …             y is what its rule gives
====================== ========================== ================ ============================

Scales and deltas are scalars of the type of a scale: f32, or f64 for f64 and complex<f64>.
``scalify.statistic`` is ``max``, ``l1`` or ``l2``; ``scalify.every`` an i64 N: the marker acts
where its operand `step`, an integer scalar, is a multiple of N. ``scalify.rounding``, which recipes
write, is ``up``, ``down`` or ``nearest``. With ``scalify.batched`` a `dynamic_rescale` has several
tensors of as many elements, whose statistics are taken in one reduction. With ``scalify.carried``
what the program was given for each of its tensors comes after them, whose scale they have in other
steps; ``scalify.headroom`` is log2 of how large data become, unit if there is none. Those two are
for what a step carries to the next.

A `custom_scale` calls the body of a function, and ``scalify.rule`` names a private function that is
its rule: it takes the operands of the call and gives its results, with each float one as data and
scale, side by side. Of a program with symbolic shapes, or for several platforms, the first
operands are the integers that jax passes to all of its functions.

In programs that come out of a file the name of a rule is a string, which is no use of a symbol.
Two rules of one name do the same: where programs are merged and functions renamed, the name is
still that of a rule that fits.
"""

from __future__ import annotations

from typing import Final

MARKER: Final = "scalify.marker"
STATISTIC: Final = "scalify.statistic"
EVERY: Final = "scalify.every"
ROUNDING: Final = "scalify.rounding"
BATCHED: Final = "scalify.batched"
CARRIED: Final = "scalify.carried"
BOUND: Final = "scalify.bound"
HEADROOM: Final = "scalify.headroom"
RULE: Final = "scalify.rule"

SET_SCALING: Final = "set_scaling"
REBALANCE_SCALE: Final = "rebalance_scale"
GET_DATA_AND_SCALE: Final = "get_data_and_scale"
DYNAMIC_RESCALE: Final = "dynamic_rescale"
STOP_SCALING: Final = "stop_scaling"
CUSTOM_SCALE: Final = "custom_scale"
