"""The baselines of the literature: loss scaling, and casts without scales."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo.errors import ScalifyError, ScalifyWarning, UsageError
from scalify_hlo.passes.summary import summary
from scalify_hlo.recipes.loading import load_recipe
from tests.py.laws.judge import WAYS
from tests.py.shared.judge import interpreted, program_of
from tests.py.shared.loss_scale_programs import STEPS, WEIGHTS, X, Y, mean_loss, mlp, sgd

BASELINES = ("plain-f16", "plain-f8", "loss-scaling", "auto-loss-scaling")
CONSTANT = {"loss_scale.kind": "constant", "loss_scale.value": 1024.0}
UP, DOWN = "dense<1.024000e+03>", "dense<9.765625E-4>"


def bits(arrays: Any) -> list[bytes]:
    """The bits of all arrays of a tree."""
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(arrays)]


def rewritten(program: Any, settings: Any = CONSTANT, recipe: str = "propagate") -> Any:
    """A program and the report of its rewrite."""
    return scalify_hlo.rewrite(program, recipe=recipe, settings=settings, report=True)


@pytest.mark.parametrize("name", STEPS)
def test_without_casts_a_scaled_loss_changes_no_bit(name: str) -> None:
    """Of SGD and AdamW, means, sums, loops, recomputed values, and gradients in a loss."""
    step = STEPS[name]
    program = program_of(step.run, *step.arguments)
    scaled, report = rewritten(program)
    text = scaled.mlir_module()
    assert not report.remarks
    assert UP in text
    assert DOWN in text
    assert bits(interpreted(scaled, *step.arguments)) == bits(interpreted(program, *step.arguments))


@pytest.mark.parametrize(
    ("name", "seeds"), [("sgd_mean", 1), ("sgd_sum", 2), ("custom_vjp", 1), ("penalty", 2)]
)
def test_only_seeds_are_multiplied(name: str, seeds: int) -> None:
    """Constants of recomputed values are none, nor are those of a gradient in the loss."""
    step = STEPS[name]
    text = rewritten(program_of(step.run, *step.arguments))[0].mlir_module()
    assert text.count(UP) == seeds
    assert text.count(DOWN) == (2 if name == "custom_vjp" else 3)  # each gradient


def test_what_a_gradient_is_compared_with_is_scaled_too() -> None:
    @jax.custom_vjp
    def spy(x: Any) -> Any:
        return x

    def backward(x: Any, gradient: Any) -> Any:
        return (jnp.where(jnp.abs(gradient) > jnp.abs(x), x, gradient),)

    spy.defvjp(lambda x: (x, x), backward)
    program = program_of(jax.grad(lambda x: jnp.sum(spy(x)) * 0.5), X)
    scaled, _ = rewritten(program)
    assert bits(interpreted(scaled, X)) == bits(interpreted(program, X))
    assert scaled.mlir_module().count(UP) == 3  # the seed, |x|, and x


def test_programs_without_names_are_scaled_too() -> None:
    """Gradients of matmuls are found by the data flow; those of the loss before are not scaled."""
    step = STEPS["sgd_mean"]
    program = program_of(step.run, *step.arguments)
    plain = re.sub(r" loc\(.*\)$", "", program.mlir_module(), flags=re.MULTILINE)
    plain = "\n".join(line for line in plain.splitlines() if not line.startswith("#loc"))
    text = scalify_hlo.rewrite(plain, recipe="propagate", settings=CONSTANT)
    assert text.count(UP) == 1
    assert text.count(DOWN) == 3


def test_cotangents_that_a_vjp_takes_are_scaled() -> None:
    program = program_of(lambda w: mean_loss(w, X, Y), WEIGHTS)
    scaled, report = rewritten(program)
    told = report.remarks[0].message
    assert told == "loss_scale.kind has no effect: no loss with gradients is found"
    vjp, own = scaled.vjp(), program.vjp()
    assert UP in vjp.mlir_module()
    assert DOWN in vjp.mlir_module()
    leaves = [*jax.tree.leaves(WEIGHTS), np.float32(2)]
    assert bits(interpreted(vjp, *leaves)) == bits(interpreted(own, *leaves))


@pytest.mark.parametrize("recipe", ["loss-scaling", "auto-loss-scaling"])
def test_a_program_without_gradients_is_told(recipe: str) -> None:
    program = program_of(mlp, WEIGHTS, X)
    _, report = rewritten(program, {}, recipe)
    (told,) = (each for each in report.remarks if "loss_scale" in each.message)
    assert "rewrite the function that takes the gradient" in told.hint
    assert told.location
    with pytest.raises(ScalifyError, match="no loss with gradients"):
        scalify_hlo.rewrite(program, recipe=recipe, strict=True)


# Behaviour, as the literature says.


def small(weights: Any, x: Any, y: Any) -> Any:
    """A loss whose gradients are below the least number of f16."""
    return mean_loss(weights, x, y) * 2.0**-20


def gradients(recipe: str, **settings: Any) -> Any:
    """The gradients of a small loss under a recipe."""
    step = scalify_hlo.scalify(jax.grad(small), recipe=recipe, settings=settings)
    if recipe.startswith("auto"):
        state = step.init_scaling_state(WEIGHTS, X, Y)
        return step(WEIGHTS, X, Y, scaling_state=state)[0]
    return step(WEIGHTS, X, Y)


def nearness(found: Any, wanted: Any) -> float:
    """The least cosine of the tensors of two trees."""

    def cosine(a: Any, b: Any) -> float:
        a, b = np.asarray(a, np.float64).ravel(), np.asarray(b, np.float64).ravel()
        return float(a @ b / np.sqrt((a @ a) * (b @ b) + 1e-300))

    return min(map(cosine, jax.tree.leaves(found), jax.tree.leaves(wanted)))


def test_gradients_underflow_and_a_scaled_loss_saves_them() -> None:
    wanted = jax.grad(small)(WEIGHTS, X, Y)
    assert nearness(gradients("plain-f16"), wanted) < 0.9
    assert nearness(gradients("loss-scaling"), wanted) > 0.999
    assert nearness(gradients("auto-loss-scaling"), wanted) > 0.999
    assert nearness(gradients("fp16"), wanted) > 0.999


def test_gradients_underflow_in_f8_too() -> None:
    wanted = jax.grad(small)(WEIGHTS, X, Y)
    assert nearness(gradients("plain-f8", **{"matmul.smallest": 1}), wanted) < 0.9
    scaled: Any = {"matmul.smallest": 1, "loss_scale.kind": "constant", "loss_scale.value": 2.0**24}
    assert nearness(gradients("plain-f8", **scaled), wanted) > 0.98


def test_clipped_gradients_are_rounded_before_they_are_clipped() -> None:
    """A gradient in f16 is S times as large; after the optimizer clips it, it is not."""
    step = STEPS["clipped"]
    text = rewritten(program_of(step.run, *step.arguments), {}, "loss-scaling")[0].mlir_module()
    rounded = re.findall(r"convert (%\w+) : \(tensor<8x16xf32>\) -> tensor<8x16xf16>", text)
    (gradient,) = (value for value in rounded if "arg" not in value)
    assert f"{gradient} = stablehlo.transpose" in text


@pytest.mark.parametrize(
    ("recipe", "factor", "saturate", "wanted"),
    [
        ("plain-f16", 1e6, False, np.inf),
        ("plain-f16", 1e6, True, 65504.0),
        ("plain-f16", 1e-9, False, 0.0),
        ("plain-f8", 1e6, False, np.nan),
        ("plain-f8", 1e6, True, 448.0),
        ("plain-f8", 1e-4, False, 0.0),
        ("plain-f8", 300.0, False, float(ml_dtypes.float8_e4m3fn(300))),
    ],
)
def test_numbers_are_cast_as_they_are(
    recipe: str, factor: float, saturate: bool, wanted: float
) -> None:
    settings = {"saturate": saturate, "matmul.smallest": 1} if "f8" in recipe else {}
    settings |= {"saturate": saturate}
    function = scalify_hlo.scalify(lambda x, w: x @ w, recipe=recipe, settings=settings)
    found = np.asarray(function(np.eye(16, dtype=np.float32) * np.float32(factor), np.eye(16)))
    np.testing.assert_array_equal(np.diag(found), np.full(16, wanted, np.float32))


# Automatic scales.


def scale_of(state: scalify_hlo.ScalingState) -> float:
    """The scale of a loss, which has one."""
    assert state.loss_scale is not None
    return state.loss_scale


def test_it_recovers_from_an_overflow_and_grows() -> None:
    step, (weights, moments, *batch) = STEPS["clipped"]
    settings = {"loss_scale.value": 2.0**30, "loss_scale.period": 3}
    scaled = scalify_hlo.scalify(step, recipe="auto-loss-scaling", settings=settings)
    state = scaled.init_scaling_state(weights, moments, *batch)
    assert state.loss_scale == 2.0**30
    skipped, good, scales = 0, 0, [scale_of(state)]
    while good < 4:
        (new, more, loss), after = scaled(weights, moments, *batch, scaling_state=state)
        assert np.isfinite(loss)
        same = bits((weights, moments)) == bits((new, more))
        if scale_of(after) < scale_of(state):
            assert same  # with the count of the optimizer
            assert after.loss_scale == scale_of(state) / 2
            assert after.step == 0
            assert not good
            skipped += 1
        else:
            assert not same
            good += 1
            assert int(more[1][0].count) == good
            assert after.loss_scale == scale_of(state) * (2 if good == 3 else 1)
            assert after.step == (0 if good == 3 else good % 3)
        weights, moments, state = new, more, after
        scales.append(scale_of(state))
    assert skipped > 5
    assert all(np.frexp(scale)[0] == 0.5 for scale in scales)


def test_an_exported_takes_the_scale_as_the_state_of_delayed_scales() -> None:
    step = STEPS["sgd_mean"]
    program, report = rewritten(program_of(step.run, *step.arguments), {}, "auto-loss-scaling")
    state = scalify_hlo.init_scaling_state(program)
    assert state["scale"].shape == (1,)
    assert float(state["scale"][0]) == 2.0**-16
    assert state["amax_history"].shape == (0, 1)
    assert scalify_hlo.scaling_tensors(program) == ("loss",)
    (_, loss), new = program.call(*step.arguments, state)
    assert np.isfinite(loss)
    assert int(new["step"]) == 1
    former = program, {**new, "scale": new["scale"] / 4}
    with pytest.warns(ScalifyWarning, match="1 tensors are carried over"):
        later = scalify_hlo.init_scaling_state(program, former=former)
    assert float(later["scale"][0]) == 2.0**-18
    assert report.scaling_state is not None
    with pytest.raises(UsageError, match="none for those of its vjp"):
        program.vjp()


def test_a_gradient_that_is_nan_skips_the_step() -> None:
    step = scalify_hlo.scalify(sgd(mean_loss), recipe="auto-loss-scaling")
    state = step.init_scaling_state(WEIGHTS, X, Y)
    bad = X.copy()
    bad[0, 0] = np.nan
    (same, loss), after = step(WEIGHTS, bad, Y, scaling_state=state)
    assert bits(same) == bits(WEIGHTS)
    assert np.isnan(loss)
    assert after.loss_scale == scale_of(state) / 2


def test_gradients_in_a_loop_are_tested() -> None:
    step, (weights, x, y) = STEPS["micro_batches"]
    scaled = scalify_hlo.scalify(step, recipe="auto-loss-scaling")
    state = scaled.init_scaling_state(weights, x, y)
    bad = x.copy()
    bad[5, 0] = np.inf
    (same, _), after = scaled(weights, bad, y, scaling_state=state)
    assert bits(same) == bits(weights)
    assert after.loss_scale == scale_of(state) / 2
    (other, _), after = scaled(weights, x, y, scaling_state=state)
    assert bits(other) != bits(weights)
    assert after.step == 1


# Recipes.


def test_reports_say_that_a_recipe_is_a_baseline() -> None:
    step = STEPS["sgd_mean"]
    program = program_of(step.run, *step.arguments)
    for name in BASELINES:
        told = summary(rewritten(program, {}, name)[1])
        assert "; a baseline: values are cast without scales" in told
    assert "and the loss is scaled by 2^16, doubled each 2000 steps and halved on overflow" in told
    assert told.endswith("; a step that overflows keeps 3 results")
    assert "baseline" not in summary(rewritten(program, {}, "fp16")[1])


def test_baselines_are_exempt_from_the_laws() -> None:
    """Baselines lose what other recipes keep: no way of `benchmarks.laws` is one of them."""
    assert all(load_recipe(name).baseline for name in BASELINES)
    assert not any(load_recipe(way.recipe).baseline for way in WAYS)


@pytest.mark.parametrize(
    ("recipe", "settings", "message"),
    [
        ("fp16", {"loss_scale.value": 2.0}, "loss_scale.kind is none"),
        ("loss-scaling", {"loss_scale.period": 2}, "loss_scale.kind is constant"),
        ("loss-scaling", {"loss_scale.value": 3.0}, "takes a power of two"),
        ("loss-scaling", {"loss_scale.value": 0.5}, "takes a power of two"),
        ("plain-f16", {"scaling.margin": 1}, "scaling.kind is none"),
    ],
)
def test_settings_without_effect_are_refused(recipe: str, settings: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        load_recipe(recipe, settings)


def test_an_automatic_scale_does_not_combine_with_delayed_scales() -> None:
    step = STEPS["sgd_mean"]
    program = program_of(step.run, *step.arguments)
    with pytest.raises(UsageError, match="no place for an automatic scale"):
        rewritten(program, {"loss_scale.kind": "automatic"}, "fp8-delayed")


@pytest.mark.parametrize("recipe", ["fp16", "fp8-current", "fp8-delayed", "mxfp8"])
def test_a_constant_scale_combines_with_other_recipes(recipe: str) -> None:
    step = STEPS["gpt"]
    program = program_of(step.run, *step.arguments)
    settings = {**CONSTANT, "matmul.smallest": 1} if "8" in recipe else CONSTANT
    text = rewritten(program, settings, recipe)[0].mlir_module()
    assert UP in text
    assert DOWN in text


def test_compare_and_stats_show_what_underflows() -> None:
    """The paper's comparison: the plain cast loses gradients, and a scaled loss does not."""
    program, batch = program_of(sgd(small, rate=2.0**17), WEIGHTS, X, Y), (WEIGHTS, X, Y)
    found = scalify_hlo.compare_recipes(program, [batch], "plain-f16, loss-scaling, fp16")
    worst = [trial.worst(["update"]) for trial in found.trials]
    plain, scaled, fp16 = (each.snr_db for each in worst if each is not None)
    assert plain < 20 < min(scaled, fp16)
    zeros = {}
    for recipe in ("plain-f16", "loss-scaling"):
        record = scalify_hlo.collect_stats(program, [batch], recipe=recipe)
        narrow = [v for v in record.variants[1].values if v.dtype == "f16" and v.part == "backward"]
        zeros[recipe] = sum(sum(value.zeros) for value in narrow)
    assert zeros["plain-f16"] > 20 * (1 + zeros["loss-scaling"])


