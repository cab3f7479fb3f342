"""Delayed scales: the state that a program carries along, against NumPy, and in JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import scalify_hlo
from scalify_hlo import init_scaling_state, scaling_tensors
from scalify_hlo.algebra.formats import FORMATS
from scalify_hlo.api import make_options
from scalify_hlo.casts.encoding import dtype_of
from scalify_hlo.errors import ScalifyWarning, UsageError
from scalify_hlo.program.program import read_text
from scalify_hlo.program.rewriting import rewrite_program
from tests.py.shared import own_scales
from tests.py.shared.fp8_numpy import E4M3, F32, Array, inverse_scale, outer, sample
from tests.py.shared.judge import assert_all_equal, normals, program_of, stablehlo_of


def rewritten(fn: Callable[..., Any], *arguments: Any, **settings: object) -> jax.export.Exported:
    """A function under `fp8-delayed`."""
    names = {name.replace("__", "."): value for name, value in settings.items()}
    exported = program_of(fn, *arguments)
    return scalify_hlo.rewrite(exported, recipe="fp8-delayed", settings=names)


class Model:
    """The state of delayed scales of two tensors in NumPy."""

    def __init__(self, length: int, algo: str, interval: int, *, power_2: bool, margin: int):
        self.history, self.scale, self.step = np.zeros((length, 2), F32), np.ones(2, F32), 0
        self.algo, self.interval = algo, interval
        self.how: dict[str, Any] = {"power_2": power_2, "margin": margin}

    def __call__(self, x: Array, w: Array) -> Array:
        most = F32(FORMATS[E4M3].max_finite)
        inverse = (F32(1) / self.scale).astype(F32)
        data = [
            np.where(np.isfinite(v), np.clip(v * i, -most, most), F32(np.nan))
            .astype(dtype_of(E4M3))
            .astype(F32)
            for v, i in zip((x, w), inverse, strict=True)
        ]
        result = (data[0][:, None] * data[1][None, :]) * (self.scale[0] * self.scale[1])
        amax = np.array([np.abs(x).max(), np.abs(w).max()], F32)
        amax = np.where(np.isfinite(amax), amax, F32(0))
        self.history = np.concatenate([amax[None], self.history[:-1]])
        chosen = self.history.max(0) if self.algo == "max" else amax
        new = (F32(1) / inverse_scale(chosen, E4M3, **self.how)).astype(F32)
        self.step += 1
        if self.step % self.interval == 0:
            self.scale = np.where(chosen > 0, new, self.scale).astype(F32)
        return np.asarray(result, F32)


class TestNumerics:
    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("length", "algo", "interval", "power_2", "margin"),
        [
            (3, "max", 1, True, 0),
            (3, "most_recent", 1, True, 0),
            (1, "max", 1, True, 2),
            (2, "max", 2, True, 0),
            (4, "max", 1, False, 1),
        ],
    )
    def test_equal_to_numpy(
        self, length: int, algo: str, interval: int, power_2: bool, margin: int
    ) -> None:
        program = rewritten(
            outer,
            *(sample(0), sample(1)),
            matmul__smallest=1,
            scaling__amax_history_len=length,
            scaling__amax_compute_algo=algo,
            scaling__interval=interval,
            scaling__power_2_scale=power_2,
            scaling__margin=margin,
        )
        model = Model(length, algo, interval, power_2=power_2, margin=margin)
        state = init_scaling_state(program)
        assert sorted(state) == ["amax_history", "scale", "step"]
        order = [0 if name.endswith("lhs") else 1 for name in scaling_tensors(program)]
        for step, log2 in enumerate((0, 9, 4, -3, 20, -40, -40, -40, 2)):
            x, w = sample(2 * step, log2), sample(2 * step + 1, -log2 / 2)
            if step == 4:
                x[1] = np.inf
            if step == 5:
                w[:] = 0
            found, state = program.call(x, w, state)
            with np.errstate(invalid="ignore", over="ignore"):
                np.testing.assert_array_equal(found, model(x, w))
            np.testing.assert_array_equal(state["amax_history"], model.history[:, order])
            np.testing.assert_array_equal(state["scale"], model.scale[order])
            assert int(state["step"]) == model.step

    def test_the_first_step_is_safe(self) -> None:
        x, w = sample(0, 60), sample(1, -60)
        program = rewritten(outer, x, w, matmul__smallest=1)
        state = init_scaling_state(program)
        assert state["amax_history"].shape == (1024, 2)
        first, state = program.call(x, w, state)
        assert np.isfinite(first).all()
        second, _ = program.call(x, w, state)
        exact = np.asarray(outer(x, w))
        assert np.linalg.norm(second - exact) < 0.1 * np.linalg.norm(exact)


def layers(x: Any, w: Any) -> Any:
    return lax.scan(lambda c, w: (c @ w, None), x, w)[0]


class TestPlaces:
    def test_a_scan_has_the_largest_of_all_turns(self) -> None:
        rng = np.random.default_rng(0)
        x = rng.standard_normal((16, 32)).astype(F32)
        w = rng.standard_normal((5, 32, 32)).astype(F32) / 6
        program = rewritten(layers, x, w)
        state = init_scaling_state(program)
        for _ in range(2):
            found, state = program.call(x, w, state)
        amax = dict(zip(scaling_tensors(program), state["amax_history"][0], strict=True))
        weight = next(value for name, value in amax.items() if name.endswith("rhs"))
        assert weight == np.abs(w).max()
        exact = np.asarray(layers(x, w))
        assert np.linalg.norm(found - exact) < 0.15 * np.linalg.norm(exact)

    def test_branches_leave_the_scales_of_others_alone(self) -> None:
        def fn(p: Any, x: Any, w: Any) -> Any:
            return lax.cond(p, lambda: x @ w, lambda: x @ (w * 64))

        x, w = (np.random.default_rng(i).standard_normal((16, 16)).astype(F32) for i in (0, 1))
        program = rewritten(fn, np.bool_(True), x, w, scaling__amax_history_len=1)
        state = init_scaling_state(program)
        _, state = program.call(np.bool_(True), x, w, state)
        scale = np.asarray(state["scale"])
        assert 0 in np.asarray(state["amax_history"])
        _, state = program.call(np.bool_(False), x, w, state)
        changed = scale != np.asarray(state["scale"])
        assert 0 < changed.sum() < changed.size

    def test_keywords_stand_after_the_state(self) -> None:
        def fn(x: Any, *, w: Any, z: Any) -> Any:
            return {"y": x @ w, "z": z + 1}

        x, w = (np.random.default_rng(i).standard_normal((16, 16)).astype(F32) for i in (0, 1))
        exported = program_of(fn, x, w=w, z=F32(3))
        program = scalify_hlo.rewrite(exported, recipe="fp8-delayed")
        program = jax.export.deserialize(program.serialize())
        state = init_scaling_state(program)
        for _ in range(2):
            found, state = program.call(x, state, w=w, z=F32(3))
        assert float(found["z"]) == 4
        assert np.linalg.norm(found["y"] - x @ w) < 0.05 * np.linalg.norm(x @ w)

    def test_pairs_beside_the_state(self) -> None:
        x, w = sample(3, 5), sample(4, -5)
        exported = program_of(outer, x, w)
        program = scalify_hlo.rewrite(
            exported, recipe="fp8-delayed", signature="scaled", settings={"matmul.smallest": 1}
        )
        plain = rewritten(outer, x, w, matmul__smallest=1)
        states = [init_scaling_state(p) for p in (program, plain)]
        pairs = scalify_hlo.as_scaled_array((x, w))
        for _ in range(2):
            found, states[0] = program.call(*pairs, states[0])
            expected, states[1] = plain.call(x, w, states[1])
        np.testing.assert_array_equal(scalify_hlo.asarray(found), expected)
        assert_all_equal(*states)

    def test_text_has_the_state_last(self) -> None:
        text = stablehlo_of(outer, sample(0), sample(1))
        new = scalify_hlo.rewrite(
            text,
            recipe="fp8-delayed",
            settings={"matmul.smallest": 1, "scaling.amax_history_len": 8},
        )
        (main,) = [line for line in new.splitlines() if "@main(" in line]
        assert main.index("tensor<8x2xf32>") < main.index("tensor<2xf32>") < main.index("->")
        assert "scaling_state['amax_history']" in main


def test_on_several_devices_nothing_is_reshaped() -> None:
    mesh = jax.sharding.AbstractMesh((2,), ("d",))
    place = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    x = jax.ShapeDtypeStruct((8, 8), jnp.float32, sharding=place)
    text = str(rewritten(lambda x, w: x @ w, x, x, **{"matmul.smallest": 1}).mlir_module())
    narrow = [line for line in text.splitlines() if "xf8E" in line]
    assert sum("stablehlo.optimization_barrier" in line for line in narrow) == 2
    assert not any("stablehlo.reshape" in line for line in narrow)


class TestFirstState:
    """The first state, which `init_scaling_state` makes."""

    def step(self) -> Any:
        def step(w: Any, x: Any) -> Any:
            return w - 0.1 * jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) @ w))(w)

        rng = np.random.default_rng(0)
        w, x = (rng.standard_normal((32, 32)).astype(F32) * 2.0**-k for k in (3, 9))
        return step, w.astype(F32), x.astype(F32)

    def test_gradients_have_room_for_small_ones(self) -> None:
        step, w, x = self.step()
        program = rewritten(step, w, x)
        scales = np.asarray(init_scaling_state(program)["scale"])
        assert set(scales) == {1.0, 2.0**-23}

    def test_the_arguments_of_a_step_settle_it(self) -> None:
        step, w, x = self.step()
        program = rewritten(step, w, x)
        state = init_scaling_state(program, w, x)
        assert int(state["step"]) == 0
        first, new = program.call(w, x, state)
        np.testing.assert_array_equal(new["scale"], state["scale"])
        exact = step(w, x)
        assert np.linalg.norm((first - w) - (exact - w)) < 0.1 * np.linalg.norm(exact - w)

    def test_so_does_a_profile(self) -> None:
        step, w, x = self.step()
        exported = program_of(step, w, x)
        program = scalify_hlo.rewrite(exported, recipe="fp8-delayed")
        state = init_scaling_state(program, profile=scalify_hlo.calibrate(exported, [(w, x)]))
        settled = init_scaling_state(program, w, x)
        np.testing.assert_allclose(np.log2(state["scale"]), np.log2(settled["scale"]), atol=1)

    def test_a_profile_of_another_program(self) -> None:
        step, w, x = self.step()
        program = rewritten(step, w, x)
        other = program_of(jnp.dot, w, x)
        with pytest.raises(UsageError, match="the profile has no tensor"):
            init_scaling_state(program, profile=scalify_hlo.calibrate(other, [(w, x)]))

    def test_a_tensor_in_two_formats_has_two_names(self) -> None:
        step, w, x = self.step()
        names = scaling_tensors(rewritten(step, w, x, matmul__activation="f8E4M3FN"))
        assert len(set(names)) == len(names)


class TestRefused:
    def test_a_profile_for_the_rewrite(self) -> None:
        exported = program_of(outer, sample(0), sample(1))
        profile = scalify_hlo.calibrate(exported, [(sample(0), sample(1))])
        with pytest.raises(UsageError, match="takes its scales from past steps"):
            scalify_hlo.rewrite(exported, recipe="fp8-delayed", profile=profile)

    def test_what_has_no_state(self) -> None:
        exported = program_of(outer, sample(0), sample(1))
        with pytest.raises(UsageError, match="no state of delayed scales"):
            init_scaling_state(exported)

    @pytest.mark.parametrize("recipe", ["fp8-delayed", "fp8-calibrated"])
    def test_a_vjp_has_other_operands(self, recipe: str) -> None:
        given = normals(*[(16, 16)] * 2)
        program = own_scales.rewritten(recipe, program_of(jnp.dot, *given), *given)
        with pytest.raises(UsageError, match="none for those of its vjp"):
            program.vjp()


@pytest.mark.parametrize("fn", [jnp.dot, jnp.add])
def test_no_narrow_matmul_is_a_remark_and_an_empty_state(fn: Callable[..., Any]) -> None:
    x = np.ones((4, 4), F32)
    with pytest.warns(ScalifyWarning, match="fp8-delayed quantizes no matmul"):
        program = rewritten(fn, x, x)
    state = init_scaling_state(program, x, x)
    assert scaling_tensors(program) == ()
    assert {leaf: array.shape for leaf, array in state.items()} == {
        "amax_history": (1024, 0),
        "scale": (0,),
        "step": (),
    }
    result, state = program.call(x, x, state)
    np.testing.assert_array_equal(result, fn(x, x))
    assert int(state["step"]) == 1


COMPOSITE = """
func.func @main(%x: T, %y: T) -> T {
  %0 = stablehlo.composite "a.b" %x {decomposition = @inner} : (T) -> T
  %1 = stablehlo.dot_general %0, %y, contracting_dims = [1] x [0] : (T, T) -> T
  return %1 : T
}
func.func private @inner(%x: T) -> T {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (T, T) -> T
  return %0 : T
}""".replace("T", "tensor<32x32xf32>")


@pytest.mark.parametrize("recipe", ["fp8-delayed", "fp8-calibrated"])
def test_matmuls_of_composites_stay_wide_with_a_remark(recipe: str) -> None:
    profile = scalify_hlo.calibrate(
        COMPOSITE, [[sample(i, size=32 * 32).reshape(32, 32) for i in (0, 1)]]
    )
    options = make_options(recipe, profile=profile if recipe == "fp8-calibrated" else None)
    program, report = rewrite_program(read_text(COMPOSITE), options)
    assert report.narrowed == 1
    (remark,) = [remark for remark in report.remarks if "stay wide" in remark.message]
    assert remark.op == "stablehlo.composite"
    inner = str(program.module).partition("@inner")[2].partition("func.func")[2]
    assert "f8" not in inner
