"""Profiles: scales against brute force, merging, and what files of them may hold."""

from __future__ import annotations

import contextlib
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.profile.file import dump_profile, load_profile, parse_profile
from scalify_hlo.profile.histogram import BINS, FINITE_BINS, SHIFT, edges
from scalify_hlo.profile.model import METHODS, Profile, TensorProfile
from scalify_hlo.program.tensors import DTYPES

SMALL = sorted(name for name in FORMATS if name.startswith(("f8", "f6E", "f4")))
EVERY_SMALL = pytest.mark.parametrize("name", SMALL)
Array = npt.NDArray[Any]


def profile_of(values: Array) -> TensorProfile:
    """Returns the statistics that `scalify-observe` takes of an array."""
    x = np.asarray(values, np.float32).ravel()
    finite = np.abs(x[np.isfinite(x)]).astype(np.float64)
    bins, counts = np.unique(np.abs(x).view(np.uint32) >> SHIFT, return_counts=True)
    histogram = dict(zip(bins.tolist(), counts.tolist(), strict=True))
    rms = float(np.sqrt(np.mean(finite**2))) if finite.size else 0.0
    return TensorProfile(x.size, float(finite.max(initial=0)), rms, histogram)


def rounded(values: Array, name: str, exponent: int) -> Array:
    """Values as data of a format at a scale, saturating, and back."""
    most = FORMATS[name].max_finite
    data = np.clip(np.ldexp(values, -exponent), -most, most).astype(np.dtype(DTYPES[name]))
    return np.ldexp(data.astype(np.float64), exponent)


def error(values: Array, name: str, exponent: int) -> float:
    return float(np.mean((rounded(values, name, exponent) - values) ** 2))


def distributions() -> dict[str, Array]:
    rng = np.random.default_rng(0)
    n = 1 << 16
    made = {
        "normal": rng.standard_normal(n),
        "small": rng.standard_normal(n) * 1e-6,
        "laplace": rng.laplace(size=n) * 50,
        "student": rng.standard_t(3, n),
        "wide": np.exp(3 * rng.standard_normal(n)),
        "uniform": rng.uniform(-1, 1, n),
        "half zeros": np.where(rng.random(n) < 0.5, 0, rng.standard_normal(n)),
        "outlier": np.append(rng.standard_normal(n), 3e4),
    }
    return {name: values.astype(np.float32).astype(np.float64) for name, values in made.items()}


DISTRIBUTIONS = distributions()
EVERY_DISTRIBUTION = pytest.mark.parametrize("kind", DISTRIBUTIONS)


class TestError:
    @EVERY_SMALL
    @pytest.mark.parametrize("kind", ["normal", "small", "laplace", "uniform", "half zeros"])
    def test_it_is_that_of_rounding_the_samples(self, name: str, kind: str) -> None:
        values = DISTRIBUTIONS[kind]
        tensor = profile_of(values)
        top = tensor.exponent("max", name)
        for exponent in range(top - 6, top + 4):
            expected = error(values, name, exponent)
            assert tensor.mse(exponent, name) == pytest.approx(expected, rel=0.05), exponent

    @EVERY_SMALL
    def test_it_is_exact_where_elements_fill_their_bins(self, name: str) -> None:
        """Each bin has numbers that are spread evenly, as the error takes them to be."""
        low, high = edges(np.arange(1900, 2060))
        parts = (np.arange(256) + 0.5) / 256
        values = (low[:, None] + (high - low)[:, None] * parts).ravel()
        tensor = profile_of(values)
        for exponent in (-9, -4, 0, 3):
            expected = error(values, name, exponent)
            assert tensor.mse(exponent, name) == pytest.approx(expected, rel=1e-4)

    @pytest.mark.parametrize("name", ["f16", "bf16", "tf32"])
    def test_formats_whose_numbers_are_nearer_than_bins(self, name: str) -> None:
        values = DISTRIBUTIONS["normal"]
        bits = FORMATS[name].mantissa_bits + 1
        fraction, exponent = np.frexp(values)
        nearest = np.ldexp(np.rint(np.ldexp(fraction, bits)), exponent - bits)
        expected = float(np.mean((nearest - values) ** 2))
        assert profile_of(values).mse(0, name) == pytest.approx(expected, rel=0.05)

    @pytest.mark.parametrize("name", ["f32", "f64"])
    def test_formats_that_hold_everything(self, name: str) -> None:
        tensor = profile_of(DISTRIBUTIONS["wide"])
        for exponent in (0, tensor.exponent("mse", name)):
            assert tensor.mse(exponent, name) < (tensor.rms * 2.0**-24) ** 2

    @pytest.mark.slow
    @EVERY_SMALL
    @EVERY_DISTRIBUTION
    def test_the_scale_of_the_least_error_is_found(self, name: str, kind: str) -> None:
        values = DISTRIBUTIONS[kind]
        tensor = profile_of(values)
        top = tensor.exponent("max", name)
        errors = {e: error(values, name, e) for e in range(top - 40, top + 3)}
        found = tensor.exponent("mse", name)
        assert errors[found] <= 1.01 * min(errors.values())

    def test_an_outlier_is_clipped(self) -> None:
        tensor = profile_of(np.append(DISTRIBUTIONS["normal"], 60.0))
        assert tensor.exponent("mse", "f4E2M1FN") < tensor.exponent("max", "f4E2M1FN")


