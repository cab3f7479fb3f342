"""Calibrated scales: rewriting with a profile, against NumPy; constants and channels' scales."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.casts.encoding import dtype_of
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.profile.model import METHODS, Profile, TensorProfile
from scalify_hlo.run.runner import compile_module
from tests.py.shared.commands import call
from tests.py.shared.fp8_numpy import (
    E4M3,
    F32,
    OUTER,
    Array,
    flushed,
    outer,
    outer_quantized,
    quantized,
    sample,
)
from tests.py.shared.judge import parse, program_of, stablehlo_of
from tests.py.shared.own_scales import called
from tests.py.shared.own_scales import rewritten as rewritten_by


def calibrated(fn: Callable[..., Any], *arguments: Any, **settings: object) -> str:
    """A function as text, rewritten with a profile of its arguments."""
    text = stablehlo_of(fn, *arguments)
    profile = scalify_hlo.calibrate(text, [arguments])
    names = {name.replace("__", "."): value for name, value in settings.items()}
    new: str = scalify_hlo.rewrite(text, profile=profile, settings=names)
    return new


def run(text: str, *arguments: Array) -> Any:
    return compile_module(text)(arguments)[0]


def data(value: Array, exponent: int) -> Array:
    """A tensor as data of E4M3 at a scale, in f32."""
    most = FORMATS[E4M3].max_finite
    return np.clip(np.ldexp(value, -exponent), -most, most).astype(dtype_of(E4M3)).astype(F32)


def product(x: Array, w: Array, exponents: tuple[int, int]) -> Array:
    found = data(x, exponents[0])[:, None] * data(w, exponents[1])[None, :]
    return np.asarray(np.ldexp(found, sum(exponents)), F32)


def exponents_of(profile: Profile, method: str, **how: Any) -> tuple[int, int]:
    """log2 of the scales of `outer`'s operands, x and w."""
    found = {name[-3:]: t.exponent(method, E4M3, **how) for name, t in profile.tensors.items()}
    return found["lhs"], found["rhs"]


def wide(seed: int, log2: float) -> Array:
    """Numbers over so many octaves that each scale loses others of them."""
    rng = np.random.default_rng(seed)
    return np.asarray(rng.standard_normal(64) * 2.0 ** (log2 + rng.uniform(-12, 12, 64)), F32)


X, W = wide(1, 9), wide(2, -5)
TEXT = stablehlo_of(outer, X, W)
PROFILE = scalify_hlo.calibrate(TEXT, [(X, W)])


def rewritten(*methods: str, **settings: object) -> str:
    given = {f"scaling.{name}": value for name, value in settings.items()}
    new: str = scalify_hlo.rewrite(
        TEXT, profile=PROFILE, settings=OUTER | given | {"scaling.methods": list(methods)}
    )
    return new


class TestNumerics:
    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("margin", [0, 2])
    def test_equal_to_numpy(self, method: str, margin: int) -> None:
        found = run(rewritten(method=method, margin=margin), X, W)
        left, right = exponents_of(PROFILE, method)
        np.testing.assert_array_equal(found, product(X, W, (left + margin, right + margin)))

    def test_max_is_what_current_scales_are_of_the_same_values(self) -> None:
        np.testing.assert_array_equal(run(rewritten(), X, W), outer_quantized(X, W))

    def test_rms_is_rounded_down(self) -> None:
        rms = (math.floor(np.log2(np.sqrt(np.mean(v.astype(np.float64) ** 2)))) for v in (X, W))
        left, right = rms
        np.testing.assert_array_equal(
            run(rewritten(method="rms"), X, W), product(X, W, (left, right))
        )

    def test_methods_of_some_operands(self) -> None:
        left: dict[str, int] = {m: exponents_of(PROFILE, m)[0] for m in METHODS}
        right = exponents_of(PROFILE, "max")[1]
        left["percentile"] = exponents_of(PROFILE, "percentile", percent=50.0)[0]
        assert len({left["rms"], left["max"], left["percentile"]}) == 3
        for methods, chosen in [
            (["*:lhs=rms"], "rms"),
            (["w:lhs=rms", "*w*:lhs=max"], "max"),
            (["w=max", "w@forward:lhs=rms"], "rms"),
            (["*:rhs=max", "*:lhs=percentile"], "percentile"),
        ]:
            percent = {"percentile": 50.0} if chosen == "percentile" else {}
            found = run(rewritten(*methods, **percent), X, W)
            np.testing.assert_array_equal(found, product(X, W, (left[chosen], right)))

    def test_values_that_were_not_seen_saturate(self) -> None:
        found = run(rewritten(), X * 64, W)
        np.testing.assert_array_equal(found, product(X * 64, W, exponents_of(PROFILE, "max")))

    @pytest.mark.slow
    @pytest.mark.parametrize("log2", [(100, -100), (-90, 100), (-118, 20), (120, -4), (-70, -40)])
    def test_scales_far_from_one(self, log2: tuple[int, int]) -> None:
        x, w = (np.clip(sample(i, 0), -8, 8) * F32(2.0**e) for i, e in enumerate(log2))
        found = run(calibrated(outer, x, w, matmul__smallest=1), x, w)
        scales = [quantized(v, E4M3) for v in (x, w)]
        values = [d.astype(np.float64) * s for d, s in scales]
        expected = (values[0][:, None] * values[1][None, :]).astype(F32)
        np.testing.assert_array_equal(found, flushed(expected))

    def test_every_kind_of_program(self) -> None:
        program = program_of(outer, X, W)
        expected = run(rewritten(), X, W)
        given: dict[str, Any] = {"profile": PROFILE, "settings": OUTER}
        new = scalify_hlo.rewrite(program, **given)
        np.testing.assert_array_equal(new.call(X, W), expected)
        stored = scalify_hlo.rewrite(bytes(program.serialize()), **given)
        np.testing.assert_array_equal(export.deserialize(bytearray(stored)).call(X, W), expected)
        module = scalify_hlo.rewrite(parse(TEXT), **given)
        np.testing.assert_array_equal(run(str(module), X, W), expected)

    def test_a_module_for_several_platforms_is_told_which(self) -> None:
        program = export.export(jax.jit(outer), platforms=["cuda", "cpu"])(X, W)
        profile = scalify_hlo.calibrate(program, [(X, W)])
        new = scalify_hlo.rewrite(program, profile=profile, settings=OUTER)
        np.testing.assert_array_equal(new.call(X, W), run(rewritten(), X, W))


