"""Functions with a scale rule of their own: the program is the same, and holds the rule."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import scalify_hlo as jsa
from scalify_hlo import ScaledArray, UsageError, asarray, custom_scale
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from tests.py.shared import marked
from tests.py.shared.judge import assert_all_close, normal, shaped

CLOSE: dict[str, Any] = {"rtol": 1e-5, "atol": 1e-6}
Function = Callable[..., Any]


def bits(tree: Any) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


# Functions, and their rules.


def gelu(x: Any) -> Any:
    return x * 0.5 * (1 + jnp.tanh(0.7978845608 * (x + 0.044715 * x**3)))


def gelu_rule(x: ScaledArray) -> ScaledArray:
    """The input's scale goes on (Scalify paper, appendix C.1)."""
    value = asarray(x)
    gate = 0.5 * (1 + jnp.tanh(0.7978845608 * (value + 0.044715 * value**3)))
    return ScaledArray(x.data * gate, x.scale)


def layer_norm(x: Any, gain: Any, bias: Any) -> Any:
    centerd = x - jnp.mean(x, -1, keepdims=True)
    return gain * centerd / jnp.sqrt(jnp.mean(centerd**2, -1, keepdims=True) + 1e-30) + bias


def layer_norm_rule(x: ScaledArray, gain: ScaledArray, bias: ScaledArray) -> ScaledArray:
    """Normalized data are those of the values (Scalify paper, appendix C.2)."""
    data = layer_norm(x.data, gain.data, bias.data * (bias.scale / gain.scale))
    return ScaledArray(data, gain.scale)


def extremes(tree: dict[str, Any]) -> tuple[Any, Any]:
    return jnp.max(tree["x"], -1), {"sum": jnp.sum(tree["x"]), "at": jnp.argmax(tree["x"], -1)}


def extremes_rule(tree: dict[str, ScaledArray]) -> tuple[Any, Any]:
    data, scale = tree["x"].data, tree["x"].scale
    total = ScaledArray(jnp.sum(data) / 4, scale * 4)
    return ScaledArray(jnp.max(data, -1), scale), {"sum": total, "at": jnp.argmax(data, -1)}


def rows(table: Any, at: Any) -> Any:
    return table[at] * 2


def rows_rule(table: ScaledArray, at: Any) -> ScaledArray:
    return ScaledArray(table.data[at], table.scale * 2)


def ruled(fn: Function, rule: Function, **options: Any) -> Any:
    with_rule = custom_scale(fn, **options)
    assert with_rule.defscale(rule) is rule
    return with_rule


CASES: dict[str, tuple[Function, Function, tuple[Any, ...]]] = {
    "gelu": (gelu, gelu_rule, (normal(3, 8),)),
    "layer norm": (layer_norm, layer_norm_rule, (normal(3, 8), normal(8), normal(8, seed=1))),
    "results and trees": (extremes, extremes_rule, ({"x": normal(3, 8)},)),
    "integers": (rows, rows_rule, (normal(5, 3), np.array([4, 0], np.int32))),
}
EVERY_CASE = pytest.mark.parametrize("case", CASES)


def pairs_of(args: Any, exponents: tuple[int, ...] = (3, -2, 4)) -> list[Any]:
    """Data and scale of each float leaf."""
    leaves = jax.tree.leaves(args)
    values = [
        jsa.as_scaled_array(leaf, 2.0**e) if leaf.dtype != np.int32 else leaf
        for leaf, e in zip(leaves, exponents, strict=False)
    ]
    return jax.tree.leaves(values)


def multiplied(results: list[Any], types: Any) -> list[Any]:
    """The values that the flat results of a rule stand for."""
    rest = iter(results)
    return [
        next(rest) * next(rest) if jnp.issubdtype(type_.dtype, jnp.floating) else next(rest)
        for type_ in jax.tree.leaves(types)
    ]


@pytest.mark.slow
@EVERY_CASE
def test_no_bit_changes(case: str) -> None:
    fn, rule, args = CASES[case]
    marked.assert_same_function(ruled(fn, rule, check=True), fn, *args)


@EVERY_CASE
def test_the_file_holds_the_rule(case: str) -> None:
    fn, rule, args = CASES[case]
    exported = marked.through_a_file(ruled(fn, rule), *args)
    (call,) = marked.calls(exported)
    assert call.marker == "custom_scale"
    (text,) = marked.rules(exported)
    given = marked.run(text, *pairs_of(args))
    values = multiplied(given, exported.out_avals)
    assert_all_close(values, fn(*args), **CLOSE)


