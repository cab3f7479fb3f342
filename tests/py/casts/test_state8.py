"""Training steps whose moments have 8 bits: losses, bytes, files, errors and remarks."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
import pytest

import scalify_hlo as jsa
from examples.training import training_step
from scalify_hlo import InputError, UsageError
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from scalify_hlo.run.runner import compile_module
from tests.py.devices import eight_devices
from tests.py.shared import moments_numpy as model
from tests.py.shared.commands import call
from tests.py.shared.judge import pairs, parse, program_of, propagated

OPTIMIZERS: dict[str, Callable[[], optax.GradientTransformation]] = {
    "adam": lambda: optax.adam(2e-3),
    "adamw": lambda: optax.adamw(2e-3, weight_decay=0.01),
    "momentum": lambda: optax.sgd(0.05, momentum=0.9),
    "rmsprop": lambda: optax.rmsprop(1e-3),
    "lamb": lambda: optax.lamb(5e-3),
    "lion": lambda: optax.lion(5e-4),
}
SIZES = (48, 200, 24)
F8 = ml_dtypes.float8_e4m3fn
ONLY_MOMENTS = {
    "state.weight": "keep",
    "state.gradient": "keep",
    "state_gradients.statistic": "none",
}
"""Settings with which nothing but the moments is rounded, and operands of matmuls."""


def loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    hidden = jnp.tanh(x @ params["up"] + params["bias"])
    return jnp.mean((hidden @ params["down"] - y) ** 2)


def step_of(optimizer: optax.GradientTransformation) -> Callable[..., Any]:
    return training_step(loss, optimizer)


def start() -> Any:
    rng = np.random.default_rng(0)
    wide, high, narrow = SIZES
    up, down = rng.normal(size=(wide, high)) / 7, rng.normal(size=(high, narrow)) / 14
    params = {"up": up, "bias": np.zeros(high), "down": down}
    return jax.tree.map(lambda a: jnp.asarray(a, jnp.float32), params)


def batches(seed: int, steps: int) -> list[tuple[jax.Array, jax.Array]]:
    rng = np.random.default_rng(seed)
    teacher = np.random.default_rng(99).normal(size=(SIZES[0], SIZES[-1])) / 3
    xs = rng.normal(size=(steps, 64, SIZES[0]))
    return [
        (jnp.asarray(x, jnp.float32), jnp.asarray(np.tanh(x @ teacher), jnp.float32)) for x in xs
    ]


def losses(step: Callable[..., Any], state: Any, *, scaled: bool, steps: int = 200) -> Any:
    found = []
    for batch in batches(1, steps):
        given = jsa.as_scaled_array(batch) if scaled else batch
        *state, value = step(*state, *given)
        found.append(float(jsa.asarray(value)))
    return state, np.asarray(found)


def bytes_of(tree: Any) -> int:
    return sum(leaf.nbytes for leaf in jax.tree.leaves(tree) if leaf.ndim)


def packed_in(tree: Any) -> list[jsa.ScaledArray]:
    return [pair for pair in pairs(tree) if pair.power is not None]


def whole(tree: Any) -> Any:
    """The same state, with one scale for each array."""
    return jax.tree.map(
        lambda leaf: jsa.as_scaled_array(jsa.asarray(leaf)) if packed_in(leaf) else leaf,
        tree,
        is_leaf=is_scaled_array,
    )


def packed_program(optimizer: optax.GradientTransformation) -> jax.export.Exported:
    return jsa.rewrite(exported(optimizer), recipe="fp8-state8", signature="scaled")


def exported(optimizer: optax.GradientTransformation) -> jax.export.Exported:
    params = start()
    state = params, optimizer.init(params), *batches(0, 1)[0]
    return program_of(step_of(optimizer), *state)


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_stays_near_f32(name: str) -> None:
    optimizer, params = OPTIMIZERS[name](), start()
    plain = params, optimizer.init(params)
    _, wide = losses(jax.jit(step_of(optimizer)), plain, scaled=False)
    step = jsa.scalify(step_of(optimizer), recipe="fp8-state8")
    state, narrow = losses(step, jsa.as_scaled_array(plain), scaled=True)
    assert wide[-20:].mean() < wide[:5].mean() / 2
    assert narrow[-20:].mean() == pytest.approx(wide[-20:].mean(), rel=0.05)
    moments = packed_in(state[1])
    powers = sorted(m.power or 0 for m in moments)
    assert powers == {"adam": [1] * 3 + [2] * 3, "rmsprop": [2] * 3}.get(
        name, [1] * 3 if name in ("momentum", "lion") else [1] * 3 + [2] * 3
    )
    assert {moment.check().dtype for moment in moments} == {np.dtype(F8)}
    assert bytes_of(state[1]) / bytes_of(plain[1]) < 0.27
    if name.startswith("adam"):
        assert bytes_of(state) / bytes_of(plain) <= 0.36


@pytest.mark.slow
def test_the_new_moments_are_those_of_numpy() -> None:
    """The wide moments of a step, stored by the formulas, are the moments that it returns."""
    optimizer = OPTIMIZERS["adamw"]()
    settings = ONLY_MOMENTS | {"matmul.exclude": ["*"]}
    program = exported(optimizer)
    rewritten = jsa.rewrite(program, recipe="fp8-state8", signature="scaled", settings=settings)
    state = jsa.scaled_state(rewritten, (start(), optimizer.init(start())))
    x, y = batches(2, 1)[0]
    for _ in range(2):
        salt = int(state[1][0].count)
        wide = program.call(*jsa.asarray(state), x, y)[1][0]
        *state, _ = rewritten.call(*state, *jsa.as_scaled_array((x, y), 1))
        for kind in ("mu", "nu"):
            for name, exact in getattr(wide, kind).items():
                given = getattr(state[1][0], kind)[name]
                expected = model.blocks(exact, "f8E4M3FN", root=kind == "nu", salt=salt)
                # XLA may compute the last bit of a wide moment in another way, which is rounded in
                # another direction then: to the next number of the format.
                both = np.asarray(given.data), expected.data
                bits = [data.view(np.uint8).astype(int) for data in both]
                assert np.abs(bits[0] - bits[1]).max() <= 1
                assert (bits[0] == bits[1]).mean() > 0.9
                exponents = np.log2(np.asarray(given.scale).astype(np.float64))
                np.testing.assert_array_equal(exponents, expected.exponents)


@pytest.mark.parametrize(("name", "counts"), [("adamw", True), ("momentum", False)])
def test_the_salt_is_the_count_of_steps_where_there_is_one(name: str, *, counts: bool) -> None:
    text = str(exported(OPTIMIZERS[name]()).mlir_module())
    new = jsa.rewrite(text, recipe="fp8-state8", signature="scaled")
    assert ("xui8>" in new) != counts


@pytest.mark.slow
def test_moments_on_eight_devices_are_those_on_one() -> None:
    from tests.py.devices import sharded_moments  # which imports this module

    told = eight_devices.run(sharded_moments.main)
    assert told["moments"] == 6
    assert told["divided"] == [8] * 6
    # Sums over devices are in another order, which may change the last bits of a moment, so that
    # it is stored one number apart; each step may add one.
    once, thrice = told["apart"]
    assert once <= 1
    assert thrice <= 3
    assert told["equal"] > 0.98


class TestExported:
    def test_a_rewritten_program_takes_plain_state_by_scaled_state(self) -> None:
        optimizer = OPTIMIZERS["adam"]()
        program = jsa.rewrite(exported(optimizer), recipe="fp8-state8", signature="scaled")
        params = start()
        state = jsa.scaled_state(program, (params, optimizer.init(params)))
        batch = jsa.as_scaled_array(batches(0, 1)[0])
        one = program.call(*state, *batch)
        scalified = jsa.scalify(step_of(optimizer), recipe="fp8-state8", plain_results=False)
        other = scalified(*jsa.as_scaled_array((params, optimizer.init(params))), *batch)
        for ours, theirs in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
            assert ours.dtype == theirs.dtype
            one, other = (np.asarray(leaf, np.float64) for leaf in (ours, theirs))
            assert np.linalg.norm(one - other) <= 1e-3 * np.linalg.norm(other)
        with pytest.raises(UsageError, match="keeps state in other formats"):
            program.call(*jsa.as_scaled_array((params, optimizer.init(params))), *batch)

    def test_it_is_the_same_after_a_file(self) -> None:
        program = packed_program(OPTIMIZERS["adam"]())
        again = jsa.deserialize(jsa.serialize(program))
        assert str(again.in_tree) == str(program.in_tree)
        assert str(again.out_tree) == str(program.out_tree)
        assert again.in_avals == program.in_avals

    def test_it_has_no_derivative(self) -> None:
        program = packed_program(OPTIMIZERS["adam"]())
        with pytest.raises(UsageError, match="stores moments with a scale for each block"):
            program.vjp()

    def test_the_report_has_the_bytes(self) -> None:
        original = exported(OPTIMIZERS["adamw"]())
        _, report = jsa.rewrite(original, recipe="fp8-state8", signature="scaled", report=True)
        found = report.totals.state
        assert found is not None
        optimizer, params = OPTIMIZERS["adamw"](), start()
        plain = params, optimizer.init(params)
        program = jsa.rewrite(original, recipe="fp8-state8", signature="scaled")
        stored = jsa.scaled_state(program, plain)
        assert found.before == bytes_of(plain)
        scalars = 4 * len(jax.tree.leaves(params))  # The scales of the weights.
        assert found.after == bytes_of(stored) + scalars
        packed = [v for v in report.arguments if v.packed]
        assert len(packed) == 6
        assert {v.scale for v in packed} == {"blocks"}
        assert all("f8E4M3FN" in v.type for v in packed)


@cache
def packed_moment() -> jsa.ScaledArray:
    """A second moment after two steps."""
    optimizer = OPTIMIZERS["adam"]()
    step = jsa.scalify(step_of(optimizer), recipe="fp8-state8")
    plain = start(), optimizer.init(start())
    state, _ = losses(step, jsa.as_scaled_array(plain), scaled=True, steps=2)
    moment = packed_in(state[1])[-1]
    assert moment.power == 2
    return moment


class TestScaledArray:
    def test_it_stands_for_plain_numbers(self) -> None:
        moment = packed_moment()
        scale = np.repeat(np.asarray(moment.scale).astype(np.float32), 128, -1)
        root = np.asarray(moment.data).astype(np.float32) * scale[:, : moment.shape[-1]]
        np.testing.assert_array_equal(jsa.asarray(moment), root * np.abs(root))
        np.testing.assert_array_equal(np.asarray(moment, np.float64), root * np.abs(root))
        assert jsa.asarray(moment).dtype == np.float32
        assert (jsa.asarray(moment) > 0).all()

    def test_one_scale_takes_the_place_of_those_of_blocks(self) -> None:
        moment = packed_moment()
        one = jsa.as_scaled_array(moment, 2.0**-10)
        assert one.power is None
        np.testing.assert_array_equal(jsa.asarray(one), jsa.asarray(moment))
        for made in (jsa.set_scaling(moment, 4.0), jsa.dynamic_rescale_l2(moment)):
            np.testing.assert_array_equal(jsa.asarray(made), jsa.asarray(moment))
        data, scale = jsa.get_data_and_scale(moment)
        np.testing.assert_array_equal(data * scale, jsa.asarray(moment))

    def test_rescaling_between_steps_leaves_it_alone(self) -> None:
        moment = packed_moment()
        assert jsa.dynamic_rescale(moment) is moment
        assert jsa.as_scaled_array(moment) is moment

    def test_scales_have_to_fit_the_blocks(self) -> None:
        moment = packed_moment()
        with pytest.raises(UsageError, match="the scale of a ScaledArray is float8_e8m0fnu"):
            jsa.ScaledArray(moment.data, moment.scale[:1], moment.logical, 2).check()

    def test_a_program_with_one_scale_takes_it(self) -> None:
        optimizer = OPTIMIZERS["adam"]()
        plain = jsa.as_scaled_array((start(), optimizer.init(start())))
        batch = jsa.as_scaled_array(batches(0, 1)[0])
        packed = jsa.scalify(step_of(optimizer), recipe="fp8-state8")(*plain, *batch)[:2]
        for recipe in ("fp8-state", "fp8"):  # Moments are f16 and f32.
            step = jsa.scalify(step_of(optimizer), recipe=recipe)
            new, same = (step(*state, *batch) for state in (packed, whole(packed)))
            assert not packed_in(new)
            assert float(jsa.asarray(new[2])) == float(jsa.asarray(same[2]))


TEXT = """
func.func @main(%x: tensor<64x32xKIND>, %w: tensor<32x200xKIND>, %m: tensor<32x200xKIND>)
    -> (tensor<32x200xKIND>, tensor<32x200xKIND>) {
  %c = stablehlo.constant dense<0.9> : tensor<32x200xKIND>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<64x32xKIND>, tensor<32x200xKIND>) -> tensor<64x200xKIND>
  %dy = stablehlo.tanh %y : tensor<64x200xKIND>
  %dw = stablehlo.dot_general %x, %dy, contracting_dims = [0] x [0]
    : (tensor<64x32xKIND>, tensor<64x200xKIND>) -> tensor<32x200xKIND>
  %old = stablehlo.multiply %m, %c : tensor<32x200xKIND>
  %sum = stablehlo.add %old, %dw : tensor<32x200xKIND>
  %new = stablehlo.subtract %w, %sum : tensor<32x200xKIND>
  return %new, %sum : tensor<32x200xKIND>, tensor<32x200xKIND>
}
"""
BLOCKS = {"state.first_moment": "e4m3", "state.moment_scales": "block"}


class TestRemarks:
    def test_moments_of_f64_keep_their_format_with_a_remark(self) -> None:
        text = TEXT.replace("KIND", "f64")
        new, report = propagated(text, settings=BLOCKS, signature="scaled", report=True)
        assert "f8E8M0FNU" not in new
        (remark,) = [r for r in report.remarks if "keeps the format" in r.message]
        assert "arg2, which is tensor<32x200xf64>" in remark.message
        with pytest.raises(InputError, match="keeps the format of arg2"):
            propagated(text, settings=BLOCKS, signature="scaled", strict=True)

    @pytest.mark.parametrize("kind", ["f32", "bf16", "f16"])
    def test_other_moments_are_stored(self, kind: str) -> None:
        text = TEXT.replace("KIND", kind)
        new = propagated(text, settings=BLOCKS, signature="scaled", strict=True)
        module = parse(new)
        rng = np.random.default_rng(0)
        dtype = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f16": np.float16}[kind]
        x, w, m = (rng.normal(size=s).astype(dtype) for s in ((64, 32), (32, 200), (32, 200)))
        stored = model.blocks(m.astype(np.float32), "f8E4M3FN", root=False)
        scale = np.exp2(stored.exponents).astype(ml_dtypes.float8_e8m0fnu)
        one = np.asarray(1, np.float32)
        found = compile_module(module)([x, one, w, one, stored.data, scale])
        wide = compile_module(parse(text))([x, w, stored.values(root=False).astype(dtype)])
        data, scales = (each.astype(np.float32) for each in found[2:])
        spread = np.repeat(scales, 128, -1)[:, :200]
        exact = wide[1].astype(np.float32)
        assert np.abs(data * spread - exact).max() <= np.abs(exact).max() / 7
        new_w = found[0].astype(np.float32) * found[1].astype(np.float32)
        np.testing.assert_allclose(new_w, wide[0].astype(np.float32), rtol=0.02, atol=0.02)

    def test_a_program_without_moments_gives_a_remark(self) -> None:
        text = (
            "func.func @main(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {"
            " %y = stablehlo.tanh %x : tensor<8x8xf32> return %y : tensor<8x8xf32> }"
        )
        _, report = propagated(text, settings=BLOCKS, signature="scaled", report=True)
        assert any("state.moment_scales is block" in r.message for r in report.remarks)

    def test_a_moment_is_measured_where_a_cast_depends_on_its_size(self) -> None:
        """The gradient ahead of the weights, as in Nesterov's own form."""

        def step(w: jax.Array, m: jax.Array, x: jax.Array) -> Any:
            ahead = w - 0.05 * m
            gradient = jax.grad(lambda w: 2.0**20 * jnp.mean((x @ w) ** 2))(ahead)
            m = 0.9 * m + gradient
            return w - 0.05 * m, m

        # Moments that would saturate in a cast at scale 1, and gradients that are much larger.
        rng = np.random.default_rng(0)
        w, m, x = (
            jnp.asarray(rng.normal(size=shape) * size, jnp.float32)
            for shape, size in (((64, 160), 1), ((64, 160), 2.0**18), ((32, 64), 1))
        )
        program = program_of(step, w, m, x)
        new, report = jsa.rewrite(program, recipe="fp8-state8", signature="scaled", report=True)
        assert [s.name for s in report.sites if s.kind == "state.moment_scales"] == ["m"]
        found = new.call(*jsa.scaled_state(new, (w, m)), jsa.as_scaled_array(x))
        for ours, exact in zip(jsa.asarray(found), program.call(w, m, x), strict=True):
            error = np.linalg.norm(ours - exact) / np.linalg.norm(exact)
            assert error < 0.15

    def test_no_moment_of_adam_is_measured(self) -> None:
        original = exported(OPTIMIZERS["adam"]())
        _, report = jsa.rewrite(original, recipe="fp8-state8", signature="scaled", report=True)
        assert not report.remarks
        assert not [s for s in report.sites if s.kind == "state.moment_scales"]


