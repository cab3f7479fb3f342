"""Products of f8 operands are kept apart from the casts whose scales follow from them.

XLA for NVIDIA GPUs refuses the program otherwise: it computes the cast and the amax in the kernel
of the matmul, whose scale would then follow from its own result.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from tests.py.shared.judge import shaped

BARRIER = "stablehlo.optimization_barrier"
ACTIVATIONS: dict[str, Callable[[jax.Array], jax.Array]] = {
    "none": lambda y: y,
    "relu": jax.nn.relu,
    "gelu": jax.nn.gelu,
    "bias": lambda y: y + jnp.arange(64, dtype=y.dtype),
}


def barriers(name: str, dtype: str, recipe: str) -> int:
    """The barriers behind products in the text of two layers."""
    fn = jax.jit(lambda x, a, b: ACTIVATIONS[name](x @ a) @ b)
    text = jax.export.export(fn)(*[shaped(64, 64, dtype=dtype)] * 3).mlir_module()
    settings = {"matmul.smallest": 1}
    new = scalify_hlo.rewrite(text, recipe=recipe, settings=settings, report=True)[0]
    shape = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}[dtype]
    lines = [line for line in str(new).splitlines() if BARRIER in line]
    return sum(line.split(" loc(")[0].endswith(f": tensor<64x64x{shape}>") for line in lines)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_a_barrier_stands_behind_the_product(name: str) -> None:
    assert barriers(name, "float32", "fp8-current") == 1
    assert barriers(name, "float16", "fp8-current") == 1
    assert barriers(name, "bfloat16", "fp8-current") == 0
    assert barriers(name, "float32", "fp8-delayed") == 0
    assert barriers(name, "float32", "unit") == 0
