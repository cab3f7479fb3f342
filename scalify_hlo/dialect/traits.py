"""Facts of ops, each stated once, in one table, for all passes.

`OPS` has a row for each op. All sets of ops are queries of it, here or in other modules, so that an
op that is added to the table is known to all analyses. `tests/py/test_traits.py` checks that the
ops exist, and that no other module lists ops.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, auto
from typing import Final, NamedTuple


class Kind(Enum):
    """What an op does; the constants below say it in a sentence for most kinds."""

    COPY = auto()
    ROUND = auto()
    RESHAPE = auto()
    TRANSPOSE = auto()
    REVERSE = auto()
    BROADCAST = auto()
    SLICE = auto()
    LOOKUP = auto()
    PAD = auto()
    WRITE = auto()
    SCATTER = auto()
    JOIN = auto()
    GATHER = auto()
    EXCHANGE = auto()
    CHOICE = auto()
    SUM = auto()
    PRODUCT = auto()
    EXTREME = auto()
    MAGNITUDE = auto()
    ROOT = auto()
    POWER = auto()
    EXPONENTIAL = auto()
    LOGARITHM = auto()
    TRIGONOMETRIC = auto()
    SIGMOID = auto()
    INTEGRAL = auto()
    NUMERIC = auto()
    SPECIAL = auto()
    TEST = auto()
    PART = auto()
    LOGICAL = auto()
    DOT = auto()
    RAGGED_DOT = auto()
    CONVOLUTION = auto()
    REDUCTION = auto()
    DEVICE_SUM = auto()
    BATCH_NORM = auto()
    FACTORIZATION = auto()
    MAP = auto()
    SORT = auto()
    SOURCE = auto()
    TRANSFER = auto()
    CALL = auto()
    COMPOSITE = auto()
    CUSTOM_CALL = auto()
    LOOP = auto()
    BRANCH = auto()
    BODY = auto()
    START = auto()
    RETURN = auto()


class AtZero(Enum):
    """What a function does at 0."""

    POLE = auto()
    """It is infinite."""
    STEEP = auto()
    """Its derivative is infinite."""
    ROOT = auto()
    """It is 0, so that its results are as small as small operands."""


class Op(NamedTuple):
    """The facts of an op.

    Attributes:
        kind: What it does.
        data: The operands whose elements, or what is computed of them, are elements of the result;
            None for all operands. The others are indices, sizes, conditions and bounds.
        at_zero: What it does at 0, if it is a function of one operand.
        bounded: Whether it is a bounded function, or nearly so.
        not_negative: Whether its results are not negative, whatever its operands are.
        of_positive: Whether it is a function of numbers that are not negative.
        commutes: Whether it is the same for its two operands in the other order.
        indexed: Whether it reads elements at indices that the program computes.
        dynamic: Whether its operands have the shape of the result, or the size of a window.
        captures: Whether it is an op of StableHLO whose regions may use the values around them.
        refers: The attribute with the functions that it calls, or refers to.
    """

    kind: Kind
    data: tuple[int, ...] | None = (0,)
    at_zero: AtZero | None = None
    bounded: bool = False
    not_negative: bool = False
    of_positive: bool = False
    commutes: bool = False
    indexed: bool = False
    dynamic: bool = False
    captures: bool = False
    refers: str = ""


_BOTH: Final = (0, 1)

OPS: Final = {
    # Ops that move elements.
    "mhlo.copy": Op(Kind.COPY, None),
    "sdy.sharding_constraint": Op(Kind.COPY, None),
    "stablehlo.optimization_barrier": Op(Kind.COPY, None),
    "stablehlo.convert": Op(Kind.ROUND),
    "stablehlo.reduce_precision": Op(Kind.ROUND),
    "stablehlo.reshape": Op(Kind.RESHAPE),
    "stablehlo.dynamic_reshape": Op(Kind.RESHAPE, dynamic=True),
    "stablehlo.reverse": Op(Kind.REVERSE),
    "stablehlo.transpose": Op(Kind.TRANSPOSE),
    "chlo.broadcast": Op(Kind.BROADCAST),
    "stablehlo.broadcast": Op(Kind.BROADCAST),
    "stablehlo.broadcast_in_dim": Op(Kind.BROADCAST),
    "stablehlo.dynamic_broadcast_in_dim": Op(Kind.BROADCAST, dynamic=True),
    "stablehlo.slice": Op(Kind.SLICE),
    "stablehlo.dynamic_slice": Op(Kind.SLICE, indexed=True),
    "stablehlo.real_dynamic_slice": Op(Kind.SLICE, dynamic=True),
    "stablehlo.gather": Op(Kind.LOOKUP, indexed=True),
    "stablehlo.dynamic_gather": Op(Kind.LOOKUP, indexed=True, dynamic=True),
    "stablehlo.torch_index_select": Op(Kind.LOOKUP, indexed=True),
    "stablehlo.pad": Op(Kind.PAD, _BOTH),
    "stablehlo.dynamic_pad": Op(Kind.PAD, _BOTH, dynamic=True),
    "stablehlo.dynamic_update_slice": Op(Kind.WRITE, _BOTH),
    "stablehlo.scatter": Op(Kind.SCATTER, (0, 2), captures=True),
    "stablehlo.concatenate": Op(Kind.JOIN, None),
    "stablehlo.all_gather": Op(Kind.GATHER, None),
    "stablehlo.all_to_all": Op(Kind.GATHER, None),
    "stablehlo.collective_broadcast": Op(Kind.EXCHANGE, None),
    "stablehlo.collective_permute": Op(Kind.EXCHANGE, None),
    # Elementwise arithmetic.
    "stablehlo.clamp": Op(Kind.CHOICE, (1,)),
    "stablehlo.select": Op(Kind.CHOICE, (1, 2)),
    "stablehlo.add": Op(Kind.SUM, _BOTH, commutes=True),
    "stablehlo.subtract": Op(Kind.SUM, _BOTH),
    "stablehlo.multiply": Op(Kind.PRODUCT, _BOTH, commutes=True),
    "stablehlo.divide": Op(Kind.PRODUCT, _BOTH),
    "stablehlo.maximum": Op(Kind.EXTREME, _BOTH, commutes=True),
    "stablehlo.minimum": Op(Kind.EXTREME, _BOTH, commutes=True),
    "stablehlo.abs": Op(Kind.MAGNITUDE, not_negative=True),
    "stablehlo.negate": Op(Kind.MAGNITUDE),
    "stablehlo.cbrt": Op(Kind.ROOT, at_zero=AtZero.STEEP),
    "stablehlo.rsqrt": Op(Kind.ROOT, at_zero=AtZero.POLE, not_negative=True, of_positive=True),
    "stablehlo.sqrt": Op(Kind.ROOT, at_zero=AtZero.STEEP, not_negative=True, of_positive=True),
    "stablehlo.power": Op(Kind.POWER, _BOTH),
    "stablehlo.exponential": Op(Kind.EXPONENTIAL, not_negative=True),
    "stablehlo.exponential_minus_one": Op(Kind.EXPONENTIAL, at_zero=AtZero.ROOT),
    "stablehlo.log": Op(Kind.LOGARITHM, at_zero=AtZero.POLE, of_positive=True),
    "stablehlo.log_plus_one": Op(Kind.LOGARITHM, at_zero=AtZero.ROOT, of_positive=True),
    "stablehlo.cosine": Op(Kind.TRIGONOMETRIC, bounded=True),
    "stablehlo.sine": Op(Kind.TRIGONOMETRIC, at_zero=AtZero.ROOT, bounded=True),
    "stablehlo.tan": Op(Kind.TRIGONOMETRIC, at_zero=AtZero.ROOT),
    "stablehlo.logistic": Op(Kind.SIGMOID, bounded=True, not_negative=True),
    "stablehlo.tanh": Op(Kind.SIGMOID, at_zero=AtZero.ROOT, bounded=True),
    "stablehlo.ceil": Op(Kind.INTEGRAL),
    "stablehlo.floor": Op(Kind.INTEGRAL),
    "stablehlo.round_nearest_afz": Op(Kind.INTEGRAL),
    "stablehlo.round_nearest_even": Op(Kind.INTEGRAL),
    "stablehlo.atan2": Op(Kind.NUMERIC, _BOTH),
    "stablehlo.remainder": Op(Kind.NUMERIC, _BOTH),
    "stablehlo.sign": Op(Kind.NUMERIC),
    "chlo._asin_acos_kernel": Op(Kind.SPECIAL, bounded=True),
    "chlo.acos": Op(Kind.SPECIAL, bounded=True),
    "chlo.acosh": Op(Kind.SPECIAL),
    "chlo.asin": Op(Kind.SPECIAL, at_zero=AtZero.ROOT, bounded=True),
    "chlo.asinh": Op(Kind.SPECIAL, at_zero=AtZero.ROOT),
    "chlo.atan": Op(Kind.SPECIAL, at_zero=AtZero.ROOT, bounded=True),
    "chlo.atanh": Op(Kind.SPECIAL, at_zero=AtZero.ROOT, bounded=True),
    "chlo.bessel_i1e": Op(Kind.SPECIAL, at_zero=AtZero.ROOT, bounded=True),
    "chlo.cosh": Op(Kind.SPECIAL),
    "chlo.digamma": Op(Kind.SPECIAL),
    "chlo.erf": Op(Kind.SPECIAL, at_zero=AtZero.ROOT, bounded=True),
    "chlo.erf_inv": Op(Kind.SPECIAL, at_zero=AtZero.ROOT, bounded=True),
    "chlo.erfc": Op(Kind.SPECIAL, bounded=True),
    "chlo.lgamma": Op(Kind.SPECIAL),
    "chlo.sinh": Op(Kind.SPECIAL),
    "chlo.tan": Op(Kind.SPECIAL, at_zero=AtZero.ROOT),
    "stablehlo.compare": Op(Kind.TEST, _BOTH),
    "stablehlo.is_finite": Op(Kind.TEST),
    "stablehlo.complex": Op(Kind.PART, _BOTH),
    "stablehlo.imag": Op(Kind.PART),
    "stablehlo.real": Op(Kind.PART),
    "stablehlo.and": Op(Kind.LOGICAL, _BOTH, commutes=True),
    "stablehlo.not": Op(Kind.LOGICAL),
    "stablehlo.or": Op(Kind.LOGICAL, _BOTH, commutes=True),
    "stablehlo.xor": Op(Kind.LOGICAL, _BOTH, commutes=True),
    # Ops that combine elements of one tensor, or of several.
    "stablehlo.convolution": Op(Kind.CONVOLUTION, _BOTH),
    "stablehlo.dot": Op(Kind.DOT, _BOTH),
    "stablehlo.dot_general": Op(Kind.DOT, _BOTH),
    "chlo.ragged_dot": Op(Kind.RAGGED_DOT, _BOTH),
    "stablehlo.dynamic_conv": Op(Kind.CONVOLUTION, _BOTH, dynamic=True),
    "stablehlo.reduce": Op(Kind.REDUCTION, None, captures=True),
    "stablehlo.reduce_window": Op(Kind.REDUCTION, None, captures=True),
    "stablehlo.select_and_scatter": Op(Kind.REDUCTION, (1, 2), captures=True),
    "stablehlo.all_reduce": Op(Kind.DEVICE_SUM, None, captures=True),
    "stablehlo.collective_reduce": Op(Kind.DEVICE_SUM, None, captures=True),
    "stablehlo.reduce_scatter": Op(Kind.DEVICE_SUM, None, captures=True),
    "stablehlo.batch_norm_grad": Op(Kind.BATCH_NORM, None),
    "stablehlo.batch_norm_inference": Op(Kind.BATCH_NORM, None),
    "stablehlo.batch_norm_training": Op(Kind.BATCH_NORM, None),
    "stablehlo.cholesky": Op(Kind.FACTORIZATION),
    "stablehlo.triangular_solve": Op(Kind.FACTORIZATION, _BOTH),
    "stablehlo.map": Op(Kind.MAP, None, captures=True),
    "stablehlo.sort": Op(Kind.SORT, None, captures=True),
    # Sources, effects, and ops that run others.
    "stablehlo.constant": Op(Kind.SOURCE, ()),
    "stablehlo.iota": Op(Kind.SOURCE, (), not_negative=True),
    "stablehlo.infeed": Op(Kind.TRANSFER, ()),
    "stablehlo.outfeed": Op(Kind.TRANSFER, ()),
    "stablehlo.recv": Op(Kind.TRANSFER, ()),
    "stablehlo.rng": Op(Kind.TRANSFER, _BOTH),
    "stablehlo.send": Op(Kind.TRANSFER, ()),
    "stablehlo.custom_call": Op(Kind.CUSTOM_CALL, None, refers="called_computations"),
    "func.call": Op(Kind.CALL, None, refers="callee"),
    "stablehlo.composite": Op(Kind.COMPOSITE, None, refers="decomposition"),
    "stablehlo.while": Op(Kind.LOOP, None, captures=True),
    "stablehlo.case": Op(Kind.BRANCH, (), captures=True),
    "stablehlo.if": Op(Kind.BRANCH, (), captures=True),
    "sdy.manual_computation": Op(Kind.BODY, None),
    "sdy.named_computation": Op(Kind.BODY, None),
    "stablehlo.async_start": Op(Kind.START, None, captures=True),
    "func.return": Op(Kind.RETURN, None),
    "sdy.return": Op(Kind.RETURN, None),
    "stablehlo.return": Op(Kind.RETURN, None),
}
"""The facts of ops, by their full names."""


def where(*kinds: Kind, **facts: object) -> frozenset[str]:
    """Returns the ops of some kinds that have some facts.

    Args:
        *kinds: The kinds; all if none is given.
        **facts: The values of fields of `Op`.
    """
    return frozenset(
        name
        for name, op in OPS.items()
        if (not kinds or op.kind in kinds)
        and all(getattr(op, fact) == value for fact, value in facts.items())
    )


def data_of(names: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Returns the numbers of the operands that are the data of ops which have a fixed number."""
    return {name: data for name in names if (data := OPS[name].data) is not None}


