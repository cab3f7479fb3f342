"""Serving exports of a symbolic batch: matmuls become f8 as they do at a fixed one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export, lax

import scalify_hlo
from scalify_hlo import Report, UsageError, calibrate, measured_scales, rewrite
from scalify_hlo.casts.selection import CONTRACTED
from scalify_hlo.ir.walk import ops_in
from tests.py.shared.commands import call
from tests.py.shared.judge import parse, program_of, shaped

WIDTH, HEADS, LENGTH = 64, 4, 32
HEAD = WIDTH // HEADS

Params = dict[str, Any]


def params() -> Params:
    square = {name: shaped(WIDTH, WIDTH) for name in ("q", "k", "v", "out")}
    return square | {"up": shaped(WIDTH, 4 * WIDTH), "down": shaped(4 * WIDTH, WIDTH)}


def mlp(p: Params, x: jax.Array) -> Any:
    return jax.nn.gelu(x @ p["up"]) @ p["down"]


def block(p: Params, x: jax.Array) -> Any:
    q, k, v = ((x @ p[name]).reshape(*x.shape[:2], HEADS, HEAD) for name in ("q", "k", "v"))
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / HEAD**0.5
    mixed = jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v)
    x = x + mixed.reshape(x.shape) @ p["out"]
    return x + mlp(p, x)


def two_blocks(p: Params, x: jax.Array) -> Any:
    return block(p, block(p, x))


def decode(p: Params, x: jax.Array, keys: jax.Array, values: jax.Array, i: jax.Array) -> Any:
    """One token of each sequence; the caches of keys and values grow."""
    q, k, v = ((x @ p[name]).reshape(-1, HEADS, HEAD) for name in ("q", "k", "v"))
    keys = lax.dynamic_update_slice(keys, k[:, None], (0, i, 0, 0))
    values = lax.dynamic_update_slice(values, v[:, None], (0, i, 0, 0))
    scores = jnp.einsum("bhd,bthd->bht", q, keys) / HEAD**0.5
    mixed = jnp.einsum("bht,bthd->bhd", jax.nn.softmax(scores), values)
    x = x + mixed.reshape(x.shape) @ p["out"]
    return x + mlp(p, x), keys, values


@dataclass(frozen=True)
class Serving:
    """A function, the types of its arguments for a batch, and how many matmuls become f8."""

    function: Callable[..., Any]
    types: Callable[[Any], tuple[Any, ...]]
    narrow: int
    wide: int = 0

    def __str__(self) -> str:
        return self.function.__name__

    def exported(self, batch: Any = None) -> export.Exported:
        batch = export.symbolic_shape("b")[0] if batch is None else batch
        return program_of(self.function, *self.types(batch))

    def draw(self, batch: int) -> tuple[Any, ...]:
        rng = np.random.default_rng(batch)

        def values(type_: jax.ShapeDtypeStruct) -> Any:
            if type_.dtype == jnp.int32:
                return np.asarray(3, np.int32)
            return np.asarray(rng.standard_normal(type_.shape), np.float32) / 8

        drawn: tuple[Any, ...] = jax.tree.map(values, self.types(batch))
        return drawn


def caches(batch: Any) -> tuple[Any, ...]:
    cache = shaped(batch, LENGTH, HEADS, HEAD)
    return params(), shaped(batch, WIDTH), cache, cache, shaped(dtype=jnp.int32)


PROGRAMS = (
    Serving(two_blocks, lambda b: (params(), shaped(b, LENGTH, WIDTH)), 16),
    Serving(mlp, lambda b: (params(), shaped(16 * b, WIDTH)), 2),
    Serving(decode, caches, 6, wide=2),
)
MLP, DECODE = PROGRAMS[1:]
SCALES = {"*": 2.0**-3}


def wide(report: Report) -> list[str]:
    return [matmul.wide.reason for matmul in report.matmuls if matmul.wide is not None]


def close(got: Any, wanted: Any) -> None:
    for actual, expected in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
        error = np.linalg.norm(np.asarray(actual) - expected) / np.linalg.norm(expected)
        assert error < 0.12


@pytest.mark.slow
@pytest.mark.parametrize("recipe", ["fp8", "unit", "fp8-current"])
@pytest.mark.parametrize("serving", PROGRAMS, ids=str)
def test_matmuls_are_those_of_a_fixed_batch(serving: Serving, recipe: str) -> None:
    scales = {} if recipe == "fp8-current" else SCALES
    program, report = rewrite(serving.exported(), recipe=recipe, input_scale=scales, report=True)
    assert report.narrowed == serving.narrow
    assert len(wide(report)) == serving.wide
    fixed = rewrite(serving.exported(batch=3), recipe=recipe, input_scale=scales, report=True)[1]
    assert wide(fixed) == wide(report)
    assert [m.formats for m in fixed.matmuls] == [m.formats for m in report.matmuls]
    for batch in (1, 3):
        values = serving.draw(batch)
        close(program.call(*values), serving.function(*values))


def test_scales_of_a_weights_channels() -> None:
    settings = {"scaling.weight_scales": "channel"}
    program = rewrite(MLP.exported(), recipe="fp8-current", settings=settings)
    values = MLP.draw(2)
    close(program.call(*values), mlp(*values))


@pytest.mark.slow
@pytest.mark.parametrize("serving", PROGRAMS, ids=str)
def test_delayed_scales(serving: Serving) -> None:
    program, report = rewrite(serving.exported(), recipe="fp8-delayed", report=True)
    assert report.narrowed == serving.narrow
    state, values = scalify_hlo.init_scaling_state(program), serving.draw(2)
    for _ in range(2):
        results, state = scaled_call(program, values, state)
    close(results, serving.function(*values))


def scaled_call(program: export.Exported, values: Any, state: Any) -> tuple[Any, Any]:
    """The results of a program of delayed scales, and its next state."""
    results = program.call(*values, state)
    return results[:-1], results[-1]


@pytest.mark.slow
@pytest.mark.parametrize("serving", PROGRAMS, ids=str)
def test_a_profile_is_of_samples_of_any_batch(serving: Serving) -> None:
    exported = serving.exported()
    profile = calibrate(exported, [serving.draw(2), serving.draw(5)])
    program, report = rewrite(exported, profile=profile, report=True)
    assert report.narrowed == serving.narrow
    values = serving.draw(3)
    close(program.call(*values), serving.function(*values))


@pytest.mark.slow
@pytest.mark.parametrize("serving", PROGRAMS, ids=str)
def test_a_profile_is_that_of_the_program_at_the_samples_shapes(serving: Serving) -> None:
    found = calibrate(serving.exported(), [serving.draw(3)]).tensors
    expected = calibrate(serving.exported(batch=3), [serving.draw(3)]).tensors
    assert list(found.values()) == list(expected.values())


def test_samples_of_sizes_that_do_not_fit_are_named() -> None:
    weights, x = MLP.draw(1)[0], np.ones((17, WIDTH), np.float32)
    with pytest.raises(UsageError, match=r"of these shapes, whose sizes do not fit") as raised:
        calibrate(MLP.exported(), [(weights, x)])
    assert raised.value.location == "sample 1"
    with pytest.raises(UsageError, match=r"float32\[\?, 64\]"):
        calibrate(MLP.exported(), [(weights, x[:, :3])])
    b = export.symbolic_shape("b")[0]
    square = program_of(lambda x: x @ x.T, shaped(2 * b, 32))
    with pytest.raises(UsageError, match=r"Division had remainder 1"):
        calibrate(square, [(np.ones((3, 32), np.float32),)])


def test_the_commands_take_files_of_symbolic_shapes(tmp_path: Path) -> None:
    def done(*arguments: str) -> str:
        result = call(*arguments, code=0)
        return result.stderr

    program, profile = str(tmp_path / "f"), str(tmp_path / "p.json")
    Path(program).write_bytes(MLP.exported().serialize())
    inputs = []
    for batch in (1, 2):
        inputs += ["--inputs", str(tmp_path / f"{batch}.npz")]
        np.savez(inputs[-1], *jax.tree.leaves(MLP.draw(batch)))
    done("calibrate", program, *inputs, "-o", profile)
    out = "-o", str(tmp_path / "out")
    assert "2 of 2 matmuls in FP8" in done("rewrite", program, *out, "--profile", profile)
    given = "--recipe", "unit", "--input-values", inputs[1]
    assert "2 of 2 matmuls in FP8" in done("rewrite", program, *out, *given, "--strict")


def test_scales_are_measured_from_values_of_any_batch() -> None:
    values = MLP.draw(2)
    found = measured_scales(MLP.exported(), *values)
    text = str(MLP.exported().mlir_module())
    flat = measured_scales(text, *jax.tree.leaves(values))
    assert list(flat.values()) == list(found.values())


def algorithms(text: str) -> list[bool]:
    """Of each matmul, whether it says by which algorithm it is computed."""
    module = parse(text)
    return [
        "algorithm" in o.attributes for o in ops_in(module.operation, {"stablehlo.dot_general"})
    ]


def test_an_unknown_number_of_rows_may_be_one_for_which_no_algorithm_is() -> None:
    def text(serving: Serving, batch: Any) -> str:
        return str(serving.exported(batch).mlir_module())

    settings = {"target": "gpu"}
    fixed = rewrite(text(MLP, 1), recipe="fp8-current", settings=settings)
    assert len(set(algorithms(fixed))) == 1
    dynamic = rewrite(text(MLP, None), recipe="fp8-current", settings=settings)
    assert not any(algorithms(dynamic))
    several = rewrite(text(PROGRAMS[0], None), recipe="fp8-current", settings=settings)
    assert algorithms(several) == algorithms(fixed)[:1] * 16  # each sequence has 32 rows


def test_an_unknown_number_of_terms_leaves_a_matmul_wide() -> None:
    b = export.symbolic_shape("b")[0]
    types = shaped(32, b), shaped(b, 32)
    exported = program_of(lambda x, y: jnp.tanh(x) @ jnp.tanh(y), *types)
    _, report = rewrite(exported, recipe="fp8-current", report=True)
    assert wide(report) == [CONTRACTED.reason]
    assert str(report.matmuls[0].extent) == "32 x 32 x ?"
    with pytest.raises(scalify_hlo.InputError, match=r"the recipe fp8-current quantizes no matmul"):
        rewrite(exported, recipe="fp8-current", strict=True)
