"""The JAX primitives of markers, which return their argument and mark it in the program.

There are two. `scalify_marker` is lowered to a call of a function that returns its argument, with
the attributes that `scalify_hlo.ir.markers` lists. `scalify_gradient_marker` is lowered to
nothing; its transpose binds a `scalify_marker` to the cotangent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from scalify_hlo import _compat
from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import UsageError
from scalify_hlo.ir import markers as dialect
from scalify_hlo.jax_api.powers import wide_dtype
from scalify_hlo.jax_api.scaled_array import scale_dtype

_I64 = 64


@dataclass(frozen=True, slots=True)
class Marker:
    """The kind and the parameters of a marker.

    Attributes:
        name: The value of its attribute ``scalify.marker``.
        statistic: For a `dynamic_rescale`, ``max``, ``l1`` or ``l2``.
        every: For a `dynamic_rescale`, the interval in steps.
    """

    name: str
    statistic: str | None = None
    every: int = 1

    @property
    def gives_scale(self) -> bool:
        """Whether the marker has the scale as second result."""
        return self.name == dialect.GET_DATA_AND_SCALE


def mark(marker: Marker, x: Any, *operands: Any) -> list[Any]:
    """Marks a float array.

    Args:
        marker: The marker.
        x: The array, of any shape and of a float or complex dtype.
        *operands: The scalar operands of the marker, of the dtypes that
            `scalify_hlo.ir.markers` lists.

    Returns:
        `x`, and for `get_data_and_scale` the scale 1.
    """
    marked: list[Any] = _marker_p.bind(x, *operands, marker=marker)
    return marked


def mark_gradient(marker: Marker, x: Any, *operands: Any) -> Any:
    """Marks the cotangent of an array, and returns the array.

    Args:
        marker: As for `mark`.
        x: As for `mark`.
        *operands: As for `mark`.
    """
    return _gradient_marker_p.bind(x, *operands, marker=marker)


_marker_p = Primitive("scalify_marker")
_marker_p.multiple_results = True
_gradient_marker_p = Primitive("scalify_gradient_marker")


def _marked(x: Any, *_operands: Any, marker: Marker) -> list[Any]:
    return [x, jnp.ones((), scale_dtype(x.dtype))] if marker.gives_scale else [x]


def _marked_types(x: Any, *_operands: Any, marker: Marker) -> list[Any]:
    return [x, _scale_type(x)] if marker.gives_scale else [x]


def _scale_type(x: Any) -> Any:
    """Returns the type of a scale that varies over the same devices as `x`."""
    sharding = x.sharding.update(spec=jax.sharding.PartitionSpec())
    return x.update(shape=(), dtype=scale_dtype(x.dtype), weak_type=False, sharding=sharding)


def _marker_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, marker: Marker
) -> tuple[list[Any], list[Any]]:
    marked = _marker_p.bind(*primals, marker=marker)
    tangent = tangents[0]
    if not marker.gives_scale:
        return marked, [tangent]
    data, scale = marked
    tangent = zero_tangent(data) if isinstance(tangent, ad.Zero) else _divided(tangent, scale)
    return marked, [tangent, zero_tangent(scale)]


def zero_tangent(value: Any) -> ad.Zero:
    """Returns the zero tangent of a value."""
    return ad.Zero(jax.typeof(value).to_tangent_aval())


def _divided(tangent: Any, scale: Any) -> Any:
    """Returns a tangent of X divided by the scale; with scale 1, its bits are unchanged."""
    if jnp.issubdtype(tangent.dtype, jnp.complexfloating):
        # A complex division by 1 + 0i could change signs of zeros and infinities.
        return jax.lax.complex(jnp.real(tangent) / scale, jnp.imag(tangent) / scale)
    wide = wide_dtype(tangent.dtype)
    return (tangent.astype(wide) / scale.astype(wide)).astype(tangent.dtype)


def _marker_transpose(cotangents: Sequence[Any], *primals: Any, marker: Marker) -> list[Any]:
    if marker.gives_scale:
        raise UsageError(
            "get_data_and_scale of a tangent has no transpose",
            hint="take data and scale of the value that is differentiated",
        )
    return [cotangents[0], *(None for _ in primals[1:])]


def _marker_batch(
    values: Sequence[Any], dims: Sequence[Any], *, marker: Marker
) -> tuple[list[Any], list[Any]]:
    marked = _marker_p.bind(*_for_batch(values, dims), marker=marker)
    return marked, [dims[0], *(None for _ in marked[1:])]


def _for_batch(values: Sequence[Any], dims: Sequence[Any]) -> list[Any]:
    """Returns the operands for a batch with one scale; of batched scalars, the largest is used."""
    scalars = zip(values[1:], dims[1:], strict=True)
    return [values[0], *(v if dim is None else jnp.max(v) for v, dim in scalars)]


def _gradient_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, marker: Marker
) -> tuple[Any, Any]:
    x, *operands = primals
    tangent = tangents[0]
    if not isinstance(tangent, ad.Zero):
        tangent = mark_gradient(marker, tangent, *operands)
    return mark_gradient(marker, x, *operands), tangent


def _gradient_transpose(cotangent: Any, _x: Any, *operands: Any, marker: Marker) -> list[Any]:
    if not isinstance(cotangent, ad.Zero):
        (cotangent,) = mark(marker, cotangent, *operands)
    return [cotangent, *(None for _ in operands)]


def _gradient_batch(
    values: Sequence[Any], dims: Sequence[Any], *, marker: Marker
) -> tuple[Any, Any]:
    return mark_gradient(marker, *_for_batch(values, dims)), dims[0]


def _lower_marker(ctx: Any, *operands: ir.Value, marker: Marker) -> list[ir.Value]:
    types = [value.type for value in operands]
    results = [mlir.aval_to_ir_type(ctx.module_context, aval) for aval in ctx.avals_out]

    def body(arguments: Sequence[ir.Value]) -> list[ir.Value]:
        return [arguments[0], *(_one(aval.dtype) for aval in ctx.avals_out[1:])]

    key = (marker.name, *map(str, types))
    name = f"{attributes.PREFIX}{marker.name}"
    symbol = _compat.private_function(ctx, key, name, types, results, body)
    call = _compat.call_function(symbol, operands, results)
    for attribute, value in _attributes(marker).items():
        call.operation.attributes[attribute] = value
    return list(call.results)


def _one(dtype: Any) -> ir.Value:
    one: ir.Value = stablehlo.constant(ir.DenseElementsAttr.get(np.ones((), dtype)))
    return one


def _attributes(marker: Marker) -> dict[str, ir.Attribute]:
    attributes = {dialect.MARKER: ir.StringAttr.get(marker.name)}
    if marker.statistic is not None:
        attributes[dialect.STATISTIC] = ir.StringAttr.get(marker.statistic)
        every = ir.IntegerAttr.get(ir.IntegerType.get_signless(_I64), marker.every)
        attributes[dialect.EVERY] = every
    return attributes


def _lower_to_nothing(
    _ctx: Any, x: ir.Value, *_operands: ir.Value, marker: Marker
) -> list[ir.Value]:
    del marker
    return [x]


_marker_p.def_impl(_marked)
_marker_p.def_abstract_eval(_marked_types)
ad.primitive_jvps[_marker_p] = _marker_jvp
ad.primitive_transposes[_marker_p] = _marker_transpose
batching.primitive_batchers[_marker_p] = _marker_batch
mlir.register_lowering(_marker_p, _lower_marker)


def _as_it_is(x: Any, *_operands: Any, marker: Marker) -> Any:
    del marker
    return x


_gradient_marker_p.def_impl(_as_it_is)
_gradient_marker_p.def_abstract_eval(_as_it_is)
ad.primitive_jvps[_gradient_marker_p] = _gradient_jvp
ad.primitive_transposes[_gradient_marker_p] = _gradient_transpose
batching.primitive_batchers[_gradient_marker_p] = _gradient_batch
mlir.register_lowering(_gradient_marker_p, _lower_to_nothing)