class TestSharing:
    """Two equal matmuls: the operands of each kind may share a scale."""

    @pytest.mark.parametrize(("octaves", "shared"), [(1, True), (20, False)])
    def test_scales_are_shared_where_it_costs_nothing(self, octaves: int, shared: bool) -> None:
        def fn(x: jax.Array, v: jax.Array, y: jax.Array, w: jax.Array) -> Any:
            return outer(x, v), outer(y, w)

        left, right = (sample(1), sample(1, octaves)), (sample(2), sample(2))
        arrays = (left[0], right[0], left[1], right[1])
        results = compile_module(calibrated(fn, *arrays, **OUTER))(arrays)
        own, one = exponents_of(
            scalify_hlo.calibrate(stablehlo_of(outer, *arrays[:2]), [arrays[:2]]), "max"
        )
        for result, x, w, moved in zip(results, left, right, (0, octaves), strict=True):
            exponent = own + (octaves if shared else moved)  # nothing may clip: the larger of two
            np.testing.assert_array_equal(result, product(x, w, (exponent, one)))


def dynamic_ops(text: str) -> list[str]:
    """The reductions and the ops that make float scalars at run time."""

    def is_dynamic(op: ir.Operation) -> bool:
        inside = op.parent is not None and op.parent.name == "stablehlo.reduce"
        types = [result.type for result in op.results if isinstance(result.type, ir.ShapedType)]
        scalar = any(not t.shape and isinstance(t.element_type, ir.FloatType) for t in types)
        return (scalar or op.name == "stablehlo.reduce") and not inside

    module = parse(text)
    found = [op.name for op in ops_in(module.operation, where=is_dynamic)]
    return sorted(name for name in found if name != "stablehlo.constant")


def square(seed: int, *shape: int) -> Array:
    numbers = np.random.default_rng(seed).standard_normal(shape or (32, 32))
    return np.asarray(numbers / numbers.shape[-1] ** 0.5, F32)


def step(v: jax.Array, w: jax.Array, x: jax.Array) -> Any:
    def loss(params: Any) -> jax.Array:
        return jnp.mean(jnp.square(jnp.tanh(x @ params[0]) @ params[1] @ params[0]))

    value, gradients = jax.value_and_grad(loss)((v, w))
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, (v, w), gradients)