@EVERY_CASE
def test_a_rule_is_called_with_scaled_arrays(case: str) -> None:
    fn, rule, args = CASES[case]
    function = ruled(fn, rule)
    given = [jsa.as_scaled_array(args[0], 4.0), *args[1:]]
    for run in (function, jax.jit(function)):
        results = run(*given)
        assert is_scaled_array(jax.tree.leaves(results, is_leaf=is_scaled_array)[0])
        assert_all_close(asarray(results), fn(*args), **CLOSE)


def _loss(fn: Function, *args: Any) -> Any:
    return jnp.sum(jnp.sin(fn(*args)))


def _loss_of_extremes(fn: Function, x: Any) -> Any:
    largest, others = fn({"x": x})
    return jnp.sum(largest**2) + others["sum"] + others["at"][0]


def _each_gradient(fn: Function) -> Function:
    return jax.vmap(jax.vmap(jax.grad(lambda x: jnp.sum(fn(x))), in_axes=1))


NORM, ROWS = CASES["layer norm"][2], CASES["integers"][2]
BATCH = normal(5, 3, 8), normal(5, 8), normal(8)
GRADIENT = jax.value_and_grad(_loss, argnums=(1, 2, 3))
TRANSFORMED: dict[str, tuple[str, Function, tuple[Any, ...], int]] = {
    "gradient": ("layer norm", lambda fn: partial(GRADIENT, fn), NORM, 1),
    "gradient of jit": ("layer norm", lambda fn: partial(GRADIENT, jax.jit(fn)), NORM, 1),
    "gradient of checkpoint": (
        "layer norm",
        lambda fn: partial(GRADIENT, jax.checkpoint(fn)),
        NORM,
        1,
    ),
    "jvp": ("layer norm", lambda fn: lambda *x: jax.jvp(partial(_loss, fn), x, x), NORM, 1),
    "gradient beside integers": (
        "results and trees",
        lambda fn: jax.grad(partial(_loss_of_extremes, fn)),
        (normal(3, 8),),
        1,
    ),
    "gradient at integers": (
        "integers",
        lambda fn: jax.grad(lambda table, at: jnp.sum(fn(table, at))),
        ROWS,
        0,
    ),
    "scan": (
        "gelu",
        lambda fn: lambda x: jax.lax.scan(lambda c, row: (fn(c + row), None), x[0], x)[0],
        (normal(3, 8),),
        1,
    ),
    "batch": ("layer norm", partial(jax.vmap, in_axes=(0, 0, None)), BATCH, 1),
    "batch of batches": ("gelu", lambda fn: jax.vmap(jax.vmap(fn), 1), (normal(3, 4, 5),), 1),
    "batch of gradients": ("gelu", _each_gradient, (normal(3, 4, 5),), 0),
    "batch of integers": (
        "integers",
        partial(jax.vmap, in_axes=(None, 0)),
        (ROWS[0], np.array([[0, 1], [4, 4], [2, 3]], np.int32)),
        1,
    ),
}
"""A function of `CASES`, what is made of it, arguments of that, and the markers of its program."""


@pytest.mark.parametrize("name", TRANSFORMED)
def test_transforms_are_those_of_the_body(name: str) -> None:
    case, transform, args, count = TRANSFORMED[name]
    fn, rule, _ = CASES[case]
    exported = marked.assert_same_function(transform(ruled(fn, rule)), transform(fn), *args)
    assert marked.names(exported) == ["custom_scale"] * count
    assert set(marked.names(exported.vjp())) <= {"custom_scale"}


def test_calls_of_one_type_share_their_functions() -> None:
    function = ruled(gelu, gelu_rule)
    exported = marked.through_a_file(lambda x: function(function(x)) + function(x), normal(3))
    assert marked.names(exported) == ["custom_scale"] * 3
    assert exported.mlir_module().count("func.func private @scalify.custom_scale") == 2


