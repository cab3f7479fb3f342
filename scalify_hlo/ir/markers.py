"""Markers: calls by which an author or a recipe sets the scale of a value in a program.

A marker is a call of a private function that returns its operand; a `custom_scale` calls the
function that it marks. So a program that is not rewritten runs everywhere and computes the same.
Attributes of the call hold the parameters of the marker. Unlike composites, calls with attributes
are kept through serialization and with symbolic shapes.

====================== ========================== ================ ============================
``scalify.marker``     operands                   results          effect of the rewrite
====================== ========================== ================ ============================
``set_scaling``        x, scale                   x                x is rescaled to that scale
``rebalance_scale``    x, delta                   x                x is rescaled by delta
``get_data_and_scale`` x                          x, 1             data and scale of x, unscaled
``dynamic_rescale``    x [, step]                 x                x is rescaled by a statistic
``stop_scaling``       x                          x                x becomes unscaled
``cast``               x                          x                x is cast next: data, not values
``scaled_result``      x, scale, lhs, rhs         x                x, of pairs, gets that scale
``custom_scale``       x, …                       y, …             y is the result of its rule
====================== ========================== ================ ============================

Scales and deltas are scalars of the dtype of a scale: f32, or f64 for f64 and complex<f64>. These
attributes hold the parameters:

* ``scalify.statistic`` is ``max``, ``l1`` or ``l2``.
* ``scalify.every`` is an i64 N: the marker has an effect only in steps that are multiples of N. Its
  operand `step` is an integer scalar.
* ``scalify.rounding``, which recipes write, is ``up``, ``down``, ``nearest`` or
  ``stochastic``.
* With ``scalify.batched``, a `dynamic_rescale` has several tensors with the same number of
  elements, whose statistics are computed in one reduction.
* With ``scalify.carried``, the arguments of the program that correspond to these tensors follow as
  operands. In steps without rescaling, the tensors are rescaled to the scales of these arguments.
* ``scalify.headroom`` is log2 of the size to which data are rescaled; 0 if absent. It and
  ``scalify.carried`` are for state.
* ``scalify.bound``, which recipes write, is an i64 N: the computed scale is clamped to 2^±N.
* With ``scalify.peak``, which recipes write, the size of the data follows from their amax. It is
  ``unknown`` if nothing else tells the size of the value, and else ``known``.

A `scaled_result`, which recipes insert, is the result of a matmul whose operands had scales of
their own. It has an effect if the program rounds it to a narrow format and the author passed pairs.

A `custom_scale` calls the body of a function. ``scalify.rule`` names the private function that is
its rule. The rule takes the operands and returns the results of the call, each float value as data
and scale, side by side. In a program with symbolic shapes, or for several platforms, the integers
that jax passes to all functions come first.

In programs that were read from a file, the name of a rule is a string and not a symbol reference.
Two rules of the same name do the same, so the name is still valid where programs are merged and
functions are renamed.
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
PEAK: Final = "scalify.peak"
KNOWN, UNKNOWN = "known", "unknown"
RULE: Final = "scalify.rule"

SET_SCALING: Final = "set_scaling"
REBALANCE_SCALE: Final = "rebalance_scale"
GET_DATA_AND_SCALE: Final = "get_data_and_scale"
DYNAMIC_RESCALE: Final = "dynamic_rescale"
STOP_SCALING: Final = "stop_scaling"
CAST: Final = "cast"
SCALED_RESULT: Final = "scaled_result"
CUSTOM_SCALE: Final = "custom_scale"

ASKING: Final = frozenset({SET_SCALING, CAST})
"""The markers that give casts of the program the right to round data in place of values."""
