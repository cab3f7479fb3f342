"""Facts of ops, each stated once, in one table, for all passes.

`OPS` has all of them. All sets of ops are queries of it, here or in other modules, so that an
op that is added to the table is known to all analyses. `tests/py/ir/test_traits.py` checks that the
ops exist, and that no other module lists ops.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

_Moving: TypeAlias = (
    Literal["copy", "reshape", "transpose", "reverse", "broadcast", "slice", "lookup", "pad"]
    | Literal["write", "join", "gather", "exchange"]
)
_Elementwise: TypeAlias = (
    Literal["choice", "sum", "product", "extreme", "magnitude", "root", "power", "exponential"]
    | Literal["logarithm", "trigonometric", "sigmoid", "integral", "numeric"]
)
_OtherElementwise: TypeAlias = Literal[
    "round", "bits", "special", "kernel", "test", "part", "logical"
]
_Combining: TypeAlias = (
    Literal["dot", "ragged_dot", "convolution", "reduction", "scatter", "device_sum"]
    | Literal["batch_norm", "factorization", "map", "sort"]
)
_Running: TypeAlias = (
    Literal["source", "transfer", "call", "composite", "custom_call", "loop", "branch", "body"]
    | Literal["start", "return"]
)
Kind: TypeAlias = _Moving | _Elementwise | _OtherElementwise | _Combining | _Running
"""Kinds of ops; the constants below say in a sentence what most of them do."""

AtZero: TypeAlias = Literal["pole", "root", "steep"]
"""A function is infinite at 0, or it is 0 there and its results are as small as small operands, or
its derivative is infinite there."""


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
        stands_for: The attribute with the name of the op or function that it stands for.
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
    stands_for: str = ""

    def of(self, *names: str) -> dict[str, Op]:
        """Returns these facts for each of some ops."""
        return dict.fromkeys(names, self)


_BOTH: Final = (0, 1)

OPS: Final = {
    # Ops that move elements.
    **Op("copy", None).of("mhlo.copy", "sdy.sharding_constraint", "stablehlo.optimization_barrier"),
    **Op("round").of("stablehlo.convert", "stablehlo.reduce_precision"),
    **Op("bits").of("stablehlo.bitcast_convert"),
    **Op("reshape").of("stablehlo.reshape"),
    **Op("reshape", dynamic=True).of("stablehlo.dynamic_reshape"),
    **Op("reverse").of("stablehlo.reverse"),
    **Op("transpose").of("stablehlo.transpose"),
    **Op("broadcast").of("chlo.broadcast", "stablehlo.broadcast", "stablehlo.broadcast_in_dim"),
    **Op("broadcast", dynamic=True).of("stablehlo.dynamic_broadcast_in_dim"),
    **Op("slice").of("stablehlo.slice"),
    **Op("slice", indexed=True).of("stablehlo.dynamic_slice"),
    **Op("slice", dynamic=True).of("stablehlo.real_dynamic_slice"),
    **Op("lookup", indexed=True).of("stablehlo.gather", "stablehlo.torch_index_select"),
    **Op("lookup", indexed=True, dynamic=True).of("stablehlo.dynamic_gather"),
    **Op("pad", _BOTH).of("stablehlo.pad"),
    **Op("pad", _BOTH, dynamic=True).of("stablehlo.dynamic_pad"),
    **Op("write", _BOTH).of("stablehlo.dynamic_update_slice"),
    **Op("scatter", (0, 2), captures=True).of("stablehlo.scatter"),
    **Op("join", None).of("stablehlo.concatenate"),
    **Op("gather", None).of("stablehlo.all_gather", "stablehlo.all_to_all"),
    **Op("exchange", None).of("stablehlo.collective_broadcast", "stablehlo.collective_permute"),
    # Elementwise arithmetic.
    **Op("choice", (1,)).of("stablehlo.clamp"),
    **Op("choice", (1, 2)).of("stablehlo.select"),
    **Op("sum", _BOTH, commutes=True).of("stablehlo.add"),
    **Op("sum", _BOTH).of("stablehlo.subtract"),
    **Op("product", _BOTH, commutes=True).of("stablehlo.multiply"),
    **Op("product", _BOTH).of("stablehlo.divide"),
    **Op("extreme", _BOTH, commutes=True).of("stablehlo.maximum", "stablehlo.minimum"),
    **Op("magnitude", not_negative=True).of("stablehlo.abs"),
    **Op("magnitude").of("stablehlo.negate"),
    **Op("root", at_zero="steep").of("stablehlo.cbrt"),
    **Op("root", at_zero="pole", not_negative=True, of_positive=True).of("stablehlo.rsqrt"),
    **Op("root", at_zero="steep", not_negative=True, of_positive=True).of("stablehlo.sqrt"),
    **Op("power", _BOTH).of("stablehlo.power"),
    **Op("exponential", not_negative=True).of("stablehlo.exponential"),
    **Op("exponential", at_zero="root").of("stablehlo.exponential_minus_one"),
    **Op("logarithm", at_zero="pole", of_positive=True).of("stablehlo.log"),
    **Op("logarithm", at_zero="root", of_positive=True).of("stablehlo.log_plus_one"),
    **Op("trigonometric", bounded=True).of("stablehlo.cosine"),
    **Op("trigonometric", at_zero="root", bounded=True).of("stablehlo.sine"),
    **Op("trigonometric", at_zero="root").of("stablehlo.tan"),
    **Op("sigmoid", bounded=True, not_negative=True).of("stablehlo.logistic"),
    **Op("sigmoid", at_zero="root", bounded=True).of("stablehlo.tanh"),
    **Op("integral").of(
        "stablehlo.ceil",
        "stablehlo.floor",
        "stablehlo.round_nearest_afz",
        "stablehlo.round_nearest_even",
    ),
    **Op("numeric", _BOTH).of("stablehlo.atan2", "stablehlo.remainder"),
    **Op("numeric").of("stablehlo.sign"),
    **Op("kernel", bounded=True).of("chlo._asin_acos_kernel"),
    **Op("special", bounded=True).of("chlo.acos", "chlo.erfc"),
    **Op("special").of("chlo.acosh", "chlo.cosh", "chlo.digamma", "chlo.lgamma", "chlo.sinh"),
    **Op("special", at_zero="root", bounded=True).of(
        "chlo.asin", "chlo.atan", "chlo.atanh", "chlo.bessel_i1e", "chlo.erf", "chlo.erf_inv"
    ),
    **Op("special", at_zero="root").of("chlo.asinh", "chlo.tan"),
    **Op("test", _BOTH).of("stablehlo.compare"),
    **Op("test").of("stablehlo.is_finite"),
    **Op("part", _BOTH).of("stablehlo.complex"),
    **Op("part").of("stablehlo.imag", "stablehlo.real"),
    **Op("logical", _BOTH, commutes=True).of("stablehlo.and", "stablehlo.or", "stablehlo.xor"),
    **Op("logical").of("stablehlo.not"),
    # Ops that combine elements of one tensor, or of several.
    **Op("convolution", _BOTH).of("stablehlo.convolution"),
    **Op("dot", _BOTH).of("stablehlo.dot", "stablehlo.dot_general"),
    **Op("ragged_dot", _BOTH).of("chlo.ragged_dot"),
    **Op("convolution", _BOTH, dynamic=True).of("stablehlo.dynamic_conv"),
    **Op("reduction", None, captures=True).of("stablehlo.reduce", "stablehlo.reduce_window"),
    **Op("reduction", (1, 2), captures=True).of("stablehlo.select_and_scatter"),
    **Op("device_sum", None, captures=True).of(
        "stablehlo.all_reduce", "stablehlo.collective_reduce", "stablehlo.reduce_scatter"
    ),
    **Op("batch_norm", None).of(
        "stablehlo.batch_norm_grad",
        "stablehlo.batch_norm_inference",
        "stablehlo.batch_norm_training",
    ),
    **Op("factorization").of("stablehlo.cholesky"),
    **Op("factorization", _BOTH).of("stablehlo.triangular_solve"),
    **Op("map", None, captures=True).of("stablehlo.map"),
    **Op("sort", None, captures=True).of("stablehlo.sort"),
    # Sources, effects, and ops that run others.
    **Op("source", ()).of("stablehlo.constant"),
    **Op("source", (), not_negative=True).of("stablehlo.iota"),
    **Op("transfer", ()).of(
        "stablehlo.infeed", "stablehlo.outfeed", "stablehlo.recv", "stablehlo.send"
    ),
    **Op("transfer", _BOTH).of("stablehlo.rng"),
    **Op("custom_call", None, refers="called_computations", stands_for="call_target_name").of(
        "stablehlo.custom_call"
    ),
    **Op("call", None, refers="callee").of("func.call"),
    **Op("composite", None, refers="decomposition", stands_for="name").of("stablehlo.composite"),
    **Op("loop", None, captures=True).of("stablehlo.while"),
    **Op("branch", (), captures=True).of("stablehlo.case", "stablehlo.if"),
    **Op("body", None).of("sdy.manual_computation", "sdy.named_computation"),
    **Op("start", None, captures=True).of("stablehlo.async_start"),
    **Op("return", None).of("func.return", "sdy.return", "stablehlo.return"),
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


def _kinds(kind: object) -> list[Kind]:
    return [each for literal in get_args(kind) for each in get_args(literal)]


def _refers(*kinds: Kind) -> dict[str, str]:
    return {name: op.refers for name, op in OPS.items() if op.kind in kinds}


def _stablehlo(*names: str) -> frozenset[str]:
    return frozenset(f"stablehlo.{name}" for name in names)


# Ops that keep every element.

COPIES: Final = where("copy")
"""Each result is the operand with the same number."""

ROUNDS: Final = where("round")
"""The result is the operand in another format, or with fewer bits."""

CASTING: Final = _stablehlo("clamp", "convert", "divide", "multiply")
"""A cast of a recipe consists of these: a factor, a bound on the size, and another format."""

RESHAPES: Final = where("reshape")
"""The result has the elements of the operand in the same order, in another shape."""

REORDERS: Final = where("transpose", "reverse")
"""The result has the elements of the operand in another order."""

VIEWS: Final = where("reshape", "transpose")
"""The result has the elements of the operand, each once, in other dimensions."""

BROADCASTS: Final = where("broadcast")
"""The result repeats the elements of the operand."""

LAYOUT: Final = _stablehlo("broadcast_in_dim", "reshape", "transpose")
"""Ops of static shape that only move elements, and that jax writes between almost any two ops."""

SAME_ORDER: Final = LAYOUT - {"stablehlo.transpose"}
"""Those of them that keep the order of elements."""

# Ops that select or replace elements.

SLICES: Final = where("slice")
"""The result is a block of the operand."""

LOOKUPS: Final = where("lookup")
"""The result has the elements of the operand at given indices."""

TAKES: Final = where(indexed=True)
"""The result has the elements of the operand at indices that the program computes."""

WRITES: Final = where("write", "scatter")
"""The result is the operand with some elements replaced or updated."""

MOVES: Final = where(*_kinds(_Moving))
"""The elements of each result are elements of the data, in any place."""

PASSES: Final = MOVES | where("round", "sum") | {"stablehlo.select"}
"""The elements of each result are elements of the data, these rounded, or sums of them."""

CHOICES: Final = where("choice")
"""Each element of the result is an element of one of the operands."""

# Elementwise arithmetic.

SUMS: Final = where("sum")
PRODUCTS: Final = where("product")
EXTREMES: Final = where("extreme")
ARITHMETIC: Final = where("sum", "product")
BINARY: Final = where("sum", "product", "extreme")
"""The common elementwise ops of two operands."""

MAGNITUDES: Final = where("magnitude")
"""Elementwise ops of one operand that are homogeneous of degree 1 for positive factors."""

ROOTS: Final = where("root")
POWERS: Final = where("root", "power")
EXPONENTIALS: Final = where("exponential")
LOGARITHMS: Final = where("logarithm")
TRIGONOMETRIC: Final = where("trigonometric")
SIGMOIDS: Final = where("sigmoid")
TRANSCENDENTAL: Final = where("exponential", "logarithm", "trigonometric", "sigmoid")

INTEGRAL: Final = where("integral")
"""Ops that round to whole numbers."""

WRAPPED: Final = where("special")
"""CHLO functions of one operand that jax.export writes as composites."""

LOGICAL: Final = where("logical")

ELEMENTWISE: Final = where(*_kinds(_Elementwise))
"""Elementwise ops on floats."""

EACH: Final = ELEMENTWISE | ROUNDS
"""Elementwise ops on floats, and casts."""

CHEAP: Final = (
    where(*_kinds(_Elementwise), *get_args(_OtherElementwise))
    | where("source", "reshape", "transpose", "reverse", "broadcast", "slice")
) - {"stablehlo.xor"}
"""Ops that compute a value in less time than a device takes to read it; of the elementwise ones,
those of generators of random bits are many for each element."""

STATISTICS: Final = EACH | RESHAPES | BROADCASTS | {"stablehlo.reduce"}
"""Ops that compute statistics of a tensor, such as of its rows, and numbers of these."""

# Signs, and functions at 0.

NOT_NEGATIVE: Final = where(not_negative=True)
"""Ops whose results are not negative, whatever their operands are."""

COMMUTING: Final = where(commutes=True)
"""Ops of two operands that are the same for the operands in the other order."""

HOMOGENEOUS: Final = where("sum", "extreme", commutes=True)
"""Those of them by which a reduction is homogeneous of degree 1 for positive factors."""

OF_POSITIVE: Final = where(of_positive=True)
"""Functions of numbers that are not negative."""

POLES: Final = where(at_zero="pole")
"""Functions that are infinite at 0."""

STEEP: Final = POLES | where(at_zero="steep")
"""Functions that are infinite at 0, or have an infinite derivative there."""

BOUNDED_FROM_ZERO: Final = where(bounded=True, at_zero=None)
"""Bounded functions that are not 0 at 0."""

BOUNDED_THROUGH_ZERO: Final = where(bounded=True, at_zero="root")
"""Functions that are 0 at 0 and bounded, or nearly so."""

THROUGH_ZERO: Final = where(at_zero="root")
"""Functions that are 0 at 0, and whose results are as small as small operands."""

# Contractions, reductions and exchanges.

DOTS: Final = where("dot")
CONTRACTED: Final = where("dot", "ragged_dot")
CONVOLUTIONS: Final = where("convolution")
CONTRACTIONS: Final = where("dot", "convolution")
"""Sums of products of two operands."""

MATMULS: Final = where("dot", "ragged_dot", "convolution")
"""The same, and ragged matmuls, which are composites before and after the passes."""

REDUCTIONS: Final = where("reduction", "scatter")
"""Ops whose region combines elements of an operand."""

BATCH_NORMS: Final = where("batch_norm")
GATHERS_FROM_DEVICES: Final = where("gather")

# Ops that run others.

LOOP: Final = "stablehlo.while"
BRANCHES: Final = where("branch")
BODIES: Final = where("body")
"""Ops that run their only region once, with their operands as its arguments."""

IN_ORDER: Final = where("body", "branch", "loop")
"""Ops whose regions return their results in order."""

CALLS: Final = _refers("call", "composite")
"""Ops that run a function, with the attribute that has its name."""

REFERENCES: Final = _refers("composite", "custom_call")
"""The ops other than calls that refer to functions, with the attribute that does so."""

STANDING: Final = {name: op.stands_for for name, op in OPS.items() if op.stands_for}
"""Ops that stand for others, with the attribute that has the name of those."""

INSIDES: Final = IN_ORDER.union(CALLS)
"""Ops whose results are made in their regions, or in the functions that they call."""

RETURNS: Final = where("return")
"""Ops that end a region or a function."""

WITH_REGIONS: Final = where(captures=True)
"""StableHLO ops whose regions may use the values around them."""

# Sources and effects.

SOURCES: Final = where("source")
"""Ops without operands."""

MAKING: Final = SOURCES | ROUNDS
"""Ops by which a program gets floats of a format that it does not have yet."""

IMPURE: Final = where("transfer", "custom_call")
"""Ops that may have side effects, or different results in each execution."""
