"""Unit-scaled ops: values and gradients at initialization, and factors on cut edges only."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo import UsageError, unit
from scalify_hlo.jax_api.unit.constraints import Constraint

HALF = 0.5
"""Octaves by which the rms of a value or gradient may be off."""
CONSTRAINTS = (unit.gmean, unit.amean, unit.hmean, unit.to_output, unit.to_input, None)


def normal(number: int, *shape: int) -> jax.Array:
    return jax.random.normal(jax.random.key(number), shape)


def octaves(x: Any) -> float:
    return math.log2(float(jnp.sqrt(jnp.mean(jnp.square(x.astype(jnp.float32))))))


def sizes(op: Callable[..., Any], *inputs: Any) -> list[float]:
    """Returns log2 of the rms of an op's result and of the gradients for a unit normal one."""
    result, vjp = jax.vjp(op, *inputs)
    return [octaves(each) for each in (result, *vjp(normal(99, *result.shape)))]


WRONG: Any = "gmean"


def ids(values: Any) -> list[str]:
    return [getattr(each, "__name__", str(each)) for each in values]


SAME: dict[str, tuple[Callable[..., Any], tuple[int, int]]] = {
    "relu": (unit.relu, (256, 512)),
    "gelu": (unit.gelu, (256, 512)),
    "silu": (unit.silu, (256, 512)),
    "softmax": (unit.softmax, (256, 512)),
    "layer_norm": (unit.layer_norm, (256, 512)),
    "rms_norm": (unit.rms_norm, (256, 512)),
    "dropout": (lambda x: unit.dropout(x, 0.3, jax.random.key(1)), (256, 512)),
}


@pytest.mark.parametrize("name", SAME)
def test_ops_on_one_input_keep_unit_scale(name: str) -> None:
    op, shape = SAME[name]
    assert np.max(np.abs(sizes(op, normal(0, *shape)))) <= HALF


@pytest.mark.parametrize("width", [64, 512, 4096])
def test_norms_keep_unit_gradients_of_parameters(width: int) -> None:
    x, ones, zeros = normal(0, 128, width), jnp.ones(width), jnp.zeros(width)
    assert np.max(np.abs(sizes(unit.layer_norm, x, ones, zeros))) <= HALF
    assert np.max(np.abs(sizes(unit.rms_norm, x, ones))) <= HALF


@pytest.mark.parametrize("constraint", CONSTRAINTS, ids=ids(CONSTRAINTS))
@pytest.mark.parametrize(
    ("rows", "inner", "outer"), [(64, 64, 64), (256, 64, 1024), (64, 4096, 64)]
)
def test_linear_has_the_scale_of_its_formula(
    rows: int, inner: int, outer: int, constraint: Constraint | None
) -> None:
    result, of_x, of_weight, of_bias = sizes(
        lambda x, w, b: unit.linear(x, w, b, constraint),
        *(normal(0, rows, inner), normal(1, inner, outer), jnp.zeros(outer)),
    )
    one = constraint and constraint(inner**-0.5, outer**-0.5)
    assert abs(result - math.log2((one or inner**-0.5) * inner**0.5)) <= HALF
    assert abs(of_x - math.log2((one or outer**-0.5) * outer**0.5)) <= HALF
    assert max(abs(of_weight), abs(of_bias)) <= HALF


@pytest.mark.parametrize("shapes", [((64, 96), (96, 32)), ((4, 8, 16, 32), (4, 8, 32, 48))])
def test_a_matmul_of_activations_has_three_factors(shapes: Any) -> None:
    a, b = (normal(number, *shape) for number, shape in enumerate(shapes))
    found = sizes(lambda a, b: unit.matmul(a, b, None), a, b)
    assert np.max(np.abs(found)) <= HALF
    one = unit.gmean(a.shape[-1] ** -0.5, b.shape[-1] ** -0.5, a.shape[-2] ** -0.5)
    expected = [one * n**0.5 for n in (a.shape[-1], b.shape[-1], a.shape[-2])]
    assert np.max(np.abs(np.array(sizes(unit.matmul, a, b)) - np.log2(expected))) <= HALF


