"""The judge of exactness: programs run on the StableHLO reference interpreter, bits compared.

With what tests make to be judged: programs of functions, and random numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import jax
import numpy as np
import numpy.typing as npt

import scalify_hlo
from scalify_hlo._compat import ir, new_context
from scalify_hlo.dialect.attributes import function_type
from scalify_hlo.ir.formats import format_of
from scalify_hlo.ir.functions import main_function
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.program.record import REWRITTEN
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.report.model import Report
from scalify_hlo.run import interpreter
from scalify_hlo.run.runner import compile_module
from scalify_hlo.transforms.chlo import expand

Array = npt.NDArray[np.generic]


@dataclass
class Pair:
    """A result of a `scaled` program."""

    data: Array
    scale: float

    @property
    def value(self) -> Array:
        """data * scale, in f64."""
        return self.data.astype(np.float64) * self.scale


class _Shared(threading.local):
    """A context for many modules: to make one takes as long as to rewrite a small program."""

    def __init__(self) -> None:
        self.context, self.modules = new_context(), 0

    def take(self) -> ir.Context:
        """Returns the context, or a new one if what is interned in it has become much."""
        self.modules += 1
        if self.modules > _MODULES:
            self.context, self.modules = new_context(), 1
        return self.context


_MODULES = 100
_SHARED = _Shared()


def parse(text: str) -> ir.Module:
    """A module in a context that it shares with others."""
    with _SHARED.take(), ir.Location.unknown():
        return ir.Module.parse(text)


def unrecorded(text: str) -> str:
    """A program without what it says of its rewrites, as MLIR prints it."""
    module = parse(text)
    with module.context:
        if REWRITTEN in module.operation.attributes:
            del module.operation.attributes[REWRITTEN]
        return str(module)


def evaluate(module: ir.Module, arrays: Sequence[Array]) -> list[Array]:
    """Runs `main` on the interpreter."""
    with module.context, ir.Location.unknown():
        expand(module.operation)
        arguments = [_attribute(a) for a in arrays]
        return [_array(each) for each in interpreter.evaluated(module, arguments)]


def evaluate_with_xla(module: ir.Module, arrays: Sequence[Array]) -> list[Array]:
    """Runs `main` on XLA's CPU backend, for ops that the interpreter lacks."""
    with module.context, ir.Location.unknown():
        expand(module.operation)
    return compile_module(module)(arrays)


def interpreted(exported: jax.export.Exported, *arguments: Any) -> list[Array]:
    """Runs an exported program on the interpreter, and returns the values of its results.

    XLA adds and multiplies in other orders, and with other roundings, from program to program and
    from CPU to CPU, so that the results of two compiled programs are equal but for rounding.
    """
    leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(arguments)]
    kept = [leaves[i] for i in exported.module_kept_var_idx]
    results = interpreter.evaluate(parse(exported.mlir_module()), kept)
    nodes = jax.tree.unflatten(exported.out_tree, results)
    return [np.asarray(leaf) for leaf in jax.tree.leaves(nodes, is_leaf=is_scaled_array)]


Evaluate: TypeAlias = Callable[[ir.Module, Sequence[Array]], list[Array]]


def _array(attribute: ir.Attribute) -> Array:
    return np.array(ir.DenseElementsAttr(attribute))


def _attribute(array: Array) -> ir.Attribute:
    array = np.asarray(array, order="C")
    if array.dtype == np.bool_:
        type_ = ir.RankedTensorType.get(array.shape, ir.IntegerType.get_signless(1))
        return ir.DenseElementsAttr.get([ir.BoolAttr.get(bool(b)) for b in array.flat], type_)
    if array.dtype.kind == "u":
        width = array.dtype.itemsize * 8
        type_ = ir.RankedTensorType.get(array.shape, ir.IntegerType.get_unsigned(width))
        return ir.DenseElementsAttr.get(array, type=type_)
    return ir.DenseElementsAttr.get(array)


def program_of(
    function: Callable[..., Any], *arguments: Any, **keywords: Any
) -> jax.export.Exported:
    """A function after jax.jit and jax.export."""
    return jax.export.export(jax.jit(function))(*arguments, **keywords)