class TestCommands:
    def test_a_rewrite_is_checked_against_its_original(self, tmp_path: Path) -> None:
        original, new = tmp_path / "step.mlir", tmp_path / "new.mlir"
        original.write_text(str(exported(OPTIMIZERS["adamw"]()).mlir_module()))
        bounds = ("--require", "state-bytes<=0.36", "--strict")
        options = ("--recipe", "fp8-state8", "--signature", "scaled", *bounds)
        call("rewrite", original, "-o", new, *options, code=0)
        call("check", original, new, code=0)
        listed = call("inspect", "--arguments", "--rows", "0", new).stdout
        assert "scale of" in listed
        assert listed.count("f8E8M0FNU") == 12


def test_a_result_may_be_a_moment_or_another_argument() -> None:
    """Nothing but the type says which argument the last result is in the next call."""
    type_ = "tensor<4x4xf32>"
    text = f"""
        func.func public @main(%w: {type_} {{tf.aliasing_output = 0 : i32}},
            %m: {type_} {{tf.aliasing_output = 1 : i32}}, %x: {type_})
            -> ({type_}, {type_}, {type_}) {{
          %g = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0]
              : ({type_}, {type_}) -> {type_}
          %decay = stablehlo.constant dense<0.9> : {type_}
          %kept = stablehlo.multiply %m, %decay : {type_}
          %new = stablehlo.add %kept, %g : {type_}
          %moved = stablehlo.subtract %w, %new : {type_}
          %square = stablehlo.multiply %x, %x : {type_}
          return %moved, %new, %square : {type_}, {type_}, {type_}
        }}"""
    settings = {"inputs.first_moment": ["arg1"], "matmul.smallest": 1}
    found = jsa.rewrite(text, recipe="fp8-state8", signature="scaled", settings=settings)
    assert "tensor<4x4xf8E4M3FN>, tensor<4x1xf8E8M0FNU>" in found.replace("%arg3: ", "")
