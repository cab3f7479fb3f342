"""Low precision by recipe: which matmuls get it, on what data, and in what state."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
import pytest

import scalify_hlo
from examples import gpt2
from scalify_hlo._compat import ir, new_context, stablehlo
from scalify_hlo.ir.algorithms import dot_algorithm
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.passes.pipeline import Options, run_passes
from scalify_hlo.passes.propagate import PropagatePass
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import Inputs, Recipe
from tests.py.shared.judge import parse, program_of, stablehlo_of, unrecorded

CONFIG = gpt2.Config(layers=2, width=64, heads=2, sequence=32, vocab=96, batch=4)
SIGNATURES = ("same", "scaled")


@cache
def step_text() -> str:
    return stablehlo_of(gpt2.adamw_step, *gpt2.abstract_state(CONFIG, gpt2.ADAMW))


@pytest.fixture(scope="module")
def text() -> str:
    return step_text()


def formats(text: str) -> list[tuple[str, str, str]]:
    """The formats of the operands and of the result of each matmul."""
    pattern = re.compile(r"stablehlo\.dot_general.* : \((.*)\) -> (tensor<[^>]*>)")
    element = re.compile(r"tensor<(?:\d+x)*([a-zA-Z]\w*)>")
    return [
        (*element.findall(operands), *element.findall(result))
        for operands, result in pattern.findall(text)
    ]


@pytest.mark.parametrize("signature", SIGNATURES)
def test_every_eligible_matmul_is_one_of_fp8(text: str, signature: str) -> None:
    found = formats(scalify_hlo.rewrite(text, recipe="fp8", signature=signature))
    narrow = [f for f in found if f[0].startswith("f8")]
    # Per layer: qkv, scores, mixing, out, up, down, each with two backward; the rest is the head.
    assert len(narrow) == 3 * 6 * CONFIG.layers
    assert len(found) - len(narrow) == 3
    # A gradient is the right operand where the transpose of a weight's gradient is made at once.
    pairs = {tuple(sorted(f[:2])) for f in narrow}
    assert pairs == {("f8E4M3FN", "f8E4M3FN"), ("f8E4M3FN", "f8E5M2")}
    assert {f[2] for f in found} == {"f32"}


@pytest.mark.parametrize("signature", SIGNATURES)
def test_each_operand_is_cast_once_for_forward_and_backward(text: str, signature: str) -> None:
    settings = {"state.gradient": "keep", "residuals": "keep"}  # which would cast some again
    rewritten = scalify_hlo.rewrite(text, recipe="fp8", signature=signature, settings=settings)
    casts = re.findall(r"= stablehlo.convert %\S+ : \(tensor<(\S+)xf32>\) -> .*xf8", rewritten)
    # Six forward matmuls a layer have twelve operands, and there is a gradient for each.
    assert len(casts) == (12 + 6) * CONFIG.layers


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        ({"matmul.vocabulary": "true"}, 0),
        ({"matmul.exclude": "*mlp*"}, 3 * 2 * CONFIG.layers + 3),
        ({"matmul.include": "*attention*"}, 3 * 4 * CONFIG.layers + 3),
        ({"matmul.smallest": "1000"}, 3 * 6 * CONFIG.layers + 3),
        ({"matmul.smallest": "1000", "matmul.exclude": "*attention*"}, 3 * 6 * CONFIG.layers + 3),
    ],
)
def test_sites_are_chosen_by_name_and_by_size(
    text: str, settings: dict[str, str], kept: int
) -> None:
    """A pattern may name a site that takes no part."""
    found = formats(scalify_hlo.rewrite(text, recipe="fp8", settings=settings))
    assert len([f for f in found if not f[0].startswith("f8")]) == kept


def test_matmuls_say_how_they_are_computed_where_plugins_can_read_it(text: str) -> None:
    rewritten = scalify_hlo.rewrite(text, recipe="fp8")
    lines = [line for line in rewritten.splitlines() if "dot_general" in line and "f8E" in line]
    with new_context():
        known = dot_algorithm("f8E5M2", "f8E4M3FN", imprecise=False) is not None
    assert known == (jax.__version__ < "0.11")
    for line in lines if known else ():
        backward = "f8E5M2" in line
        assert f"allow_imprecise_accumulation = {str(not backward).lower()}" in line
        assert "accumulation_type = f32" in line
    requirement = stablehlo.StablehloCompatibilityRequirement.WEEK_12
    version = stablehlo.get_version_from_compatibility_requirement(requirement)
    with new_context():
        stablehlo.serialize_portable_artifact(ir.Module.parse(rewritten), version)


def test_the_gradient_of_a_weight_may_be_a_narrow_matmul_itself() -> None:
    def step(w: jax.Array, x: jax.Array) -> jax.Array:
        gradient = jax.grad(lambda w: jnp.mean(jnp.tanh(w @ x) ** 2))(w)
        return jnp.asarray(w - 0.1 * gradient)

    w, x = np.full((32, 48), 0.1, np.float32), np.ones((48, 16), np.float32)
    narrow = scalify_hlo.scalify(step, recipe="fp8")(w, x)
    np.testing.assert_allclose(
        scalify_hlo.asarray(narrow), step(jnp.asarray(w), jnp.asarray(x)), rtol=0.01
    )


@pytest.mark.parametrize("name", ["fp16", "bf16"])
def test_sixteen_bits_are_for_all_sites_but_take_no_algorithm(text: str, name: str) -> None:
    rewritten = scalify_hlo.rewrite(text, recipe=name)
    assert "algorithm" not in rewritten
    element = {"fp16": "f16", "bf16": "bf16"}[name]
    assert {f[:2] for f in formats(rewritten)} == {(element, element)}


X, W = (
    np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    for seed, shape in enumerate([(32, 64), (64, 48)])
)


def linear(x: jax.Array, w: jax.Array) -> jax.Array:
    return jnp.matmul(x, w)


def run_pairs(
    function: Callable[..., Any], recipe: str | Recipe, *pairs: tuple[np.ndarray, int]
) -> tuple[np.ndarray, float]:
    """Runs a function under a recipe on data and scales; gives data and scale."""
    scaled = [scalify_hlo.ScaledArray(jnp.asarray(d), jnp.float32(2.0**e)) for d, e in pairs]
    result = scalify_hlo.scalify(function, recipe=recipe)(*scaled)
    if not isinstance(result, scalify_hlo.ScaledArray):
        return np.asarray(result), 1.0
    return np.asarray(result.data), float(result.scale)


@pytest.mark.parametrize("exponents", [(0, 0), (-20, 20), (20, 20), (-20, -20), (7, -3)])
def test_data_are_rounded_whatever_their_scale(exponents: tuple[int, int]) -> None:
    recipe = load_recipe("fp8")
    data, scale = run_pairs(linear, recipe, (X, exponents[0]), (W, exponents[1]))
    x, w = (a.astype(ml_dtypes.float8_e4m3fn).astype(np.float64) for a in (X, W))
    expected = x @ w * 2.0 ** sum(exponents)
    np.testing.assert_allclose(data * np.float64(scale), expected, rtol=1e-5)


def test_finite_data_beyond_the_range_saturate() -> None:
    x = X.copy()
    x[0, 0], x[1, 1] = 1e6, -np.inf
    data, scale = run_pairs(linear, "fp8", (x, 0), (W, 0))
    assert np.isnan(data[1]).all()
    data, x = (np.delete(each, 1, axis=0) for each in (data, x))
    clipped = np.clip(x, -448, 448).astype(ml_dtypes.float8_e4m3fn).astype(np.float64)
    w = W.astype(ml_dtypes.float8_e4m3fn).astype(np.float64)
    np.testing.assert_allclose(data * np.float64(scale), clipped @ w, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "compute"),
    [
        *((name, "keep") for name in ("fp16", "fp16-state", "fp8", "fp8-state", "bf16")),
        *(("propagate", "f16"), ("fp16", "bf16"), ("fp8", "f16")),
    ],
)
def test_training_stays_near_f32(name: str, compute: str) -> None:
    config = replace(CONFIG, layers=1)
    state = gpt2.state(config, gpt2.ADAMW)
    random = np.random.default_rng(0)
    batches = random.integers(0, config.vocab, (4, config.batch, config.sequence + 1), np.int32)
    plain = jax.jit(gpt2.adamw_step)
    recipe = load_recipe(name, {} if compute == "keep" else {"compute": compute})
    scaled = scalify_hlo.scalify(gpt2.adamw_step, recipe=recipe)
    ours = scalify_hlo.as_scaled_array(state)
    for batch in batches:
        *state, loss = plain(*state, batch)
        *ours, mine = scaled(*ours, batch)
        assert abs(float(scalify_hlo.asarray(mine)) - float(loss)) < (
            0.02 if compute == "keep" else 0.03
        )
    wanted = recipe.state
    params, (adam, *_) = ours
    for tree, format_ in (
        (params, wanted.weight),
        (adam.mu, wanted.first_moment),
        (adam.nu, wanted.second_moment),
    ):
        leaves = jax.tree.leaves(tree, is_leaf=lambda x: isinstance(x, scalify_hlo.ScaledArray))
        dtypes = {leaf.dtype for leaf in leaves}
        assert dtypes == {np.dtype(np.float16 if format_ == "f16" else np.float32)}


@pytest.mark.slow
def test_a_vjp_has_gradients_of_e5m2() -> None:
    w = jnp.asarray(W / 16)
    exported = program_of(lambda x, w: jnp.tanh(x @ w).sum(), X, w)
    rewritten = scalify_hlo.rewrite(exported, recipe="fp8", signature="scaled")
    found = formats(str(rewritten.vjp().mlir_module()))
    assert ("f8E5M2", "f8E4M3FN", "f32") in found

    def loss(w: jax.Array) -> Any:
        return scalify_hlo.asarray(rewritten.call(*map(scalify_hlo.as_scaled_array, (X, w))))

    gradient = jax.grad(loss)(w)
    expected = jax.grad(lambda w: jnp.tanh(X @ w).sum())(w)
    error = jnp.linalg.norm(gradient - expected) / jnp.linalg.norm(expected)
    assert error < 0.1


@pytest.mark.parametrize("exponent", [0, 9])
@pytest.mark.parametrize("recipe", ["propagate", "fp8"])
def test_a_marked_cast_rounds_data_and_a_plain_one_values(recipe: str, exponent: int) -> None:
    def marked(x: jax.Array) -> jax.Array:
        return jnp.asarray(scalify_hlo.cast_on_forward(x, jnp.float8_e4m3fn))

    def plain(x: jax.Array) -> jax.Array:
        return x.astype(jnp.float8_e4m3fn).astype(jnp.float32)

    data, scale = run_pairs(marked, recipe, (X, exponent - 12))
    rounded = X.astype(ml_dtypes.float8_e4m3fn).astype(np.float32) * np.float32(2.0**-12)
    normal = np.abs(X) > 2.0**-4  # The scale may have become 4 times smaller or larger.
    np.testing.assert_array_equal((data * scale)[normal], (rounded * 2.0**exponent)[normal])
    if recipe == "propagate":  # It is the author who passes pairs to the paper's transform.
        return
    data, scale = run_pairs(plain, recipe, (X, exponent))
    values = (X * np.float32(2.0**exponent)).astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    np.testing.assert_array_equal(data * scale, values)


def general_linear_layer(x: jax.Array, w: jax.Array) -> jax.Array:
    """Algorithm 6 of the Scalify paper, without its bias."""
    w = scalify_hlo.cast_on_forward(w, jnp.float8_e4m3fn)
    x = scalify_hlo.cast_on_forward(x, jnp.float8_e4m3fn)
    return jnp.asarray(scalify_hlo.cast_on_backward(x @ w, jnp.float8_e5m2))


def test_markers_round_what_they_say_in_both_directions() -> None:
    y, pull = jax.vjp(general_linear_layer, X, W)
    x, w = (a.astype(ml_dtypes.float8_e4m3fn).astype(np.float32) for a in (X, W))
    np.testing.assert_allclose(y, x @ w, rtol=1e-5)
    ct = np.random.default_rng(3).normal(size=y.shape).astype(np.float32)
    rounded = ct.astype(ml_dtypes.float8_e5m2).astype(np.float32)
    gx, gw = pull(jnp.asarray(ct))
    np.testing.assert_allclose(gx, rounded @ w.T, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(gw, x.T @ rounded, rtol=1e-4, atol=1e-4)


def test_what_a_model_casts_is_multiplied_as_it_is() -> None:
    exported = program_of(general_linear_layer, X, W)
    text = scalify_hlo.rewrite(str(exported.mlir_module()), recipe="fp8")
    assert formats(text) == [("f8E4M3FN", "f8E4M3FN", "f32")]
    assert len(re.findall(r"stablehlo.convert .*xf32", text)) == 2


def test_casts_of_values_that_no_scale_reached_saturate_too() -> None:
    def one_hot(w: jax.Array, tokens: jax.Array) -> jax.Array:
        large = (tokens[:, None] == jnp.arange(64)).astype(jnp.float32) * 1000
        return jnp.matmul(jax.jit(lambda x: x)(large), w)

    tokens = np.arange(32, dtype=np.int32)
    for given in (jnp.asarray(W), scalify_hlo.as_scaled_array(jnp.asarray(W))):
        result = scalify_hlo.scalify(one_hot, recipe="fp8")(given, tokens)
        assert np.isfinite(np.asarray(scalify_hlo.asarray(result))).all()


def test_casts_in_functions_without_scaled_arguments_are_lowered() -> None:
    def inner(tokens: jax.Array) -> jax.Array:
        x = (tokens[:, None] == tokens).astype(jnp.float32)
        return jnp.matmul(x, x)

    def program(tokens: jax.Array, x: jax.Array) -> jax.Array:
        return jnp.asarray(jax.jit(inner)(tokens) + x)

    tokens, x = np.arange(32, dtype=np.int32), np.ones((32, 32), np.float32)
    result = scalify_hlo.scalify(program, recipe="fp8")(tokens, x)
    np.testing.assert_array_equal(np.asarray(scalify_hlo.asarray(result)), np.eye(32) + 1)


def test_a_pattern_that_matches_nothing_is_refused_with_the_nearest_name(text: str) -> None:
    with pytest.raises(scalify_hlo.UsageError, match="matches no matmul") as raised:
        scalify_hlo.rewrite(text, recipe="fp8", settings={"matmul.exclude": "params['wtee']"})
    assert "params['wte']" in str(raised.value)
    with pytest.raises(scalify_hlo.UsageError, match="matches no float argument"):
        scalify_hlo.rewrite(text, recipe=replace(load_recipe("fp8"), inputs=Inputs(("nothing",))))


def test_gradients_are_kept_in_fp8_for_an_update_but_not_for_dots(text: str) -> None:
    """XLA would repeat what makes them in each part of an update, and round them no more on GPUs.

    Dots take f8 operands as they are.
    """
    without_sites = {"norm_gradients.statistic": "none"}  # which have barriers of their own
    module = parse(scalify_hlo.rewrite(text, recipe="fp8", settings=without_sites))
    casts = ops_in(module.operation, {"stablehlo.convert"})
    results = [op.results[0] for op in casts if "xf8E5M2" in str(op.results[0].type)]
    readers = Counter(use.owner.name for result in results for use in result.uses)
    assert set(readers) <= {"stablehlo.dot_general", "stablehlo.optimization_barrier"} | _MOVES
    assert readers["stablehlo.optimization_barrier"] > 4
    assert readers["stablehlo.dot_general"] > 4


_MOVES = {"stablehlo.reshape", "stablehlo.transpose"}
"""The ops between a cast and a dot of matrices."""


def test_gradients_of_vectors_are_not_rounded_to_fp8(text: str) -> None:
    rewritten = scalify_hlo.rewrite(text, recipe="fp8")
    small = re.findall(r"convert .* -> tensor<((?:\d+x)+)f8\w+>", rewritten)
    assert small
    assert all(shape.count("x") > 1 for shape in small)


CLAMP = r"stablehlo\.clamp .* tensor<\d+x"
"""Of data, not of a scale."""


def test_casts_clamp_unless_the_recipe_says_not_to(text: str) -> None:
    settings, declared = {"saturate": "false"}, {"*": 1.0}
    plain = scalify_hlo.rewrite(text, recipe="fp8", settings=settings, input_scale=declared)
    assert not re.findall(CLAMP, plain)
    assert re.findall(CLAMP, scalify_hlo.rewrite(text, recipe="fp8"))


@pytest.mark.parametrize(("rounding", "exponent"), [("default", 1), ("down", 1), ("up", 2)])
def test_roots_of_scales_are_rounded_as_the_recipe_says(rounding: str, exponent: int) -> None:
    recipe = load_recipe("propagate", {"rounding": rounding})
    data, scale = run_pairs(jnp.sqrt, recipe, (np.array([4, 9], np.float32), 3))
    assert scale == 2.0**exponent
    np.testing.assert_array_equal(data * scale, np.sqrt(np.array([32, 72], np.float32)))


@pytest.mark.parametrize(
    ("rounding", "terms", "exponent"),
    [
        *[("default", 8, 1), ("down", 8, 1), ("up", 8, 2), ("nearest", 8, 2)],
        *[("nearest", 7, 1), ("up", 16, 2), ("down", 15, 1), ("up", 17, 3), ("stochastic", 15, 1)],
    ],
)
def test_the_root_of_k_is_rounded_as_the_recipe_says(
    rounding: str, terms: int, exponent: int
) -> None:
    """Algorithm 3 of the Scalify paper: ``pow2_round(sqrt(K))``."""
    recipe = load_recipe("propagate", {"rounding": rounding})
    x, w = np.ones((4, terms), np.float32), np.ones((terms, 4), np.float32)
    data, scale = run_pairs(jnp.matmul, recipe, (x, 3), (w, 0))
    assert scale == 2.0 ** (3 + exponent)
    np.testing.assert_array_equal(data * scale, 8.0 * (x @ w))


def test_bf16_saturates_where_f16_ends() -> None:
    x = jnp.full((32, 64), 1e30, jnp.bfloat16)
    recipe = load_recipe("fp16", {"matmul.output": "f32"})
    result = scalify_hlo.scalify(linear, recipe=recipe)(x, jnp.asarray(W, jnp.bfloat16))
    assert np.isfinite(np.asarray(scalify_hlo.asarray(result), np.float32)).all()


def test_an_operand_may_be_both_operands() -> None:
    def gram(x: jax.Array) -> jax.Array:
        x = scalify_hlo.cast_on_forward(x, jnp.float8_e4m3fn)
        return jax.lax.dot_general(x, x, (((1,), (1,)), ((), ())))

    text = stablehlo_of(gram, X)
    assert formats(scalify_hlo.rewrite(text, recipe="fp8")) == [("f8E4M3FN", "f8E4M3FN", "f32")]


def test_e5m2_never_meets_e5m2(text: str) -> None:
    settings = dict.fromkeys(("matmul.weight", "matmul.gradient"), "e4m3")
    narrow = scalify_hlo.rewrite(
        text, recipe="fp8", settings={**settings, "matmul.activation": "e5m2"}
    )
    pairs = {f[:2] for f in formats(narrow)}
    assert ("f8E5M2", "f8E4M3FN") in pairs
    assert ("f8E5M2", "f8E5M2") not in pairs


def test_state_is_traced_at_its_logical_type_whatever_the_static_arguments() -> None:
    seen = []

    def step(w: jax.Array, x: jax.Array, mode: str) -> jax.Array:
        seen.append(w.dtype)
        gradient = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
        return jnp.asarray(w - 0.01 * gradient * len(mode))

    scaled = scalify_hlo.scalify(step, recipe="fp8", static_argnames=("mode",))
    w = scalify_hlo.as_scaled_array(jnp.asarray(W))
    for turn in range(3):
        w = scaled(w, X, mode="".join(["tr", "ain"]))  # an equal string, another object
        assert w.dtype == np.float16, turn
    assert set(seen) == {np.dtype(np.float32)}


def test_casts_of_state_alone_are_verified_too() -> None:
    recipe = load_recipe("propagate", {"state.weight": "f16"})
    with new_context():
        module = ir.Module.parse(step_text())
        options = Options(recipe=recipe, signature="scaled")
        stopped = [p for p in options.passes() if not isinstance(p, PropagatePass)]
        with pytest.raises(scalify_hlo.InputError, match="is left as it was"):
            run_passes(module, stopped)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("recipe", "settings", "format_"),
    [
        ("fp8-current", {"matmul.smallest": 1}, "f8E4M3FN"),
        ("propagate", {"state_rescale.statistic": "l2"}, "f32"),
        ("propagate", {"state.gradient": "f16"}, "f16"),
        ("propagate", {"state.weight": "f16"}, "f16"),
        ("fp8-state", {"state_rescale.every": 4, "inputs.step": "*.count"}, "f16"),
    ],
)
def test_no_mark_is_left(recipe: str, settings: dict[str, object], format_: str) -> None:
    """Marks are cleared where nothing reads them any more; recipes differ in where that is."""
    text = scalify_hlo.rewrite(step_text(), recipe=recipe, signature="scaled", settings=settings)
    assert "scalify." not in unrecorded(text).replace("scalify.is_scale", "")
    assert f"x{format_}>" in text


def test_the_layers_of_a_classifier_are_no_projections_to_a_vocabulary() -> None:
    """The first has an input from outside; the last has a softmax behind it, over 24 classes."""

    def loss(params: list[tuple[jax.Array, jax.Array]], x: jax.Array, y: jax.Array) -> jax.Array:
        (w, b), (head, c) = params
        hidden = jax.nn.silu(jax.vmap(lambda x: w @ x + b)(x))
        logits = jax.vmap(lambda h: head @ h + c)(hidden)
        return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(logits, y))

    def step(params: Any, x: jax.Array, y: jax.Array) -> Any:
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, jax.grad(loss)(params, x, y))

    shapes = [((48, 64), (48,)), ((24, 48), (24,))]
    params = [(np.ones(w, np.float32), np.ones(b, np.float32)) for w, b in shapes]
    x, y = np.ones((32, 64), np.float32), np.zeros(32, np.int32)
    text = stablehlo_of(step, params, x, y)
    found = formats(scalify_hlo.rewrite(text, recipe="fp8"))
    assert [f[0].startswith("f8") for f in found] == [True] * 5