def short(ops: frozenset[str]) -> frozenset[str]:
    """Returns the names of ops without their dialect."""
    return frozenset(op.partition(".")[2] for op in ops)


def _refers(*kinds: Kind) -> dict[str, str]:
    return {name: op.refers for name, op in OPS.items() if op.kind in kinds}


def _stablehlo(*names: str) -> frozenset[str]:
    return frozenset(f"stablehlo.{name}" for name in names)


# Ops that keep every element.

COPIES: Final = where(Kind.COPY)
"""Each result is the operand with the same number."""

ROUNDS: Final = where(Kind.ROUND)
"""The result is the operand in another format, or with fewer bits."""

CASTING: Final = _stablehlo("clamp", "convert", "divide", "multiply")
"""A cast of a recipe consists of these: a factor, a bound on the size, and another format."""

RESHAPES: Final = where(Kind.RESHAPE)
"""The result has the elements of the operand in the same order, in another shape."""

REORDERS: Final = where(Kind.TRANSPOSE, Kind.REVERSE)
"""The result has the elements of the operand in another order."""

VIEWS: Final = where(Kind.RESHAPE, Kind.TRANSPOSE)
"""The result has the elements of the operand, each once, in other dimensions."""

BROADCASTS: Final = where(Kind.BROADCAST)
"""The result repeats the elements of the operand."""