class TestScale:
    @EVERY_SMALL
    @given(st.floats(2.0**-100, 2.0**100, width=32))
    def test_max_is_the_least_that_clips_nothing(self, name: str, amax: float) -> None:
        exponent = profile_of(np.array([amax])).exponent("max", name)
        most = FORMATS[name].max_finite
        assert math.ldexp(most, exponent - 1) < amax <= math.ldexp(most, exponent)

    @pytest.mark.parametrize(("amax", "exponent"), [(448, 0), (449, 1), (224, -1), (225, 0)])
    def test_max_at_the_ends_of_the_range(self, amax: float, exponent: int) -> None:
        assert profile_of(np.array([amax])).exponent("max", "f8E4M3FN") == exponent

    @given(st.floats(2.0**-100, 2.0**100, width=32))
    def test_rms_is_rounded_down(self, rms: float) -> None:
        exponent = profile_of(np.array([rms, -rms])).exponent("rms", "f8E4M3FN")
        assert 2.0**exponent <= rms < 2.0 ** (exponent + 1)

    def test_percentile_leaves_out_the_largest(self) -> None:
        values = np.append(np.ones(9999), 1e5)
        tensor = profile_of(values)
        assert tensor.exponent("percentile", "f8E4M3FN", percent=99.9) == -8
        assert tensor.exponent("percentile", "f8E4M3FN", percent=100) == 8
        assert tensor.exponent("percentile", "f8E4M3FN") == -8

    @pytest.mark.parametrize("method", METHODS)
    def test_zeros_and_nothing_finite_have_scale_one(self, method: str) -> None:
        for values in (np.zeros(4), np.array([np.nan, np.inf]), np.zeros(0)):
            assert profile_of(values).exponent(method, "f8E4M3FN") == 0

    @pytest.mark.parametrize("method", METHODS)
    def test_a_power_of_two_moves_the_scale(self, method: str) -> None:
        values = DISTRIBUTIONS["laplace"]
        one, other = profile_of(values), profile_of(values * 2.0**-20)
        for name in ("f8E4M3FN", "f8E5M2"):
            assert one.exponent(method, name) == other.exponent(method, name) + 20

    def test_unknown_names_are_told_their_neighbours(self) -> None:
        tensor = profile_of(np.ones(2))
        with pytest.raises(UsageError, match=r"no method is named 'maxx'.*'max'"):
            tensor.exponent("maxx", "f8E4M3FN")
        with pytest.raises(UsageError, match=r"no format is named 'f8E4M3FM'.*'f8E4M3FN'"):
            tensor.exponent("max", "f8E4M3FM")
        for percent in (0, -1, 101, math.nan):
            with pytest.raises(UsageError, match="is not a percentile"):
                tensor.percentile(percent)


