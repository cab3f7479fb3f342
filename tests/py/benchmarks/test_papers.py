"""The experiments of the papers: their figures are those of the lines that were measured."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import paired_losses
from benchmarks.papers import bert, steps, tables
from scalify_hlo.recipes.loading import load_recipe

SIZE = bert.Size(1, 16, 2, 16, 3)


def shown(
    name: str, entries: list[dict[str, Any]], table: str, folder: Path, capsys: Any
) -> list[str]:
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in entries))
    tables.TABLES[table]()
    return str(capsys.readouterr().out).splitlines()


@pytest.fixture(autouse=True)
def results(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    return tmp_path


def test_the_gap_of_a_period_is_that_from_f32_at_the_size_for_a_cpu(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = {"f32": 2.0, "fp8-state": 2.5, steps.contender("state", 16): 2.25}
    entries = [
        {"experiment": "periods", "contender": name, "seed": seed, "loss": loss + n, "size": size}
        for n, size in enumerate(("small", "full"))
        for name, loss in runs.items()
        for seed in range(2)
    ]
    _, state, *_ = shown("steps", entries, "periods", results, capsys)
    assert state.split() == ["state", "+0.500", "±", "0.000", "+0.250", "±", "0.000"]


def test_every_period_is_a_recipe() -> None:
    for site, table in steps.SITES.items():
        preset, *settings = steps.contender(site, 16).split(":")
        recipe = load_recipe(preset, settings)
        assert getattr(recipe, table).every == 16
        assert recipe.inputs.step == ("*.count",)


def test_a_loss_scale_shifts_gradients_and_nothing_else(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    about = {"figure": "A.4", "layers": 4}
    kinds = {"x": [[0, 2]], "gradx": [[-20, 1], [-16, 3]], "gradw": [[-15, 4]]}
    entries = [{**about, "kind": k, "place": "", "octaves": o} for k, o in kinds.items()]
    found = shown("histograms", entries, "histograms", results, capsys)
    assert [line.split() for line in found[1:4]] == [
        ["gradw", "2^-15", "(100%)"],
        ["gradx", "2^-16", "(100%)"],
        ["x", "2^0", "(0%)"],
    ]
    assert [line.split()[-1] for line in found[6:]] == ["100.0%", "2^6", "0.0%"]
    assert tables._outside(Counter({-16: 3, 0: 1})) == 0.75


def test_masked_tokens_are_the_labels() -> None:
    (batch,) = bert.drawn_batches(SIZE, 0, 1)
    tokens, places, labels, follows = batch
    assert (np.take_along_axis(tokens, places, axis=1) == bert.MASK).all()
    assert (tokens == bert.MASK).sum() == SIZE.batch * SIZE.masked
    assert labels.max() < bert.CLASS
    assert set(follows) <= {0, 1}


def test_models_of_no_paper_have_no_size_of_a_paper(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["paired_losses", "unit", "--model", "llama", "--full"])
    with pytest.raises(SystemExit):
        paired_losses.parsed()
    assert "--full is for gpt2 and bert" in capsys.readouterr().err