def test_programs_that_call_others_keep_each_rule_with_its_function() -> None:
    """JAX renames functions of the same name, and not the strings that name them."""

    def times(n: float) -> Any:
        def helper(x: Any) -> Any:
            return x * n

        rule = jax.jit(helper)
        return ruled(lambda x: x * n, lambda x: ScaledArray(rule(x.data), x.scale))

    x = normal(3)
    files = [marked.through_a_file(times(n), x) for n in (2.0, 3.0, 2.0)]
    exported = marked.through_a_file(lambda x: [file.call(x) for file in files], x)
    found = []
    for body, rule in zip(marked.bodies(exported), marked.rules(exported), strict=True):
        (values,) = marked.run(body, x)
        np.testing.assert_array_equal(marked.run(rule, x, np.float32(1))[0], values)
        found.append(round(float(values[0] / x[0])))
    assert sorted(found) == [2, 2, 3]


# Batches have one scale.


def test_a_batch_has_one_scale() -> None:
    mapped = partial(jax.vmap, in_axes=(0, 0, None))
    exported = marked.through_a_file(mapped(ruled(layer_norm, layer_norm_rule)), *BATCH)
    (text,) = marked.rules(exported)
    data, scale = marked.run(text, *pairs_of(BATCH))
    assert (data.shape, scale.shape) == ((5, 3, 8), ())
    np.testing.assert_allclose(data * scale, mapped(layer_norm)(*BATCH), **CLOSE)


def test_of_scales_that_differ_in_a_batch_the_largest_is_taken() -> None:
    def at_its_own_scale(x: ScaledArray) -> Any:
        return jsa.dynamic_rescale(x, "max")

    x = np.array([[1.0, 0.5], [8.0, 3.0], [2.0, -1.0]], np.float32)
    exported = marked.through_a_file(jax.vmap(ruled(lambda x: x, at_its_own_scale)), x)
    (text,) = marked.rules(exported)
    data, scale = marked.run(text, x / 4, np.float32(4))
    assert scale == 8
    np.testing.assert_array_equal(data, x / 8)


def test_integers_may_be_mapped() -> None:
    _, transform, (table, at), _ = TRANSFORMED["batch of integers"]
    (text,) = marked.rules(marked.through_a_file(transform(ruled(rows, rows_rule)), table, at))
    data, scale = marked.run(text, table / 8, np.float32(8), at)
    np.testing.assert_array_equal(data * scale, table[at] * 2)


# Rules for the vjp.


def gelu_vjp_rule(x: ScaledArray, cotangent: ScaledArray) -> ScaledArray:
    (slope,) = jax.vjp(gelu, asarray(x))[1](jnp.ones_like(x.data))
    return ScaledArray(cotangent.data * slope, cotangent.scale)


def _with_vjp(fn: Function, rule: Function, vjp_rule: Function) -> Any:
    function = ruled(fn, rule, check=True)
    assert function.defscale_vjp(vjp_rule) is vjp_rule
    return function


@pytest.mark.slow
def test_a_vjp_has_a_rule_of_its_own() -> None:
    function = _with_vjp(gelu, gelu_rule, gelu_vjp_rule)
    x = normal(3, 8)
    gradient, plain = (jax.grad(partial(_loss, fn)) for fn in (function, gelu))
    expected = plain(x)
    exported = marked.assert_same_function(gradient, plain, x)
    assert marked.names(exported) == ["custom_scale"] * 2
    text = marked.rules(exported)[1]
    cotangent = np.cos(gelu(x)).astype(np.float32)
    data, scale = marked.run(text, x / 4, np.float32(4), cotangent / 2, np.float32(2))
    assert scale == 2
    np.testing.assert_allclose(data * scale, expected, **CLOSE)
    mapped = jax.jit(jax.vmap(gradient))(x)
    np.testing.assert_allclose(mapped, expected, **CLOSE)


def test_the_vjp_of_integers_is_none() -> None:
    def vjp_rule(table: ScaledArray, at: Any, cotangent: ScaledArray) -> Any:
        zeros = jnp.zeros_like(table.data)
        return ScaledArray(zeros.at[at].add(cotangent.data), cotangent.scale * 2), None

    function = _with_vjp(rows, rows_rule, vjp_rule)
    transform = TRANSFORMED["gradient at integers"][1]
    exported = marked.assert_same_function(transform(function), transform(rows), *ROWS)
    assert marked.names(exported)[:1] == ["custom_scale"]