LAYOUT: Final = _stablehlo("broadcast_in_dim", "reshape", "transpose")
"""Ops of static shape that only move elements, and that jax writes between almost any two ops."""

SAME_ORDER: Final = LAYOUT - {"stablehlo.transpose"}
"""Those of them that keep the order of elements."""

# Ops that select or replace elements.

SLICES: Final = where(Kind.SLICE)
"""The result is a block of the operand."""

LOOKUPS: Final = where(Kind.LOOKUP)
"""The result has the elements of the operand at given indices."""

TAKES: Final = where(indexed=True)
"""The result has the elements of the operand at indices that the program computes."""

PADS: Final = where(Kind.PAD)
"""The result is the operand with another value around and between its elements."""

WRITES: Final = where(Kind.WRITE, Kind.SCATTER)
"""The result is the operand with some elements replaced or updated."""

MOVES: Final = where(
    *(Kind.COPY, Kind.RESHAPE, Kind.TRANSPOSE, Kind.REVERSE, Kind.BROADCAST, Kind.SLICE),
    *(Kind.LOOKUP, Kind.PAD, Kind.WRITE, Kind.JOIN, Kind.GATHER, Kind.EXCHANGE),
)
"""The elements of each result are elements of the data, in any place."""

CHOICES: Final = where(Kind.CHOICE)
"""Each element of the result is an element of one of the operands."""

