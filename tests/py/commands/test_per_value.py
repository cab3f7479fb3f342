"""`check --per-value`: values of a rewrite against those of its original, in order of execution."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from scalify_hlo.api import make_options, rewrite
from scalify_hlo.commands.check.bounds import bound_of
from scalify_hlo.commands.check.check import checked
from scalify_hlo.commands.check.parting import ComparedValue, compare_values
from scalify_hlo.errors import UsageError
from scalify_hlo.program.given import readable
from scalify_hlo.program.record import described, recorded_options
from scalify_hlo.storage.files import write_file
from tests.py.commands.test_check_recipes import step as train
from tests.py.devices import eight_devices, sharded_planted
from tests.py.shared.commands import call
from tests.py.shared.judge import program_of
from tests.py.shared.planted import inputs, line, matmul, parted

F32 = np.float32


def values_of(exported: Any, arrays: Any = None, **options: Any) -> tuple[list[ComparedValue], Any]:
    """The compared values of a program and its rewrite, and the bound on them."""
    program, _ = rewrite(exported, **options, report=True)
    original, rewritten = readable(exported), readable(program)
    done = checked(original, rewritten, inputs=arrays)
    found = compare_values(original, recorded_options(rewritten.module, "r"), done)
    return found, bound_of(original.module, rewritten.module)


@pytest.mark.parametrize("signature", ["same", "scaled"])
@pytest.mark.parametrize("recipe", ["propagate", "unit", "fp8-current", "fp8-delayed"])
def test_values_keep_to_the_bound(recipe: str, signature: str) -> None:
    scales = {"*": 2.0**-3} if signature == "same" and recipe != "fp8-current" else None
    settings = {"matmul.smallest": 16} if recipe.startswith("fp8") else None
    if recipe == "fp8-delayed":
        scales = None
    values, bound = values_of(
        train(), recipe=recipe, signature=signature, settings=settings, input_scale=scales
    )
    assert len({value.id for value in values}) > 60
    assert {"stablehlo.dot_general", "stablehlo.tanh", ""} <= {value.op for value in values}
    for value in values:
        difference = value.difference
        assert not difference.mismatched
        if bound is None:
            assert difference.relative_error <= 64 * difference.epsilon, value
        else:
            assert difference.snr_db >= bound.of_values.snr_db, value


def test_a_factor_that_a_rescaling_takes_up() -> None:
    """`* 100` becomes part of the product with the scales of the operands."""
    x, w = inputs()

    def step(x: jax.Array, w: jax.Array) -> Any:
        h, _ = lax.scan(lambda c, _: (jax.nn.relu(c @ w), None), x, None, length=3)
        return (h @ w) * 100

    exported = program_of(step, x, w)
    options = {"settings": {"matmul.smallest": 16}, "input_scale": {"*": 1.0}}
    values, bound = values_of(exported, {"x": x, "w": w}, recipe="fp8", **options)
    matmuls = [value for value in values if value.op == "stablehlo.dot_general"]
    assert len({value.id for value in matmuls}) == 2
    assert "stablehlo.multiply" not in {value.op for value in values}
    assert all(value.difference.snr_db >= bound.of_values.snr_db for value in values)


@pytest.mark.parametrize("length", [3, 30])
def test_the_first_turn_that_differs(length: int) -> None:
    """In the turn after a bad one, an op before the matmul differs too, but not first."""
    x, w = inputs()
    big = np.ones(length, F32)
    start = 1 if length == 3 else 14
    big[start:] = 1e-6

    def step(x: jax.Array, w: jax.Array, big: jax.Array) -> Any:
        def body(c: jax.Array, s: jax.Array) -> Any:
            near = jnp.sin(c)
            return matmul(near * s, w), near

        return lax.scan(body, x, big)

    exported = program_of(step, x, w, big)
    settings = {"matmul.smallest": 16}
    arrays = {"x": x, "w": w, "big": big}
    values, bound = values_of(exported, arrays, recipe="fp8", settings=settings)
    parted = [v for v in values if v.difference.snr_db < bound.of_values.snr_db]
    assert parted[0].op == "stablehlo.dot_general"
    (turn,) = parted[0].loops
    assert turn.turns == length
    # Of 30 turns eight are kept, one of every three or four.
    assert start <= turn.turn <= start + (0 if length == 3 else 3)


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_operands_that_a_cast_flushes_or_clips(factor: float) -> None:
    """Inputs are declared to be near unit: E4M3 holds them at 1, and not at 1e-6 and 1e6."""
    x, w = inputs()

    def step(x: jax.Array, w: jax.Array) -> Any:
        return jax.jit(matmul)(x, w) + 1

    assert parted(step, x, w) == []
    first = parted(step, x * F32(factor), w)[0]
    assert first.op == "stablehlo.dot_general"
    assert line("cast") in first.location


def test_a_sharded_step() -> None:
    assert eight_devices.run(sharded_planted.main) == {
        "nan": ["stablehlo.log", True, 4],
        "overflow": ["stablehlo.exponential", True, 0],
        "healthy": [],
        "flushed": ["stablehlo.dot_general", True],
        "clipped": ["stablehlo.dot_general", True],
    }


def test_a_branch_that_is_not_taken_has_no_values() -> None:
    def step(x: jax.Array, flag: jax.Array) -> Any:
        return lax.cond(flag, jnp.sin, jnp.tanh, x)

    exported = program_of(step, np.ones(4, F32), np.bool_(True))
    arrays = {"x": np.ones(4, F32), "flag": np.bool_(True)}
    values, _ = values_of(exported, arrays, recipe="propagate", signature="scaled")
    assert "stablehlo.sine" in {value.op for value in values}
    assert "stablehlo.tanh" not in {value.op for value in values}


def test_recorded_options_are_those_of_the_rewrite(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[matmul]\nactivation = "e4m3"\nweight = "e4m3"\nexclude = ["*a, b*"]\n')
    text = """func.func @main(%x: tensor<32x32xf32>, %y: tensor<32x32xf32>) -> tensor<32x32xf32> {
      %0 = stablehlo.dot %x, %y : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      return %0 : tensor<32x32xf32>
    }"""
    for recipe, signature, settings, scales in (
        ("unit", "scaled", {}, {}),
        ("fp8-current", "same", {"matmul.smallest": [2, 32, 16], "scaling.margin": 1}, {}),
        ("fp8", "same", {"matmul.smallest": 16}, {"arg0": 0.25, "arg*": 2.0**-3}),
    ):
        options = make_options(recipe, signature, scales, settings)
        program, _ = rewrite(
            text, recipe=recipe, signature=signature, settings=settings, input_scale=scales,
            report=True,
        )  # fmt: skip
        read = recorded_options(readable(program).module, "program")
        assert described(read) == described(options)
        assert read.recipe == options.recipe
        assert dict(read.input_scale) == dict(options.input_scale)
    with pytest.raises(UsageError, match="no rewrites"):
        recorded_options(readable(text).module, "program")


def test_the_command_counts_values(tmp_path: Path) -> None:
    x, w = inputs()
    exported = program_of(matmul, x, w)
    options = {"settings": {"matmul.smallest": 16}, "input_scale": {"*": 1.0}}
    write_file(str(tmp_path / "original"), bytes(exported.serialize()))
    rewritten = rewrite(exported, recipe="fp8", **options)
    write_file(str(tmp_path / "fp8"), bytes(rewritten.serialize()))
    np.savez(tmp_path / "x.npz", x=x, w=w)
    given = (tmp_path / "original", tmp_path / "fp8", "--inputs", tmp_path / "x.npz")
    done = call("check", "--per-value", *given, code=0)
    first, *_, last = done.stdout.splitlines()
    count = first.split(" of ")[0]
    assert first.startswith(f"{count} of {count} values within ")
    assert last.startswith("1 of 1 results within ")
