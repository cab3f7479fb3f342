"""`check` on programs of recipes: bounds from casts, inputs with signs, state, and the summary."""

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
from scalify_hlo.api import rewrite
from scalify_hlo.commands.check.bounds import bound_of, casts_of, snr_of
from scalify_hlo.commands.check.check import checked
from scalify_hlo.dataflow.nonnegative import nonnegative_arguments
from scalify_hlo.jax_api.export_trees import serialize
from scalify_hlo.program.given import readable
from scalify_hlo.program.tensors import interface
from tests.py.shared import commands
from tests.py.shared.judge import main_of, program_of, propagated

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


@pytest.mark.parametrize("signature", ["same", "scaled"])
@pytest.mark.parametrize(
    "recipe", ["propagate", "unit", "bf16", "fp16", "fp8", "fp8-state", "fp8-current"]
)
def test_recipes_keep_to_their_bounds(recipe: str, signature: str) -> None:
    original = step()
    scales = {"*": 1.0} if signature == "same" and recipe != "fp8-current" else None
    settings = {"matmul.smallest": 16} if recipe.startswith("fp8") else None
    program, _ = rewrite(
        original, recipe=recipe, signature=signature, settings=settings, input_scale=scales,
        report=True,
    )  # fmt: skip
    before, after = readable(original), readable(program)
    bound = bound_of(before.module, after.module)
    assert (bound is None) == (recipe == "propagate")
    scale = 1.0 if signature == "scaled" else None
    for difference in checked(before, after, scale=scale).differences:
        assert not difference.mismatched, difference.name
        if bound is None:
            assert difference.relative_error <= 64 * difference.epsilon
        else:
            assert difference.snr_db >= bound.snr_db, difference.name


@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_delayed_scales_are_those_of_the_inputs(signature: str) -> None:
    original = step()
    program = rewrite(
        original, recipe="fp8-delayed", signature=signature, settings={"matmul.smallest": 16}
    )
    before, after = readable(original), readable(program)
    bound = bound_of(before.module, after.module)
    assert bound is not None
    differences = checked(before, after).differences
    assert len(differences) == len(interface(before.module, "step").results)
    assert all(difference.snr_db >= bound.snr_db for difference in differences)


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