# Elementwise arithmetic.

SUMS: Final = where(Kind.SUM)
PRODUCTS: Final = where(Kind.PRODUCT)
EXTREMES: Final = where(Kind.EXTREME)
ARITHMETIC: Final = where(Kind.SUM, Kind.PRODUCT)
BINARY: Final = where(Kind.SUM, Kind.PRODUCT, Kind.EXTREME)
"""The common elementwise ops of two operands."""

MAGNITUDES: Final = where(Kind.MAGNITUDE)
"""Elementwise ops of one operand that are homogeneous of degree 1 for positive factors."""

ROOTS: Final = where(Kind.ROOT)
POWERS: Final = where(Kind.ROOT, Kind.POWER)
EXPONENTIALS: Final = where(Kind.EXPONENTIAL)
LOGARITHMS: Final = where(Kind.LOGARITHM)
TRIGONOMETRIC: Final = where(Kind.TRIGONOMETRIC)
SIGMOIDS: Final = where(Kind.SIGMOID)
TRANSCENDENTAL: Final = where(Kind.EXPONENTIAL, Kind.LOGARITHM, Kind.TRIGONOMETRIC, Kind.SIGMOID)

INTEGRAL: Final = where(Kind.INTEGRAL)
"""Ops that round to whole numbers."""

SPECIAL: Final = where(Kind.SPECIAL)
"""CHLO functions of one operand, which jax.export writes as composites."""

