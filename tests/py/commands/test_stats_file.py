"""Statistics as JSON: the format, its schema, and the command that writes it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scalify_hlo.api import collect_stats
from scalify_hlo.commands.stats.record import StatsRecord, dump_stats, load_stats
from scalify_hlo.errors import InputError
from tests.py.commands.test_stats import batches, descent, parameters
from tests.py.shared import commands
from tests.py.shared.judge import program_of
from tests.py.shared.schemas import changed, faults
from tests.py.shared.stats_reference import planted

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
