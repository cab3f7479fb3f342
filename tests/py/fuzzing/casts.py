"""Matmul operands of low precision, judged by NumPy: values divided by a power of two and cast."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.casts.encoding import dtype_of
from scalify_hlo.dialect.attributes import function_type
from scalify_hlo.ir.functions import main_function
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.transforms.hoist import add_results
from tests.py.shared.judge import (
    Array,
    assert_all_same_bits,
    evaluate,
    floats,
    main_of,
    parse,
    rewritten,
    values_of,
)

_MATMULS = ("stablehlo.dot_general", "stablehlo.convolution")
_NARROW = frozenset(name for name, format_ in FORMATS.items() if format_.bits <= 16)
_WIDE = ("f32", "f64")
_MOST = 300
"""Octaves within which scales are looked for, either way."""


def assert_casts_are_numpys(
    text: str, arrays: Sequence[Array], exponents: Sequence[int], recipe: Recipe
) -> bool:
    """Each narrow operand is NumPy's cast of its value, and the results are those of the casts.

    Args:
        text: A program of static shapes whose floats are f32.
        arrays: Data of its arguments.
        exponents: log2 of their scales.
        recipe: One whose matmuls give f32.

    Returns:
        Whether there was something to judge: not if nothing in `main` itself is narrow, or
        something elsewhere is.
    """
    values = values_of(text, arrays, exponents)
    scales = {f"arg{i}": 2.0 ** exponents[i] for i, f in enumerate(floats(text)) if f}
    module, _ = rewritten(text, "same", input_scale=scales, recipe=recipe)
    formats = _formats(module)
    if not formats or len(formats) != 2 * len(list(_matmuls(parse(text)))):
        return False
    _widen(module)
    found = evaluate(module, values)
    count = len(found) - len(formats)
    casts = list(zip(formats, found[count:], strict=True))
    expected = [_reference(text, values, known) for known in _readings(text, values, casts)]
    likely, *others = (results[:count] for results in expected)
    if not any(_are_same(found[:count], results) for results in others):
        assert_all_same_bits(found[:count], likely)
    return True


def _are_same(actual: Sequence[Array], expected: Sequence[Array]) -> bool:
    pairs = zip(actual, expected, strict=True)
    return all(np.array_equal(a, e, equal_nan=True) for a, e in pairs)


def _readings(
    text: str, values: Sequence[Array], casts: Sequence[tuple[str, Array]]
) -> list[list[Array]]:
    """The values for which all operands stand, the likely ones first.

    Operands whose elements are all subnormal stand for several: they are the casts of their values
    at more than one scale.
    """
    readings: list[list[Array]] = [[]]
    for first in range(0, len(casts), 2):
        longer: list[list[Array]] = []
        for known in readings:
            end = first - len(casts)
            lhs, rhs = _reference(text, values, known)[end : end + 2 or None]
            read = _readings_of_both(lhs, rhs, casts[first : first + 2], first)
            longer += [[*known, *pair] for pair in read]
        readings = longer
    return readings


def _readings_of_both(
    lhs: Array, rhs: Array, casts: Sequence[tuple[str, Array]], index: int
) -> list[tuple[Array, Array]]:
    """The values for which the operands of a matmul stand, in the order of the original.

    A matmul of which only a transpose is read has its operands in the other order.
    """
    one, other = casts
    try:
        return list(product(_values_of(lhs, one, index), _values_of(rhs, other, index + 1)))
    except AssertionError:
        try:
            return list(product(_values_of(lhs, other, index), _values_of(rhs, one, index + 1)))
        except AssertionError:
            pass
        raise


def _values_of(wide: Array, cast: tuple[str, Array], index: int) -> list[Array]:
    """The values for which an operand stands."""
    name, narrow = cast
    if wide.shape != narrow.shape:
        raise AssertionError(f"operand {index % 2} of matmul {index // 2} has another shape")
    if name in _WIDE:
        return [wide]
    return _dequantized(wide, narrow, name, index)


def _matmuls(module: ir.Module) -> Iterator[ir.Operation]:
    """Those of `main`, but not in its loops and branches."""
    main = main_function(module.operation)
    if main is not None:
        for op in main.operation.regions[0].blocks[0].operations:
            if op.operation.name in _MATMULS:
                yield op.operation


def _formats(module: ir.Module) -> list[str]:
    """The formats of the operands of the matmuls; none if they are all wide, or some elsewhere."""
    found = [str(v.type.element_type) for op in _matmuls(module) for v in op.operands]
    values = [v for op in ops_in(module.operation, _MATMULS) for v in op.operands]
    everywhere = sum(str(v.type.element_type) in _NARROW for v in values)
    narrow = sum(name in _NARROW for name in found)
    return found if narrow == everywhere and narrow else []


def _widen(module: ir.Module) -> None:
    """Makes matmuls compute in f32, and `main` return their operands too."""
    values = []
    with module.context, ir.Location.unknown():
        for op in list(_matmuls(module)):
            if "algorithm" in op.attributes:
                del op.attributes["algorithm"]
            for index, value in enumerate(op.operands):
                with ir.InsertionPoint(op):
                    wide = ir.RankedTensorType.get(value.type.shape, ir.F32Type.get())
                    op.operands[index] = stablehlo.convert(wide, value)
                values.append(op.operands[index])
        _return_also(module, values)


def _return_also(module: ir.Module, values: Sequence[ir.Value]) -> None:
    main = main_function(module.operation)
    if main is not None:
        add_results(main, list(values), ["" for _ in values])


def _reference(text: str, values: Sequence[Array], known: Sequence[Array]) -> list[Array]:
    """Runs a program with other values for the first operands of its matmuls.

    Returns:
        Its results, and then the values that the operands of its matmuls would have had.
    """
    module = parse(text)
    main = main_of(module)
    with module.context, ir.Location.unknown() as location:
        block = main.operation.regions[0].blocks[0]
        operands = [(op, i) for op in _matmuls(module) for i in range(2)]
        computed = [op.operands[i] for op, i in operands]
        for op, i in operands[: len(known)]:
            op.operands[i] = block.add_argument(op.operands[i].type, location)
        inputs = [argument.type for argument in block.arguments]
        type_ = ir.FunctionType.get(inputs, function_type(main).results)
        main.operation.attributes["function_type"] = ir.TypeAttr.get(type_)
        if "arg_attrs" in main.operation.attributes:
            del main.operation.attributes["arg_attrs"]
        _return_also(module, computed)
    return evaluate(module, [*values, *known])


def _dequantized(wide: Array, narrow: Array, name: str, index: int) -> list[Array]:
    """The values for which an operand stands, with the scales at which it is NumPy's cast.

    Independent members, the indices of some dimensions, have scales of their own, at which their
    largest elements are in one octave.
    """
    if found := _at_one_scale(wide, narrow, name):
        return found
    whole: Sequence[Any] = (slice(None),)
    for choice in product(*((whole, range(n)) for n in wide.shape)):
        values, peaks = np.empty_like(narrow), set[float]()
        for member in product(*choice):
            found = _at_one_scale(wide[member], narrow[member], name)
            if not found:
                break
            values[member] = found[0]
            peaks.add(float(np.nanmax(np.abs(narrow[member]), initial=0)))
        else:
            if max(peaks) <= 2.25 * min(peaks - {0.0}, default=0):
                return [values]
    raise AssertionError(
        f"operand {index % 2} of matmul {index // 2} is no cast to {name}\n"
        f"values: {wide.tolist()}\noperand: {narrow.tolist()}"
    )


def _at_one_scale(wide: Array, narrow: Array, name: str) -> list[Array]:
    """The values for which data stand; none if they are a cast at no scale.

    A constant without a finite element is the same at every scale, and stays what it is.
    """
    if not np.isfinite(wide).any() and np.array_equal(wide, narrow, equal_nan=True):
        return [narrow]
    for exponents in _exponents(wide, narrow):
        fitting = [e for e in exponents if _is_cast(wide, narrow, e, name)]
        if fitting:
            return [np.ldexp(narrow, exponent) for exponent in fitting]
    return []


def _is_cast(wide: Array, narrow: Array, exponent: int, name: str) -> bool:
    return np.array_equal(_cast(wide, exponent, name), narrow, equal_nan=True)


def _exponents(wide: Array, narrow: Array) -> Iterator[Sequence[int]]:
    """The scales that may be meant: the likely ones, and then each other by itself."""
    with np.errstate(all="ignore"):
        ratios = np.log2(np.abs(np.divide(wide, narrow, dtype=np.float64)))
    sizes = np.where(np.isfinite(ratios), np.abs(narrow), 0)
    if sizes.any():
        likely = round(float(ratios.flat[np.argmax(sizes)]))
        yield (likely, likely - 1, likely + 1)
    for exponent in range(-_MOST, _MOST):
        yield (exponent,)


def _cast(wide: Array, exponent: int, name: str) -> Array:
    """Values divided by a power of two and cast, as f32."""
    with np.errstate(all="ignore"):
        scaled = np.ldexp(wide, -exponent)
        format_ = FORMATS[name]
        if not format_.wide:  # Finite numbers saturate; overflow is a signal.
            most = np.float32(format_.max_finite)
            signal = np.float32(np.nan) if format_.small else wide
            scaled = np.where(np.isfinite(wide), np.clip(scaled, -most, most), signal)
        return scaled.astype(dtype_of(name)).astype(np.float32)
