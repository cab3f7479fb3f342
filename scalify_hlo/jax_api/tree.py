"""Pytrees with ScaledArrays, each of which is one leaf; `jax.tree` takes data and scale as two.

`jax.tree.map`, `optax.global_norm` and sums of sizes see the data and the scale of a ScaledArray as
two arrays, of which only the product has a meaning. These functions see the ScaledArray. Arrays
with a scale for each block, moments included, are one leaf too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from scalify_hlo.errors import UsageError
from scalify_hlo.jax_api.powers import wide_dtype
from scalify_hlo.jax_api.scaled_array import asarray, is_float, is_scaled_array
from scalify_hlo.jax_api.stored_arrays import split_for, stored


def map(function: Callable[..., Any], tree: Any, *rest: Any) -> Any:  # noqa: A001
    """Applies a function to each leaf of a pytree, as `jax.tree.map` does.

    Args:
        function: A function of a leaf of each tree. It gets ScaledArrays as they are: their
            operators, and functions of `jax.numpy`, take their values, and return plain arrays.
        tree: A pytree.
        rest: Pytrees of the same structure. A plain array may be in the place of a ScaledArray.

    Returns:
        The pytree with the results, of which the function decides whether they are ScaledArrays.

    Example:
        >>> state = {"w": as_scaled_array(jnp.full(3, 8.0)), "count": jnp.int32(7)}
        >>> map(lambda x: 2 * x, state)["w"].tolist()
        [16.0, 16.0, 16.0]
    """
    return jax.tree.map(function, tree, *rest, is_leaf=is_scaled_array)


def leaves(tree: Any) -> list[Any]:
    """Returns the leaves of a pytree, in the order of `jax.tree.leaves`.

    Args:
        tree: A pytree.
    """
    found: list[Any] = jax.tree.leaves(tree, is_leaf=is_scaled_array)
    return found


def size(tree: Any) -> int:
    """Returns the number of elements of a pytree; scales do not count.

    Args:
        tree: A pytree; its arrays may be abstract.
    """
    return sum(math.prod(np.shape(leaf)) for leaf in leaves(tree))


def global_norm(tree: Any) -> jax.Array:
    """Returns the square root of the sum of the squares of all elements, as `optax.global_norm`.

    Args:
        tree: A pytree of numbers. Values and squares are those of f32, or of a wider dtype that a
            leaf has.
    """
    squares = [jnp.sum(jnp.square(jnp.abs(_wide(leaf)))) for leaf in leaves(tree)]
    return jnp.sqrt(sum(squares, start=jnp.zeros(())))


def average(trees: Sequence[Any], weights: Sequence[float] | None = None) -> Any:
    """Averages the floats of pytrees, such as the weights of several steps.

    Args:
        trees: The pytrees, at least one, of the same structure.
        weights: A number for each pytree, which is divided by their sum; by default all are equal.
            ``average([old, new], [0.9, 0.1])`` is a step of a moving average.

    Returns:
        A pytree like the first one: its ScaledArrays keep their formats, and get new scales. Means
        are computed in f32, or wider, and rounded to nearest. Leaves that are not floats, such as
        counts, are those of the first tree.

    Raises:
        UsageError: There is no tree, there are more or fewer weights, or their sum is zero.

    Example:
        >>> x = as_scaled_array(jnp.full(3, 8.0))
        >>> average([x, 2 * x]).tolist()
        [12.0, 12.0, 12.0]
    """
    given = [1.0] * len(trees) if weights is None else [float(weight) for weight in weights]
    if len(given) != len(trees) or not sum(given):
        raise UsageError(
            f"{len(trees)} trees with the weights {given} have no average",
            hint="give a list of trees, and a weight for each, whose sum is not zero",
        )
    return map(partial(_mean, [weight / sum(given) for weight in given]), *trees)


def _mean(weights: Sequence[float], *values: Any) -> Any:
    like = values[0]
    if not is_float(_dtype(like)):
        return like
    terms = [w * _wide(value) for w, value in zip(weights, values, strict=True)]
    mean = sum(terms[1:], start=terms[0])
    if not is_scaled_array(like):
        return mean.astype(_dtype(like))
    pair = split_for(mean, like.dtype)
    return stored(pair, like.dtype, like.power, like.logical, jnp.shape(like.scale))


def _dtype(leaf: Any) -> Any:
    return leaf.logical_dtype if is_scaled_array(leaf) else jnp.result_type(leaf)


def _wide(leaf: Any) -> jax.Array:
    """Returns the values of a leaf in f32, or in its own dtype if that is wider."""
    dtype = _dtype(leaf)
    wide = wide_dtype(dtype) if is_float(dtype) else jnp.float32
    values: jax.Array = asarray(leaf, wide) if is_scaled_array(leaf) else jnp.asarray(leaf, wide)
    return values
