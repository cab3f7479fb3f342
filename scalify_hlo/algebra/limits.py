"""Bounds on exponents and limits on searches, each with its reason.

Bounds on exponents are log2, in octaves. A search that ends at its limit finds less, but nothing
wrong: a layer or a role is not found, or a size is treated as uncertain. If that may change the
roles, the layers or the scales of a program, a remark says so.
"""

from __future__ import annotations

from typing import Final

# Exponents.

GIVEN_BOUND: Final = 25
"""Scales of arguments are assumed to lie within 2^±25; see `Scale.reach`."""

COMPUTED_BOUND: Final = 42
"""Computed scales are clamped to 2^±42, so that the product of three is a normal f32 number."""

MEASURED_BOUND: Final = 100
"""The bound, in octaves, of scales of values of unpredicted size, which may be anywhere in f32."""

TRUSTED_LEVEL: Final = 48
"""The largest level, in absolute value, that is folded into a scale; in octaves."""

MOMENT_HEADROOM: Final = 4
"""log2 of the size at which low-precision second moments are kept: most elements are below it."""

AMAX_HEADROOM: Final = 7
"""log2 of the amax of narrow moments, whose elements differ more than those of weights.

The rms of n elements is between amax / sqrt(n) and amax. With an amax of 2^7, or just above 2^6, it
is within 2^±8 for all tensors of up to 2^28 elements, even if only one element is not zero. f16 has
room for another factor of 2^9, and full precision down to 2^-20 of the amax.
"""

SKIPPED_ROOM: Final = 8
"""log2 of the distance of a new scale from the old one above which state is rescaled in any step.

State of zeros keeps its scale in a step that rescales, and may have any size in the next step.
"""

ENTRY_BOUND: Final = 63
"""Scales that are computed from a statistic lie within 2^±63, so that their squares are finite."""

PROFILE_SEARCH: Final = 64
"""The octaves below the scale of the amax in which the method ``mse`` searches."""

ENCODED_BOUND: Final = 120
"""The bound on |log2| of scales from an amax: they and their reciprocals are normal f32 numbers."""

NORMAL: Final = 126
"""The largest |log2| of a power of two that is a normal f32 number with a normal reciprocal."""

SAFE_REACH: Final = {False: 126, True: 1022}
"""The largest |log2| of a factor that is applied as one normal number: in f32 and in f64 (True)."""

STEEP: Final = 4
"""The highest power of a run-time scale in the scale of f32 data; at a fifth they may overflow."""

MANY: Final = 5
"""The most run-time scales, counted with their powers, in the scale of f32 data."""

FAR: Final = 80
"""The largest |log2| of the static factor of a scale of f32 data: that of two static scales."""

FREE_DRIFT: Final = 7
"""The |log2| of a product's static scale above which an operand is used at scale 1, if it exists
at that scale anyway."""

NATURAL: Final = 6
"""The largest |log2| of the quotient of a static scale and the constant of a sum at which the sum
keeps that scale."""

DRIFT: Final = 8
"""The |log2| of a static scale above which wide data are rescaled to scale 1: data are no more
octaves further from unit than the values, however wrong the scales of inputs are declared."""

UNLIKE_UNIT: Final = 16
"""The |log2| of wide data above which they are far from unit, if the values are nearer."""

TERMS: Final = 4
"""The log2 of terms near 1, as large as they may be: squares of activations with an rms of 4, as
in the residual streams of deep models."""

GROWN: Final = UNLIKE_UNIT + 2
"""The same for data of predicted size, which are often smaller: norms and activations are not
taken into account where nothing is cast."""

HUGE: Final = 2.0**96
"""The magnitude above which a constant is taken for that of a mask: data that are multiplied by it
are values, as any other data might overflow."""

HOPELESS: Final = 32
"""The uncertainty in octaves above which a size is treated as unknown: the whole range of f16."""

NEAR_UNIT: Final = 6
"""The largest |log2| of a constant that is taken for a summand near 1, and not for an epsilon or a
mask."""

ROOMLESS: Final = 32
"""The octaves above which no format has room. Larger uncertainties are treated as equal."""

# Searches.

UNCERTAINTY_ROOTS: Final = 12
"""The most roots of one uncertainty; the least of any more are merged into its `rest`."""

CALL_DEPTH: Final = 64
"""The depth of calls that analyses follow. Each call is followed separately, so the time may grow
with the number of paths."""

FLOW_VALUES: Final = 300_000
"""The most values that are followed from one value; those in functions count once per call."""

MOVES: Final = 200
"""The most consecutive layout ops through which a value is followed."""

GRAPH_NODES: Final = 2_000_000
"""The most nodes of the graph in which layers are recognized; further calls are not followed."""

DEGREE_DEPTH: Final = 80
"""The most consecutive ops through which a degree is computed, within Python's recursion limit."""

DEGREE_VALUES: Final = 600
"""The most values from which the degree of one state is computed."""

UPDATE_VALUES: Final = 100
"""The most values that are searched to distinguish a gradient from an update made of moments."""

WEIGHT_VALUES: Final = 64
"""The most values that are searched between a new weight and the old one."""

SQUARE_DEPTH: Final = 50
"""The most ops between the square of a gradient and the gradient."""

GRADIENT_VALUES: Final = 64
"""The most values between a gradient and the result of the program that returns it."""

READERS: Final = 32
"""The most uses of a value among which its square is looked for. Only the factor of a sum depends
on it, and no result."""

STEP_DEPTH: Final = 5
"""The most ops between a state and the next in an elementwise step."""

WIDTH_DEPTH: Final = 4
"""The most elementwise ops before a sum, and calls around it, that are computed in its format."""

PROJECTION_VALUES: Final = 1000
"""The most values after a matmul that are searched for a loss over a vocabulary."""

LAYER_CONE: Final = 120
"""The most values that are searched before the key op of a layer."""

ACTIVATION_SPREAD: Final = 200
"""The most values in which an activation is searched; an expanded erf has 100."""

SOFTMAX_SPREAD: Final = 60
"""The most values in which a softmax is searched."""

NORM_SPREAD: Final = 150
"""The most values in which a normalization is searched."""

ATTENTION_CONE: Final = 400
"""The most values before a product that are searched for attention; a layer has some 100."""

ATTENTION_VALUES: Final = 12
"""The most values between the result of a softmax and the gradient of a score."""

LOOP_TRIALS: Final = 4
"""The most trials of a loop's body to find the scales of carries whose first value is a constant.
Each trial finds at least one."""

CARRY_SEARCHES: Final = 8
"""The most searches for carries whose scales depend on those of others. In as many further
searches, carries are removed until the rest is consistent."""

HANDED_CARRIES: Final = 8
"""The most carries through which an uncertainty is followed from one carry to the next."""

REGION_CALL_DEPTH: Final = 8
"""The depth of calls that are followed in a region of a reduction or a sort."""

FACTORS: Final = 16
"""The highest power, and the most factors of a product over an axis, whose result is scaled. Its
scale is cheap to compute, but soon exceeds the range of f32."""

HUGE_VALUES: Final = 24
"""The most values, the nearest first, that are searched for the constants of a mask."""

LAYER_MARK_CONE: Final = 400
"""The most ops between the input of a layer and its result; an exact GELU has 100."""
