"""Estimated times of the matmuls of a rewrite, without a compiler for the device."""

from __future__ import annotations

import importlib.metadata
import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import scalify_hlo
from scalify_hlo.cli.compare import lines
from scalify_hlo.commands.choose import comparison
from scalify_hlo.commands.choose.estimates import matmul_seconds, with_speeds
from scalify_hlo.commands.choose.trials import Comparison, dump_comparison
from scalify_hlo.dataflow.sizes import Size
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.report.matmuls import MatmulReport
from scalify_hlo.results.model import microseconds
from scalify_hlo.targets.description import load_target
from tests.py.shared import choosing
from tests.py.shared.choosing import batch, good_step, parameters
from tests.py.shared.commands import call
from tests.py.shared.judge import program_of
from tests.py.shared.schemas import faults

H200 = load_target("h200")


def matmul(*shape: int, formats: tuple[str, str, str] = ("bf16", "bf16", "bf16")) -> MatmulReport:
    """A matmul of M x N x K, or of a batch of these."""
    *batched, m, n, k = shape
    x, w = (jax.ShapeDtypeStruct((*batched, *each), jnp.float32) for each in ((m, k), (k, n)))
    _, report = scalify_hlo.rewrite(program_of(jnp.matmul, x, w), recipe="bf16", report=True)
    return replace(report.matmuls[0], formats=formats)


def test_large_matmuls_take_the_time_of_their_operations() -> None:
    size = 8192
    wide, narrow = matmul(size, size, size), ("f8E4M3FN", "f8E5M2", "bf16")
    assert matmul_seconds([wide], H200) == pytest.approx(2 * size**3 / 989e12 / 0.80)
    fp8 = matmul(size, size, size, formats=narrow)
    assert matmul_seconds([fp8], H200) == pytest.approx(2 * size**3 / 1979e12 / 0.72)
    mixed = replace(fp8, formats=("f8E4M3FN", "bf16", "bf16"))
    assert matmul_seconds([mixed], H200) == matmul_seconds([wide], H200)
    calls = replace(wide, calls=3)
    assert matmul_seconds([calls], H200) == matmul_seconds([wide] * 3, H200)


def test_thin_matmuls_take_the_time_of_their_bytes() -> None:
    m, n, k = 16, 4096, 4096
    moved = {"bf16": 2 * (m * k + k * n) + 2 * m * n, "f8E4M3FN": m * k + k * n + 2 * m * n}
    for format_, count in moved.items():
        thin = matmul(m, n, k, formats=(format_, format_, "bf16"))
        assert matmul_seconds([thin], H200) == pytest.approx(count / (H200.bandwidth or 0) / 0.75)
    many = matmul(8, m, n, k)
    assert matmul_seconds([many], H200) == pytest.approx(8 * moved["bf16"] / 4.8e12 / 0.75)


@pytest.mark.parametrize(
    ("element", "size"), [("i8", 1), ("i16", 2), ("complex<f32>", 8), ("complex<f64>", 16)]
)
def test_elements_of_all_types_are_moved(element: str, size: int) -> None:
    thin = matmul(16, 4096, 4096, formats=(element,) * 3)
    moved = size * (16 * 4096 + 4096**2 + 16 * 4096)
    assert matmul_seconds([thin], H200) == pytest.approx(moved / 4.8e12 / 0.75)


def test_products_of_other_types_are_those_of_their_class() -> None:
    """A complex product has four real ones."""

    def seconds(element: str) -> float | None:
        return matmul_seconds([matmul(8192, 8192, 8192, formats=(element,) * 3)], H200)

    assert seconds("complex<f32>") == pytest.approx(4 * (seconds("f32") or 0))
    assert seconds("complex<f64>") == pytest.approx(4 * (seconds("f64") or 0))
    assert seconds("i8") == pytest.approx(2 * 8192**3 / (H200.flops("int8") or 0))


def test_an_unknown_size_has_no_time() -> None:
    known = matmul(64, 64, 64)
    unknown = replace(known, extent=known.extent._replace(m=Size(1, known=False)))
    assert matmul_seconds([known, unknown], H200) is None
    assert matmul_seconds([], H200) == 0


def test_targets_without_speeds_are_refused() -> None:
    with pytest.raises(UsageError, match="the target cpu describes no speeds"):
        with_speeds("cpu")
    with pytest.raises(InputError, match="no target is named 'h20'"):
        with_speeds("h20")


@cache
def compared(target: str | None = "tpu-v6e", **options: Any) -> Comparison:
    sample = (parameters(), *batch())
    program, recipes = choosing.exported(good_step), "fp8-current,bf16,propagate"
    return scalify_hlo.compare_recipes(
        program, [sample], recipes, steps=1, target=target, **options
    )


def test_each_recipe_has_a_time_beside_the_original() -> None:
    found = compared()
    assert found.target == "tpu-v6e"
    assert found.seconds is not None
    fp8, bf16, propagate = (trial.seconds for trial in found.trials)
    assert None not in (fp8, bf16)
    assert propagate == pytest.approx(found.seconds)
    record = json.loads(dump_comparison(found))
    assert record["target"] == "tpu-v6e"
    assert record["us"] == pytest.approx(found.seconds * 1e6, abs=1e-3)
    assert record["recipes"][1]["us"] == pytest.approx((bf16 or 0) * 1e6, abs=1e-3)
    text = list(lines(found, 10))
    assert text[0].endswith("matmuls on tpu-v6e, µs")
    assert any(line.startswith("matmuls of the original on tpu-v6e: ") for line in text)