TESTS: Final = where(Kind.TEST)
COMPLEX_PARTS: Final = where(Kind.PART)
LOGICAL: Final = where(Kind.LOGICAL)

ELEMENTWISE: Final = where(
    *(Kind.CHOICE, Kind.SUM, Kind.PRODUCT, Kind.EXTREME, Kind.MAGNITUDE, Kind.ROOT, Kind.POWER),
    *(Kind.EXPONENTIAL, Kind.LOGARITHM, Kind.TRIGONOMETRIC, Kind.SIGMOID),
    *(Kind.INTEGRAL, Kind.NUMERIC),
)
"""Elementwise ops on floats."""

EACH: Final = ELEMENTWISE | ROUNDS
"""Elementwise ops on floats, and casts."""

# Signs, and functions at 0.

NOT_NEGATIVE: Final = where(not_negative=True)
"""Ops whose results are not negative, whatever their operands are."""

COMMUTING: Final = where(commutes=True)
"""Ops of two operands that are the same for the operands in the other order."""

HOMOGENEOUS: Final = where(Kind.SUM, Kind.EXTREME, commutes=True)
"""Those of them by which a reduction is homogeneous of degree 1 for positive factors."""

OF_POSITIVE: Final = where(of_positive=True)
"""Functions of numbers that are not negative."""

POLES: Final = where(at_zero=AtZero.POLE)
"""Functions that are infinite at 0."""

STEEP: Final = POLES | where(at_zero=AtZero.STEEP)
"""Functions that are infinite at 0, or have an infinite derivative there."""

BOUNDED_FROM_ZERO: Final = where(bounded=True, at_zero=None)
"""Bounded functions that are not 0 at 0."""

BOUNDED_THROUGH_ZERO: Final = where(bounded=True, at_zero=AtZero.ROOT)
"""Functions that are 0 at 0 and bounded, or nearly so."""

UNBOUNDED_THROUGH_ZERO: Final = where(bounded=False, at_zero=AtZero.ROOT)
"""Unbounded functions that are 0 at 0, and close to their operand near 0."""

THROUGH_ZERO: Final = where(at_zero=AtZero.ROOT)
"""Functions whose results are as small as small operands."""

# Contractions, reductions and exchanges.

DOTS: Final = where(Kind.DOT)
CONTRACTED: Final = where(Kind.DOT, Kind.RAGGED_DOT)
CONVOLUTIONS: Final = where(Kind.CONVOLUTION)
CONTRACTIONS: Final = where(Kind.DOT, Kind.CONVOLUTION)
"""Sums of products of two operands."""

MATMULS: Final = where(Kind.DOT, Kind.RAGGED_DOT, Kind.CONVOLUTION)
"""The same, and ragged matmuls, which are composites before and after the passes."""

REDUCTIONS: Final = where(Kind.REDUCTION, Kind.SCATTER)
"""Ops whose region combines elements of an operand."""

BATCH_NORMS: Final = where(Kind.BATCH_NORM)

FACTORIZATIONS: Final = where(Kind.FACTORIZATION)

GATHERS_FROM_DEVICES: Final = where(Kind.GATHER)
EXCHANGES: Final = where(Kind.GATHER, Kind.EXCHANGE)
"""Collectives that move elements between devices."""

REDUCES_OVER_DEVICES: Final = where(Kind.DEVICE_SUM)
"""Collectives that combine the elements of several devices."""

# Ops that run others.

LOOP: Final = "stablehlo.while"
BRANCHES: Final = where(Kind.BRANCH)
BODIES: Final = where(Kind.BODY)
"""Ops that run their only region once, with their operands as its arguments."""

IN_ORDER: Final = where(Kind.BODY, Kind.BRANCH, Kind.LOOP)
"""Ops whose regions return their results in order."""

CALLS: Final = _refers(Kind.CALL, Kind.COMPOSITE)
"""Ops that run a function, with the attribute that has its name."""

REFERENCES: Final = _refers(Kind.COMPOSITE, Kind.CUSTOM_CALL)
"""The ops other than calls that refer to functions, with the attribute that does so."""

INSIDES: Final = IN_ORDER.union(CALLS)
"""Ops whose results are made in their regions, or in the functions that they call."""

RETURNS: Final = where(Kind.RETURN)
"""Ops that end a region or a function."""

WITH_REGIONS: Final = where(captures=True)
"""StableHLO ops whose regions may use the values around them."""

# Sources and effects.

SOURCES: Final = where(Kind.SOURCE)
"""Ops without operands."""

IMPURE: Final = where(Kind.TRANSFER, Kind.CUSTOM_CALL)
"""Ops that may have side effects, or different results in each execution."""