def stablehlo_of(function: Callable[..., Any], *arguments: Any) -> str:
    """The text of a function's program."""
    return str(program_of(function, *arguments).mlir_module())


def shaped(*shape: Any, dtype: Any = np.float32) -> jax.ShapeDtypeStruct:
    """An argument of which the shape and the dtype are known."""
    return jax.ShapeDtypeStruct(shape, dtype)


def propagated(program: Any, **options: Any) -> Any:
    """A program after the paper's transform, which changes no format."""
    return scalify_hlo.rewrite(program, recipe="propagate", **options)


def rewritten(
    text: str,
    signature: str = "same",
    *,
    input_scale: Mapping[str, float] | None = None,
    recipe: Recipe | None = None,
    pairs: Sequence[bool] | None = None,
) -> tuple[ir.Module, Report]:
    """A program's rewrite, and the report of it."""
    module = parse(text)
    options = Options(
        signature=signature,  # type: ignore[arg-type]
        input_scale=input_scale or {},
        recipe=recipe or Recipe(),
        pairs_in=pairs,
    )
    report = rewrite_module(module, options)
    module.operation.verify()
    return module, report


def main_of(module: ir.Module) -> ir.OpView:
    """The function that runs."""
    main = main_function(module.operation)
    if main is None:
        raise ValueError("no @main")
    return main


def body_of(module: ir.Module) -> ir.Block:
    """The block of the function that runs."""
    return main_of(module).regions[0].blocks[0]


@cache
def floats(text: str) -> list[bool]:
    """Which arguments of `main` are floats."""
    module = parse(text)  # an op does not keep its module alive
    return [format_of(t) is not None for t in function_type(main_of(module)).inputs]


def run_scaled(
    text: str,
    arrays: Sequence[Array],
    exponents: Sequence[int],
    *,
    recipe: Recipe | None = None,
    tamper: Callable[[ir.Module], None] | None = None,
    pairs: Sequence[bool] | None = None,
    run: Evaluate = evaluate,
) -> list[Pair | Array]:
    """Rewrites with signature `scaled` and runs on X_d = arrays, X_s = 2^exponents.

    Args:
        text: The program.
        arrays: Data of its arguments, or the arguments themselves where they are no floats.
        exponents: log2 of each argument's scale; those of other arguments are passed over.
        recipe: The recipe, `propagate` by default.
        tamper: Changes the rewritten module before it runs.
        pairs: Which arguments are pairs, all floats by default; others enter as X_d * X_s.
        run: The judge.
    """
    module, report = rewritten(text, "scaled", recipe=recipe, pairs=pairs)
    if tamper is not None:
        tamper(module)
    flat: list[Array] = []
    paired_in = pairs or [True] * len(arrays)
    for array, exponent, is_float, pair in zip(
        arrays, exponents, floats(text), paired_in, strict=True
    ):
        if is_float and pair:
            scale = np.float64 if array.dtype == np.float64 else np.float32
            flat += [array, np.asarray(2.0**exponent, scale)]
        else:
            flat.append(_shifted(array, exponent) if is_float else array)
    results = iter(run(module, flat))
    paired = [r.paired for r in report.results]
    return [Pair(next(results), float(next(results))) if p else next(results) for p in paired]


def _shifted(array: Array, exponent: int) -> Array:
    return np.ldexp(array, exponent).astype(array.dtype)


def values_of(text: str, arrays: Sequence[Array], exponents: Sequence[int]) -> list[Array]:
    """X_d * 2^exponent of each argument that is float."""
    return [
        _shifted(a, e) if f else a for a, e, f in zip(arrays, exponents, floats(text), strict=True)
    ]


def run_plain(
    text: str, arrays: Sequence[Array], exponents: Sequence[int], run: Evaluate = evaluate
) -> list[Array]:
    """Runs the unrewritten program on X = X_d * 2^exponent."""
    return run(parse(text), values_of(text, arrays, exponents))


