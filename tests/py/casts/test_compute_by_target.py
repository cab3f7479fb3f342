"""``compute=auto``: the target decides whether a model computes in bf16 what is no matmul."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.passes.narrow_compute import NarrowComputePass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.recipes.formats import PLATFORMS
from scalify_hlo.recipes.loading import load_recipe
from tests.py.casts.test_compute import FP8_PRESETS, MIXED
from tests.py.casts.test_low_precision import step_text
from tests.py.shared.judge import evaluate, parse, rewritten, stablehlo_of

WEIGHT = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32) / 8
SIGNS = np.sign(np.random.default_rng(1).standard_normal((64, 64))).astype(np.float32)


def features(x: jax.Array) -> jax.Array:
    with jax.named_scope("features"):
        return x @ np.eye(64, dtype=np.float32)


ACCELERATORS = [name for name, platform in PLATFORMS.items() if platform.accelerator]

INPUTS: dict[str, tuple[Callable[..., Any], str]] = {
    "centered": (lambda w, x: (x - 1000) @ w, ""),
    "normalized": (lambda w, x: ((x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)) @ w, ""),
    "positions": (lambda w, x: jnp.sin(x) * ((x - 1000) @ w), ""),
    "features": (lambda w, x: jnp.sin(features(x)) @ w, "*features*"),
}
"""Functions of weights and of inputs near 1000, where numbers in bf16 are 4 apart, with the matmuls
that are left out."""


class TestTheTargetDecides:
    """With ``compute=auto``, the default."""

    @pytest.mark.parametrize("recipe", [*FP8_PRESETS, "fp8-state", "mxfp8", "nvfp4"])
    @pytest.mark.parametrize("target", ACCELERATORS)
    def test_bf16_on_accelerators(self, recipe: str, target: str) -> None:
        given = load_recipe(recipe, {"target": target})
        assert given.compute == "auto"
        assert given.rest == "bf16"
        assert load_recipe(recipe, {"target": target, "compute": "keep"}).rest == "keep"

    @pytest.mark.parametrize("target", ["any", "cpu", "iree", "portable"])
    def test_the_format_of_the_program_elsewhere(self, target: str) -> None:
        assert load_recipe("fp8-current", {"target": target}).rest == "keep"

    @pytest.mark.parametrize("recipe", ["propagate", "fp16", "bf16"])
    def test_nothing_is_decided_without_fp8(self, recipe: str) -> None:
        assert load_recipe(recipe, {"target": "gpu"}).rest == "keep"

    def test_the_model_of_a_step_is_in_bf16(self) -> None:
        decided, kept = (
            rewritten(step_text(), recipe=load_recipe("fp8-current", {"target": "gpu", **settings}))
            for settings in ({}, {"compute": "keep"})
        )
        assert set(re.findall(r"tanh %\w+ : tensor<[0-9x]+x(\w+)>", str(decided[0]))) == {"bf16"}
        assert decided[1].compute == "bf16"
        assert "bf16" not in str(kept[0])
        assert kept[1].compute is None

    def test_a_program_in_16_bits_keeps_its_formats_without_a_remark(self) -> None:
        recipe = load_recipe("fp8-current", {"target": "gpu"})
        module, report = rewritten(MIXED, recipe=recipe)
        assert report.compute is None
        assert not [remark for remark in report.remarks if "compute" in remark.message]
        assert re.findall(r"tanh %\w+ : tensor<64x64x(\w+)>", str(module)) == ["f32"]

    @pytest.mark.parametrize("name", INPUTS)
    def test_what_is_computed_from_inputs_is_not_rounded(self, name: str) -> None:
        """The results are those of a program without a target, up to roundings after a matmul."""
        function, exclude = INPUTS[name]
        text = stablehlo_of(function, WEIGHT, 1000 + SIGNS)
        settings = {"matmul.smallest": "1", **({"matmul.exclude": exclude} if exclude else {})}
        texts = [
            scalify_hlo.rewrite(text, recipe="fp8-current", settings=settings | {"target": target})
            for target in ("any", "gpu")
        ]
        exact, kept, decided = (
            np.asarray(evaluate(parse(each), [WEIGHT, 1000 + SIGNS])[0], np.float64)
            for each in (text, *texts)
        )
        size = float(np.sqrt(np.mean(np.square(exact))))
        errors = [float(np.max(np.abs(each - exact))) / size for each in (kept, decided)]
        assert errors[1] <= errors[0] + 2.0**-6

    @pytest.mark.parametrize(
        "settings", [{"matmul.exclude": "*"}, {"matmul.smallest": "4096"}], ids=str
    )
    def test_a_program_of_which_no_matmul_is_quantized_is_left_as_it_is(
        self, settings: dict[str, str]
    ) -> None:
        text = stablehlo_of(lambda w, x: jnp.tanh(x @ w), WEIGHT, SIGNS)
        recipe = load_recipe("fp8-current", {"target": "gpu", **settings})
        module, report = rewritten(text, recipe=recipe)
        assert report.compute is None
        assert "bf16" not in str(module)

    def test_a_matmul_of_integers_is_none(self) -> None:
        text = stablehlo_of(lambda a, x: (a @ a, jnp.exp(x)), np.ones((8, 8), np.int32), SIGNS)
        module, _ = rewritten(text, recipe=load_recipe("fp8-current", {"target": "gpu"}))
        assert "bf16" not in str(module)

    def test_platforms_decide_nothing(self) -> None:
        function = jax.jit(lambda w, x: jnp.tanh(x @ w))
        program = jax.export.export(function, platforms=["cpu", "tpu"])(WEIGHT, SIGNS)
        settings = {"matmul.smallest": 1}
        _, report = scalify_hlo.rewrite(
            program, recipe="fp8-current", settings=settings, report=True
        )
        assert report.totals.matmuls.share == 1
        assert report.compute is None

    def test_the_pass_alone_takes_all_matmuls(self, tmp_path: Path) -> None:
        text = stablehlo_of(lambda w, x: jnp.tanh(x @ w), WEIGHT, SIGNS)
        path = tmp_path / "gpu.toml"
        path.write_text('base = "fp8-current"\ntarget = "gpu"\n')
        module = parse(text)
        run_passes(module, [NarrowComputePass(load_recipe(path))])
        assert "bf16" in str(module)

    def test_a_program_without_matmuls_is_left_as_it_is(self) -> None:
        text = stablehlo_of(lambda x: jnp.tanh(x) * 3, np.ones((64, 64), np.float32))
        for settings, expected in (({}, "f32"), ({"compute": "bf16"}, "bf16")):
            recipe = load_recipe("fp8-current", {"target": "gpu", **settings})
            module, _ = rewritten(text, recipe=recipe)
            assert re.findall(r"tanh %\w+ : tensor<64x64x(\w+)>", str(module)) == [expected]
