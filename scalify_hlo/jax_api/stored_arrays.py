"""ScaledArrays in the forms in which programs store them, and programs that do so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np

from scalify_hlo import _compat
from scalify_hlo.algebra.limits import ENTRY_BOUND
from scalify_hlo.errors import UsageError
from scalify_hlo.jax_api.block_scales import to_blocks
from scalify_hlo.jax_api.powers import EXPONENTS, exponent_below_rms, of_blocks, without_loss
from scalify_hlo.jax_api.rescaling import rescaled
from scalify_hlo.jax_api.scaled_array import (
    ScaledArray,
    as_scaled_array,
    is_scaled_array,
    log2_of,
    moved_to,
    of_dtype,
    scale_dtype,
    split_at_rms,
    value_of,
    whole,
)

_SMALL, _WIDE_EXPONENTS = 8, 128
"""The bits of f8 formats, and the `maxexp` of formats with the range of f32."""

_NO_LIMIT = 1 << 12
"""An exponent beyond those of all scales."""


def held(array: ScaledArray, scales: Sequence[Any], bound: int) -> ScaledArray:
    """Rescales a result so that its scale does not drift over many calls.

    Data with the range of f32 are valid at any moderate scale. Their scale is clamped to the bound
    after a call in which the scale of an argument is out of bounds. Data in f16 are rescaled to rms
    near 1. Data in f8 are not changed, as only their program chooses a scale that fits them.

    Args:
        array: The result.
        scales: The scales of the arguments that the result may become in the next call.
        bound: The bound on ``|log2|`` of these scales.
    """
    format_ = jnp.finfo(array.dtype)
    if format_.bits <= _SMALL:
        return array
    if format_.maxexp < _WIDE_EXPONENTS:
        return rescaled(array, EXPONENTS["l2"])
    far = jnp.max(jnp.stack([jnp.max(jnp.abs(log2_of(scale))) for scale in scales]))
    limit = jnp.where(far > bound, bound, _NO_LIMIT)
    return moved_to(array, jnp.clip(log2_of(array.scale), -limit, limit))


def split_for(array: Any, dtype: Any) -> ScaledArray:
    """Splits an array for a program that stores its data in a dtype; ScaledArrays are not changed.

    Bits may be lost if the program rounds the data anyway. They are near unit then.
    """
    if is_scaled_array(array) or array.dtype == np.dtype(dtype):
        pair: ScaledArray = as_scaled_array(array)
        return pair
    return split_at_rms(jnp.asarray(array))


def stored(
    array: ScaledArray,
    dtype: Any,
    power: int | None,
    logical: Any,
    shape: Sequence[int] = (),
) -> ScaledArray:
    """Converts an array to the form in which a program stores it.

    Args:
        array: The array.
        dtype: The dtype of the data.
        power: See `ScaledArray`.
        logical: The logical dtype.
        shape: The shape of the array of scales; empty for one scale.
    """
    dtype = np.dtype(dtype)
    if power is not None:
        if (array.power, array.dtype) == (power, dtype):
            return replace(array, logical=logical)
        data, scale = to_blocks(value_of(of_dtype(array, np.float32)), dtype, power)
        return ScaledArray(data, scale, logical, power)
    one = _in_blocks(array, tuple(shape))
    scale = jnp.asarray(one.scale).astype(scale_dtype(dtype))
    return ScaledArray(jnp.asarray(one.data).astype(dtype), scale, logical)


def _in_blocks(array: ScaledArray, shape: tuple[int, ...]) -> ScaledArray:
    """Returns an array with scales of a shape; scales of another one follow from the numbers."""
    if array.power is None and jnp.shape(array.scale) == shape:
        return array
    return _rescaled_in(whole(array), shape) if shape else whole(array)


def _rescaled_in(array: ScaledArray, shape: tuple[int, ...]) -> ScaledArray:
    """Gives each block of an array with one scale its own: at or below its rms if that is exact."""
    data, old = jnp.asarray(array.data), log2_of(array.scale)
    wanted = old + of_blocks(exponent_below_rms, data, shape)
    _, exponents = without_loss(data, jnp.clip(wanted, -ENTRY_BOUND, ENTRY_BOUND) - old)
    return moved_to(array, old + exponents)


def scaled_node(logical: np.dtype[Any] | None = None, power: int | None = None) -> _compat.TreeDef:
    """Returns the tree of one ScaledArray.

    Args:
        logical: The dtype in which the program computes; None if it is the dtype of the data.
        power: See `ScaledArray`.
    """
    node: _compat.TreeDef = jax.tree.structure(ScaledArray(0, 0, logical, power))
    return node


@dataclass(frozen=True)
class StoredProgram(jax.export.Exported):
    """An Exported that keeps state in other formats than it computes in.

    If state is in another format, the error of `call` says how to convert it.
    """

    def call(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the program; see `jax.export.Exported.call`.

        Raises:
            UsageError: State is not in the formats in which the program keeps it.
        """
        given: Any = jax.tree.structure((args, kwargs))
        if given != self.in_tree and _without_logical(given) == _without_logical(self.in_tree):
            raise UsageError(
                f"{self.fun_name!r} keeps state in other formats than it is given in",
                hint="scalify_hlo.scaled_state(program, (params, opt_state)) makes it so",
            )
        call: Any = super().call
        return call(*args, **kwargs)


def _without_logical(tree: _compat.TreeDef) -> _compat.TreeDef:
    """Returns a tree whose ScaledArrays have no logical dtypes."""
    node = tree.node_data()
    if node is None:
        return tree
    if node[0] is ScaledArray:
        return scaled_node()
    return _compat.make_tree(node, [_without_logical(child) for child in tree.children()])


def stored_program(exported: jax.export.Exported) -> jax.export.Exported:
    """Returns a program whose `call` says how to convert state that is in another format."""
    return StoredProgram(**vars(exported))


def keeps_formats(exported: jax.export.Exported) -> bool:
    """Whether an argument of a program is stored in another format than its logical dtype."""
    tree: Any = exported.in_tree
    return bool(tree != _without_logical(tree))