@pytest.mark.parametrize(
    ("window", "strides", "groups"), [((3, 3), (1, 1), 1), ((4, 4), (2, 2), 4)]
)
def test_convolutions_keep_unit_scale(window: Any, strides: Any, groups: int) -> None:
    x, kernel = normal(0, 8, 16, 16, 32), normal(1, *window, 32 // groups, 32 * math.prod(strides))
    found = sizes(lambda x, k: unit.conv(x, k, strides, groups=groups, constraint=None), x, kernel)
    assert np.max(np.abs(found)) <= HALF


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("keys", [64, 512])
def test_attention_keeps_unit_scale(keys: int, causal: bool) -> None:
    inputs = [normal(number, 2, 4, keys, 64) for number in range(3)]
    found = sizes(lambda q, k, v: unit.attention(q, k, v, causal=causal), *inputs)
    assert np.max(np.abs(found)) <= HALF


@pytest.mark.parametrize("classes", [2, 10, 1000])
def test_logits_of_a_cross_entropy_have_unit_gradients(classes: int) -> None:
    logits, labels = (
        normal(0, 256, classes),
        jax.random.randint(jax.random.key(1), (256,), 0, classes),
    )
    gradient = jax.grad(unit.cross_entropy)(logits, labels)
    assert abs(octaves(gradient)) <= HALF


@pytest.mark.parametrize("tokens", [64, 4096])
def test_tables_have_unit_gradients(tokens: int) -> None:
    named = jax.random.randint(jax.random.key(1), (tokens,), 0, 512)
    found = sizes(lambda table: unit.embedding(named, table), normal(0, 512, 64))
    assert np.max(np.abs(found)) <= HALF


@pytest.mark.parametrize("weights", [(1, 1), (0.1, 0.9), (3, -4, 12)])
def test_weighted_additions_keep_unit_scale(weights: Any) -> None:
    values = [normal(number, 64, 64) for number in range(len(weights))]
    found = sizes(lambda *v: unit.weighted_add(v, weights, cut=True), *values)
    assert np.max(np.abs(found)) <= HALF
    value, *gradients = sizes(lambda *v: unit.weighted_add(v, weights), *values)
    shares = np.log2(np.abs(weights) / np.linalg.norm(weights))
    assert np.max(np.abs([value, *(gradients - shares)])) <= HALF


GROWTH = 0.073
"""(rms(gelu'(x)) / rms(gelu(x)))² - 1 for a normal x: what the constraint of a GELU leaves."""


@pytest.mark.parametrize(("depth", "tau"), [(1, 0.5), (8, 0.5), (64, 0.1)])
def test_stacks_of_layers_keep_unit_scale(depth: int, tau: float) -> None:
    keys = jax.random.split(jax.random.key(0), depth)
    layers = jax.vmap(lambda key: unit.FFN.init(key, 256, 256))(keys)

    def model(layers: unit.FFN, x: Any) -> Any:
        return jax.lax.scan(lambda x, layer: (layer(x, tau), None), x, layers)[0]

    @jax.jit
    def gradients(*args: Any) -> Any:
        result, vjp = jax.vjp(model, *args[:2])
        return result, *vjp(args[2])

    inputs = layers, normal(1, 128, 256), normal(2, 128, 256)
    result, of_layers, of_x = gradients(*inputs)
    after = np.arange(depth)[::-1]
    grown = math.log2(1 + GROWTH * tau) / 2
    for matrices in (of_layers.up, of_layers.down):
        found = np.array([octaves(each) for each in matrices])
        assert np.max(np.abs(found - grown * after)) <= HALF
    assert abs(octaves(result)) <= HALF
    assert abs(octaves(of_x) - grown * depth) <= HALF
    unit.cut_edges(lambda *args: jnp.sum(model(*args)), *inputs[:2])


def test_a_running_mean_keeps_unit_scale() -> None:
    x, keys = normal(0, 128, 128), jax.random.split(jax.random.key(0), 8)
    for number, key in enumerate(keys, 1):
        x = unit.FFN.init(key, 128, 128)(x, unit.running_mean_tau(number))
    assert abs(octaves(x)) <= HALF


def test_factors_are_those_of_the_definition() -> None:
    op = unit.scaled(lambda x, y: x * y, 2.0, (3.0, 5.0))
    result, vjp = jax.vjp(op, jnp.float32(7), jnp.float32(11))
    assert (float(result), *map(float, vjp(jnp.float32(1)))) == (154.0, 33.0, 35.0)
    assert jax.jit(jax.vmap(op))(jnp.arange(3.0), jnp.arange(3.0)).tolist() == [0, 2, 8]


def test_factors_have_all_derivatives() -> None:
    def loss(x: Any) -> Any:
        return jnp.sum(unit.identity(jnp.sin(x), 2.0, 3.0) ** 2)

    x = normal(0, 4)
    tangent = jax.jvp(lambda x: unit.identity(jnp.sin(x), 2.0, 3.0), (x,), (jnp.ones(4),))[1]
    np.testing.assert_allclose(tangent, 2 * jnp.cos(x), rtol=1e-6)
    np.testing.assert_allclose(jax.grad(loss)(x), 12 * jnp.sin(x) * jnp.cos(x), rtol=1e-5)
    assert jax.hessian(loss)(x).shape == (4, 4)


def test_cross_entropies_of_f16_have_finite_gradients() -> None:
    logits, labels = normal(0, 2048, 4096).astype(jnp.float16), jnp.arange(2048)
    gradient = jax.grad(unit.cross_entropy)(logits, labels)
    assert gradient.dtype == jnp.float16
    assert abs(octaves(gradient)) <= HALF


@pytest.mark.parametrize("rows", [0, 3])
@pytest.mark.parametrize("width", [0, 4])
def test_empty_arrays_are_taken(rows: int, width: int) -> None:
    x, w = jnp.ones((rows, width)), jnp.ones((width, 5))
    for y in (unit.linear(x, w), unit.matmul(x, w), unit.layer_norm(x, jnp.ones(width))):
        assert y.shape[0] == rows
    assert unit.softmax(x).shape == unit.attention(x, x, x).shape == x.shape


def test_sizes_that_are_not_known_are_refused() -> None:
    (rows,) = jax.export.symbolic_shape("b")
    inputs = jax.ShapeDtypeStruct((rows, 4), jnp.float32), jnp.ones((4, 4))
    with pytest.raises(
        UsageError, match=r"test_unit.py:\d+: error: a factor depends on the size b"
    ):
        jax.export.export(jax.jit(lambda x, w: unit.linear(x, w)))(*inputs)
    exported = jax.export.export(jax.jit(unit.layer_norm))(inputs[0])
    assert str(exported.out_avals[0].shape[0]) == "b"


def x_and_w() -> tuple[jax.Array, jax.Array]:
    return normal(0, 8, 8), normal(1, 8, 8)


def test_edges_are_cut_where_the_graph_falls_apart() -> None:
    def loss(w: Any, x: Any, tied: Any, ids: Any) -> Any:
        x = unit.identity(x, 1.0, 2.0)
        h = x + unit.linear(x, w, constraint=unit.gmean)
        return jnp.sum(unit.linear(jnp.tanh(h) @ tied, tied.T)[ids])

    x, w = normal(0, 32, 8), normal(1, 8, 8)
    with pytest.raises(
        UsageError, match=r"test_unit.py:\d+: two .* differ by a factor of 2, .* no cut edge"
    ):
        unit.cut_edges(loss, w, x, w, jnp.arange(3))

    def mended(w: Any, x: Any, tied: Any, ids: Any) -> Any:
        x = unit.identity(x, 1.0, 2.0)
        h = x + unit.linear(x, w)
        return jnp.sum((jnp.tanh(h) @ tied @ tied.T)[ids])

    found = unit.cut_edges(mended, w, x, w, jnp.arange(3))
    assert found.arguments == (True, True, False, False)
    assert [each.cut for each in found.factors] == [True, False, True, False]


BODIES: dict[str, Any] = {
    "residual": lambda f, x: x + f(x),
    "scan": lambda f, x: jax.lax.scan(lambda h, _: (h + f(h), None), x, None, length=3)[0],
    "branch": lambda f, x: x + jax.lax.cond(jnp.sum(x) > 0, f, lambda h: 2 * h, x),
    "checkpoint": lambda f, x: x * jax.checkpoint(f)(x),
    "jit": lambda f, x: jnp.tanh(x) - jax.jit(f)(x),
    "relu": lambda f, x: jax.nn.relu(x) * f(x),
    "vmap": lambda f, x: x + jax.vmap(f)(x),
}


@pytest.mark.parametrize("name", BODIES)
def test_a_wrong_factor_is_refused_exactly_where_gradients_are_wrong(name: str) -> None:
    body = BODIES[name]

    def loss(x: Any, beta: float, alpha: float) -> Any:
        h = body(lambda h: unit.identity(jnp.sin(h), alpha, beta), jnp.cos(x))
        return jnp.sum(jnp.square(h))

    x = jnp.linspace(0.1, 1.4, 8)
    unit.cut_edges(lambda x: loss(x, 2.0, 2.0), x)
    with pytest.raises(UsageError, match="cut edge"):
        unit.cut_edges(lambda x: loss(x, 4.0, 2.0), x)
    right = np.asarray(jax.grad(lambda x: loss(x, 2.0, 2.0))(x))
    wrong = np.asarray(jax.grad(lambda x: loss(x, 4.0, 2.0))(x))
    assert np.ptp(wrong / right) > 0.01


@pytest.mark.parametrize(
    "body",
    [
        lambda f, x: jax.lax.scan(lambda h, _: (f(h), None), x, None, length=3)[0],
        lambda f, x: jax.lax.cond(jnp.sum(x) > 0, f, lambda h: 2 * h, x),
    ],
    ids=["scan", "branch"],
)
def test_a_factor_that_depends_on_turns_or_branches_is_refused(body: Any) -> None:
    def loss(x: Any, beta: float) -> Any:
        return jnp.sum(body(lambda h: unit.identity(jnp.sin(h), 2.0, beta), x))

    unit.cut_edges(lambda x: loss(x, 2.0), normal(0, 8))
    with pytest.raises(UsageError, match="cut edge"):
        unit.cut_edges(lambda x: loss(x, 3.0), normal(0, 8))


def test_factors_that_balance_each_other_are_taken() -> None:
    def loss(x: Any) -> Any:
        branch, skip = unit.residual_split(x, 0.2)
        inner = unit.scaled(jnp.sin, 3.0, (0.5,))(unit.identity(branch, 1.0, 6.0))
        return jnp.sum(unit.residual_add(inner, skip, 0.2))

    x = normal(0, 8)
    assert unit.cut_edges(loss, x).arguments == (False,)
    plain = jax.grad(lambda x: jnp.sum(0.8**0.5 * x + 0.2**0.5 * 3 * jnp.sin(x)))(x)
    np.testing.assert_allclose(jax.grad(loss)(x), plain, rtol=1e-5)


def test_auxiliary_results_are_left_out() -> None:
    def loss(x: Any) -> Any:
        return jnp.sum(x), unit.identity(x, 1.0, 2.0)

    assert unit.cut_edges(loss, jnp.ones(3), has_aux=True).arguments == (True,)
    with pytest.raises(UsageError, match="cut edge"):
        unit.cut_edges(loss, jnp.ones(3))


def test_what_has_no_gradient_has_no_constraint() -> None:
    def loss(x: Any, c: Any) -> Any:
        del c
        constant = unit.identity(jnp.ones(3), 1.0, 7.0)
        stopped = unit.identity(jax.lax.stop_gradient(x), 1.0, 7.0)
        return jnp.sum(x * constant + stopped)

    assert unit.cut_edges(loss, jnp.ones(3), jnp.ones(3)).arguments == (True, False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x, _: unit.identity(x, 0.0), r"test_unit.py:\d+: error: alpha is 0.0, which"),
        (lambda x, _: unit.identity(x, -1.0), "factors are -1.0 and 1.0"),
        (lambda x, _: unit.identity(x.astype(jnp.float16), 1.0, 1e6), "which float16 does not"),
        (lambda x, w: unit.linear(x.astype(int), w), "an array of int32 has no scale"),
        (lambda x, _: unit.weighted_add([x.astype(int)] * 2, [1, 1]), "of int32 has no scale"),
        (lambda x, _: unit.gelu(x, WRONG), "constraint is 'gmean'"),
        (lambda x, w: unit.attention(x[None], w, w), r"queries of shape \(1, 8, 8\)"),
        (lambda x, _: unit.weighted_add([x, x], [1, math.nan]), "the weights"),
        (lambda *_: unit.running_mean_tau(0), "number of a layer is 0"),
        (lambda x, _: unit.identity(x, 1.0, math.inf), "beta is inf"),
        (lambda x, _: unit.scaled(jnp.sin, 1.0, (1, 2))(x), "2 factors of gradients for 1 input"),
        (lambda x, w: unit.linear(x, w[:3]), r"shape \(8, 8\) and a weight of shape \(3, 8\)"),
        (lambda x, w: unit.matmul(x, w[:3]), r"shapes \(8, 8\) and \(3, 8\)"),
        (lambda x, w: unit.matmul(x, w[None]), "the first is broadcast"),
        (lambda x, _: unit.residual_split(x, 1.0), "tau of a residual layer is 1.0"),
        (lambda x, _: unit.dropout(x, 1.0, jax.random.key(0)), "rate of a dropout is 1.0"),
        (lambda x, _: unit.weighted_add([x], [0]), r"1 values and the weights \(0,\)"),
        (lambda x, _: unit.cross_entropy(x, jnp.arange(3)), r"labels of shape \(3,\)"),
    ],
)
def test_wrong_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        call(*x_and_w())