class TestStatistics:
    @EVERY_DISTRIBUTION
    @pytest.mark.parametrize("percent", [1, 50, 99, 99.99, 100])
    def test_percentiles_are_within_a_bin(self, kind: str, percent: float) -> None:
        values = np.abs(DISTRIBUTIONS[kind])
        exact = float(np.quantile(values, percent / 100, method="inverted_cdf"))
        found = profile_of(values).percentile(percent)
        assert exact <= found <= exact * (1 + 1 / 16)

    def test_exponents(self) -> None:
        values = np.array([0, 1, 1.9, -2, 0.25, np.inf, np.nan, 2.0**-140, 3e38])
        tensor = profile_of(values)
        assert tensor.exponents == {-2: 1, 0: 2, 1: 1, 127: 1}
        assert (tensor.count, tensor.zeros, tensor.nonfinite) == (9, 2, 2)

    @given(st.lists(st.lists(st.floats(width=32), max_size=6), min_size=2, max_size=4))
    def test_merging_is_seeing_all(self, parts: list[list[float]]) -> None:
        merged = profile_of(np.array(parts[0]))
        for part in parts[1:]:
            merged = merged.merge(profile_of(np.array(part)))
        whole = profile_of(np.array([x for part in parts for x in part]))
        assert (merged.count, merged.amax) == (whole.count, whole.amax)
        assert {b: n for b, n in merged.histogram.items() if n} == whole.histogram
        assert merged.rms == pytest.approx(whole.rms)


def example() -> Profile:
    shared = profile_of(np.array([0, 1, 1.5, np.inf]))
    other = profile_of(DISTRIBUTIONS["normal"][:100])
    return Profile("ab" * 16, 3, {"x w:lhs": shared, "y w:lhs": shared, "x w:rhs": other})


class TestProfile:
    def test_merging_adds_samples(self) -> None:
        merged = example().merge(example())
        assert merged.samples == 6
        assert merged.tensors["y w:lhs"].count == 8

    def test_another_program_is_refused(self) -> None:
        other = Profile("cd" * 16, 1, example().tensors)
        with pytest.raises(InputError, match="of another program"):
            example().merge(other)

    def test_other_tensors_are_refused(self) -> None:
        tensors = dict(example().tensors)
        tensors["z:lhs"] = tensors.pop("x w:rhs")
        with pytest.raises(InputError, match="has the tensor"):
            example().merge(Profile(example().program, 1, tensors))


class TestFile:
    def test_it_comes_back_as_it_was(self, tmp_path: Path) -> None:
        text = dump_profile(example())
        again = parse_profile(text)
        assert again == example()
        assert list(again.tensors) == list(example().tensors)
        assert again.tensors["x w:lhs"] is again.tensors["y w:lhs"]
        assert dump_profile(again) == text
        (tmp_path / "p.json").write_text(text)
        assert load_profile(tmp_path / "p.json") == example()

    def test_one_line_for_each_tensor(self) -> None:
        assert len(dump_profile(example()).splitlines()) == 4

    def test_a_missing_file(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match="cannot read the file") as caught:
            load_profile(tmp_path / "none.json")
        assert caught.value.location == str(tmp_path / "none.json")


def _changed(path: str, value: object) -> dict[str, Any]:
    """The example with one value replaced, or taken out."""
    whole: Any = json.loads(dump_profile(example()))
    *keys, last = [int(key) if key.isdecimal() else key for key in path.split(".")]
    inner = whole
    for key in keys:
        inner = inner[key]
    if value is ...:
        del inner[last]
    else:
        inner[last] = value
    return dict(whole)


