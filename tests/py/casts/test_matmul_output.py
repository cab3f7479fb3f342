"""`matmul.output` under recipes whose operands have scales of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from scalify_hlo.ir.walk import ops_in
from tests.py.shared import own_scales
from tests.py.shared.fp8_numpy import F32, OUTER, outer, outer_quantized, sample
from tests.py.shared.judge import normals, parse, program_of
from tests.py.shared.own_scales import called

BF16 = np.dtype(jnp.bfloat16)
KINDS = ["fp8-current", "fp8-delayed", "fp8-calibrated"]


def rewritten(recipe: str, fn: Callable[..., Any], *given: Any, **settings: object) -> Any:
    """A function under a recipe."""
    return own_scales.rewritten(recipe, program_of(fn, *given), *given, **OUTER | settings)


def results_of(text: str, *names: str) -> list[str]:
    """The element types of the results of ops by these names."""
    module = parse(text)
    return [str(op.results[0].type.element_type) for op in ops_in(module.operation, names)]


@pytest.mark.slow
@pytest.mark.parametrize("recipe", KINDS)
@pytest.mark.parametrize("log2", [-20, 0, 7])
def test_matmuls_give_bf16_that_is_scaled_in_bf16(recipe: str, log2: int) -> None:
    x, w = sample(1, log2), sample(2, -log2 / 3)
    new = rewritten(recipe, outer, x, w, **{"matmul.output": "bf16"})
    assert results_of(new.mlir_module(), "stablehlo.dot_general") == ["bf16"]
    found = called(new, x, w)
    assert found.dtype == F32
    np.testing.assert_array_equal(found, outer_quantized(x, w))


@pytest.mark.parametrize("recipe", ["fp8-current", "fp8-calibrated"])
def test_scales_of_channels(recipe: str) -> None:
    rng = np.random.default_rng(5)
    w = (rng.standard_normal((16, 32)) * 2.0 ** rng.integers(-8, 8, 32)).astype(F32)
    x = rng.standard_normal((16, 16)).astype(F32)
    settings = {"matmul.output": "bf16", "scaling.weight_scales": "channel"}
    results = {
        output: called(
            rewritten(recipe, lambda x: x @ w, x, **settings | {"matmul.output": output}), x
        )
        for output in ("f32", "bf16")
    }
    rounded = results["f32"].astype(BF16).astype(F32)
    np.testing.assert_allclose(results["bf16"], rounded, rtol=2.0**-7)
    assert not np.array_equal(results["f32"], rounded)
    new = rewritten(recipe, lambda x: x @ w, x, **settings)
    assert results_of(new.mlir_module(), "stablehlo.dot_general") == ["bf16"]


@pytest.mark.slow
@pytest.mark.parametrize("recipe", KINDS)
def test_sums_are_rounded_once(recipe: str) -> None:
    """The scale is a power of two: the result is that of f32, rounded."""
    x, w = normals(*[(32, 32)] * 2, seed=6)
    wide, narrow = (
        called(rewritten(recipe, jnp.matmul, x, w, **{"matmul.output": output}), x, w)
        for output in ("f32", "bf16")
    )
    rounded = wide.astype(BF16).astype(F32)
    np.testing.assert_allclose(narrow, rounded, rtol=2.0**-7, atol=1e-6 * np.abs(wide).max())


@pytest.mark.parametrize(
    ("output", "settings"),
    [("f16", {}), ("f32", {}), ("bf16", {"scaling.power_2_scale": False})],
)
def test_other_scales_are_applied_in_f32(output: str, settings: dict[str, object]) -> None:
    """F16 could not hold the product of the data, and BF16 would round the scale."""
    x, w = sample(7), sample(8)
    new = rewritten("fp8-current", outer, x, w, **settings | {"matmul.output": output})
    assert results_of(new.mlir_module(), "stablehlo.dot_general") == ["f32"]
    plain = rewritten("fp8-current", outer, x, w, **settings | {"matmul.output": "f32"})
    dtype = {"f16": np.float16, "bf16": BF16, "f32": F32}[output]
    rounded = called(plain, x, w).astype(dtype).astype(F32)
    np.testing.assert_array_equal(called(new, x, w), rounded)


def test_a_program_of_bf16_keeps_its_results() -> None:
    x, w = (jnp.asarray(sample(seed), jnp.bfloat16) for seed in (9, 10))
    new = rewritten("fp8-current", outer, x, w, **{"matmul.output": "keep"})
    assert results_of(new.mlir_module(), "stablehlo.dot_general") == ["bf16"]
    expected = outer_quantized(np.asarray(x, F32), np.asarray(w, F32))
    np.testing.assert_array_equal(called(new, x, w).astype(F32), expected)
