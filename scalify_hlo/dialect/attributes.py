"""The attributes `scalify.*` of the rewriter, and access to the attributes of functions.

========================== ================ ===================================================
attribute                  on               meaning
========================== ================ ===================================================
``scalify.scale``          argument         i64 e: the argument is split at entry, X_s = 2^e
``scalify.size``           argument         f64: log2 of its rms, if that is not the number above
``scalify.measured``       argument         that rms was measured from values, and not declared
``scalify.pair``           argument, result becomes data and scale, side by side
``scalify.is_scale``       argument, result is the scale of the data before it; it stays
``scalify.is_state``       argument        is state of delayed scales; it stays
``scalify.role``           argument, result its role: ``weight``, ``first_moment`` ...
``scalify.stored``         argument, result the format in which its data are stored
``scalify.packed``         argument, result the f8 format in which it is stored, in blocks
``scalify.root``           argument, result its square root is stored in blocks
``scalify.scale_shape``    argument         the shape of the array of its scales
``scalify.scale_array``    argument, result i64: identifies the array of its scales
``scalify.scale_factors``  argument         i64: has the factors of the blocks of that array
``scalify.follows``        argument         other operands are not rescaled to its scale
``scalify.carries``        result           i64: the argument of the next step that it becomes
``scalify.rescaled``       argument, result the program rescales it where it returns it; of an
                                            argument that is packed: it is measured at entry
``scalify.forms``          op               the scales of its results, as propagation found them
``scalify.part``           matmul           ``forward``, ``backward`` or ``other``
``scalify.roles``          matmul           the roles of its operands
``scalify.site``           matmul           the name by which it is shown, and all names of it
``scalify.number``         matmul, convert  i64: identifies the op
``scalify.matmul``         matmul           i64: its number in the report
``scalify.swapped``        matmul           has the operands of the original one in the other order
``scalify.readers``        convert          the operands that it makes, by matmuls of the report
``scalify.vocabulary``     matmul           computes logits, or is the backward of such a matmul
``scalify.first``          matmul           is of one of the first linear layers, which stay wide
``scalify.last``           matmul           is of one of the last linear layers, which stay wide
``scalify.members``        matmul           for each operand, the dimensions of members and experts
``scalify.independent``    matmul,          has members that no op sums over, as those of a sweep
                           argument, result
``scalify.state_gradient`` op               numbers of results that the optimizer takes as gradients
``scalify.constant_scale`` constant         i64 e: the constant is data, X_s = 2^e
``scalify.cast``           convert          of ``data``, a ``gradient``, ``state``, ``second``, or
                                            of a ``value``, which is cast at scale 1; or
                                            ``asked``: the author asked to round data
``scalify.rounded``        convert          i64: rounds a weight at random; the number of its
                                            result, or -1: rounds no second moment to zero
``scalify.computed``       convert          of the program, whose result is an operand of a matmul
``scalify.layer``          op               the layers whose output it computes
``scalify.layer_gradient`` op               the layers whose input gradient it computes
``scalify.value``          op               i64: identifies its results in statistics
``scalify.switch``         constant         the site whose matmuls are quantized if it is true
``scalify.epsilon``        op               adds the epsilon of a normalization
``scalify.layer_number``   op               i64: identifies a layer, or its backward part
``scalify.layer_input``    op               numbers of layers, each with that of its operand here
========================== ================ ===================================================
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.measured import Measured
from scalify_hlo.errors import InputError
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import terminator
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.value_map import erase

SCALE: Final = "scalify.scale"
SIZE: Final = "scalify.size"
MEASURED: Final = "scalify.measured"
MEASURE: Final = "scalify.measure"
PAIR: Final = "scalify.pair"
IS_SCALE: Final = "scalify.is_scale"
IS_STATE: Final = "scalify.is_state"
FORMS: Final = "scalify.forms"
ROLE: Final = "scalify.role"
PART: Final = "scalify.part"
ROLES: Final = "scalify.roles"
SITE: Final = "scalify.site"
NUMBER: Final = "scalify.number"
MATMUL: Final = "scalify.matmul"
SWAPPED: Final = "scalify.swapped"
READERS: Final = "scalify.readers"
VOCABULARY: Final = "scalify.vocabulary"
FIRST: Final = "scalify.first"
LAST: Final = "scalify.last"
MEMBERS: Final = "scalify.members"
INDEPENDENT: Final = "scalify.independent"
STATE_GRADIENT: Final = "scalify.state_gradient"
CAST: Final = "scalify.cast"
CONSTANT_SCALE: Final = "scalify.constant_scale"
AVERAGE: Final = "average"
DATA, STATE, SECOND, GRADIENT, VALUE = "data", "state", "second", "gradient", "value"
ASKED: Final = "asked"
ROUNDED: Final = "scalify.rounded"
NOT_TO_ZERO: Final = -1
COMPUTED: Final = "scalify.computed"
STORED: Final = "scalify.stored"
PACKED: Final = "scalify.packed"
ROOT: Final = "scalify.root"
SCALE_SHAPE: Final = "scalify.scale_shape"
SCALE_ARRAY: Final = "scalify.scale_array"
SCALE_FACTORS: Final = "scalify.scale_factors"
FOLLOWS: Final = "scalify.follows"
CARRIES: Final = "scalify.carries"
UPDATED: Final = "scalify.updated"
RESCALED: Final = "scalify.rescaled"
LAYER: Final = "scalify.layer"
LAYER_GRADIENT: Final = "scalify.layer_gradient"
EPSILON: Final = "scalify.epsilon"
LAYER_NUMBER: Final = "scalify.layer_number"
LAYER_INPUT: Final = "scalify.layer_input"
CELL_STATE: Final = "scalify.cell_state"
VALUE_NUMBER: Final = "scalify.value"
SWITCH: Final = "scalify.switch"
PREFIX: Final = "scalify."

_LEFT: Final = (SCALE, SIZE, PAIR, PACKED, SCALE_SHAPE, SCALE_ARRAY, SCALE_FACTORS)

OF_STATE: Final = (ROLE, CARRIES, INDEPENDENT, UPDATED)
"""The marks of state, which no program has after the rewrite."""

Attributes = dict[str, ir.Attribute]

_COMMON = (
    *(
        PAIR,
        IS_SCALE,
        "jax.result_info",
        SCALE,
        SIZE,
        MEASURED,
        MEASURE,
        ROLE,
        STORED,
        FOLLOWS,
        CARRIES,
        RESCALED,
    ),
    *(PACKED, ROOT, SCALE_SHAPE, SCALE_ARRAY, SCALE_FACTORS, INDEPENDENT, UPDATED),
)


def all_of(op: ir.Operation | ir.OpView) -> dict[str, ir.Attribute]:
    """Returns the attributes of an op, by name.

    Raises:
        InputError: One is a location, which jaxlib's bindings cannot read.
    """
    try:
        return dict(op.attributes.items())
    except TypeError:
        raise InputError(
            f"an attribute of {op.operation.name} is a location",
            location=source_location(op.location),
            hint="remove the attribute: no op of StableHLO reads a location",
        ) from None


def argument_attributes(function: ir.OpView) -> list[Attributes]:
    """Returns the attributes of each argument of a function."""
    present = _attributes(function, "arg_attrs")
    return [{} for _ in function_type(function).inputs] if present is None else present


def result_attributes(function: ir.OpView) -> list[Attributes]:
    """Returns the attributes of each result of a function."""
    present = _attributes(function, "res_attrs")
    return [{} for _ in function_type(function).results] if present is None else present


def scale_numbers(function: ir.OpView) -> dict[int, int]:
    """Returns the numbers of the arguments that are data of a pair, each with that of its scale."""
    marks = argument_attributes(function)
    return {number - 1: number for number, mark in enumerate(marks) if IS_SCALE in mark}


def states(function: ir.OpView) -> list[tuple[str, int] | None]:
    """Returns, for each result, its role and the argument of the next step; None if not state."""
    return [
        (ir.StringAttr(mark[ROLE]).value, ir.IntegerAttr(mark[CARRIES]).value)
        if ROLE in mark and CARRIES in mark
        else None
        for mark in _marks(function, "res_attrs") or [{}] * len(function_type(function).results)
    ]


def set_argument_attributes(function: ir.OpView, attributes: list[Attributes]) -> None:
    """Replaces the attributes of all arguments."""
    _set(function, "arg_attrs", attributes)


def set_result_attributes(function: ir.OpView, attributes: list[Attributes]) -> None:
    """Replaces the attributes of all results."""
    _set(function, "res_attrs", attributes)


def function_type(function: ir.OpView) -> ir.FunctionType:
    """Returns the type of a function."""
    return ir.FunctionType(function.attributes["function_type"].value)


def set_function_type(function: ir.OpView, inputs: list[ir.Type], results: list[ir.Type]) -> None:
    """Replaces the type of a function."""
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(inputs, results))


def renew_function_type(function: ir.OpView) -> None:
    """Makes the type of a function that of its arguments and of what it returns."""
    block = function.regions[0].blocks[0]
    inputs = [argument.type for argument in block.arguments]
    set_function_type(function, inputs, [value.type for value in terminator(block).operands])


def return_values(function: ir.OpView, values: Sequence[ir.Value]) -> None:
    """Makes a function return other values, and gives it the type of its body."""
    end = terminator(function.regions[0].blocks[0])
    emit.op(end, end.name, [], values, all_of(end))
    erase(end)
    renew_function_type(function)


def any_argument_has(function: ir.OpView, *names: str) -> bool:
    """Whether any argument has any of these attributes."""
    return any(name in mark for mark in _marks(function, "arg_attrs") for name in names)


def any_result_has(function: ir.OpView, *names: str) -> bool:
    """Whether any result has any of these attributes."""
    return any(name in mark for mark in _marks(function, "res_attrs") for name in names)


def result_pairs(function: ir.OpView) -> list[bool]:
    """Returns, for each result of a function, whether it is marked to become a pair."""
    marks = _marks(function, "res_attrs") or [{}] * len(function_type(function).results)
    return [PAIR in mark for mark in marks]


def remaining_attributes(function: ir.OpView) -> list[str]:
    """Returns which marks of scales and pairs are present on arguments and results."""
    marks = [*_marks(function, "arg_attrs"), *_marks(function, "res_attrs")]
    return [key for key in _LEFT if any(key in mark for mark in marks)]


def set_size(mark: Attributes, size: float) -> None:
    """Marks an argument to be split at entry, at the power of two at or below its size.

    Args:
        mark: The attributes of the argument.
        size: log2 of the rms of the argument; a `Measured` one is trusted in powers, too.
    """
    exponent = math.floor(size)
    mark[SCALE] = integer(exponent)
    if isinstance(size, Measured):
        mark[MEASURED] = ir.UnitAttr.get()
    if size != exponent:
        mark[SIZE] = ir.FloatAttr.get(ir.F64Type.get(), size, loc=ir.Location.unknown())


def size(mark: Mapping[str, ir.Attribute] | ir.DictAttr) -> float | None:
    """log2 of the rms of an argument that is split at entry; None for other arguments."""
    if SCALE not in mark:
        return None
    exact = SIZE in mark
    found = ir.FloatAttr(mark[SIZE]).value if exact else ir.IntegerAttr(mark[SCALE]).value
    if MEASURED in mark:
        return Measured(found)
    return float(found) if exact else found


def argument_names(function: ir.OpView) -> list[str]:
    """Returns the names of arguments: their pytree paths if the program has them, else ``arg0``...

    Args:
        function: A ``func.func`` with a body.
    """
    return [name or f"arg{i}" for i, name in enumerate(given_names(function))]


def given_names(function: ir.OpView) -> list[str]:
    """Returns the names of arguments that the program has; empty for others.

    Args:
        function: A ``func.func`` with a body.
    """
    arguments = function.regions[0].blocks[0].arguments
    return [_argument_name(argument, function) for argument in arguments]


def name_arguments(function: ir.OpView) -> None:
    """Writes the names of arguments to their locations, where they stay if calls are inlined.

    Args:
        function: A ``func.func`` with a body.
    """
    arguments = function.regions[0].blocks[0].arguments
    unnamed = [each for each in arguments if not isinstance(each.location, ir.NameLoc)]
    for argument in unnamed:
        name = _argument_name(argument, function)
        if name:
            argument.set_location(ir.Location.name(name, argument.location))


def _argument_name(argument: ir.Value, function: ir.OpView) -> str:
    """The name of an argument; with symbolic shapes, that of the function which `main` calls."""
    location = argument.location
    if isinstance(location, ir.NameLoc):
        return str(location.name_str)
    for use in argument.uses:
        if use.owner.name == "func.call":
            inner = _called(use.owner, function).regions[0].blocks[0].arguments
            location = inner[use.operand_number].location
            return str(location.name_str) if isinstance(location, ir.NameLoc) else ""
    return ""


def _called(call: ir.Operation, function: ir.OpView) -> ir.OpView:
    symbols = ir.SymbolTable(function.operation.parent.operation)
    return symbols[call.attributes["callee"].value]


def result_names(results: list[Attributes]) -> list[str]:
    """Returns the names of results: ``jax.result_info`` if present, else ``result0``..."""
    infos = [a.get("jax.result_info") for a in results]
    names = [info.value if isinstance(info, ir.StringAttr) else "" for info in infos]
    return [name or f"result{i}" for i, name in enumerate(names)]


def carried(results: Sequence[Attributes]) -> dict[int, int]:
    """Returns the results that are marked as state, with the argument that each replaces."""
    marks = enumerate(results)
    return {i: ir.IntegerAttr(mark[CARRIES]).value for i, mark in marks if CARRIES in mark}


def texts(attribute: ir.Attribute) -> list[str]:
    """Returns the strings of a string attribute or of an array of them."""
    if isinstance(attribute, ir.StringAttr):
        return [attribute.value]
    return [ir.StringAttr(part).value for part in ir.ArrayAttr(attribute)]


def integer(number: int) -> ir.Attribute:
    """Returns a number as an attribute, an i64."""
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)


def role_of(mark: Mapping[str, ir.Attribute]) -> str:
    """Returns the role of an argument, given its attributes; empty if it has none."""
    return str(ir.StringAttr(mark[ROLE]).value) if ROLE in mark else ""


def mark_gradient(value: ir.Value) -> None:
    """Marks a result of an op as a gradient of state."""
    op, number = value.owner, ir.OpResult(value).result_number
    numbers = {number}
    if STATE_GRADIENT in op.attributes:
        numbers |= {n.value for n in op.attributes[STATE_GRADIENT]}
    op.attributes[STATE_GRADIENT] = ir.ArrayAttr.get(list(map(integer, sorted(numbers))))


def _marks(function: ir.OpView, name: str) -> Sequence[ir.DictAttr | Attributes]:
    """Returns the attributes of all arguments or results; empty if they have none."""
    present = name in function.attributes
    return list(map(ir.DictAttr, ir.ArrayAttr(function.attributes[name]))) if present else []


def _attributes(function: ir.OpView, name: str) -> list[Attributes] | None:
    if name not in function.attributes:
        return None
    known: dict[ir.Attribute, Attributes] = {}  # Many arguments have the same attributes.
    found = []
    for attribute in ir.ArrayAttr(function.attributes[name]):
        decoded = known.get(attribute)
        if decoded is None:
            decoded = known[attribute] = _decoded(ir.DictAttr(attribute), function)
        found.append(dict(decoded))
    return found


def _decoded(dictionary: ir.DictAttr, function: ir.OpView) -> Attributes:
    """Returns a dictionary attribute as a dict; common names are looked up, which is 8x faster."""
    known: Attributes = {}
    missing = len(dictionary)
    for name in _COMMON:
        if not missing:
            return known
        if name in dictionary:
            known[name] = dictionary[name]
            missing -= 1
    return _with_every_name(dictionary, function) if missing else known


def _with_every_name(dictionary: ir.DictAttr, function: ir.OpView) -> Attributes:
    """Reads all names, which the bindings cut at a NUL character; they fail on an empty one."""
    try:
        found = {named.name: named.attr for named in dictionary}
    except RuntimeError:
        found = {}
    if len(found) < len(dictionary) or not all(name in dictionary for name in found):
        raise InputError(
            f"the name of an attribute in {dictionary} is empty or has a NUL character",
            location=source_location(function.location),
            hint="write the file again, whole, and check that it was copied as binary",
        )
    return found


def _set(function: ir.OpView, name: str, attributes: list[Attributes]) -> None:
    known: dict[tuple[tuple[str, ir.Attribute], ...], ir.Attribute] = {}  # Many are the same.
    found = []
    for each in attributes:
        items = tuple(each.items())
        encoded = known.get(items)
        if encoded is None:
            encoded = known[items] = ir.DictAttr.get(each)
        found.append(encoded)
    function.attributes[name] = ir.ArrayAttr.get(found)