def assert_same_bits(actual: Array, expected: Array, ulps: int = 0) -> None:
    """Equality of every bit, all NaNs being equal; or to a number of units in the last place."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    if ulps:
        distance = np.abs(np.subtract(actual, expected, dtype=np.float64))
        assert np.all(distance <= ulps * np.spacing(np.abs(expected)))
        return
    np.testing.assert_array_equal(actual, expected)
    if actual.dtype.kind == "f":
        zero = expected == 0
        np.testing.assert_array_equal(np.signbit(actual[zero]), np.signbit(expected[zero]))


def assert_all_same_bits(ones: Any, others: Any) -> None:
    """Equality of the bits of the leaves of two trees."""
    for one, other in zip(jax.tree.leaves(ones), jax.tree.leaves(others), strict=True):
        assert_same_bits(one, other)


def assert_all_equal(ones: Any, others: Any) -> None:
    """Equality of the numbers in the leaves of two trees."""
    for one, other in zip(jax.tree.leaves(ones), jax.tree.leaves(others), strict=True):
        np.testing.assert_array_equal(one, other)


def assert_all_close(ones: Any, others: Any, *, rtol: float, atol: float = 0.0) -> None:
    """Closeness of the leaves of two trees."""
    for one, other in zip(jax.tree.leaves(ones), jax.tree.leaves(others), strict=True):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


def assert_invariant(
    text: str,
    arrays: Sequence[Array],
    exponents: Sequence[int],
    *,
    recipe: Recipe | None = None,
    pairs: Sequence[bool] | None = None,
    ulps: int = 0,
    run: Evaluate = evaluate,
) -> None:
    """The rewritten program means the same, bit for bit, under both signatures.

    Args:
        text: The program.
        arrays: Data of its arguments.
        exponents: log2 of their scales.
        recipe: The recipe, `propagate` by default.
        pairs: Which arguments are scaled, all floats by default.
        ulps: How far results may be off.
        run: The judge.
    """
    expected = run_plain(text, arrays, exponents, run)
    results = run_scaled(text, arrays, exponents, recipe=recipe, pairs=pairs, run=run)
    for pair, plain in zip(results, expected, strict=True):
        value = _shifted(pair.data, int(np.log2(pair.scale))) if isinstance(pair, Pair) else pair
        assert_same_bits(value, plain, ulps)
    scaled = [f and p for f, p in zip(floats(text), pairs or floats(text), strict=True)]
    static = {f"arg{i}": 2.0**e for i, e in enumerate(exponents) if scaled[i]}
    module, _ = rewritten(text, "same", input_scale=static, recipe=recipe)
    for actual, plain in zip(
        run(module, values_of(text, arrays, exponents)), expected, strict=True
    ):
        assert_same_bits(actual, plain, ulps)


def rms(array: Any) -> float:
    """The root mean square."""
    return float(np.sqrt(np.mean(np.square(np.asarray(array, np.float64)))))


def decibels(exact: Any, found: Any) -> float:
    """The signal-to-noise ratio; that of a result that is not finite is NaN, and fails."""
    signal = np.asarray(exact, np.float64)
    noise = np.sum((signal - np.asarray(found, np.float64)) ** 2)
    return float(10 * np.log10(np.sum(signal**2) / max(noise, 1e-300)))


def pairs(tree: Any) -> list[Any]:
    """The ScaledArrays of a pytree."""
    return [leaf for leaf in leaves(tree) if is_scaled_array(leaf)]


def leaves(tree: Any) -> list[Any]:
    """The leaves of a pytree, of which each ScaledArray is one."""
    return jax.tree.leaves(tree, is_leaf=is_scaled_array)


def normal(*shape: int, seed: int = 0) -> npt.NDArray[Any]:
    """Normal numbers."""
    return normals(shape, seed=seed)[0]


def normals(
    *shapes: tuple[int, ...], seed: int = 0, dtype: Any = np.float32
) -> list[npt.NDArray[Any]]:
    """Normal numbers of some shapes, drawn one after the other."""
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape).astype(dtype) for shape in shapes]
