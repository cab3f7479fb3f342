"""Wrong custom rules are refused when the function is traced, with the place of the rule."""

from __future__ import annotations

import inspect
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo as jsa
from scalify_hlo import ScaledArray, UsageError, asarray, custom_scale
from tests.py.jax_api.test_custom_scale import Function, gelu, gelu_rule, ruled
from tests.py.shared.judge import normal


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