def test_a_vjp_rule_sees_no_cotangent_of_integers() -> None:
    def vjp_rule(tree: Any, cotangent: Any) -> Any:
        largest, others = cotangent
        assert others["at"] is None
        x = tree["x"].data
        at = jnp.arange(x.shape[1]) == jnp.argmax(x, 1)[:, None]
        total = others["sum"]
        return ({"x": ScaledArray(at * (asarray(largest)[:, None]) + asarray(total), 1.0)},)

    function = _with_vjp(extremes, extremes_rule, vjp_rule)
    gradient, plain = (jax.grad(partial(_loss_of_extremes, fn)) for fn in (function, extremes))
    marked.assert_same_function(gradient, plain, normal(3, 8))


def test_gradients_of_scaled_arrays_are_those_of_their_values() -> None:
    function, x = ruled(gelu, gelu_rule), normal(3, 8)
    pair = jsa.as_scaled_array(x, 4.0)
    gradient = jax.grad(partial(_loss, lambda x: asarray(function(x))))(pair)
    np.testing.assert_allclose(asarray(gradient), jax.grad(partial(_loss, gelu))(x), **CLOSE)


# What is captured, and how arguments are given.


def test_values_of_an_outer_trace_may_be_captured() -> None:
    def outer(custom: bool, x: Any, w: Any, shift: Any) -> Any:
        def fn(x: Any) -> Any:
            return jnp.tanh(x @ w)

        def rule(x: ScaledArray) -> ScaledArray:
            return ScaledArray(fn(asarray(x)) + 0 * shift, 1.0)

        return jnp.sum((ruled(fn, rule) if custom else fn)(x))

    args = normal(3, 4), normal(4, 5), np.float32(7)
    gradient, plain = (jax.value_and_grad(partial(outer, c), (0, 1)) for c in (True, False))
    exported = marked.assert_same_function(gradient, plain, *args)
    (text,) = marked.rules(exported)
    x, w, shift = args
    # What the body captures, what the rule captures, and the arguments.
    given = [w, np.float32(1), w / 2, np.float32(2), shift, np.float32(1), x / 8, np.float32(8)]
    data, scale = marked.run(text, *given)
    np.testing.assert_allclose(data * scale, np.tanh(x @ w), **CLOSE)


def test_arguments_may_be_given_by_name() -> None:
    def fn(x: Any, power: Any = 2.0) -> Any:
        return x**power

    def keyword_only(x: Any, *, power: Any = 2.0) -> Any:
        return x**power

    function = ruled(fn, lambda x, power: ScaledArray(asarray(x) ** asarray(power), 1.0))
    assert float(function(power=3.0, x=2.0)) == 8.0
    assert float(function(3.0)) == 9.0
    with pytest.raises(UsageError, match=r"power by keyword only(.|\n)*functools\.partial"):
        ruled(keyword_only, gelu_rule)(1.0)


def test_arguments_may_be_bound_beforehand() -> None:
    def power(n: int, x: Any) -> Any:
        return x**n

    def rule(n: int, x: ScaledArray) -> ScaledArray:
        return ScaledArray(x.data**n, x.scale)

    function = ruled(partial(power, 3), partial(rule, 3))
    assert float(function(2.0)) == 8.0
    with pytest.raises(UsageError, match="rule of power differs") as error:
        ruled(partial(power, 3), partial(rule, 3), check=True)(normal(3))
    assert error.value.location == f"{__file__}:{inspect.getsourcelines(rule)[1]}"


def test_the_function_keeps_its_name_and_words() -> None:
    assert custom_scale(gelu).__name__ == "gelu"
    assert custom_scale(check=True)(layer_norm_rule).__doc__ == layer_norm_rule.__doc__


def test_sizes_may_be_unknown() -> None:
    function = ruled(layer_norm, layer_norm_rule, check=True)

    def run(fn: Function, x: Any, y: Any, gain: Any, bias: Any) -> Any:
        return jax.grad(lambda g: _loss(fn, x, g, bias) + _loss(fn, y, g, bias))(gain)

    n, m = export.symbolic_shape("n, m")
    shapes = ((n, 8), (m, 8), (8,), (8,))
    types = [shaped(*shape) for shape in shapes]
    exported = marked.through_a_file(partial(run, function), *types)
    assert marked.names(exported) == ["custom_scale"] * 2
    args = normal(3, 8), normal(6, 8), normal(8), normal(8, seed=1)
    actual = jax.jit(exported.call)(*args)
    np.testing.assert_allclose(actual, jax.jit(partial(run, layer_norm))(*args), **CLOSE)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64", "complex64"])
