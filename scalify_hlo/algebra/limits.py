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

FAR_LEVEL: Final = 32
"""The largest level, in absolute value, of data whose statistic is taken as they are. The squares
of others could leave f32, and their scale is not within `COMPUTED_BOUND`."""

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

MOMENT_BLOCK: Final = 128
"""The number of elements of a moment that share a scale: one byte of scale for 128 of data.

It is the size of the groups in COAT (arXiv 2410.19313), and the scales are below a hundredth of
the bytes.
"""

SALT_ELEMENTS: Final = 64
"""The least number of stored elements whose bits are sure to differ from step to step."""

SKIPPED_ROOM: Final = 8
"""log2 of the distance of a new scale from the old one above which state is rescaled in any step.

State of zeros keeps its scale in a step that rescales, and may have any size in the next step.
"""

ENTRY_BOUND: Final = 63
"""Scales that are computed from a statistic lie within 2^±63, so that their squares are finite."""

INPUT_BOUND: Final = {False: 60, True: 500}
"""Measured sizes of inputs lie within 2^±60, of f64 inputs (True) within 2^±500: the product of
two, times 2^±6, is a normal number of f32 or of f64."""

MOST_OBSERVED_MEMBERS: Final = 64
"""The most members of an operand that a profile has statistics of, each with its histogram."""

PROFILE_SEARCH: Final = 64
"""The octaves below the scale of the amax in which the method ``mse`` searches."""

ENCODED_BOUND: Final = 120
"""The bound on |log2| of scales from an amax: they and their reciprocals are normal f32 numbers."""

NORMAL: Final = 126
"""The largest |log2| of a power of two that is a normal f32 number with a normal reciprocal."""

SAFE_REACH: Final = {False: 126, True: 1022}
"""The largest |log2| of a factor that is applied as one normal number: in f32 and in f64 (True)."""

MOST_LOSS_SCALE: Final = 32
"""log2 of the largest first scale of a loss; PyTorch begins with 2^16, and 2^24 is common."""

SMALLEST_AMAX: Final = 2.0**-110
"""The smallest amax; smaller ones count as this, so that ``largest / amax`` is finite in f32."""

MOST_MARGIN: Final = 64
"""The largest margin, in octaves, with which a scale is computed on the bits of an amax.

The exponent of the largest number of a format, less the margin, has to be that of a normal number.
A larger margin is exact too, by a division.
"""

SMALLEST_PAIRED_AMAX: Final = 2.0**-100
"""The smallest amax of a tensor whose blocks have E4M3 scales with a common factor in f32.

Smaller ones count as this, so that the least product of both, 2^-9 of the factor, is a normal f32
number with a finite reciprocal."""

MOST_POWER: Final = 2.0**127
"""The largest power of two in f32 and in bf16, where the largest f32 would become infinite."""

STORED_HEADROOM: Final = 3
"""log2 of the amax of state that the program itself stores in f16, above unit."""

STEEP: Final = 4
"""The highest power of a run-time scale in the scale of f32 data; at a fifth they may overflow."""

POWER_STEEP: Final = STEEP + 1
"""The same for the results of constant powers, and of products over an axis."""

WIDE_POWER: Final = 32
"""The highest power of a run-time scale of wide data in programs with narrow formats. Each squaring
doubles the power, and the number of factors of the scale."""

ANY_POWER: Final = 1024
"""The same of data in any format: without it, ten squarings would need 1,024 factors."""

MANY: Final = 5
"""The most run-time scales, counted with their powers, in the scale of f32 data, or of f16 data of
a program that gets pairs."""

FAR: Final = 80
"""The largest |log2| of the static factor of a scale of f32 data: that of two static scales."""

NATURAL: Final = 6
"""The largest |log2| of the quotient of a static scale and the constant of a sum at which the sum
keeps that scale."""

OPS_OF_LAYER: Final = 4
"""The octaves by which the sizes of its ops may differ from that of a whole activation. They do for
inputs far from unit: the derivative of an approximate GELU multiplies squares by zeros."""

SMALL_TERM: Final = 4
"""The octaves below the largest term of a sum from which on a term does not change the size of the
sum: it adds at most one part in 256 to its square."""

NO_ROOM: Final = 13
"""The octaves of uncertainty of one quantity for which no narrow format has room. A sum with such a
term is as uncertain as that term, since a mean of several terms would be trusted in E5M2."""

DRIFT: Final = 7
"""The |log2| of a static scale above which wide data are rescaled to scale 1: data are fewer than 8
octaves further from unit than the values, however wrong the scales of inputs are declared."""

PRODUCT_DRIFT: Final = 8
"""The same for the result of a contraction before it is multiplied by such a scale, which may be
cheaper than to multiply an operand."""

HUGE: Final = 2.0**96
"""The magnitude above which a constant is taken for that of a mask: data that are multiplied by it
are values, as any other data might overflow."""

HOPELESS: Final = 32
"""The uncertainty in octaves above which a size is treated as unknown: the whole range of f16."""

