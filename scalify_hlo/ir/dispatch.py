"""Tables of functions by op, in which each function is registered where it is defined."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

F = TypeVar("F", bound=Callable[..., object])


class Dispatch(dict[str, F]):
    """Functions by the names of the ops that they handle.

    Example:
        >>> sizes: Dispatch[Callable[[float], float]] = Dispatch()
        >>> @sizes.on("stablehlo.negate")
        ... def negated(value: float) -> float:
        ...     return -value
        >>> sizes["stablehlo.negate"](2.0)
        -2.0
    """

    def on(self, *ops: str) -> Callable[[F], F]:
        """Registers a function for ops.

        Args:
            ops: The names of the ops.

        Returns:
            A decorator, which returns the function that it is given.

        Raises:
            ValueError: An op has a function already.
        """

        def register(function: F) -> F:
            for op in ops:
                if op in self:
                    raise ValueError(f"{op} has a function already")
                self[op] = function
            return function

        return register
