"""Functions that are compiled already: by `jax.jit`, `flax.nnx.jit` or `equinox.filter_jit`.

The functions of a library of modules take modules apart, call a function of `jax.jit` on their
arrays, and update the modules. Only the function in the middle is rewritten.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import jax

from scalify_hlo import _compat
from scalify_hlo.errors import UsageError, caller
from scalify_hlo.frontend.observed import CompiledCalls
from scalify_hlo.jax_api.scaled_array import is_scaled_array

_COMPILED: Final[dict[str, str]] = {
    "flax.nnx.transforms.compilation": "jitted_fn",
    "equinox._jit": "_cached",
}
"""The attribute that has the function of `jax.jit`, by the module of the class of what compiles."""
_SHARDINGS: Final = (jax.sharding.Sharding, jax.sharding.PartitionSpec)


def rewritten_inside(
    fn: Any, scalified: Callable[[Any], Any], names: Sequence[str]
) -> Callable[..., Any] | None:
    """Returns a function that updates modules as another one does; None for other functions.

    Args:
        fn: The function.
        scalified: Returns a function of arrays in scaled form.
        names: The options of `jax.jit` that are kept, besides shardings.

    Raises:
        UsageError: The function is of a version of the library that is not known: as any other
            function, it would leave the modules as they are.
    """
    if isinstance(fn, functools.partial):
        inside = rewritten_inside(fn.func, scalified, names)
        return None if inside is None else functools.partial(inside, *fn.args, **fn.keywords)
    module = type(fn).__module__
    if module not in _COMPILED:
        return None
    name = _COMPILED[module]
    compiled: Any = getattr(fn, name, None)
    if not isinstance(compiled, jax.stages.Wrapped):
        raise UsageError(
            f"scalify does not know how {module} compiles a function here",
            location=caller(),
            hint="take a function of arrays: split the modules before it, and merge them inside",
        )
    made: Any = copy.copy(fn)
    function: Any = getattr(compiled, "__wrapped__", None)
    if getattr(function, "ctxtag", None) is fn:
        # flax finds the modules of a call by the object that is called, which is the copy now.
        kept = zip(names, _compat.jit_options(compiled, names), strict=True)
        options: Any = {key: value for key, value in kept if value}
        options |= shardings_of(compiled)
        compiled = jax.jit(replace(function, ctxtag=made), **options)
    object.__setattr__(made, name, scalified(compiled))  # Modules of equinox are frozen.
    return made  # type: ignore[no-any-return]


def shardings_of(compiled: Any) -> dict[str, Any]:
    """Returns the shardings that a function of `jax.jit` declares, as options of it."""
    found: dict[str, Any] = {}
    for name in ("in_shardings", "out_shardings"):
        tree, leaves = _compat.jit_options(compiled, (f"{name}_treedef", f"{name}_leaves"))
        if any(isinstance(leaf, _SHARDINGS) for leaf in leaves):
            found[name] = jax.tree.unflatten(tree, leaves)
    return found


def jitted(call: Callable[..., Any], options: Mapping[str, Any], places: Any) -> Any:
    """Compiles a function that runs a function of `jax.jit`.

    Args:
        call: The function.
        options: The options of `jax.jit`.
        places: The shardings of arguments that the function in it declares; None without them.
    """
    compiled = jax.jit(call, **options)
    if places is None:
        return compiled
    return _PlacedCalls(compiled, jax.jit(call, in_shardings=places, **options))


class _PlacedCalls(CompiledCalls):
    """A compiled function that places its arguments as the function of `jax.jit` in it does.

    Args:
        compiled: The function that `jax.jit` returned.
        placed: The same with ``in_shardings``. It takes no keywords, and no pairs of data and
            scale, as a sharding of data is none of a scale.
    """

    def __init__(self, compiled: Any, placed: Any) -> None:
        super().__init__(compiled)
        self._placed = placed

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function."""
        return self._of(args, kwargs)(*args, **kwargs)

    def lower(self, *args: Any, **kwargs: Any) -> Any:
        """Lowers the function for these arguments; see `jax.stages.Wrapped.lower`."""
        return self._of(args, kwargs).lower(*args, **kwargs)

    def trace(self, *args: Any, **kwargs: Any) -> Any:
        """Traces the function for these arguments; see `jax.stages.Wrapped.trace`."""
        return self._of(args, kwargs).trace(*args, **kwargs)

    def _of(self, args: Any, kwargs: Any) -> Any:
        pairs = any(map(is_scaled_array, jax.tree.leaves(args, is_leaf=is_scaled_array)))
        return self._compiled if kwargs or pairs else self._placed