def one_by_one(w: jax.Array, x: jax.Array) -> jax.Array:
    for i in range(w.shape[0]):
        x = jnp.tanh(x @ w[i])
    return x


def in_a_loop(w: jax.Array, x: jax.Array) -> jax.Array:
    last: jax.Array = jax.lax.scan(lambda x, each: (jnp.tanh(x @ each), None), x, w)[0]
    return last


def in_two_loops(w: jax.Array, x: jax.Array) -> jax.Array:
    """A function that is called in a loop, and once outside of it, which ends in a cond."""
    layers = jax.jit(in_a_loop)
    x = jax.lax.fori_loop(0, 2, lambda _, x: layers(w[:2], x), x)
    last: jax.Array = jax.lax.cond(x[0, 0] > 0, jnp.tanh, jnp.sin, layers(w[:2], x))
    return last


def until_it_is_small(w: jax.Array, x: jax.Array) -> jax.Array:
    small: jax.Array = jax.lax.while_loop(lambda x: jnp.max(x) > 1, lambda x: x @ w[0] / 128, x)
    return small


def of_layers(function: Any) -> Comparison:
    w, x = jnp.ones((6, 64, 64)), jnp.ones((64, 64))
    return scalify_hlo.compare_recipes(
        program_of(function, w, x), [(w, x)], "fp8-current,bf16", target="tpu-v6e"
    )


@pytest.mark.parametrize("function", [in_a_loop, in_two_loops])
def test_matmuls_in_loops_count_for_each_turn(function: Any) -> None:
    found, plain = of_layers(function), of_layers(one_by_one)
    assert found.seconds == pytest.approx(plain.seconds)
    for mine, theirs in zip(found.trials, plain.trials, strict=True):
        assert mine.seconds == pytest.approx(theirs.seconds)
    assert found.unknown_turns == 0
    assert not any("unknown length" in line for line in lines(found, 10))


def test_matmuls_in_loops_of_unknown_length_are_told() -> None:
    found = of_layers(until_it_is_small)
    assert found.seconds == pytest.approx((of_layers(one_by_one).seconds or 0) / 6)
    assert json.loads(dump_comparison(found))["unknown_turns"] == 1
    assert "matmuls in loops of unknown length, which count once: 1" in [*lines(found, 10)]


def test_short_times_have_two_digits() -> None:
    times = {12345.678: "12,345.7", 1.04: "1.0", 0.96: "0.96", 0.0196: "0.02", 0.00106: "0.0011"}
    assert {us: microseconds(us * 1e-6) for us in times} == times
    assert (microseconds(0.0), microseconds(None)) == ("0.0", "")


def test_without_a_target_there_is_no_time() -> None:
    found = compared(None)
    assert found.seconds is None
    assert all(trial.seconds is None for trial in found.trials)
    record = json.loads(dump_comparison(found))
    assert record["target"] is None
    assert record["us"] is None
    assert not any("µs" in line for line in lines(found, 10))


def test_the_target_is_that_of_the_recipes() -> None:
    """Small matmuls are no faster in FP8 on an H200, and stay wide."""
    small = compared("h200")
    assert small.trials[0].fp8 == 0
    assert compared().trials[0].fp8 == 1


def test_the_command_takes_a_target(tmp_path: Path) -> None:
    program, inputs = choosing.write(good_step, tmp_path)
    given = ["compare", program, "--inputs", inputs, "--recipes", "bf16", "--steps", "1"]
    assert "matmuls on b200, µs" in call(*given, "--target", "b200", code=0).stdout
    assert "describes no speeds" in call(*given, "--target", "cpu", code=2).stderr
    over = ["--target", "b200", "--set", "target=gpu"]
    assert "the target of the recipe is set to 'gpu'" in call(*given, *over, code=2).stderr


def test_memory_is_that_of_each_compiled_rewrite() -> None:
    """The peak without probes of casts; nothing is compiled for it unless it is asked for."""
    found = compared(None, memory=True)
    assert found.memory is not None
    plain = scalify_hlo.explain(choosing.exported(good_step), "cpu", memory=True).memory
    assert plain is not None
    assert found.memory == plain.bytes
    assert all(trial.memory and trial.memory > 0 for trial in found.trials if not trial.reason)
    text = "\n".join(lines(found, 0))
    assert "memory, MiB" in text
    assert "memory of the original on the CPU" in text
    record = json.loads(dump_comparison(found))
    assert record["memory"] == found.memory
    assert not faults(record, "compare")
    without = compared(None)
    assert without.memory is None is without.trials[0].memory
    assert "memory, MiB" not in "\n".join(lines(without, 0))


def test_memory_needs_the_compiler_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told before anything runs."""

    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    monkeypatch.setattr(comparison, "Bench", None)
    with pytest.raises(InputError, match="is not installed"):
        compared("h100", memory=True)
