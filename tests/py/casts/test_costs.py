"""The target of a recipe may be a device, on which matmuls that are no faster in FP8 stay wide."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import scalify_hlo
from scalify_hlo import Report, UsageError
from scalify_hlo._compat import ir
from scalify_hlo.casts.costs import (
    _MARGIN,
    Tensor,
    _Choice,
    _times,
    is_stored,
    not_faster,
    tensor_of,
)
from scalify_hlo.casts.matmuls import Matmul
from scalify_hlo.dataflow.sizes import Extent, Size
from scalify_hlo.passes.summary import summary
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.targets.description import LAUNCH, load_target
from tests.py.shared.judge import body_of, parse, shaped, stablehlo_of


def array(*shape: int) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, jnp.bfloat16)


def report_of(function: Callable[..., Any], *types: Any, **options: Any) -> Report:
    text = stablehlo_of(function, *types)
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
    (remark,) = report.remarks
    assert remark.message.endswith("quantizes no matmul: its only matmul stays wide")
    (matmul,) = report.matmuls
    assert matmul.wide is not None
    assert matmul.wide.reason == (
        "on h200, it is estimated at 83.9 µs in bf16, and at 79.2 in FP8 with 32.2 for casts"
    )
    assert "1 wide: not faster (k); --set matmul.slower=... changes this" in summary(report)


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

    types = array(2048, 256), array(2048, 256)
    assert wide(report_of(function, *types)) == ["not faster"]
    assert wide(report_of(function, *types, recipe="unit")) == [""]


def test_readers_share_a_cast() -> None:
    """Alone the matmul is not faster; in a training step, its casts serve three."""

    def loss(w: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.tanh(jnp.tanh(x) @ w).astype(jnp.float32))

    types = array(2048, 1536), array(4096, 2048)
    assert wide(report_of(loss, *types)) == ["not faster"]
    assert wide(report_of(jax.grad(loss, (0, 1)), *types)) == [""] * 3


def test_a_tensor_that_is_kept_wide_is_written_twice() -> None:
    """The cast takes the place of a tensor only if nothing else keeps that."""

    def function(x: jax.Array, w: jax.Array) -> tuple[jax.Array, jax.Array]:
        x = jnp.tanh(x)
        return x @ w, x

    types = array(2048, 640), array(640, 2048)
    assert wide(report_of(lambda x, w: function(x, w)[0], *types, recipe="unit")) == [""]
    assert wide(report_of(function, *types, recipe="unit")) == ["not faster"]


def test_a_matmul_that_stays_wide_keeps_its_operands_wide() -> None:
    """Another matmul, which the recipe excludes, reads the same tensor."""

    def function(x: jax.Array, w: jax.Array, v: jax.Array) -> tuple[jax.Array, jax.Array]:
        x = jnp.tanh(x)
        with jax.named_scope("first"):
            first = x @ w
        with jax.named_scope("other"):
            return first, x @ v

    types = array(2048, 640), array(640, 2048), array(640, 2048)
    assert wide(report_of(function, *types, recipe="unit")) == ["", ""]
    settings = {"matmul.exclude": ["*other*"]}
    report = report_of(function, *types, recipe="unit", settings=settings)
    assert wide(report) == ["not faster", "excluded"]


def test_matmuls_of_one_tensor_are_dropped_together() -> None:
    """Each of the first two shares the cast of a large tensor, which costs more than both save.

    They share another tensor with matmuls that are faster in FP8: all save more than they cost.
    """

    def function(large: jax.Array, x: jax.Array, y: jax.Array, *w: jax.Array) -> Any:
        return large @ x, large @ y, *(layer(x, each) for each in w)

    types = array(8192, 8192), *[array(8192, 384)] * 2, *[array(384, 8192)] * 3
    report = report_of(function, *types, settings={"matmul.vocabulary": True})
    assert wide(report) == [*["not faster"] * 2, "", "", ""]
    assert wide(report_of(layer, types[0], array(8192, 2048))) == [""]


def test_matmuls_that_share_tensors_are_dropped_together() -> None:
    """Two matmuls save more than the cast that both read costs; all save less than all casts."""

    def function(a: jax.Array, b: jax.Array, c: jax.Array, d: jax.Array) -> list[jax.Array]:
        return [jnp.einsum("mk,nk->mn", x, y) for x in (a, b) for y in (c, d)]

    assert wide(report_of(function, *[array(768, 4096)] * 4)) == ["not faster"] * 4


@pytest.mark.parametrize(
    ("kind", "name", "role", "costs"),
    [
        ("propagated", "tanh", "activation", (-1, 1, 2)),
        ("calibrated", "tanh", "gradient", (-1, 1, 2)),
        ("propagated", "x", "activation", (3, 3, 2)),
        ("propagated", "tanh", "weight", (3, 3, 2)),
        ("propagated", "product", "activation", (3, 3, 2)),
        ("propagated", "rounded", "activation", (3, 3, 2)),
        ("delayed", "tanh", "gradient", (3, 3, 2)),
        ("current", "tanh", "activation", (3, 3, 2)),
        ("current", "x", "weight", (5, 5, 2)),
        ("current", "product", "gradient", (5, 5, 2)),
        ("block", "tanh", "activation", (5, 5, 2)),
        ("current", "wide", "activation", (5, 5, 2)),
        ("propagated", "narrowed", "weight", (-1, 1, 2)),
        ("current", "narrowed", "weight", (3, 3, 2)),
        ("delayed", "narrowed", "weight", (-1, 3, 2)),
        ("delayed", "tanh", "activation", (-1, 1, 2)),
        ("delayed", "rows", "activation", (3, 3, 2)),
        ("delayed", "x", "activation", (3, 3, 2)),
        ("block", "narrowed", "weight", (5, 5, 2)),
    ],
)
def test_bytes_of_casts(kind: str, name: str, role: str, costs: tuple[float, float, float]) -> None:
    """A cast alone, a cast beside the wide tensor, and a transpose of the cast."""
    type_, wide_ = "tensor<4x4xbf16>", "tensor<4x4xf32>"
    module = parse(f"""func.func @main(%x: {type_}, %y: {wide_}) {{
      %0 = stablehlo.tanh %x : {type_}
      %1 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
        : ({type_}, {type_}) -> {wide_}
      %2 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0]
        : ({type_}, {type_}) -> {type_}
      %3 = stablehlo.convert %1 : ({wide_}) -> {type_}
      %4 = stablehlo.convert %x : ({type_}) -> {wide_}
      %5 = stablehlo.convert %y : ({wide_}) -> {type_}
      %6 = stablehlo.constant dense<0.0> : tensor<bf16>
      %7 = stablehlo.reduce(%x init: %6) applies stablehlo.add across dimensions = [1]
        : ({type_}, tensor<bf16>) -> tensor<4xbf16>
      %8 = stablehlo.broadcast_in_dim %7, dims = [0] : (tensor<4xbf16>) -> {type_}
      %9 = stablehlo.divide %x, %8 : {type_}
      return
    }}""")
    with module.context:
        block = body_of(module)
        names = ("tanh", "", "product", "rounded", "wide", "narrowed", *"678", "rows")
        made = dict(zip(names, block.operations, strict=False))
        value: ir.Value = made[name].results[0] if name in made else block.arguments[0]
        device = replace(load_target("h200"), reached={})
        found = tensor_of(value, role, kind, second=1.0, device=device)
        near = pytest.approx(costs, abs=2 * LAUNCH)
        assert (found.alone, found.beside, found.transpose) == near
        assert tensor_of(value, role, kind, second=1.0, device=load_target("b200")).transpose == 0


def test_the_cost_of_a_tensor_by_its_readers() -> None:
    """Three matmuls read it; `alone`, `beside` and `transpose` are 1, 10 and 100."""
    tensor = Tensor(1.0, 10.0, 100.0, readers=3)
    counts = (0, 0), (3, 0), (2, 1), (2, 0), (1, 1)
    assert [tensor.cost(narrow) for narrow in counts] == [0, 1, 101, 10, 110]
    tensor.stored = True
    assert [tensor.cost(narrow) for narrow in counts] == [0, 10, 110, 10, 110]


def test_estimates_that_are_near_each_other_are_left_to_the_recipe() -> None:
    """100 µs in the format of the program against 101 and 103."""
    with parse("func.func @main() { return }").context:
        choice = _Choice([], load_target("h200"), "current")
    choice._times, choice._formats = [(100e-6, 101e-6), (100e-6, 103e-6)], ["bf16", "f32"]
    choice._uses, choice._narrow = [[], []], [True, True]
    near, far = choice.reasons()
    assert near is None
    assert far is not None
    assert far.reason == (
        "on h200, it is estimated at 100.0 µs in f32, and at 103.0 in FP8 with 0.0 for casts"
    )


def attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    weights = jax.nn.softmax(scores(q, k).astype(jnp.float32), axis=-1).astype(q.dtype)
    return jnp.sum(jnp.tanh(jnp.einsum("bqk,bkd->bqd", weights, v)).astype(jnp.float32))


def attention_of(length: int, recipe: str) -> list[str]:
    """The six matmuls of attention in a training step; the first computes the scores."""
    types = [array(128, length, 64)] * 3

    def step(q: jax.Array, k: jax.Array, v: jax.Array) -> Any:
        return jax.grad(attention, (0, 1, 2))(jnp.tanh(q), jnp.tanh(k), jnp.tanh(v))

    return wide(report_of(step, *types, recipe=recipe))


@pytest.mark.parametrize(
    ("length", "recipe", "found"),
    [
        (1024, "unit", ""),
        (1024, "fp8-current", "not faster"),
        (1020, "unit", "not faster"),
        (1020, "fp8-current", "not faster"),
    ],
)
def test_attention_reads_its_weights_in_fp8(length: int, recipe: str, found: str) -> None:
    """The cast of the softmax replaces it, and a transpose of it is less than two reads save.

    With a current scale, it is written before its scale is known. On an H200, the kernels that pad
    f8 took ten times the time of their bytes.
    """
    assert attention_of(length, recipe) == [found] * 6


def test_the_speeds_are_those_that_kernels_reached() -> None:
    """Without them, a matmul with few terms is faster in FP8."""
    device = load_target("h200")
    module = parse("""func.func @main(%x: tensor<2x2048x1024xbf16>, %y: tensor<2x2048x1024xbf16>) {
      %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [2]
        : (tensor<2x2048x1024xbf16>, tensor<2x2048x1024xbf16>) -> tensor<2x2048x2048xbf16>
      return
    }""")
    with module.context:
        op = body_of(module).operations[0]
        extent = Extent(Size(2048), Size(2048), Size(1024), Size(2))
        candidate = Matmul(op, extent, ("activation", "activation"))
        peak = device.flops("f8") or 0
        before, after = _times(candidate, device)
        assert after == pytest.approx(
            2 * 2 * 2048 * 2048 * 1024 / peak / device.share("f8_batched")
        )
        assert before > _times(candidate, replace(device, reached={}))[0]


def convolved(x: jax.Array, w: jax.Array) -> jax.Array:
    return jax.lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )


@pytest.mark.parametrize("recipe", ["unit", "fp8-current"])
def test_convolutions_are_no_faster_on_hopper(recipe: str) -> None:
    """The kernels of cuDNN take as long in FP8 as in bf16 there; see `benchmarks.gpu_convolutions`.

    A device on which none was timed has the speeds of its matmuls.
    """
    types = array(64, 32, 32, 256), array(3, 3, 256, 256)
    for target in ("h100", "h200", "b200"):
        found = wide(report_of(convolved, *types, recipe=recipe, settings={"target": target}))
        assert found == [("not faster" if target != "b200" else "")]
    device = load_target("h200")
    assert device.share("f16_convolution") == device.share("bf16_convolution")
    assert device.share("int8_convolution") == 1
    assert device.share("f8_convolution") < device.share("f8")


def test_the_reason_names_the_format_of_the_program() -> None:
    types = [shaped(128, 1024, 64, dtype=jnp.float16)] * 2
    (matmul,) = report_of(scores, *types).matmuls
    assert matmul.wide is not None
    assert "83.9 µs in f16" in matmul.wide.reason


def test_a_long_chain_of_views_is_followed() -> None:
    """The product is kept wide, behind more views than functions may call each other."""
    shapes = "tensor<2048x240xbf16>", "tensor<240x2048xbf16>"
    lines, last = [], "%x0"
    for i in range(3000):
        source, target = shapes[i % 2], shapes[(i + 1) % 2]
        lines.append(f"%v{i} = stablehlo.transpose {last}, dims = [1, 0] : ({source}) -> {target}")
        last = f"%v{i}"
    module = parse(
        f"func.func @main(%x0: {shapes[0]}) -> {shapes[0]} {{\n"
        + "\n".join(lines)
        + f"\nreturn {last} : {shapes[0]} }}"
    )
    with module.context:
        (argument,) = body_of(module).arguments
        assert is_stored(argument, ())


def test_f32_matmuls_take_the_time_of_f32() -> None:
    def function(x: jax.Array, y: jax.Array) -> jax.Array:
        return jnp.tanh(x) @ jnp.tanh(y).T

    def types(dtype: Any) -> list[jax.ShapeDtypeStruct]:
        return [shaped(2048, 1024, dtype=dtype)] * 2

    assert wide(report_of(function, *types(jnp.bfloat16))) == ["not faster"]
    assert wide(report_of(function, *types(jnp.float32))) == [""]
    report = report_of(function, *types(jnp.float32), settings={"compute": "bf16"})
    assert wide(report) == ["not faster"]


def test_unknown_sizes_are_left_to_the_recipe() -> None:
    (batch,) = export.symbolic_shape("b")
    symbolic = shaped(batch, 4096, dtype=jnp.bfloat16)
    assert wide(report_of(layer, symbolic, array(4096, 4096))) == [""]


def test_f16_matmuls_have_no_casts_to_f8() -> None:
    assert wide(report_of(scores, *SCORES, recipe="fp16")) == [""]


@pytest.mark.parametrize("target", ["h100", "b200"])
@pytest.mark.parametrize("name", ["fp8-current", "unit"])
@pytest.mark.parametrize("seed", range(6))
def test_the_choice_is_never_worse_than_others(seed: int, name: str, target: str) -> None:
    """Matmuls of random sizes that share operands at random, against all, none, and one changed."""
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
    recipe = load_recipe(name, {"target": target})
    with module.context:
        candidates = list(_candidates(module))
        wide = {i for i, reason in enumerate(not_faster(candidates, recipe)) if reason is not None}

        def total(wide: Iterable[int]) -> float:
            choice = _Choice(candidates, load_target(target), recipe.scaling.kind)
            choice._apply(wide, narrow=False)
            return choice.total()

        assert total(wide) <= total(()) * (1 + 1e-9)
        assert total(wide) <= total(range(len(candidates))) * (1 + _MARGIN)
        assert all(total(wide) <= total(wide ^ {i}) * (1 + _MARGIN) for i in range(len(candidates)))


def _candidates(module: ir.Module) -> Any:
    for op in body_of(module).operations:
        if op.operation.name == "stablehlo.dot_general":
            lhs = op.operands[0].type.shape
            m, n = op.results[0].type.shape
            k = lhs[0] * lhs[1] // m
            extent = Extent(Size(m), Size(n), Size(k))
            yield Matmul(op, extent, ("activation", "activation"))
