"""Ops that compute the same of the same are one value of the graph; others are not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.layers.recognition import graph_of
from tests.py.shared.judge import parse, shaped, stablehlo_of


def module_of(function: Callable[..., Any], *shapes: tuple[int, ...]) -> ir.Module:
    arguments = [shaped(*shape) for shape in shapes]
    return parse(stablehlo_of(function, *arguments))


def counted(module: ir.Module) -> Counter[str]:
    with module.context:
        return Counter(node.name for node in graph_of(module).nodes)


def products(x: jax.Array, y: jax.Array) -> list[jax.Array]:
    return [x @ y, lax.dot_general(x, y, (((1,), (1,)), ((), ()))), x @ y]


@pytest.mark.parametrize("marked", [False, True])
def test_ops_are_told_apart_by_their_own_attributes(*, marked: bool) -> None:
    module = module_of(products, (3, 3), (3, 3))

    with module.context:
        if marked:
            first, *_ = ops_in(module.operation, {"stablehlo.dot_general"})
            first.attributes[attributes.SITE] = ir.StringAttr.get("first")
        assert counted(module)["dot_general"] == 2


def test_results_are_told_apart_by_their_numbers() -> None:
    def bits(x: jax.Array) -> list[jax.Array]:
        state = lax.bitcast_convert_type(x, jnp.uint32)
        return [*lax.rng_bit_generator(state, (4,)), *lax.rng_bit_generator(state, (4,))]

    assert counted(module_of(bits, (4,)))["rng_bit_generator"] == 2