def test_sizes_of_mapped_rows_are_not_taken_for_known() -> None:
    x, w, labels = normal(0, 64, 256), normal(1, 256, 256), jnp.arange(64)

    def of_one(w: Any, x: Any, label: Any) -> Any:
        return unit.cross_entropy(unit.linear(x, w)[None], label[None])

    def loss(w: Any) -> Any:
        return jnp.mean(jax.vmap(of_one, (None, 0, 0))(w, x, labels))

    exported = jax.export.export(jax.jit(jax.grad(loss)))(w)
    _, report = scalify_hlo.rewrite(exported, recipe="fp8", report=True)
    found = [zip(each.roles, each.scales, strict=True) for each in report.matmuls]
    scales = [scale for each in found for role, scale in each if role == "gradient"]
    # The mean of 64 losses has 1/64 of the gradient of each.
    assert [scale.scale for scale in scales if scale is not None] == ["2^-6"]


@pytest.mark.parametrize("recipe", ["unit", "fp8"])
def test_a_rewrite_needs_no_statistic_for_a_unit_scaled_model(recipe: str) -> None:
    layers = [unit.FFN.init(jax.random.key(number), 256, 256) for number in range(2)]

    def loss(layers: list[unit.FFN], x: Any, labels: Any) -> Any:
        for layer in layers:
            x = layer(x)
        return unit.cross_entropy(x, labels)

    inputs = layers, normal(0, 256, 256), jnp.arange(256)
    exported = jax.export.export(jax.jit(jax.grad(loss)))(*inputs)
    _, report = scalify_hlo.rewrite(exported, recipe=recipe, report=True)
    assert report.totals.matmuls == (12, 12)
    assert report.totals.statistics == len(report.sites)
