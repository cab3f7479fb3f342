"""`check` on programs of recipes: bounds from casts, inputs with signs, state, inner values."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
import pytest
from jax import lax

from examples.training import training_step
from scalify_hlo.api import make_options, rewrite
from scalify_hlo.commands.check.check import checked
from scalify_hlo.commands.check.comparison import bound_of, casts_of, snr_of
from scalify_hlo.commands.check.parting import ComparedValue, compare_values
from scalify_hlo.dataflow.nonnegative import nonnegative_arguments
from scalify_hlo.errors import UsageError
from scalify_hlo.jax_api.export_trees import serialize
from scalify_hlo.program.given import readable
from scalify_hlo.program.record import described, recorded_options
from scalify_hlo.program.tensors import interface
from scalify_hlo.storage.files import write_file
from tests.py.devices import eight_devices, sharded_planted
from tests.py.shared import commands
from tests.py.shared.commands import call
from tests.py.shared.judge import main_of, program_of, propagated
from tests.py.shared.planted import inputs, line, matmul, parted

OPTIMIZER = optax.adam(1e-2)
DTYPES = {
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
}


def ones(*shape: int) -> jax.Array:
    return jnp.ones(shape, jnp.float32)


def loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean((jnp.tanh(x @ params["a"]) @ params["b"] - y) ** 2)


@cache
def step() -> Any:
    params = {"a": ones(32, 32), "b": ones(32, 32)}
    train = training_step(loss, OPTIMIZER)
    return program_of(train, params, OPTIMIZER.init(params), ones(32, 32), ones(32, 32))


def module_of(function: Any, *arguments: Any) -> Any:
    return readable(program_of(function, *arguments)).module


@pytest.mark.parametrize("name", DTYPES)
def test_a_cast_is_as_good_as_its_bound(name: str) -> None:
    """The error of a cast of numbers of one octave is that of the bound or less."""
    values = np.random.default_rng(0).uniform(1, 2, 1 << 16)
    error = values - values.astype(DTYPES[name]).astype(np.float64)
    measured = 10 * np.log10(np.mean(values**2) / np.mean(error**2))
    assert snr_of(name) <= measured <= snr_of(name) + 5


def test_casts_in_functions_and_loops_count_as_often_as_they_run() -> None:
    @jax.jit
    def cast(x: jax.Array) -> jax.Array:
        return x.astype(jnp.float16).astype(jnp.float32)

    def twice(x: jax.Array) -> Any:
        return lax.scan(lambda c, _: (cast(c) * 2, None), cast(x) + 1, None, length=5)[0]

    assert casts_of(module_of(twice, ones(3))) == {"f16": 6}
    assert casts_of(module_of(lambda x: x.astype(jnp.float32), ones(3).astype(jnp.float16))) == {}


def test_the_bound_is_that_of_added_casts() -> None:
    def casts(count: int) -> Any:
        def function(x: jax.Array) -> jax.Array:
            for _ in range(count):
                x = (x * 1.5).astype(jnp.float16).astype(jnp.float32)
            return x

        return module_of(function, ones(3))

    assert bound_of(casts(2), casts(2)) is None
    two, four = (bound_of(casts(1), casts(1 + n)) for n in (2, 4))
    assert two is not None
    assert four is not None
    assert two.casts == {"f16": 2}
    assert two.snr_db - four.snr_db == pytest.approx(10 * np.log10(2))
    assert two.snr_db == pytest.approx(snr_of("f16") - 10 * np.log10(2) - 20 * np.log10(2))


MEASURED = ("fp8-current", "fp8-delayed")
RECIPES = ("propagate", "unit", "bf16", "fp16", "fp8", "fp8-state", *MEASURED)


@pytest.mark.parametrize("signature", ["same", "scaled"])
@pytest.mark.parametrize("recipe", RECIPES)
def test_recipes_keep_to_their_bounds(recipe: str, signature: str) -> None:
    """Results, and the values inside; delayed scales are those of the inputs."""
    size = 2.0**-3 if recipe == "propagate" else 1.0
    program, _ = rewrite(
        step(),
        recipe=recipe,
        signature=signature,
        settings={"matmul.smallest": 16} if recipe.startswith("fp8") else None,
        input_scale={"*": size} if signature == "same" and recipe not in MEASURED else None,
        report=True,
    )
    before, after = readable(step()), readable(program)
    bound = bound_of(before.module, after.module)
    assert (bound is None) == (recipe == "propagate")
    scale = 1.0 if signature == "scaled" and recipe != "fp8-delayed" else None
    done = checked(before, after, scale=scale)
    assert len(done.differences) == len(interface(before.module, "step").results)
    values = compare_values(before, recorded_options(after.module, "r"), done)
    assert len({value.id for value in values}) > 60
    assert {"stablehlo.dot_general", "stablehlo.tanh", ""} <= {value.op for value in values}
    inside = [value.difference for value in values]
    for found, limit in ((done.differences, bound), (inside, bound and bound.of_values)):
        for difference in found:
            assert not difference.mismatched, difference.name
            if limit is None:
                assert difference.relative_error <= 64 * difference.epsilon, difference.name
            else:
                assert difference.snr_db >= limit.snr_db, difference.name


def signed(function: Any, *arguments: Any) -> set[str]:
    module = module_of(function, *arguments)
    with module.context:
        found = nonnegative_arguments(main_of(module))
    return {interface(module, "").arguments[i].name for i in found}


def test_second_moments_are_not_negative() -> None:
    params = {"a": ones(3, 4)}
    yogi = optax.chain(optax.scale_by_yogi())  # its moving average is a difference
    for optimizer in (
        optax.adamw(1e-3),
        optax.rmsprop(1e-3),
        optax.amsgrad(1e-3),
        optax.chain(yogi),
    ):

        def update(g: Any, s: Any, p: Any, o: Any = optimizer) -> Any:
            return o.update(g, s, p)

        state = optimizer.init(params)
        names = signed(update, params, state, params)
        assert any(name.endswith(".nu['a']") for name in names)
        assert all("nu" in name for name in names)


def test_logarithms_and_roots_of_arguments_need_a_sign() -> None:
    assert signed(lambda x, v: x * lax.rsqrt(v + 1e-5), ones(3), ones(3)) == {"v"}
    divergence = signed(lambda p, q: (p * (jnp.log(p) - jnp.log(q))).sum(), ones(3), ones(3))
    assert divergence == {"p", "q"}
    assert signed(lambda x: x**1.5, ones(3)) == {"x"}

    def body(c: jax.Array, row: jax.Array) -> Any:
        return c * 0.9 + row * 0.1, jnp.sqrt(c)

    assert signed(lambda x, c: lax.scan(body, c, x), ones(3, 3), ones(3)) == {"x", "c"}


def test_squares_and_exponentials_need_none() -> None:
    def function(x: jax.Array, y: jax.Array) -> Any:
        safe = jnp.linalg.norm(x) + jnp.std(y) + jax.nn.logsumexp(x) + jnp.log(jnp.maximum(x, 1e-6))
        return safe.sum() + jax.nn.log_softmax(y).sum() + (x**2).sum()

    assert signed(function, ones(3), ones(3)) == set()


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("check")
    paths: dict[str, str] = {}
    settings = {"matmul.smallest": 16}
    programs = {
        "original": step(),
        "propagate": propagated(step()),
        "fp8": rewrite(step(), recipe="fp8-current", settings=settings),
    }
    for name, program in programs.items():
        path: Path = folder / f"{name}.export"
        path.write_bytes(serialize(program))
        paths[name] = str(path)
    return paths


run = partial(commands.call, "check")


def test_the_summary_is_one_line(files: dict[str, str]) -> None:
    done = run(files["original"], files["propagate"], code=0)
    assert "\n8 of 8 results within 64 epsilon\n" in done.stdout
    done = run(files["original"], files["fp8"], code=0)
    assert "\n8 of 8 results within " in done.stdout
    assert "casts:" in done.stdout
    done = run(files["original"], files["fp8"], "--min-snr", "5")
    assert "\n8 of 8 results within min-snr 5\n" in done.stdout


F32 = np.float32


def values_of(exported: Any, arrays: Any = None, **options: Any) -> tuple[list[ComparedValue], Any]:
    """The compared values of a program and its rewrite, and the bound on them."""
    program, _ = rewrite(exported, **options, report=True)
    original, rewritten = readable(exported), readable(program)
    done = checked(original, rewritten, inputs=arrays)
    found = compare_values(original, recorded_options(rewritten.module, "r"), done)
    return found, bound_of(original.module, rewritten.module)


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
    options: Any = {"settings": {"matmul.smallest": 16}, "input_scale": {"*": 1.0}}
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
