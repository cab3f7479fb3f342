"""Gradients of weights that matmuls write in f8: the same bits as those that are cast later."""

from __future__ import annotations

import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo.passes import late
from tests.py.casts.test_second_casts import arguments, momentum
from tests.py.shared.judge import assert_all_same_bits, interpreted, program_of


@pytest.mark.parametrize("log2", [-60, -20, 0, 6])
def test_the_same_bits(log2: int, monkeypatch: pytest.MonkeyPatch) -> None:
    params, state, x = arguments()
    x = x * jnp.bfloat16(2.0**log2)
    exported = program_of(momentum, params, state, x)
    sizes = scalify_hlo.measured_scales(exported, params, state, x)
    one = scalify_hlo.rewrite(exported, recipe="fp8", input_scale=sizes)
    monkeypatch.setattr(late, "round_results", lambda _: 0)
    other = scalify_hlo.rewrite(exported, recipe="fp8", input_scale=sizes)
    assert one.mlir_module() != other.mlir_module()
    found = (interpreted(each, params, state, x) for each in (one, other))
    assert_all_same_bits(*found)