def test_data_have_the_dtype_of_the_function(dtype: str) -> None:
    with jax.enable_x64(dtype == "float64"):
        x = jnp.asarray(normal(4)).astype(dtype)
        double = ruled(lambda x: x * 2, lambda x: ScaledArray(x.data, x.scale * 2), check=True)
        exported = marked.through_a_file(double, x)
        assert bits(exported.call(x)) == bits(x * 2)


def _scale_of_rank_one(x: ScaledArray) -> Any:
    return ScaledArray(x.data, x.scale[None])


def _other_scale_dtype(x: ScaledArray) -> Any:
    return ScaledArray(x.data, x.scale.astype(jnp.float16))


def _other_dtype(x: ScaledArray) -> Any:
    return ScaledArray(x.data.astype(jnp.bfloat16), x.scale)


def _other_shape(x: ScaledArray) -> Any:
    return ScaledArray(x.data[0], x.scale)


def _plain_array(x: ScaledArray) -> Any:
    return asarray(x)


def _other_structure(x: ScaledArray) -> Any:
    return x, x


WRONG: dict[Function, str] = {
    _scale_of_rank_one: r"gives ScaledArray\(float32\[3,8\], float32\[1\]\)",
    _other_scale_dtype: r"gives ScaledArray\(float32\[3,8\], float16\[\]\)",
    _other_dtype: r"gives ScaledArray\(bfloat16\[3,8\], float32\[\]\)",
    _other_shape: r"has to be ScaledArray\(float32\[3,8\], float32\[\]\)",
    _plain_array: r"gives float32\[3,8\] for float32\[3,8\](.|\n)*ScaledArray for each",
    _other_structure: r"the same structure",
}


@pytest.mark.parametrize("rule", WRONG)
def test_rules_that_do_not_fit_are_refused(rule: Function) -> None:
    x = normal(3, 8)
    with pytest.raises(UsageError, match=WRONG[rule]) as error:
        jax.jit(ruled(gelu, rule))(x)
    assert "gelu" in error.value.message
    assert error.value.hint
    assert error.value.location == f"{__file__}:{inspect.getsourcelines(rule)[1]}"
    with pytest.raises(UsageError, match=WRONG[rule]):
        ruled(gelu, rule)(jsa.as_scaled_array(x, 2.0))


def test_a_vjp_rule_that_does_not_fit_is_refused() -> None:
    def vjp_rule(_x: ScaledArray, cotangent: ScaledArray) -> Any:
        return ScaledArray(cotangent.data[0], cotangent.scale)

    function = ruled(gelu, gelu_rule)
    function.defscale_vjp(vjp_rule)
    with pytest.raises(UsageError, match="the vjp of gelu gives ScaledArray") as error:
        jax.grad(lambda x: jnp.sum(function(x)))(normal(3, 8))
    assert error.value.location == f"{__file__}:{inspect.getsourcelines(vjp_rule)[1]}"


def test_a_function_without_a_rule_is_refused() -> None:
    with pytest.raises(UsageError, match=r"gelu has no rule(.|\n)*@gelu\.defscale") as error:
        custom_scale(gelu)(1.0)
    assert (error.value.location or "").startswith(__file__)


def _wrong_values(x: ScaledArray) -> Any:
    return ScaledArray(jax.nn.relu(x.data), x.scale)


def _no_power_of_two(x: ScaledArray) -> Any:
    result = gelu_rule(x)
    return ScaledArray(result.data / 3, result.scale * 3)


@pytest.mark.parametrize(
    ("rule", "message"),
    [(_wrong_values, "differs from it by"), (_no_power_of_two, "24.0, which is no power of two")],
)
def test_checked_rules_are_compared_on_samples(rule: Function, message: str) -> None:
    x = normal(64)
    checked = ruled(gelu, rule, check=True)
    for run in (checked, jax.jit(checked), jax.grad(lambda x: jnp.sum(checked(x)))):
        with pytest.raises(UsageError, match=message) as error:
            run(x)
        assert error.value.location == f"{__file__}:{inspect.getsourcelines(rule)[1]}"
    jax.jit(ruled(gelu, rule))(x)
