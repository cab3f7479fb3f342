"""ScaledArray: splitting and multiplying back change no value."""

from __future__ import annotations

from typing import Any, get_args

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from scalify_hlo import ScaledArray, UsageError, as_scaled_array, asarray, dynamic_rescale
from scalify_hlo.jax_api.scaled_array import Statistic, is_scaled_array, scale_dtype
from tests.py.shared.judge import shaped

DTYPES = ("float16", "bfloat16", "float32", "float8_e4m3fn", "float8_e5m2", "complex64")
STATISTICS = get_args(Statistic)


def array(values: Any, dtype: str = "float32") -> jax.Array:
    return jnp.asarray(values).astype(dtype)


def normals(shape: tuple[int, ...] = (64,), seed: int = 0) -> np.ndarray[Any, Any]:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("magnitude", [0.0, 0.25, 1.0, 100.0])
def test_the_values_are_the_same_after_every_split(dtype: str, magnitude: float) -> None:
    # No narrow dtype loses a bit of these to subnormals.
    x = array(np.array([1.0, -1.5, 0.0, 1.25, -0.5]) * magnitude, dtype)
    scaled = as_scaled_array(x).check()
    assert scaled.dtype == x.dtype
    np.testing.assert_array_equal(asarray(scaled), x)
    for statistic in STATISTICS:
        rescaled = dynamic_rescale(scaled, statistic).check()
        np.testing.assert_array_equal(asarray(rescaled), x)


@given(
    hnp.arrays(np.float32, hnp.array_shapes(max_dims=2), elements=st.floats(-1e6, 1e6, width=32)),
    st.integers(-20, 20),
)
def test_any_scale_is_exact_away_from_subnormals(x: np.ndarray[Any, Any], exponent: int) -> None:
    x = np.where(np.abs(x) < 1e-20, 0, x).astype(np.float32)
    scaled = as_scaled_array(x, scale=2.0**exponent)
    assert float(scaled.scale) == 2.0**exponent
    np.testing.assert_array_equal(np.asarray(scaled), x)
    other = as_scaled_array(scaled, scale=2.0**-exponent)
    assert float(other.scale) == 2.0**-exponent
    np.testing.assert_array_equal(np.asarray(other), x)


@pytest.mark.parametrize("magnitude", [3e38, 1e30, 1.0, 1e-30])
def test_the_scale_is_the_power_of_two_at_or_below_the_rms(magnitude: float) -> None:
    x = np.full(1000, magnitude, np.float32)
    scaled = as_scaled_array(x)
    exponent = np.clip(np.floor(np.log2(np.float64(magnitude))), -63, 63)
    assert float(scaled.scale) == 2.0**exponent


@pytest.mark.parametrize("values", [[0.0, 0.0], [np.inf, 1.0], [np.nan, 1.0], np.zeros((0, 3))])
def test_without_a_finite_rms_the_scale_is_one(values: Any) -> None:
    x = array(values)
    scaled = as_scaled_array(x)
    assert float(scaled.scale) == 1
    np.testing.assert_array_equal(scaled.data, x)
    for statistic in STATISTICS:
        assert float(dynamic_rescale(scaled, statistic).scale) == 1


def test_statistics_are_those_of_their_names() -> None:
    data = array([1.0, 3.0, 5.0, 20.0])  # mean 7.25, rms 10.4, largest 20
    scaled = ScaledArray(data, jnp.float32(0.5))
    scales = {s: float(dynamic_rescale(scaled, s).scale) for s in STATISTICS}
    assert scales == {"l1": 2.0, "l2": 4.0, "max": 16.0}
    exact = ScaledArray(array([8.0, 8.0]), jnp.float32(1))
    assert {float(dynamic_rescale(exact, s).scale) for s in STATISTICS} == {8.0}


def test_data_whose_values_overflow_their_dtype_stay_data() -> None:
    scaled = ScaledArray(array([3000.0, 1000.0], "float16"), jnp.float32(2.0**20))
    rescaled = dynamic_rescale(scaled)
    assert float(rescaled.scale) == 2.0**31
    np.testing.assert_array_equal(rescaled.data, scaled.data / 2048)
    moved = as_scaled_array(scaled, scale=2.0**25)
    np.testing.assert_array_equal(moved.data, scaled.data / 32)


def test_only_floats_are_split() -> None:
    tree = {
        "i": jnp.arange(3),
        "b": jnp.array([True]),
        "f": 2.0,
        "n": None,
        "key": jax.random.key(0),
    }
    scaled = as_scaled_array(tree)
    assert {k for k, v in scaled.items() if is_scaled_array(v)} == {"f"}
    assert asarray(scaled)["f"] == 2.0
    assert scaled["i"] is tree["i"]