FIRST = "tensors.0"


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("format", ..., "the profile has no 'format'"),
        ("format", "scalify-hlo stats", "'format' is 'scalify-hlo stats', and not"),
        ("version", ..., "the profile has no 'version'"),
        ("version", 2, "'version' is 2"),
        ("program", ..., "the profile has no 'program'"),
        ("program", 3, "'program' is not a text"),
        ("samples", "many", "'samples' is not a whole number"),
        ("samples", True, "'samples' is not a whole number"),
        ("samples", -1, "'samples' is -1"),
        ("tensors", {}, "'tensors' is not a list"),
        ("sampels", 2, "the profile has a foreign key 'sampels' (did you mean 'samples'?)"),
        (FIRST, 3, "'tensors[0]' is not a table"),
        (f"{FIRST}.amax", ..., "'tensors[0]' has no 'amax'"),
        (f"{FIRST}.amax", "1", "'tensors[0].amax' is not a finite number"),
        (f"{FIRST}.amax", math.inf, "'tensors[0].amax' is inf"),
        (f"{FIRST}.amax", math.nan, "'tensors[0].amax' is nan"),
        (f"{FIRST}.amax", 17.0, "'tensors[0].amax' is not in the last bin"),
        (f"{FIRST}.rms", 17.0, "'tensors[0].rms' is larger than the amax"),
        (f"{FIRST}.rms", -1.0, "'tensors[0].rms' is -1.0"),
        (f"{FIRST}.count", 5, "'tensors[0].count' is not the sum"),
        (f"{FIRST}.count", 4.0, "'tensors[0].count' is not a whole number"),
        (f"{FIRST}.names", [], "'tensors[0].names' is not a list of names"),
        (f"{FIRST}.names", "x", "'tensors[0].names' is not a list of names"),
        (f"{FIRST}.names", ["x w:rhs"], "'tensors[1].names' has 'x w:rhs', which stands there"),
        (f"{FIRST}.histogram", [1], "'tensors[0].histogram' is not a table"),
        (f"{FIRST}.histogram.x", 1, "'tensors[0].histogram' has 'x', which is no bin"),
        (f"{FIRST}.histogram.-1", 1, "'tensors[0].histogram' has '-1', which is no bin"),
        (f"{FIRST}.histogram.", 1, "'tensors[0].histogram' has '', which is no bin"),
    ],
)
def test_foreign_values_are_named(path: str, value: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_profile(json.dumps(_changed(path, value)), "p.json")
    error = caught.value
    assert message in error.message
    assert error.location == "p.json"
    assert error.hint


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("samples", "'samples' has more than 18 digits"),
        (f"{FIRST}.count", "'tensors[0].count' has more than 18 digits"),
        (f"{FIRST}.histogram.1", "'tensors[0].histogram.1' has more than 18 digits"),
        (f"{FIRST}.amax", "'tensors[0].amax' is inf"),
        (f"{FIRST}.rms", "'tensors[0].rms' is inf"),
    ],
)
@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_many_digits_is_named(path: str, message: str, digits: int) -> None:
    text = json.dumps(_changed(path, "<long>")).replace('"<long>"', "9" * digits)
    with pytest.raises(InputError) as caught:
        parse_profile(text, "p.json")
    assert message in caught.value.message


def test_a_bin_of_many_digits() -> None:
    text = json.dumps(_changed(f"{FIRST}.histogram.<long>", 1)).replace("<long>", "1" * 5000)
    with pytest.raises(InputError, match=r"has '1+\.\.\.1+', which is no bin"):
        parse_profile(text, "p.json")


def test_a_bin_beyond_the_last() -> None:
    changed = _changed("samples", 1)
    changed["tensors"][0]["histogram"][str(BINS)] = 1
    with pytest.raises(InputError, match="is no bin"):
        parse_profile(json.dumps(changed))


@pytest.mark.parametrize("text", ["", "[", "[]", "3", "null", "[" * 100_000, b"\xff\xfe"])
def test_what_is_no_profile_is_refused(text: str | bytes) -> None:
    with pytest.raises(InputError) as caught:
        parse_profile(text, "p.json")
    assert caught.value.location == "p.json"


@given(st.data())
def test_damaged_files_are_input_errors_or_profiles(data: st.DataObject) -> None:
    text = bytearray(dump_profile(example()).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(InputError):
        parse_profile(bytes(text))


def test_bins_follow_the_numbers() -> None:
    low, high = edges(np.arange(FINITE_BINS))
    assert np.all(low < high)
    assert np.array_equal(low[1:], high[:-1])
    assert (low[0], high[-1]) == (0, 2.0**128)
