"""Scales for each row of both operands, and scales that a recipe states, compared with NumPy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo import UsageError, load_recipe
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.casts.encoding import dtype_of
from scalify_hlo.run.runner import compile_module
from tests.py.casts.test_blocks import gradients
from tests.py.shared.fp8_numpy import E4M3, E5M2, F32, Array, quantized
from tests.py.shared.judge import assert_all_equal, stablehlo_of

TOKENS, INPUTS, OUTPUTS = 48, 32, 16


SHAPES = {"x": (TOKENS, INPUTS), "w": (INPUTS, OUTPUTS), "d": (TOKENS, OUTPUTS)}
FREE = ({"x": 0, "w": 1}, {"d": 0, "w": 0}, {"x": 1, "d": 1})
"""For y = x w, d w^T and x^T d, the operands and their dimensions that are not summed over."""


def arrays(product: int | None = None) -> tuple[Array, Array, Array]:
    """Whole numbers that E4M3 rounds; along the free dimensions of a product, they differ in size.

    One scale for all flushes the small ones. Sums are exact, as each has terms of one size.
    """
    rng = np.random.default_rng(0)
    free = {} if product is None else FREE[product]
    found = []
    for name, shape in SHAPES.items():
        sizes = [n if free.get(name) == dim else 1 for dim, n in enumerate(shape)]
        powers = 2.0 ** (10 * rng.integers(0, 3, sizes))
        found.append(np.asarray(rng.integers(-31, 32, shape) * powers, F32))
    x, w, d = found
    return x, w, d


def rounded(value: Array, axis: int | None) -> Array:
    data, scale = quantized(value, E4M3, axes=None if axis is None else (axis,))
    return np.asarray(data.astype(F32) * scale)


def run(every: tuple[Array, ...], **settings: Any) -> list[Array]:
    given = {"scaling.fp8_format": "E4M3", "matmul.smallest": 1}
    given |= {key.replace("__", "."): value for key, value in settings.items()}
    text = stablehlo_of(gradients, *every)
    program = scalify_hlo.rewrite(text, recipe="fp8-current", settings=given, strict=True)
    return [np.asarray(each) for each in compile_module(str(program))(every)]


@pytest.mark.parametrize("data", ["tensor", "row"])
@pytest.mark.parametrize("weight", ["tensor", "channel", "row"])
@pytest.mark.parametrize("product", range(3), ids=["forward", "dgrad", "wgrad"])
def test_each_operand_has_the_scales_of_its_role(product: int, data: str, weight: str) -> None:
    x, w, d = every = arrays(product)

    def of_data(value: Array, axis: int) -> Array:
        return rounded(value, axis if data == "row" else None)

    forward = rounded(w, None if weight == "tensor" else 0)
    backward = rounded(w, 1 if weight == "row" else None)
    expected = [
        of_data(x, 1) @ forward,
        of_data(d, 1) @ backward.T,
        of_data(x, 0).T @ of_data(d, 0),
    ]
    found = run(every, scaling__data_scales=data, scaling__weight_scales=weight)
    np.testing.assert_array_equal(found[product], expected[product])


def test_rows_of_several_dimensions_share_no_scale() -> None:
    """A large token takes no precision from the others, in a batch of sequences."""
    rng = np.random.default_rng(1)
    x = np.asarray(rng.standard_normal((2, 24, 32)), F32)
    x[1, 3] *= 2.0**20
    w = np.asarray(rng.standard_normal((32, 16)), F32)
    text = stablehlo_of(lambda x, w: jnp.einsum("btd,df->btf", x, w), x, w)
    settings = {"scaling.data_scales": "row", "inputs.weight": ["w"]}
    made = scalify_hlo.rewrite(text, recipe="fp8-current", settings=settings)
    (found,) = compile_module(str(made))([x, w])
    data, scale = quantized(x, E4M3, axes=(2,))
    np.testing.assert_array_equal(
        np.asarray(found), np.einsum("btd,df->btf", data.astype(F32) * scale, rounded(w, None))
    )


def test_products_of_activations_have_rows_too() -> None:
    def scores(q: jax.Array, k: jax.Array) -> Any:
        return jnp.einsum("bqd,bkd->bqk", q, k)

    rng = np.random.default_rng(2)
    q, k = (np.asarray(rng.integers(-31, 32, (2, 16, 32)), F32) for _ in range(2))
    q[0] *= 2.0**20
    settings = {"scaling.data_scales": "row", "inputs.activation": ["q", "k"]}
    made = scalify_hlo.rewrite(stablehlo_of(scores, q, k), recipe="fp8-current", settings=settings)
    (found,) = compile_module(str(made))([q, k])
    (qd, qs), (kd, ks) = (quantized(each, E4M3, axes=(2,)) for each in (q, k))
    expected = np.einsum("bqd,bkd->bqk", qd.astype(F32) * qs, kd.astype(F32) * ks)
    np.testing.assert_array_equal(np.asarray(found), expected)


def test_an_operand_without_rows_is_told() -> None:
    x, w = jnp.ones((2, 64, 32)), jnp.ones((3, 32, 32))

    def convolved(x: jax.Array, w: jax.Array) -> jax.Array:
        numbers = ("NWC", "WIO", "NWC")
        return jax.lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=numbers)

    text, settings = stablehlo_of(convolved, x, w), {"scaling.data_scales": "row"}
    told = scalify_hlo.rewrite(text, recipe="fp8-current", settings=settings, report=True)[1]
    (remark,) = (each for each in told.remarks if "data_scales" in each.message)
    assert (
        remark.message
        == "scaling.data_scales: the activation has one scale, as its rows share results"
    )
    plain = scalify_hlo.rewrite(text, recipe="fp8-current", report=True)[1]
    assert not [each for each in plain.remarks if "_scales" in each.message]


# Stated scales.


def stated(value: Array, format_: str, exponent: int) -> Array:
    """Numbers as a cast at 2^exponent makes them: the largest one of the format bounds them."""
    most = FORMATS[format_].max_finite
    data = np.clip(value * 2.0**-exponent, -most, most).astype(dtype_of(format_))
    return np.asarray(data.astype(F32) * F32(2.0**exponent))


@pytest.mark.parametrize("exponents", [(0, 0, 0), (1, -2, -8), (-4, 3, 5)])
def test_stated_scales_are_those_of_each_role(exponents: tuple[int, int, int]) -> None:
    x, w, d = every = arrays()
    settings = {"scaling__kind": "static", "scaling__exponents": list(exponents)}
    found = run(every, **settings, scaling__fp8_format="HYBRID")
    formats = (E4M3, E4M3, E5M2)
    x, w, d = (stated(*each) for each in zip((x, w, d), formats, exponents, strict=True))
    assert_all_equal(found, [x @ w, d @ w.T, x.T @ d])


def test_stated_scales_have_bounds() -> None:
    for exponents in ([0, 0, 127], [0, 1], "1,2,-127", 0.5):
        with pytest.raises(UsageError, match=r"from -126 to 126"):
            load_recipe("fp8", {"scaling.kind": "static", "scaling.exponents": exponents})
    settings = {"scaling.kind": "static", "scaling.exponents": "0,0,-8"}
    assert load_recipe("fp8", settings).scaling.exponents == (0, 0, -8)
    assert load_recipe("fp8", settings | {"scaling.exponents": 3}).scaling.exponents == (3, 3, 3)