@pytest.mark.slow
@pytest.mark.parametrize("scales", ["tensor", "channel"])
def test_scales_are_static(scales: str) -> None:
    given = [square(i) for i in range(3)]
    text = stablehlo_of(step, *given)
    new = calibrated(step, *given, scaling__weight_scales=scales)
    assert E4M3 in new
    assert "f8E5M2" in new
    assert dynamic_ops(new) == dynamic_ops(text)


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["fp8-current", "fp8-delayed", "fp8-calibrated"])
def test_matmuls_of_what_matmuls_give(recipe: str) -> None:
    """The second one takes what was made anew with the first."""

    def fn(x: jax.Array, v: jax.Array, w: jax.Array) -> jax.Array:
        return x @ v @ w @ v

    given = [square(i) for i in range(3)]
    found = called(rewritten_by(recipe, program_of(fn, *given), *given), *given, steps=1)
    values = given[0]
    for w in (given[1], given[2], given[1]):
        (d, s), (wd, ws) = quantized(values, E4M3), quantized(w, E4M3)
        values = ((d.astype(np.float64) * s) @ (wd.astype(np.float64) * ws)).astype(F32)
    error = np.linalg.norm(found - values)
    assert error < 0.02 * np.linalg.norm(values)  # but for the last bits of sums


@pytest.mark.parametrize("recipe", ["fp8", "fp8-current"])
def test_complex_matmuls_are_left(recipe: str) -> None:
    rng = np.random.default_rng(0)
    z = (rng.standard_normal((32, 32)) + 1j * rng.standard_normal((32, 32))).astype(np.complex64)
    program = program_of(lambda z, x: (z @ z, x @ x), z, z.real)
    new = scalify_hlo.rewrite(program, recipe=recipe)
    assert E4M3 in new.mlir_module()
    found, expected = (each.call(z, z.real)[0] for each in (new, program))
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-4)


def test_what_a_delayed_step_takes_from_devices_is_alive() -> None:
    """Scales go into per-device computations, and an amax comes out."""
    mesh = jax.sharding.AbstractMesh((2,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    rows = jax.sharding.PartitionSpec("d", None)

    def local(x: jax.Array, w: jax.Array) -> Any:
        return x @ lax.all_gather(w, "d", axis=0, tiled=True)

    fn = jax.shard_map(local, mesh=mesh, in_specs=(rows, rows), out_specs=rows)
    text = stablehlo_of(fn, square(0), square(1))
    assert "sdy.manual_computation" in text
    new = scalify_hlo.rewrite(text, recipe="fp8-delayed")
    parse(new).operation.verify()
    assert new.count("stablehlo.all_reduce") == 2
    (line,) = (line for line in new.splitlines() if "sdy.manual_computation(" in line)
    assert ":3 = " in line  # the result, and the amax of each operand


class TestRefused:
    def test_a_profile_of_another_program(self) -> None:
        other = stablehlo_of(lambda x, w: outer(w, x), X, W)
        with pytest.raises(InputError, match="profile of another program"):
            scalify_hlo.rewrite(other, profile=PROFILE)

    def test_a_profile_that_lacks_a_tensor(self) -> None:
        tensors: dict[str, TensorProfile] = dict(PROFILE.tensors)
        name, _ = tensors.popitem()
        profile = dataclasses.replace(PROFILE, tensors=tensors)
        with pytest.raises(InputError) as caught:
            scalify_hlo.rewrite(TEXT, profile=profile, settings=OUTER)
        assert f"the profile has no tensor {name!r}" in str(caught.value)

    def test_no_profile(self) -> None:
        with pytest.raises(UsageError, match="fp8-calibrated takes its scales from a profile"):
            scalify_hlo.rewrite(TEXT, recipe="fp8-calibrated")

    @pytest.mark.parametrize(
        ("methods", "message"),
        [
            (["*:lhs=mean"], "'\\*:lhs=mean' in scaling.methods gives no method"),
            (["*:lhs=mes"], "mse"),
            (["*:lhs"], "gives no method"),
            (["*:middle=mse"], "scaling.methods '\\*:middle' matches no operand"),
        ],
    )
    def test_methods(self, methods: list[str], message: str) -> None:
        with pytest.raises(UsageError, match=message):
            rewritten(*methods)


class TestCommand:
    @pytest.fixture
    def files(self, tmp_path: Path) -> Path:
        (tmp_path / "p.mlir").write_text(TEXT)
        (tmp_path / "p.json").write_text(scalify_hlo.dump_profile(PROFILE))
        return tmp_path

    def test_rewrite(self, files: Path) -> None:
        out = files / "out.mlir"
        given = ("--profile", files / "p.json", "--set", "matmul.smallest=1")
        result = call("rewrite", files / "p.mlir", *given, "-o", out)
        summary = "fp8-calibrated: 1 of 1 matmul in FP8 (1 of 1 forward); no statistics\n"
        assert (result.exit_code, result.stderr) == (0, summary)
        np.testing.assert_array_equal(run(out.read_text(), X, W), run(rewritten(), X, W))

    def test_inspect(self, files: Path) -> None:
        given = ["--profile", str(files / "p.json"), "--set", "matmul.smallest=1"]
        result = call("inspect", files / "p.mlir", *given, code=0)
        assert "unscaled" in result.stdout  # no scale comes through the program
