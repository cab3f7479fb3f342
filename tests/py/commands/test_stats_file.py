"""Statistics as JSON, and of functions that `scalify` made; the probes that tell scales."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.api import collect_stats, make_options
from scalify_hlo.commands.stats.numbering import inline_numbered, number_ops
from scalify_hlo.commands.stats.record import StatsRecord, dump_stats, load_stats
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.ir.value_map import erase
from scalify_hlo.ir.walk import ops_in
from scalify_hlo.program.program import Program, read_text
from scalify_hlo.program.rewriting import rewrite_program
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.rules.probes import is_probe
from tests.py.commands.test_stats import batches, descent, parameters
from tests.py.shared import commands
from tests.py.shared.judge import assert_all_close, program_of, stablehlo_of
from tests.py.shared.schemas import changed, faults
from tests.py.shared.stats_reference import assert_is, planted

SAMPLE = Path(__file__).resolve().parents[1] / "shared" / "stats_sample.json"
PAGE = Path(__file__).resolve().parents[3] / "docs" / "stats.md"


@pytest.fixture(scope="module")
def record() -> StatsRecord:
    params, given = parameters(), batches(2)
    exported = program_of(descent, params, given[0])
    samples = [(params, batch) for batch in given]
    return collect_stats(exported, samples, steps=2, carry=True, recipe="fp8")


def test_statistics_fit_their_schema(record: StatsRecord) -> None:
    whole = json.loads(dump_stats(record))
    assert not faults(whole, "stats")


def test_the_sample_fits_the_schema() -> None:
    whole = json.loads(SAMPLE.read_text())
    assert not faults(whole, "stats")
    assert len(whole["variants"]) == 2
    assert whole["operands"]


def test_special_values_are_finite_json() -> None:
    values = planted((60,))
    record = collect_stats("func.func @main(%x: tensor<60xf32>) { return }", [[values]])
    whole = json.loads(dump_stats(record), parse_constant=lambda name: pytest.fail(name))
    assert not faults(whole, "stats")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("version",), 2),
        (("steps",), []),
        (("variants", 0, "values", 0, "rms"), ["1"]),
        (("variants", 0, "values", 0, "zeros"), [-1]),
        (("variants", 0, "values", 0, "scales"), 1),
        (("variants", 0, "values", 0, "colour"), "red"),
        (("operands", 0, "formats", 0, "flushed"), [1.5]),
    ],
)
def test_the_schema_finds_faults(path: tuple[Any, ...], value: Any) -> None:
    whole = json.loads(SAMPLE.read_text())
    assert faults(changed(whole, path, value), "stats")


def test_a_file_is_read_back(record: StatsRecord, tmp_path: Path) -> None:
    path = tmp_path / "stats.json"
    path.write_text(dump_stats(record))
    read = load_stats(path)
    assert dump_stats(read) == dump_stats(record)
    assert read.variants[0].values[0].rms == record.variants[0].values[0].rms


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not JSON"),
        ("[]", "not JSON with a format"),
        ('{"format": "scalify-hlo-stats", "version": 7}', "version 7"),
    ],
)
def test_other_files_are_refused(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "stats.json"
    path.write_text(text)
    with pytest.raises(InputError, match=reason):
        load_stats(path)


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    params, (batch,) = parameters(), batches(1)
    program, inputs = tmp_path / "step.jax_export", tmp_path / "x.npz"
    program.write_bytes(program_of(descent, params, batch).serialize())
    named = {f"params['{name}']": array for name, array in params.items()}
    np.savez(inputs, **named, x=batch)  # type: ignore[arg-type]
    return str(program), str(inputs)


run = partial(commands.call, "stats")


def test_the_command_writes_a_page(files: tuple[str, str], tmp_path: Path) -> None:
    program, inputs = files
    out = tmp_path / "stats.HTML"
    run(program, "--inputs", inputs, "--recipe", "unit", "-o", out, code=0)
    text = out.read_text()
    assert text.startswith("<!doctype html>")
    assert "params['w']" in text


def test_a_figure_needs_matplotlib(
    files: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, inputs = files
    monkeypatch.setattr("scalify_hlo.commands.stats.figures.find_spec", lambda _: None)
    done = run(program, "--inputs", inputs, "-o", tmp_path / "stats.png", code=2)
    assert "install scalify-hlo[plot]" in done.output


def test_records_of_every_second_call() -> None:
    seen: list[StatsRecord] = []
    stats = scalify_hlo.Stats(every=2, sink=seen.append)
    train = scalify_hlo.scalify(descent, stats=stats)
    plain = scalify_hlo.scalify(descent)
    (batch,) = batches(1)
    state = expected = scalify_hlo.as_scaled_array(parameters())
    given = []
    for _ in range(5):
        given.append(scalify_hlo.asarray(state)["w"])
        state, expected = train(state, batch), plain(expected, batch)
    assert_all_close(state, expected, rtol=1e-5, atol=1e-6)
    assert [record.steps for record in stats.records] == [(0,), (2,), (4,)]
    assert seen == stats.records
    for record, step in zip(stats.records, (0, 2, 4), strict=True):
        (variant,) = record.variants
        (value,) = (v for v in variant.values if v.name == "params['w']")
        assert value.scales is not None
        (scale,) = value.scales
        assert scale is not None
        assert_is(value, np.asarray(given[step]) / np.float32(2.0**scale))
        assert len(record.operands) == 10


def test_calls_in_another_trace_are_not_measured() -> None:
    stats = scalify_hlo.Stats(every=1)
    double = scalify_hlo.scalify(lambda x: x + x, stats=stats)
    assert jax.jit(double)(jnp.float32(2)) == 4
    assert not stats.records
    assert double(jnp.float32(2)) == 4
    assert len(stats.records) == 1


def test_donated_and_static_arguments() -> None:
    stats = scalify_hlo.Stats(every=1, keep=1, values="*mul*")

    def times(x: jax.Array, number: int) -> jax.Array:
        return x * number

    run = scalify_hlo.scalify(times, stats=stats, static_argnums=1, donate_argnums=0)
    for number in (3, 5):
        np.testing.assert_array_equal(run(jnp.ones(4), number), np.full(4, number))
    (record,) = stats.records
    assert record.steps == (1,)
    assert [v.amax for v in record.variants[0].values if v.op == "stablehlo.multiply"] == [(5.0,)]


def test_a_recipe_that_predicts_sizes() -> None:
    stats = scalify_hlo.Stats(every=1)
    params, (batch,) = parameters(), batches(1)
    new = scalify_hlo.scalify(descent, recipe="unit", stats=stats)(params, batch)
    assert new["w"].shape == params["w"].shape
    assert any(v.dtype == "f8E4M3FN" for v in stats.records[0].variants[0].values)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": 0}, "every takes a whole number, at least 1"),
        ({"turns": "none"}, "'none' is not a value of turns"),
    ],
)
def test_options_that_are_not_possible(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        scalify_hlo.Stats(**options)


def test_stats_of_another_type_are_refused() -> None:
    with pytest.raises(UsageError, match="stats is a int"):
        scalify_hlo.scalify(descent, stats=100)  # type: ignore[call-overload]


def looped(params: Any, x: jax.Array) -> Any:
    """A step with a called function, a loop and a branch."""

    @jax.jit
    def layer(h: jax.Array) -> jax.Array:
        return jnp.tanh(h @ params["v"])

    def loss(params: Any) -> jax.Array:
        h = lax.scan(lambda h, _: (layer(h), None), x @ params["w"], None, length=3)[0]
        h = lax.cond(h.sum() > 0, layer, lambda h: h * 3.0, h)
        total: jax.Array = (h**2).mean()
        return total

    return jax.grad(loss)(params)


def text_of(program: Program) -> str:
    """A program with all calls inlined, without numbers and probes."""
    module = program.module
    inline_numbered(module, program.name)
    with module.context, ir.Location.unknown():
        for op in ops_in(module.operation):
            if attributes.VALUE_NUMBER in op.attributes:
                del op.attributes[attributes.VALUE_NUMBER]
            if is_probe(op):
                erase(op)
        found: str = module.operation.get_asm()
    return found


@pytest.mark.parametrize("recipe", ["propagate", "fp8", "fp16"])
@pytest.mark.parametrize("signature", ["same", "scaled"])
@pytest.mark.parametrize("function", [descent, looped])
def test_probes_change_nothing_else(
    recipe: str, signature: str, function: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But for casts that are moved next to matmuls, which keeps their bits."""
    monkeypatch.setattr(Recipe, "rounds_gradients", False)
    params, (batch,) = parameters(), batches(1)
    text = stablehlo_of(function, params, batch)
    options = make_options(recipe, signature, settings={"residuals": "keep"})
    texts = []
    for probe in (False, True):
        program = read_text(text)
        number_ops(program.module, program.name)
        rewritten, _ = rewrite_program(program, replace(options, probe=probe))
        texts.append(text_of(rewritten))
    assert texts[0] == texts[1]
