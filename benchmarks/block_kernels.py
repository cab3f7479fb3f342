"""The kernels that XLA makes of matmuls with block scales, for GPUs that need not be there.

    pip install "scalify-hlo[cuda]"
    python -m benchmarks.block_kernels

The program has the gradients of two gated layers in bf16, of sizes that are no multiples of blocks
too. Each row has the matmuls that became one kernel of the formats of their operands, of all, and
the estimated speed over bf16. All matmuls are quantized, also those that the device would leave
wide. The exit status is 1 if a matmul of `mxfp8` is no such kernel.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import jax
import jax.numpy as jnp

import scalify_hlo
from benchmarks.roofline_models import Shape, stack_loss, swiglu_shapes

TARGETS = ("h200", "b200")
RECIPES: dict[str, dict[str, object]] = {
    "mxfp8": {},
    "fp8-block": {},
    "fp8-block blocks.scale=e8m0": {"blocks.scale": "e8m0"},
    "nvfp4": {},
    "mxfp4": {},
}
SIZES = ((1024, 512, 2048), (1000, 520, 1400))
"""Tokens, width and hidden units."""
NATIVE = "mxfp8"


def program(tokens: int, width: int, hidden: int) -> jax.export.Exported:
    """The gradients of two layers."""
    dtype = jnp.dtype("bfloat16")
    layer = {"norm": Shape((width,), dtype), **swiglu_shapes(width, hidden, dtype)}
    jitted = jax.jit(jax.grad(stack_loss))
    x = Shape((tokens, width), dtype)
    return jax.export.export(jitted, platforms=("cuda",))([layer] * 2, x)


def explained(exported: jax.export.Exported, target: str, name: str) -> Any:
    """The matmuls of a program by a recipe, with their kernels."""
    settings = {"matmul.slower": "narrow", **RECIPES[name]}
    recipe = name.split()[0]
    return scalify_hlo.explain(exported, target, recipe=recipe, settings=settings)


def main() -> int:
    """Prints a line for each target, size and recipe."""
    os.environ.update({"JAX_PLATFORMS": "cpu", "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1"})
    missed = False
    for sizes in SIZES:
        exported = program(*sizes)
        for target in TARGETS:
            for name in RECIPES:
                found = explained(exported, target, name)
                single = sum(
                    len(each.kernels) == 1 and not each.falls_back for each in found.matmuls
                )
                missed |= name == NATIVE and single < len(found.matmuls)
                size = " x ".join(map(str, sizes))
                kernels = f"{single} of {len(found.matmuls)} in one kernel"
                print(f"{target} {size} {name}: {kernels}, {found.speedup:.2f}", flush=True)
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