NEAR_UNIT: Final = 6
"""The largest |log2| of a constant that is taken for a summand near 1: no epsilon, and no mask."""

ROOMLESS: Final = 32
"""The octaves above which no format has room. Larger uncertainties are treated as equal."""

HIGHEST_DEGREE: Final = 1e30
"""The highest degree of an uncertainty, in absolute value: squares of it do not overflow f64."""

UNBOUNDED: Final = 1e6
"""The largest uncertainty, in octaves: nothing is known of the size."""

MASKING: Final = 2.0**32
"""The magnitude from which on an element of a constant is a mask, and not a size."""

TRAINED: Final = 6
"""The octaves by which gradients become smaller as the loss of a small model falls."""

MEASURED_MARGIN: Final = 2
"""The octaves that a cast leaves above data whose amax was measured before."""

ASSUMED_TURNS: Final = 64
"""The assumed number of iterations of a loop if it is not known. An error of half an octave in each
iteration is then one of 32 octaves, for which no format has room; see `ROOMLESS`."""

# Searches.

UNCERTAINTY_ROOTS: Final = 12
"""The most roots of one uncertainty; the least of any more are merged into its `rest`."""

CALL_DEPTH: Final = 64
"""The depth of calls that analyses follow, each separately: time may grow with the paths."""

FLOW_VALUES: Final = 300_000
"""The most values that are followed from one value; those in functions count once per call."""

NEAR_OPS: Final = 16
"""The most ops within which an argument is looked for first, before all that a value is made of."""

NEAR_ARGUMENTS: Final = 8
"""The most arguments of one name that are looked for in this way, one by one."""

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

STATE_DEPTH: Final = 12
"""The most ops from the state of a recurrent cell to the functions that bound it; a GRU has 4."""

LAYER_SOURCES: Final = 6
"""The most values that are tried as the input of a layer, the nearest to its key op first."""

ACTIVATION_SOURCES: Final = 4
"""The same for activations."""

LAYER_GRADIENTS: Final = 24
"""The most values that are tried as the gradient of the output of a layer."""

LAYER_STEPS: Final = 8
"""The most ops between values of a layer that are moved, scaled or masked."""

NORM_STEPS: Final = 12
"""The most ops between the key op of a normalization and the sum of its variance."""

NORM_USERS: Final = 12
"""The most values that follow from one user of a normalization's values."""

PROBABILITY_USERS: Final = 16
"""The most values between a softmax and its matmul, those of dropout and casts included."""

LOSS_USERS: Final = 20
"""The most values between a log-softmax and the elements of it that a loss picks."""

DROPOUT_MASKS: Final = 6
"""The most values that follow from a mask of dropout alone."""

DROPOUT_SPREAD: Final = 12
"""The most values from the input of a dropout to its result."""

DROPOUT_VALUES: Final = 64
"""The most values that are tried as the input of a dropout."""

TWIN_SEARCHES: Final = 4
"""The number of last searches from similar ops with which an op is compared: models
alternate between a few kinds of blocks."""

LAYOUT_ANSWERS: Final = 1024
"""The number of cached answers of each kind on layouts; equal layers have the same questions."""

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

LAST_MATMUL_CONE: Final = 64
"""The most ops after a wide matmul that are looked through for other matmuls and casts; the update
of a weight has about ten."""

ROW_STEPS: Final = 64
"""The most ops from a tensor up to the broadcast, and from there up to the reduction, that make it
a normalization; a gradient of one has about twenty."""

FEW_ADJACENT: Final = 16
"""The most adjacent numbers that a transpose of few writes; kernels with 8 were timed, at half the
speed of those with 64 and more."""

EPILOGUE_STEPS: Final = 64
"""The most values between the product of a matmul and a cast that XLA may compute in one kernel;
an approximate GELU has 15."""

READER_STEPS: Final = 16
"""The most ops between a matmul and the transpose that reads what was made of it; 5 are usual."""

READ_CONE: Final = 16
"""The most ops between a square and the function that reads it as a value."""

LAYER_MARK_CONE: Final = 400
"""The most ops between the input of a layer and its result; an exact GELU has 100."""

SHARED_STATISTIC: Final = 1 << 13
"""The largest number of elements of values whose statistics share a reduction."""

SCALING_RUNS: Final = 8
"""The most runs of a program that measure its first delayed scales. Each run corrects the scales of
a few more matmuls in a row."""

LINT_DEPTH: Final = 24
"""The most ops that a lint follows in a chain, within Python's recursion limit."""

LINT_OCTAVES: Final = 0.4
"""The most octaves by which a value may depart from unit scale; a sum of two values does by 0.5."""

LOSS_CONE: Final = 64
"""The most values before the first gradient that are searched for the exponential of a loss."""

CONSTANT_SAMPLE: Final = 1 << 16
"""The approximate number of elements of a constant from which its size is computed."""

HASHED_ELEMENTS: Final = 16
"""The most elements of a constant whose elements are hashed; of larger ones only the type is."""

