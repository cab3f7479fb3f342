"""The arguments and results of a program, with NumPy dtypes and shapes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

import ml_dtypes
import numpy as np
import numpy.typing as npt

from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError
from scalify_hlo.ir.functions import entry

Array = npt.NDArray[Any]

_INTEGERS = {f"{s}i{w}": f"{'u' * bool(s)}int{w}" for s in ("", "u") for w in (8, 16, 32, 64)}
DTYPES: dict[str, npt.DTypeLike] = {
    **{name: np.dtype(dtype) for name, dtype in _INTEGERS.items()},
    "i1": np.bool_,
    "i2": ml_dtypes.int2,
    "i4": ml_dtypes.int4,
    "ui2": ml_dtypes.uint2,
    "ui4": ml_dtypes.uint4,
    "f16": np.float16,
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    **{
        name: getattr(ml_dtypes, f"float{name[1]}_{name[2:].lower()}")
        for name, format_ in FORMATS.items()
        if format_.small
    },
}
"""NumPy dtypes by MLIR's names of element types."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """An argument or a result of `main`.

    Attributes:
        name: The pytree path, such as ``params['w']``.
        shape: The shape, with `UNKNOWN` for dynamic sizes.
        dtype: The dtype.
        root: Whether it is the square root of a moment in blocks.
        is_scale: Whether it is the scale of the data before it.
        is_state: Whether it is state of delayed scales.
    """

    name: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    root: bool = False
    is_scale: bool = False
    is_state: bool = False

    @property
    def inexact(self) -> bool:
        """Whether its elements are floats or complex numbers."""
        return is_inexact(self.dtype)

    @property
    def static(self) -> bool:
        """Whether all sizes of the shape are known."""
        return UNKNOWN not in self.shape

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape fits the tensor."""
        if len(shape) != len(self.shape):
            return False
        return all(own in (UNKNOWN, size) for own, size in zip(self.shape, shape, strict=True))

    def __str__(self) -> str:
        sizes = ", ".join("?" if size == UNKNOWN else str(size) for size in self.shape)
        return f"{self.dtype}[{sizes}]"


@dataclass(frozen=True, slots=True)
class Interface:
    """The arguments and the results of `main`.

    Attributes:
        arguments: The arguments.
        results: The results.
    """

    arguments: tuple[Tensor, ...]
    results: tuple[Tensor, ...]

    @property
    def state(self) -> range:
        """The numbers of the arguments that are state of delayed scales."""
        numbers = [number for number, tensor in enumerate(self.arguments) if tensor.is_state]
        return range(numbers[0], numbers[-1] + 1) if numbers else range(0)


def array_of(value: Any) -> Array:
    """Returns a value of a user as a program takes it: of a typed PRNG key, its words."""
    jax: Any = sys.modules.get("jax")
    of_jax = jax is not None and isinstance(value, jax.Array)
    if of_jax and jax.numpy.issubdtype(value.dtype, jax.dtypes.prng_key):
        value = jax.random.key_data(value)
    return np.asarray(value)


def is_inexact(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is of floats, low-precision ones included, or of complex numbers."""
    if dtype.kind in "fc":
        return True
    return dtype.kind == "V" and not dtype.name.startswith(("int", "uint"))


def is_complex(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is of complex numbers."""
    return dtype.kind == "c"


UNKNOWN: Final = -1
"""A dynamic size, which is known only when arguments are given."""


def interface(module: ir.Module, name: str, *, dynamic: bool = False) -> Interface:
    """Returns the arguments and results of a program.

    Args:
        module: The program.
        name: The name of the program in diagnostics.
        dynamic: Whether dynamic sizes are accepted.

    Raises:
        InputError: There is no `main`, or an argument or result is not a tensor of a known dtype,
            or has a dynamic shape that is not accepted.
    """
    main = entry(module)
    type_ = attributes.function_type(main)
    taken, given = attributes.argument_attributes(main), attributes.result_attributes(main)
    names = attributes.argument_names(main), attributes.result_names(given)
    each = zip(names, (type_.inputs, type_.results), (taken, given), strict=True)
    return Interface(*(_tensors(*values, name, dynamic=dynamic) for values in each))


def _tensors(
    names: Sequence[str],
    types: Sequence[ir.Type],
    marks: Sequence[attributes.Attributes],
    program: str,
    *,
    dynamic: bool,
) -> tuple[Tensor, ...]:
    facts = (attributes.ROOT, attributes.IS_SCALE, attributes.IS_STATE)
    return tuple(
        tensor_of(name, type_, program, *(fact in mark for fact in facts), dynamic=dynamic)
        for name, type_, mark in zip(names, types, marks, strict=True)
    )


def paired(tensors: Sequence[Tensor]) -> list[tuple[Tensor, Tensor | None]]:
    """Returns arguments or results with their scales; None for those that are not pairs."""
    return [
        (data, scale if scale is not None and scale.is_scale else None)
        for data, scale in zip_longest(tensors, tensors[1:])
        if not data.is_scale
    ]


def tensor_of(
    name: str, type_: ir.Type, program: str, *facts: bool, dynamic: bool = False
) -> Tensor:
    """Returns an argument or a result of a type.

    Args:
        name: Its name.
        type_: Its type.
        program: The name of the program in diagnostics.
        facts: Whether it is a root, a scale and state; see `Tensor`.
        dynamic: Whether dynamic sizes are accepted.

    Raises:
        InputError: The type is not a tensor of a known dtype, or has a dynamic shape that is not
            accepted.
    """
    tensor = isinstance(type_, ir.RankedTensorType) and (dynamic or type_.has_static_shape)
    dtype = DTYPES.get(str(type_.element_type)) if tensor else None
    if dtype is None:
        raise InputError(
            f"{name} is of type {type_}, which cannot be fed",
            location=program,
            hint="only programs whose arguments and results are tensors of static shape can be run",
        )
    shape = tuple(size if size >= 0 else UNKNOWN for size in type_.shape)
    return Tensor(name, shape, np.dtype(dtype), *facts)
