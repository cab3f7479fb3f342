"""The target of a recipe may be a device, on which matmuls that are no faster in FP8 stay wide."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import scalify_hlo
from scalify_hlo import Report, UsageError
from scalify_hlo._compat import ir
from scalify_hlo.analysis.sizes import Extent, Size
from scalify_hlo.passes.summary import summary
from scalify_hlo.quantize.costs import Candidate, _Choice, not_faster
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.targets.description import load_target
from tests.py.judge import parse


def array(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16)


def report_of(function: Callable[..., Any], *types: Any, **options: Any) -> Report:
    text = export.export(jax.jit(function))(*types).mlir_module()
    settings = {"target": "h200"} | options.pop("settings", {})
    recipe = options.pop("recipe", "fp8-current")
    return scalify_hlo.rewrite(text, recipe=recipe, settings=settings, report=True)[1]


def wide(report: Report) -> list[str]:
    return ["" if m.wide is None else m.wide.kind for m in report.matmuls]


def layer(x: jax.Array, w: jax.Array) -> jax.Array:
    return x @ w


def scores(q: jax.Array, k: jax.Array) -> jax.Array:
    return jnp.einsum("bqd,bkd->bqk", q, k)


LAYER = array(8192, 4096), array(4096, 4096)
SCORES = array(128, 1024, 64), array(128, 1024, 64)


def test_a_large_matmul_is_faster() -> None:
    assert wide(report_of(layer, *LAYER)) == [""]


def test_the_scores_of_attention_are_not() -> None:
    """The bandwidth bounds them: their result has more bytes than their operands save."""
    report = report_of(scores, *SCORES)
    assert wide(report) == ["not faster"]
    assert not report.remarks
    (matmul,) = report.matmuls
    assert matmul.wide is not None
    assert matmul.wide.reason == (
        "on h200, it is estimated at 62.9 µs in bf16, and at 59.4 in FP8 with 17.5 for casts"
    )
    assert "1 wide: not faster" in summary(report)


def test_another_target_has_no_estimate() -> None:
    for target in ("gpu", "any"):
        assert wide(report_of(scores, *SCORES, settings={"target": target})) == [""]


def test_the_option_overrides_the_estimate() -> None:
    assert wide(report_of(scores, *SCORES, settings={"matmul.slower": "narrow"})) == [""]
    with pytest.raises(UsageError, match=r"matmul\.slower has no effect: the target gpu"):
        report_of(scores, *SCORES, settings={"target": "gpu", "matmul.slower": "narrow"})


def test_a_weight_that_is_cast_in_each_call_is_not_faster_for_few_rows() -> None:
    assert wide(report_of(layer, array(16, 4096), array(4096, 4096))) == ["not faster"]
    few = report_of(layer, array(16, 4096), array(4096, 4096), settings={"target": "b200"})
    assert wide(few) == ["not faster"]


def test_a_static_scale_costs_less_than_an_amax() -> None:
    """The kernel that computes an operand casts it too."""

    def function(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.tanh(x) @ jnp.tanh(y).T

    types = array(2048, 512), array(2048, 512)
    assert wide(report_of(function, *types)) == ["not faster"]
    assert wide(report_of(function, *types, recipe="unit")) == [""]


def test_readers_share_a_cast() -> None:
    """Alone the matmul is not faster; in a training step, its casts serve three."""

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.tanh(jnp.tanh(x) @ w).astype(jnp.float32))

    types = array(2048, 1024), array(4096, 2048)
    assert wide(report_of(loss, *types)) == ["not faster"]
    assert wide(report_of(jax.grad(loss, (0, 1)), *types)) == [""] * 3


def test_unknown_sizes_are_left_to_the_recipe() -> None:
    (batch,) = export.symbolic_shape("b")
    symbolic = jax.ShapeDtypeStruct((batch, 4096), jnp.bfloat16)
    assert wide(report_of(layer, symbolic, array(4096, 4096))) == [""]


def test_f16_matmuls_have_no_casts_to_f8() -> None:
    assert wide(report_of(scores, *SCORES, recipe="fp16")) == [""]


@pytest.mark.parametrize("target", ["h100", "b200"])
@pytest.mark.parametrize("seed", range(6))
def test_the_choice_is_never_worse_than_all_or_none(seed: int, target: str) -> None:
    """Matmuls of random sizes that share operands at random."""
    random = np.random.default_rng(seed)
    sizes = [[int(2 ** random.integers(5, 14)) for _ in range(2)] for _ in range(4)]
    shapes = ", ".join(f"%a{i}: tensor<{m}x{k}xbf16>" for i, (m, k) in enumerate(sizes))
    lines, count = [], 0
    for i, (m, k) in enumerate(sizes):
        for j, (n, other) in enumerate(sizes):
            if k == other and random.integers(2):
                lines.append(
                    f"%{count} = stablehlo.dot_general %a{i}, %a{j}, contracting_dims = [1] x [1] :"
                    f" (tensor<{m}x{k}xbf16>, tensor<{n}x{k}xbf16>) -> tensor<{m}x{n}xbf16>"
                )
                count += 1
    lines += [
        f"%{count + i} = stablehlo.dot_general %a{i}, %a{i}, contracting_dims = [0] x [0] :"
        f" (tensor<{m}x{k}xbf16>, tensor<{m}x{k}xbf16>) -> tensor<{k}x{k}xbf16>"
        for i, (m, k) in enumerate(sizes)
    ]
    module = parse(
        f"func.func @main({shapes}) {{ {' '.join(lines)} return }}".replace("} {", "} {")
    )
    recipe = load_recipe("fp8-current", {"target": target})
    with module.context:
        candidates = list(_candidates(module))
        choice = _Choice(candidates, load_target(target), 5)

        def total(narrow: set[int]) -> float:
            times = [
                after if i in narrow else before for i, (before, after) in enumerate(choice._saved)
            ]
            return sum(times) + sum(tensor.cost(narrow) for tensor in choice._tensors)

        found = {i for i, reason in enumerate(not_faster(candidates, recipe)) if reason is None}
        everything = set(range(len(candidates)))
        assert total(found) <= min(total(everything), total(set())) * (1 + 1e-9)


def _candidates(module: ir.Module) -> Any:
    for op in module.body.operations[0].regions[0].blocks[0].operations:
        if op.operation.name == "stablehlo.dot_general":
            lhs = op.operands[0].type.shape
            m, n = op.results[0].type.shape
            k = lhs[0] * lhs[1] // m
            extent = Extent(Size(m), Size(n), Size(k))
            yield Candidate(op, extent, ("activation", "activation"))