def test_a_step_on_devices_is_scaled_and_skipped() -> None:
    """Per-device computations capture no values: the scale and the test go in and out of them."""
    mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))

    def local(weights: Any, x: Any, y: Any) -> Any:
        value, found = jax.value_and_grad(mean_loss)(weights, x, y)
        mean = jax.tree.map(lambda g: jax.lax.pmean(g, "d"), found)
        return jax.tree.map(lambda w, g: w - 0.1 * g, weights, mean), jax.lax.pmean(value, "d")

    whole, parts = jax.P(), jax.P("d")
    step = jax.shard_map(local, mesh=mesh, in_specs=(whole, parts, parts), out_specs=(whole, whole))
    scaled = scalify_hlo.scalify(step, recipe="auto-loss-scaling")
    state = scaled.init_scaling_state(WEIGHTS, X, Y)
    (other, _), after = scaled(WEIGHTS, X, Y, scaling_state=state)
    assert nearness(other, sgd(mean_loss)(WEIGHTS, X, Y)[0]) > 0.999
    assert after.step == 1
    (same, _), after = scaled(WEIGHTS, X * np.inf, Y, scaling_state=state)
    assert bits(same) == bits(WEIGHTS)
    assert after.loss_scale == scale_of(state) / 2


def test_a_model_that_computes_in_f16_is_saved_too() -> None:
    """The program's own f16 gradients underflow, and not those of a scaled loss."""

    def loss(weights: Any, x: Any, y: Any) -> Any:
        narrow = jax.tree.map(lambda leaf: leaf.astype(jnp.float16), (weights, x, y))
        return mean_loss(*narrow).astype(jnp.float32) * 2.0**-20

    program = program_of(jax.grad(loss), WEIGHTS, X, Y)
    wanted = jax.grad(small)(WEIGHTS, X, Y)
    scaled = rewritten(program, {**CONSTANT, "loss_scale.value": 2.0**20})[0]
    assert nearness(program.call(WEIGHTS, X, Y), wanted) < 0.95
    assert nearness(scaled.call(WEIGHTS, X, Y), wanted) > 0.999
