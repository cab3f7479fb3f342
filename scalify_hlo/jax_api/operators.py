"""Operators and methods that ScaledArray has, as those of a JAX array of its values."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any


def spelled(value: Any) -> str:
    """Returns the dtype and shape of an array as ``float32[2,3]``; other values as they are."""
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{value.dtype}[{','.join(map(str, value.shape))}]"
    return repr(value)


class _OfValue:
    """A method of a JAX array; the values of a ScaledArray are computed when it is called."""

    name: str

    def __set_name__(self, _owner: type, name: str) -> None:
        self.name = name

    def __get__(self, array: Any, _owner: type | None = None) -> Any:
        return self if array is None else partial(self._call, array)

    def _call(self, array: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(array.__jax_array__(), self.name)(*args, **kwargs)


def _each(count: int) -> Iterator[_OfValue]:
    return (_OfValue() for _ in range(count))


class Operators:
    """Operators and methods of a class that has `__jax_array__`; their results are plain arrays."""

    __slots__ = ()
    __array_priority__ = 100  # Operators of NumPy arrays leave the other operand to these.

    __add__, __radd__, __sub__, __rsub__, __mul__, __rmul__ = _each(6)
    __truediv__, __rtruediv__, __floordiv__, __rfloordiv__ = _each(4)
    __mod__, __rmod__, __divmod__, __rdivmod__, __pow__, __rpow__ = _each(6)
    __matmul__, __rmatmul__, __neg__, __pos__, __abs__ = _each(5)
    __lt__, __le__, __gt__, __ge__ = _each(4)
    __eq__, __ne__ = _each(2)
    __hash__ = None  # type: ignore[assignment]  # As arrays, whose `==` is by element
    __bool__, __int__, __float__, __complex__, __round__ = _each(5)
    __len__, __iter__, __getitem__ = _each(3)
    all, any, argmax, argmin, astype, flatten, item, max, mean, min, prod = _each(11)
    ravel, reshape, round, squeeze, std, sum, tolist, transpose, var = _each(9)

    @property
    def T(self) -> Any:  # noqa: N802
        """The values, transposed."""
        return self.transpose()
