"""Sizes of inputs that are declared: far from unit, wrong, verified, and reported by `check`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import scalify_hlo as sh
from scalify_hlo.algebra.measured import Measured
from scalify_hlo.commands.check.check import checked
from scalify_hlo.program.program import read_text
from tests.py.shared.commands import call
from tests.py.shared.judge import program_of, stablehlo_of

SIZE, LEAST = 64, 13.0
Arrays = tuple[Any, ...]


def operands(dtype: Any = np.float32) -> Arrays:
    random = np.random.default_rng(0)
    return tuple(
        (random.standard_normal((SIZE, SIZE)) * scale).astype(dtype) for scale in (1, 1 / 8, 1 / 8)
    )


def linear(x: Any, w: Any, v: Any) -> Any:
    return x @ w @ v


def gelu(x: Any, w: Any, v: Any) -> Any:
    return jax.nn.gelu(x @ w) @ v


def exact_gelu(x: Any, w: Any, v: Any) -> Any:
    return jax.nn.gelu(x @ w, approximate=False) @ v


def attention(x: Any, w: Any, v: Any) -> Any:
    q, k = x @ w, x @ v
    return jax.nn.softmax(q @ k.T / 8) @ (x @ w.T)


def layer_norm(x: Any, w: Any, v: Any) -> Any:
    h = x @ w
    centered = h - h.mean(-1, keepdims=True)
    return centered * jax.lax.rsqrt(h.var(-1, keepdims=True) + 1e-5) @ v


def exported(model: Callable[..., Any], args: Arrays) -> jax.export.Exported:
    """A model that returns its result, and its gradients in all arguments."""

    def step(x: Any, w: Any, v: Any) -> Any:
        return model(x, w, v), jax.grad(lambda *a: model(*a).mean(), argnums=(0, 1, 2))(x, w, v)

    return program_of(step, *args)


def ratios(found: Any, expected: Any) -> list[float]:
    """The signal-to-noise ratio of each result in decibels; no element may become infinite."""
    ratios = []
    for got, want in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        exact = np.asarray(want, np.float64)
        error = np.asarray(got, np.float64) - exact
        assert np.isfinite(error).all()
        largest = np.abs(exact).max() or 1.0
        noise, signal = (np.linalg.norm(a / largest) for a in (error, exact))
        ratios.append(20 * float(np.log10(signal / noise)) if signal and noise else 300.0)
    return ratios


def snr(
    program: jax.export.Exported,
    args: Arrays,
    recipe: str,
    scales: Mapping[str, float] | None = None,
    **options: Any,
) -> list[float]:
    """The ratios of a rewrite, with the sizes that were measured unless others are declared."""
    found = sh.measured_scales(program, *args) if scales is None else scales
    new = sh.rewrite(program, recipe=recipe, input_scale=found, **options)
    return ratios(sh.asarray(new.call(*args)), program.call(*args))


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp16"])
@pytest.mark.parametrize("size", [1e-17, 1e-6, 2.0**10, 1e6, 1e18])
@pytest.mark.parametrize("model", [linear, gelu, exact_gelu, layer_norm])
def test_inputs_may_have_any_size(model: Callable[..., Any], size: float, recipe: str) -> None:
    x, *weights = operands()
    args = (x * np.float32(size), *weights)
    program = exported(model, args)
    found, best = (snr(program, args, each) for each in (recipe, "fp8-current"))
    assert all(f > b - 1.5 for f, b in zip(found, best, strict=True))


def test_one_input_of_each_size() -> None:
    """A sample of the slow tests below and above."""
    for size, model, recipe in ((1e6, gelu, "fp8"), (1e-17, layer_norm, "unit")):
        x, *weights = operands()
        args = (x * np.float32(size), *weights)
        assert min(snr(exported(model, args), args, recipe)) > LEAST


@pytest.mark.parametrize("recipe", ["fp8", "unit"])
def test_zeros_times_huge_factors_are_zeros(recipe: str) -> None:
    """The gradients of scores are flushed in f32, and their predicted scale is 2^-128."""
    x, *weights = operands()
    args = (x * np.float32(1e-17), *weights)
    assert min(snr(exported(attention, args), args, recipe)) > LEAST


@pytest.mark.slow
@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("size", [1e-100, 1e100])
@pytest.mark.parametrize("recipe", ["propagate", "fp8", "unit", "fp16", "bf16"])
def test_f64_inputs_beyond_f32(recipe: str, size: float, declared: bool) -> None:
    with jax.enable_x64(True):
        x, *weights = operands(np.float64)
        args = (x * size, *weights)
        for model in (linear, gelu):
            scales: Mapping[str, float] | None = None if declared else {}
            assert min(snr(exported(model, args), args, recipe, scales)) > LEAST


@pytest.mark.parametrize("recipe", ["fp8", "bf16"])
def test_f64_pairs_beyond_f32(recipe: str) -> None:
    with jax.enable_x64(True):
        x, *weights = operands(np.float64)
        args = (x * 1e-100, *weights)
        program = exported(linear, args)
        new = sh.rewrite(program, recipe=recipe, signature="scaled")
        found = new.call(*(sh.as_scaled_array(jnp.asarray(a)) for a in args))
        assert min(ratios(sh.asarray(found), program.call(*args))) > LEAST


@pytest.mark.parametrize("recipe", ["fp8-current", "mxfp8"])
def test_f64_stays_wide_where_scales_are_f32(recipe: str) -> None:
    with jax.enable_x64(True):
        program = exported(linear, operands(np.float64))
        _, report = sh.rewrite(program, recipe=recipe, report=True)
    kept = [remark for remark in report.remarks if "its operands are f64" in remark.message]
    assert len(kept) == len(report.matmuls)
    assert all("test_declared_sizes.py" in remark.location for remark in kept)


def test_scales_that_were_measured_are_accepted() -> None:
    x, w, v = operands()
    scales = np.full((SIZE, SIZE), 4, ml_dtypes.float8_e8m0fnu)
    narrow = w.astype(ml_dtypes.float8_e4m3fn), v.astype(ml_dtypes.float8_e5m2)
    args = (x, scales, *narrow, np.int32(3), np.float32(3e38), np.float32(1.2e-38))

    def fn(x: Any, s: Any, w: Any, v: Any, n: Any, most: Any, least: Any) -> Any:
        scaled = x * s.astype(jnp.float32)
        return scaled @ w.astype(jnp.float32) @ v.astype(jnp.float32) + n, most, least

    program = program_of(fn, *args)
    found = sh.measured_scales(program, *args)
    assert [*found] == ["x", "w", "v", "most", "least"]
    for recipe in ("fp8", "unit", "fp16", "bf16", "fp8-current", "propagate"):
        for signature in ("same", "scaled"):
            sh.rewrite(program, recipe=recipe, signature=signature, input_scale=found)


MISDECLARED = [
    (recipe, signature, octaves)
    for recipe, most in {"fp16": 8, "bf16": 8, "fp8": 2, "unit": 2}.items()
    for signature in ("same", "scaled")
    for octaves in (-most, most)
]


@pytest.mark.slow
@pytest.mark.parametrize(("recipe", "signature", "octaves"), MISDECLARED)
@pytest.mark.parametrize("model", [gelu, attention, layer_norm])
def test_a_wrong_size_is_borne(
    model: Callable[..., Any], recipe: str, signature: str, octaves: int
) -> None:
    args = operands()
    program = exported(model, args)
    sizes, expected = sh.measured_scales(program, *args), program.call(*args)
    plain = sh.rewrite(program, recipe=recipe, signature=signature)
    for wrong in sizes:
        declared = {k: float(s) * 2.0 ** (octaves * (k == wrong)) for k, s in sizes.items()}
        if signature == "same":
            new = sh.rewrite(program, recipe=recipe, input_scale=declared)
            found = new.call(*args)
        else:
            powers = [2.0 ** np.floor(np.log2(size)) for size in declared.values()]
            pairs = [sh.as_scaled_array(a, scale=p) for a, p in zip(args, powers, strict=True)]
            found = sh.asarray(plain.call(*pairs))
        assert min(ratios(found, expected)) > LEAST
        for got, want in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            assert np.mean((np.asarray(got) == 0) & (np.asarray(want) != 0)) < 0.01


@pytest.mark.parametrize("octaves", [-13, 13])
@pytest.mark.parametrize("recipe", ["fp8", "unit"])
def test_a_wrong_size_of_a_gradient_is_borne(recipe: str, octaves: int) -> None:
    x, w, g = operands()
    program = program_of(lambda x, w, g: (g @ w.T, x.T @ g), x, w, g)
    sizes = sh.measured_scales(program, x, w, g)
    declared = {k: float(s) * 2.0 ** (octaves * (k == "g")) for k, s in sizes.items()}
    settings = {"inputs.gradient": ["g"], "inputs.weight": ["w"]}
    new, report = sh.rewrite(
        program, recipe=recipe, input_scale=declared, settings=settings, report=True
    )
    assert "f8E5M2" in str(new.mlir_module())
    assert not report.statistics
    found, expected = new.call(x, w, g), program.call(x, w, g)
    for got, want in zip(found, expected, strict=True):
        assert np.isfinite(np.asarray(got)).all()
        assert np.mean((np.asarray(got) == 0) & (np.asarray(want) != 0)) < 0.01
    # Peaks are at the end of the format, or most elements are subnormal numbers.
    assert min(ratios(found, expected)) > 6


@pytest.mark.slow
@pytest.mark.parametrize("octaves", [-20, 20])
@pytest.mark.parametrize("size", [1e-17, 1.0, 1e17])
@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp16"])
def test_a_verified_size_may_be_wrong(recipe: str, size: float, octaves: int) -> None:
    x, *weights = operands()
    args = (x * np.float32(size), *weights)
    for model in (gelu, layer_norm):
        program = exported(model, args)
        sizes = sh.measured_scales(program, *args)
        declared = {k: Measured(s * 2.0 ** (octaves * (k == "x"))) for k, s in sizes.items()}
        settings = {"inputs.verify": ["x"]}
        assert min(snr(program, args, recipe, declared, settings=settings)) > LEAST


class TestCheck:
    @pytest.fixture
    def files(self, tmp_path: Path) -> Sequence[str]:
        x, w, v = operands()
        text = stablehlo_of(linear, x, w, v)
        sizes = {"*": 1.0, "w": 0.125, "v": 0.125, "x": 2.0**-8}
        scaled = sh.rewrite(text, recipe="fp8", input_scale=sizes)
        paths = [tmp_path / name for name in ("plain.mlir", "scaled.mlir", "inputs.npz")]
        paths[0].write_text(text)
        paths[1].write_text(scaled)
        np.savez(paths[2], x=x, w=w, v=v)
        return [str(path) for path in paths]

    def test_says_which_sizes_are_wrong(self, files: Sequence[str]) -> None:
        *programs, inputs = files
        given = ["check", *programs, "--inputs", inputs, "--input-scale", "v=2^3"]
        told = "the declared size 0.00391 of x is too small by 8.0 octaves: its rms is 0.998\n"
        assert told in call(*given).output
        found = call(*given, "--format", "json")
        wrong = json.loads(found.stdout)["wrong_sizes"]
        assert [(each["name"], round(each["octaves"])) for each in wrong] == [("x", -8), ("v", 6)]

    def test_random_inputs_have_no_declared_size(self, files: Sequence[str]) -> None:
        *programs, _ = files
        assert "declared size" not in call("check", *programs).output
        refused = call("check", *programs, "--input-scale", "v=1", code=2)
        assert "--input-scale has no effect without --inputs" in refused.output

    def test_in_python(self, files: Sequence[str]) -> None:
        programs = [read_text(Path(path).read_text()) for path in files[:2]]
        x, w, v = operands()
        zeros = {"x": np.zeros_like(x), "w": w, "v": v}
        assert not checked(*programs, inputs=zeros).wrong
        found = checked(*programs, inputs={"x": x, "w": w, "v": v}).wrong
        assert [each.name for each in found] == ["x"]
        assert found[0].octaves == pytest.approx(-8, abs=0.1)
        with pytest.raises(sh.UsageError, match="matches no argument"):
            checked(*programs, inputs=zeros, declared=["y=1"])