def test_f64_and_complex128_have_f64_scales() -> None:
    for dtype, wanted in {"f8": "f8", "c16": "f8", "f4": "f4", "c8": "f4", "f2": "f4"}.items():
        assert scale_dtype(np.dtype(dtype)) == np.dtype(wanted)
    with jax.enable_x64(True):
        assert as_scaled_array(jnp.ones(3, "float64")).check().scale.dtype == np.float64
        assert as_scaled_array(jnp.ones(3, "complex128")).check().scale.dtype == np.float64


def test_scaled_leaves_stay_as_they_are_without_a_scale() -> None:
    scaled = ScaledArray(array([100.0]), jnp.float32(2))
    assert as_scaled_array(scaled) is scaled
    assert asarray({"a": jnp.arange(2), "s": scaled})["s"] == 200


def test_shapes_without_values() -> None:
    shape = shaped(2, 3, dtype=jnp.bfloat16)
    scaled = as_scaled_array({"x": shape, "i": shaped(dtype=jnp.int32)})
    assert scaled["x"].shape == (2, 3)
    assert scaled["x"].scale == shaped()
    assert isinstance(scaled["i"], jax.ShapeDtypeStruct)
    assert dynamic_rescale(scaled)["x"].data is shape


def test_everything_works_under_jit() -> None:
    x = jnp.asarray(normals() * 100)

    @jax.jit
    def f(x: jax.Array) -> tuple[Any, Any]:
        scaled = dynamic_rescale(as_scaled_array(x), "max")
        return scaled, asarray(scaled)

    scaled, values = f(x)
    np.testing.assert_array_equal(values, x)
    assert is_scaled_array(scaled.check())


def test_properties_and_conversion() -> None:
    scaled = ScaledArray(jnp.ones((2, 3)), jnp.float32(4))
    assert (scaled.shape, scaled.ndim, scaled.size) == ((2, 3), 2, 6)
    assert scaled.dtype == np.float32
    np.testing.assert_array_equal(np.asarray(scaled, np.float64), np.full((2, 3), 4.0))
    assert jax.tree.leaves(scaled)[0] is scaled.data


@pytest.mark.parametrize(
    ("data", "scale"),
    [
        (jnp.arange(3), jnp.float32(1)),
        (jnp.ones(3), jnp.ones(2)),
        (jnp.ones((4, 3)), jnp.ones((3, 1))),
        (jnp.ones(3), jnp.asarray([1, 0, 2.0])),
        (jnp.ones(3), jnp.float16(1)),
        (jnp.ones(3), jnp.float32(jnp.nan)),
        (jnp.ones(3), jnp.float32(-2)),
        (jnp.ones(3), jnp.float32(jnp.inf)),
    ],
)
def test_broken_invariants_are_named(data: Any, scale: Any) -> None:
    with pytest.raises(UsageError, match="note: "):
        ScaledArray(data, scale).check()


@pytest.mark.parametrize("scale", [3.0, 0.0, -1.0, float("inf"), float("nan")])
def test_scales_are_powers_of_two(scale: float) -> None:
    with pytest.raises(UsageError, match="not a power of two"):
        as_scaled_array(jnp.ones(2), scale=scale)


def test_an_unknown_statistic_is_told_its_neighbours() -> None:
    with pytest.raises(UsageError, match="did you mean 'max'"):
        dynamic_rescale(jnp.ones(2), "maxx")  # type: ignore[arg-type]


def test_gradients_flow_through_splitting_and_multiplying_back() -> None:
    x = jnp.asarray(normals())

    def f(x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.sin(asarray(dynamic_rescale(as_scaled_array(x * 100)))))

    def plain(x: jax.Array) -> jax.Array:
        return jnp.sum(jnp.sin(x * 100))

    np.testing.assert_allclose(jax.grad(f)(x), jax.grad(plain)(x), rtol=1e-5, atol=1e-4)


def test_the_gradient_of_a_scaled_array_is_one() -> None:
    scaled = as_scaled_array(jnp.asarray([2.0, 6.0]))
    gradient = jax.grad(lambda s: jnp.sum(asarray(s) ** 2))(scaled)
    np.testing.assert_array_equal(asarray(gradient), [4.0, 12.0])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float8_e5m2", "float8_e4m3fn"])
def test_far_from_unit_values_are_read_in_a_wide_dtype(dtype: str) -> None:
    small = ScaledArray(array([1.5, -3.0], dtype), jnp.float32(2.0**-60))
    expected = np.array([1.5, -3.0], np.float32) * np.float32(2.0**-60)
    for read in (asarray(small, jnp.float32), np.asarray(small, np.float32)):
        assert read.dtype == np.float32
        np.testing.assert_array_equal(read, expected)
    np.testing.assert_array_equal(np.asarray(small, np.float64), expected.astype(np.float64))
    with pytest.raises(UsageError, match="are floats, not int32"):
        asarray(small, jnp.int32)
