"""Rescalings that recipes put at layers, in the demo model and in layers by themselves."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as jsa
from examples import gpt2
from examples.training import training_step
from examples.xla import flat
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.passes.text import run_pipeline
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import Recipe
from tests.py.shared.cast_stats import casts_of, known_scales, log2_rms
from tests.py.shared.judge import (
    assert_all_close,
    assert_same_bits,
    evaluate,
    normals,
    parse,
    rewritten,
    shaped,
    stablehlo_of,
)

CONFIG = gpt2.Config(layers=2, width=32, heads=2, sequence=16, vocab=64, batch=2)


def given() -> tuple[Any, Any, Any]:
    """The state and the tokens of a step."""
    tokens = np.random.default_rng(0).integers(0, CONFIG.vocab, (2, CONFIG.sequence + 1))
    return *gpt2.state(CONFIG, gpt2.SGD), tokens.astype(np.int32)


@pytest.fixture(scope="module", name="text")
def _text() -> str:
    """A training step of a small GPT-2."""
    return stablehlo_of(gpt2.sgd_step, *gpt2.abstract_state(CONFIG, gpt2.SGD))


def sites(text: str, recipe: Recipe) -> Counter[str]:
    """Returns the number of rescalings that a recipe inserts, by kind."""
    _, report = rewritten(text, "scaled", recipe=recipe)
    return Counter(site.kind for site in report.sites)


def without_names(text: str) -> str:
    """The program without locations, functions renamed."""
    stripped = parse(text).operation.get_asm(enable_debug_info=False)
    for function in parse(text).body.operations:
        name = function.attributes["sym_name"].value
        if name != "main":
            stripped = stripped.replace(f"@{name}(", f"@f{abs(hash(name))}(")
    return str(stripped)


class TestPresets:
    def test_two_for_each_layer_of_the_transformer(self, text: str) -> None:
        expected = {"norm_gradients": 2 * CONFIG.layers + 1}  # and one for the last norm
        assert sites(text, load_recipe("fp8")) == expected
        assert sites(text, load_recipe("fp16-state")) == expected
        assert sites(without_names(text), load_recipe("fp8")) == expected

    def test_gradients_of_state_as_well(self, text: str) -> None:
        weights = len(jax.tree.leaves(gpt2.state(CONFIG, gpt2.SGD)[0]))
        found = sites(text, load_recipe("fp8-state"))
        assert found == {"norm_gradients": 2 * CONFIG.layers + 1, "state_gradients": weights}

    def test_small_gradients_of_one_size_are_looked_at_together(self, text: str) -> None:
        recipe = load_recipe("propagate", ["state_gradients.statistic=l2"])
        together, _ = rewritten(text, "scaled", recipe=recipe)
        apart, _ = rewritten(text, "scaled", recipe=replace(recipe, rounding="up"))
        settings = ["state_gradients.statistic=l2", "state_gradients.rounding=down"]
        each, _ = rewritten(text, "scaled", recipe=load_recipe("propagate", settings))
        counts = [str(module).count("stablehlo.reduce(") for module in (together, apart, each)]
        assert counts[0] == counts[1] < counts[2]

    @pytest.mark.slow
    @pytest.mark.parametrize("kind", ["norm_gradients", "state_gradients", "matmul_operands"])
    def test_what_means_the_same_in_f32(self, text: str, kind: str) -> None:
        """Sites move scales; the gradients are those of the plain program, up to XLA's fusion."""
        recipe = load_recipe("propagate", [f"{kind}.statistic=l2"])
        assert sites(text, recipe)[kind] > 2 * CONFIG.layers
        arguments = given()
        step = training_step(gpt2.loss, gpt2.SGD)
        expected = step(*arguments)
        scaled = jsa.scalify(step, recipe=recipe)(*jsa.as_scaled_array(arguments))
        assert_all_close(jsa.asarray(scaled), expected, rtol=1e-5, atol=1e-6)

    @pytest.mark.slow
    def test_operands_stay_near_unit(self, text: str) -> None:
        """The data of operands that a step casts have sizes near 1."""
        found = {}
        for name in ("propagate", "fp8"):
            recipe = replace(load_recipe("fp8"), norm_gradients=load_recipe(name).norm_gradients)
            found[name] = self._sizes(text, recipe)
        assert np.abs(found["fp8"]).max() <= 6
        assert np.abs(found["fp8"]).max() <= np.abs(found["propagate"]).max()

    def _sizes(self, text: str, recipe: Recipe) -> Any:
        arguments = flat(jsa.as_scaled_array(given()))
        casts = casts_of(text, [np.asarray(a) for a in arguments], Options(recipe, "scaled"))
        assert len(casts) > 20
        return log2_rms(casts)


