"""Data and scales of values as NumPy arrays: values are split into them, and they are joined.

A pair has one scale, or one for each block of its data; `scalify_hlo.algebra.scale_shapes` has the
shapes of arrays of scales, and `scalify_hlo.algebra.moments` those of moments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.algebra.limits import NORMAL
from scalify_hlo.algebra.moments import SCALE_FORMAT, block_length, scale_shape
from scalify_hlo.algebra.scale_shapes import are_blocks, split_shape
from scalify_hlo.casts.encoding import exponent_below_rms, rounded, unclipped
from scalify_hlo.errors import InputError
from scalify_hlo.program.tensors import DTYPES, Array, Interface, Tensor, is_complex, paired

_SCALE_DTYPE = np.dtype(DTYPES[SCALE_FORMAT])


def is_packed(scale: Tensor) -> bool:
    """Whether the scale of a pair has a number for each block of a moment."""
    return scale.dtype == _SCALE_DTYPE


def split(
    value: Array, data: Tensor, scale: Tensor, draw: Callable[[], float] | None = None
) -> list[Array]:
    """Returns the data and the scale of a value.

    Args:
        value: The value, a float array.
        data: The argument that takes its data.
        scale: The argument that takes its scale, or the scale of each block.
        draw: Returns a power of two that becomes the scale, if there is one; by default, scales are
            powers of two at or below the rms.
    """
    if is_packed(scale):
        return packed(value, data)
    if scale.shape or draw is None:
        power = np.ldexp(1.0, _exponents(value, scale.shape))
    else:
        power = np.asarray(draw())
    divided = scaled_by(value, by_element(1 / power, value.shape))
    return [divided.astype(data.dtype), np.asarray(power, scale.dtype)]


def _exponents(value: Array, shape: Sequence[int]) -> Array:
    """Returns log2 of the power of two at or below the rms of each block; 0 for empty ones."""
    size = np.abs(value) if is_complex(value.dtype) else value
    if shape:
        order = [*range(0, 2 * value.ndim, 2), *range(1, 2 * value.ndim, 2)]
        size = size.reshape(split_shape(value.shape, shape)).transpose(order)
    rows = size.reshape(math.prod(shape), -1)
    return np.reshape([exponent_below_rms(row) if row.size else 0 for row in rows], shape)


def packed(value: Array, data: Tensor) -> list[Array]:
    """Returns the data and the scales of a moment, with data that are rounded to nearest.

    Args:
        value: The moment, a float array.
        data: The argument that takes its data.
    """
    target = next(f for name, f in FORMATS.items() if data.dtype == DTYPES.get(name))
    wide = value.astype(np.float64)
    size = np.sqrt(np.abs(wide)) if data.root else np.abs(wide)
    counted = np.where(np.isfinite(size), size, 0)
    block, blocks = block_length(wide.shape[-1]), scale_shape(wide.shape)
    padding = [(0, 0)] * (wide.ndim - 1) + [(0, -wide.shape[-1] % block)]
    amax = np.max(np.pad(counted, padding).reshape(*blocks, block), axis=-1)
    exponents = np.where(amax > 0, unclipped(amax, target), -NORMAL).clip(-NORMAL, NORMAL)
    stored = rounded(counted, _by_number(exponents, wide.shape), target, None)
    if data.root:  # An update that is divided by it has to stay bounded.
        least = np.maximum(stored.astype(np.float64), target.smallest)
        stored = np.where(counted > 0, least, 0).astype(data.dtype)
    signed = np.copysign(stored.astype(np.float64), wide)
    signed = np.where(np.isfinite(wide), signed, wide).astype(data.dtype)
    return [signed, np.ldexp(1.0, exponents).astype(_SCALE_DTYPE)]


def joined(data: Array, scale: Array, tensor: Tensor) -> Array:
    """Returns data times scale in f64, or the numbers of a moment in blocks.

    Args:
        data: The data.
        scale: One scale, or the scale of each block.
        tensor: The argument or the result that the data are.
    """
    if scale.dtype != _SCALE_DTYPE:
        return scaled_by(data, by_element(scale, data.shape))
    with np.errstate(over="ignore", invalid="ignore"):
        wide = data.astype(np.float64) * _by_number(scale.astype(np.float64), data.shape)
        values: Array = wide * np.abs(wide) if tensor.root else wide
    return values


def scaled_by(array: Array, factor: float | Array) -> Array:
    """Returns the product in f64, in which multiplication by a power of two is exact."""
    wide: Any = np.complex128 if is_complex(array.dtype) else np.float64
    with np.errstate(over="ignore", invalid="ignore"):
        return array.astype(wide) * factor


def by_element(scales: Array, shape: Sequence[int]) -> Array:
    """Returns the number of the block of each element; one number of rank 0 stays one."""
    if not scales.shape:
        return scales
    for d, (count, whole) in enumerate(zip(scales.shape, shape, strict=True)):
        scales = np.repeat(scales, whole // count, axis=d)
    return scales


def _by_number(scale: Array, shape: tuple[int, ...]) -> Array:
    """Returns the number of the block of each element of a moment."""
    return np.repeat(scale, block_length(shape[-1]), axis=-1)[..., : shape[-1]]


@dataclass(frozen=True, slots=True)
class Match:
    """The correspondence of the arguments or results of a rewrite to those of the original.

    Attributes:
        data: For each of those of the original, the counterpart in the rewrite, which is its data
            if it is a pair.
        scales: For each of them, its scale in the rewrite; None if it is not a pair.
    """

    data: tuple[Tensor, ...]
    scales: tuple[Tensor | None, ...]

    @property
    def count(self) -> int:
        """The number of arrays in the rewrite."""
        return len(self.data) + sum(scale is not None for scale in self.scales)

    def split(
        self, values: Sequence[Array], draw: Callable[[], float] | None = None
    ) -> list[list[Array]]:
        """Returns the arrays in the rewrite of each value of the original; see `split`."""
        return [
            [value.astype(data.dtype)] if scale is None else split(value, data, scale, draw)
            for value, data, scale in zip(values, self.data, self.scales, strict=True)
        ]

    def grouped(self, arrays: Sequence[Array]) -> list[Sequence[Array]]:
        """Returns the arrays of each value of the original: one, or data and scale."""
        rest = iter(arrays)
        return [[next(rest)] if s is None else [next(rest), next(rest)] for s in self.scales]

    def joined(self, arrays: Sequence[Array]) -> list[Array]:
        """Returns arrays in the rewrite as values of the original; pairs are joined to f64."""
        return [
            group[0] if len(group) == 1 else joined(group[0], group[1], tensor)
            for group, tensor in zip(self.grouped(arrays), self.data, strict=True)
        ]


def match(original: Interface, rewritten: Interface, name: str) -> tuple[Match, Match]:
    """Matches the arguments and results of a rewrite with those of the original.

    Args:
        original: The arguments and results of the original.
        rewritten: The arguments and results of the rewrite.
        name: The name of the rewrite in diagnostics.

    Returns:
        The matches of the arguments and of the results.

    Raises:
        InputError: They do not match.
    """
    return (
        _match(original.arguments, rewritten.arguments, "arguments", name),
        _match(original.results, rewritten.results, "results", name),
    )


def _match(
    original: tuple[Tensor, ...], rewritten: tuple[Tensor, ...], kind: str, name: str
) -> Match:
    # A program whose own values are pairs has them, too, if the rewrite adds none.
    plain = len(original) == len(rewritten)
    each = [(tensor, None) for tensor in rewritten] if plain else paired(rewritten)
    if len(each) != len(original):
        raise _misfit(kind, f"{len(rewritten)} values stand for {len(original)}", name)
    for old, (new, scale) in zip(original, each, strict=True):
        if old.shape != new.shape or (old.dtype != new.dtype and not (old.inexact and new.inexact)):
            raise _misfit(kind, f"{old.name} is {old}, and its counterpart {new}", name)
        if scale is not None and not _fits(new, scale):
            raise _misfit(kind, f"the scale {scale.name} is {scale}", name)
    return Match(tuple(data for data, _ in each), tuple(scale for _, scale in each))


def _fits(data: Tensor, scale: Tensor) -> bool:
    """Whether a value can be the scale of data: one number, or one for each block."""
    if is_packed(scale):
        return data.shape != () and list(scale.shape) == scale_shape(data.shape)
    return scale.inexact and (not scale.shape or are_blocks(scale.shape, data.shape))


def _misfit(kind: str, reason: str, name: str) -> InputError:
    return InputError(
        f"the {kind} do not fit those of the original: {reason}",
        location=name,
        hint="give the original first and then its rewrite, whose scales are marked with "
        "scalify.is_scale; other tools may drop the marks",
    )