INLINED_OPS: Final = 1 << 20
"""The most ops that a program may have with all calls inlined, besides `OPS_OF_OP` for each op."""

OPS_OF_OP: Final = 16
"""The most ops that each op of a large program may become."""

XLA_LEVELS: Final = 128
"""The most levels of calls and regions of a program that XLA compiles; it crashes at 200 calls."""

MOST_TOLD: Final = 10**18
"""The largest number of ops that a message tells."""

RUN_OPS: Final = 1 << 40
"""The most ops that a program may run, in all turns of its loops: they would take days."""

VJP_ORDERS: Final = 16
"""The most programs that a jax.export file may have, each but the first the vjp of another."""

LOCATION_PARTS: Final = 1 << 12
"""The most parts of a location, written out, with which XLA compiles it; those of jax have some
hundreds if they have whole tracebacks."""

LOCATION_FRAMES: Final = 16
"""The most callers of an op that a remark has. Those of models in Flax are some ten deep."""

READERS_ASKED: Final = 8
"""The most readers of an op without a source location that are asked for theirs."""

# Memory.

DRAWN_NUMBERS: Final = 4096
"""The number of random numbers that samples of layers draw at once."""

COST_PASSES: Final = 8
"""The most times that changes of matmuls that a device computes wide are tried; 2 or 3 suffice."""

ENCODED_CHUNK: Final = 1 << 21
"""The elements of a constant that are cast at a time, so that little extra memory is used."""

RECIPE_BYTES: Final = 1 << 24
"""The most bytes that are read from a stream as a recipe; a stream may never end."""

# Statistics.

MOST_TURNS: Final = 4096
"""The most turns, of loops in loops together, that have records of their own."""

SAMPLE_TURNS: Final = 8
"""The turns of a loop of which samples are kept."""

SAMPLE_ROWS: Final = 8
"""The least number of rows of a sample, of operands that have as many."""

SAMPLE_ELEMENTS: Final = 1 << 20
"""The most elements of a sample; longer rows are cut."""

VALUE_ELEMENTS: Final = 4096
"""The least number of elements in the sample of a larger value that is compared with another."""

FIGURE_ROWS: Final = 72
"""The most values of a figure; of more, some evenly spaced ones."""

PAGE_RECORDS: Final = 64
"""The most records of a value of which a page has columns; of more, some evenly spaced ones."""

TABLE_ROWS: Final = 64
"""The most values whose statistics are taken together: the first ones are kept until then."""

TABLE_BASE: Final = 1 << 10
"""The least number of elements of a row of such a table; rows have so many times a power of 4, as
tables of few types compile faster."""

TABLE_ELEMENTS: Final = 1 << 21
"""The most elements of values whose statistics are taken together, in any program."""

TABLE_SHARE: Final = 16
"""The same in large programs, as a part of the elements of all arguments: one over this number."""

HISTOGRAM_ELEMENTS: Final = 1 << 16
"""The least number of elements in the histogram of a larger tensor."""

INDEX_ELEMENTS: Final = 1 << 22
"""The most elements of indices that are computed when a program is rewritten.

An index that counts up along a batch has one element for each token.
"""

INDEX_DEPTH: Final = 16
"""The most ops behind one another in such a computation; those of ``x[jnp.arange(n), i]`` are 7."""

HADAMARD: Final = 16
"""The number of terms of a sum that a Hadamard transform mixes: the blocks of NVFP4, which a larger
one would not improve (arXiv 2509.25149, section 4.2)."""

SECOND_CAST_ELEMENTS: Final = 2**20
"""The least number of elements of a weight that is cast again for the backward pass.

Copies of smaller weights are a small part of memory, and each kernel takes a few microseconds.
"""

UPDATE_OPS: Final = 64
"""The most elementwise ops that are followed from a weight to its update; optimizers have fewer."""

FLUSHED_ROOM: Final = 64
"""log2 of the largest factor by which a number that is flushed is multiplied before it is cast.

A number below 2^-126 is below 2^-62 then, and zero in all formats of 8 bits.
"""

NORMALIZATION_OPS: Final = 32
"""The most values that are followed from a cast to an argument that it normalizes; few have 20."""

FACTOR_ARRAYS: Final = 2
"""The most arrays of factors of one value; with more, it is cheaper to multiply operands early."""

FACTOR_RANGE: Final = 100
"""log2 of the least factor of a block that is measured: a block of zeros has it, and 1 / 2^-100 is
far from the end of f32."""

COMPOSITE_BLOCK: Final = 32
"""The most elements in a block with an E8M0 scale of which XLA for GPUs makes a kernel.

It is that of MXFP8. With 64 or more, XLA of jaxlib 0.10.2 fails to compile the composite.
"""

LOSS_APART: Final = 0.02
"""The largest difference of losses in training, as a share of the first: that of two seeds."""

STATE_MOVED: Final = 2.0
"""The most by which the change of state in training may be longer, or shorter."""

LARGEST_SIZE: Final = 2**31 - 1
"""The largest size of a dimension that is asked for: a product of two is one of 64 bits."""