def marker_types(step: Any, *arguments: Any) -> list[str]:
    """The element types of what `fp8` rescales in a program."""
    module = parse(stablehlo_of(step, *arguments))
    run_pipeline(module, "scalify-roles,scalify-recognize,scalify-insert-rescales{recipe=fp8}")
    lines = [line for line in str(module).splitlines() if "dynamic_rescale" in line]
    return [line.rsplit("x", 1)[1].removesuffix(">") for line in lines]


@pytest.mark.parametrize(
    ("dtype", "also", "expected"),
    [("bfloat16", False, "bf16"), ("float16", False, "f32"), ("bfloat16", True, "f32")],
)
def test_gradients_that_are_rounded_to_bf16_are_rescaled_as_bf16(
    dtype: str, also: bool, expected: str
) -> None:
    """Not if another op reads the gradient in f32, and not in f16, which may be out of range."""

    def loss(x: Any, w: Any) -> Any:
        return jnp.sum(jnp.tanh(normalize(x).astype(dtype) @ w).astype(jnp.float32))

    def step(x: Any, w: Any) -> Any:
        wide = jax.grad(loss)(x.astype(jnp.float32), w)
        narrow = wide.astype(dtype)
        return (narrow @ w, wide) if also else narrow @ w

    x, w = shaped(64, 32, dtype=dtype), shaped(32, 16, dtype=dtype)
    assert marker_types(step, x, w) == [expected]


@pytest.mark.slow
def test_an_authors_markers_do_what_the_recipe_does() -> None:
    """The paper's algorithm 5 in the model, and no site in the recipe."""

    def marked_norm(params: Any, x: jax.Array) -> jax.Array:
        return plain_norm(params, jsa.dynamic_rescale_l2_grad(x))

    plain_norm = gpt2.layer_norm
    arguments = jsa.as_scaled_array(given())
    results = []
    for norm, statistic in ((plain_norm, "l2"), (marked_norm, "none")):
        gpt2.layer_norm = norm
        try:
            step: Any = training_step(gpt2.loss, gpt2.SGD)
            settings = {"norm_gradients.statistic": statistic}
            results.append(jsa.scalify(step, recipe="fp8", settings=settings)(*arguments))
        finally:
            gpt2.layer_norm = plain_norm
    for ours, theirs in zip(*map(jax.tree.leaves, map(jsa.asarray, results)), strict=True):
        distance = np.linalg.norm(np.asarray(ours, float) - np.asarray(theirs, float))
        assert distance <= 1e-3 * np.linalg.norm(np.asarray(theirs, float))


def normalize(x: Any) -> Any:
    """LayerNorm without an affine part."""
    x = x - x.mean(-1, keepdims=True)
    return x * jax.lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-5)


@pytest.mark.parametrize(("epsilon", "rms"), [("exact", 2.0**-20 / 1e-5**0.5), ("data", 1.0)])
def test_epsilon_on_data_finds_small_variances(epsilon: str, rms: float) -> None:
    """The paper's approximation, appendix C.2: an option, and off by default."""
    x = np.random.default_rng(0).standard_normal((4, 64)).astype(np.float32)
    run = jsa.scalify(normalize, recipe="propagate", settings={"epsilon": epsilon})
    y = np.asarray(jsa.asarray(run(jsa.ScaledArray(x, np.float32(2.0**-20)))))
    size = float(np.sqrt((y * y).mean()))
    assert 0.9 * rms <= size <= 1.1 * rms


def test_epsilon_is_exact_by_default() -> None:
    text = stablehlo_of(normalize, jnp.ones((4, 8)))
    x = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
    module, _ = rewritten(text, input_scale={"*": 2.0**-3})
    assert_same_bits(evaluate(module, [x])[0], evaluate(parse(text), [x])[0])


def test_probabilities_are_cast_near_unit() -> None:
    """At scale 1 those of 512 elements would be near the end of E4M3."""

    def attend(q: Any, k: Any, v: Any) -> Any:
        return jax.nn.softmax(q @ k.T / 8) @ v

    shape = shaped(512, 64)
    text = stablehlo_of(attend, shape, shape, shape)
    arrays = normals(*[(512, 64)] * 3)
    casts = casts_of(text, arrays, Options(load_recipe("fp8")))
    assert min(known_scales(casts)) == -9
    assert np.abs(log2_rms(casts)).max() < 2
