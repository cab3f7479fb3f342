"""Traits of ops: facts about ops, each stated once for all passes.

Each trait is a set of full op names; `tests/py/test_traits.py` checks that they exist. The tables
of other modules are unions and differences of these sets.
"""

from __future__ import annotations

from typing import Final


def _stablehlo(*names: str) -> frozenset[str]:
    return frozenset(f"stablehlo.{name}" for name in names)


def short(ops: frozenset[str]) -> frozenset[str]:
    """Returns the names of ops without their dialect."""
    return frozenset(op.partition(".")[2] for op in ops)


# Ops that keep every element.

COPIES: Final = frozenset(
    {"mhlo.copy", "sdy.sharding_constraint", "stablehlo.optimization_barrier"}
)
"""Each result is the operand with the same number."""

ROUNDS: Final = _stablehlo("convert", "reduce_precision")
"""The result is the operand in another format, or with fewer bits."""

CASTING: Final = _stablehlo("clamp", "convert", "divide", "multiply")
"""A cast of a recipe consists of these: a factor, a bound on the size, and another format."""

RESHAPES: Final = _stablehlo("dynamic_reshape", "reshape")
"""The result has the elements of the operand in the same order, in another shape."""

REORDERS: Final = _stablehlo("reverse", "transpose")
"""The result has the elements of the operand in another order."""

BROADCASTS: Final = frozenset(
    {"chlo.broadcast", *_stablehlo("broadcast", "broadcast_in_dim", "dynamic_broadcast_in_dim")}
)
"""The result repeats the elements of the operand."""

LAYOUT: Final = _stablehlo("broadcast_in_dim", "reshape", "transpose")
"""Ops of static shape that only move elements, and that jax writes between almost any two ops."""

# Ops that select or replace elements.

SLICES: Final = _stablehlo("dynamic_slice", "real_dynamic_slice", "slice")
"""The result is a block of the operand."""

LOOKUPS: Final = _stablehlo("dynamic_gather", "gather", "torch_index_select")
"""The result has the elements of the operand at given indices."""

PADS: Final = _stablehlo("dynamic_pad", "pad")
"""The result is the operand with another value around and between its elements."""

WRITES: Final = _stablehlo("dynamic_update_slice", "scatter")
"""The result is the operand with some elements replaced or updated."""

CHOICES: Final = _stablehlo("clamp", "select")
"""Each element of the result is an element of one of the operands."""

# Elementwise arithmetic.

SUMS: Final = _stablehlo("add", "subtract")
PRODUCTS: Final = _stablehlo("divide", "multiply")
EXTREMES: Final = _stablehlo("maximum", "minimum")
ARITHMETIC: Final = SUMS | PRODUCTS
BINARY: Final = ARITHMETIC | EXTREMES
"""The common elementwise ops of two operands."""

MAGNITUDES: Final = _stablehlo("abs", "negate")
"""Elementwise ops of one operand that are homogeneous of degree 1 for positive factors."""

ROOTS: Final = _stablehlo("cbrt", "rsqrt", "sqrt")
POWERS: Final = ROOTS | {"stablehlo.power"}
EXPONENTIALS: Final = _stablehlo("exponential", "exponential_minus_one")
LOGARITHMS: Final = _stablehlo("log", "log_plus_one")
TRIGONOMETRIC: Final = _stablehlo("cosine", "sine", "tan")
SIGMOIDS: Final = _stablehlo("logistic", "tanh")
NOT_NEGATIVE: Final = _stablehlo("abs", "exponential", "iota", "logistic", "sqrt")
"""Ops whose results are not negative, whatever their operands are."""

INTEGRAL: Final = _stablehlo("ceil", "floor", "round_nearest_afz", "round_nearest_even")
"""Ops that round to whole numbers."""

TRANSCENDENTAL: Final = EXPONENTIALS | LOGARITHMS | TRIGONOMETRIC | SIGMOIDS

SPECIAL: Final = frozenset(
    f"chlo.{name}"
    for name in (
        *("_asin_acos_kernel", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bessel_i1e"),
        *("cosh", "digamma", "erf", "erf_inv", "erfc", "lgamma", "sinh", "tan"),
    )
)
"""CHLO functions of one operand, which jax.export writes as composites."""

BOUNDED_FROM_ZERO: Final = frozenset(
    {
        *("stablehlo.cosine", "stablehlo.logistic"),
        *("chlo._asin_acos_kernel", "chlo.acos", "chlo.erfc"),
    }
)
"""Bounded functions that are not 0 at 0."""

BOUNDED_THROUGH_ZERO: Final = frozenset(
    {
        *("stablehlo.sine", "stablehlo.tanh"),
        *("chlo.asin", "chlo.atan", "chlo.atanh", "chlo.bessel_i1e", "chlo.erf", "chlo.erf_inv"),
    }
)
"""Functions that are 0 at 0 and bounded, or nearly so."""

UNBOUNDED_THROUGH_ZERO: Final = frozenset(
    {
        *("stablehlo.exponential_minus_one", "stablehlo.log_plus_one", "stablehlo.tan"),
        *("chlo.asinh", "chlo.tan"),
    }
)
"""Unbounded functions that are 0 at 0, and close to their operand near 0."""

THROUGH_ZERO: Final = BOUNDED_THROUGH_ZERO | UNBOUNDED_THROUGH_ZERO
"""Functions whose results are as small as small operands."""

TESTS: Final = _stablehlo("compare", "is_finite")
COMPLEX_PARTS: Final = _stablehlo("complex", "imag", "real")
LOGICAL: Final = _stablehlo("and", "not", "or", "xor")

ELEMENTWISE: Final = (
    BINARY
    | CHOICES
    | INTEGRAL
    | MAGNITUDES
    | POWERS
    | TRANSCENDENTAL
    | _stablehlo("atan2", "remainder", "sign")
)
"""Elementwise ops on floats."""

# Contractions, reductions and exchanges.

CONTRACTIONS: Final = _stablehlo("convolution", "dot", "dot_general", "dynamic_conv")
"""Sums of products of two operands; `dialect.ragged` has one more, which exists during passes."""

REDUCTIONS: Final = _stablehlo("reduce", "reduce_window", "scatter", "select_and_scatter")
"""Ops whose region combines elements of an operand."""

BATCH_NORMS: Final = _stablehlo("batch_norm_grad", "batch_norm_inference", "batch_norm_training")

FACTORIZATIONS: Final = _stablehlo("cholesky", "triangular_solve")

GATHERS_FROM_DEVICES: Final = _stablehlo("all_gather", "all_to_all")
EXCHANGES: Final = GATHERS_FROM_DEVICES | _stablehlo("collective_broadcast", "collective_permute")
"""Collectives that move elements between devices."""

REDUCES_OVER_DEVICES: Final = _stablehlo("all_reduce", "reduce_scatter")
"""Collectives that combine the elements of several devices."""

WITH_REGIONS: Final = (
    REDUCTIONS
    | REDUCES_OVER_DEVICES
    | _stablehlo("async_start", "case", "collective_reduce", "if", "map", "sort", "while")
)
"""StableHLO ops whose regions may use the values around them."""

# Sources and effects.

SOURCES: Final = _stablehlo("constant", "iota")
"""Ops without operands."""

IMPURE: Final = _stablehlo("custom_call", "infeed", "outfeed", "recv", "rng", "send")
"""Ops that may have side effects, or different results in each execution."""
