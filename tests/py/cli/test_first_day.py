"""The commands of a first day: their outputs fit on a screen, and have names of layers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from scalify_hlo.cli import console
from tests.py.shared import first_day
from tests.py.shared.commands import call

pytestmark = pytest.mark.slow

LINES, COLUMNS = 40, 80
BANNED = re.compile(r"closed_call|checkpoint|remat|jit\(|jvp|transpose\(|loc\(|site-packages")

TYPED = (
    "rewrite mlp.export -o out.export",
    "rewrite mlp.export -o mlp8.export --recipe fp8-current",
    "rewrite gpt.export -o gpt8.export",
    "rewrite gpt.export -o out.export --recipe fp8",
    "rewrite gpt.export -o pairs.export --recipe fp8-state --signature scaled",
    "rewrite gpt.export -o out.export --recipe fp8-delayed",
    "rewrite gpt.export -o out.export --recipe unit",
    "rewrite gpt.export -o out.export --recipe mxfp8",
    "rewrite gpt.export -o out.mlir --recipe bf16",
    "rewrite conv.export -o out.export",
    "rewrite conv.export -o out.export --recipe fp8 --report report.json",
    "rewrite conv.export -o out.export --target h200",
    "inspect mlp.export",
    "inspect gpt.export",
    "inspect gpt.export --recipe fp8",
    "inspect gpt.export --recipe unit --sites",
    "inspect gpt.export --matmuls",
    "inspect gpt.export --matmuls --wide --recipe mxfp8",
    "inspect gpt.export --matmuls --name *mlp* --sort name",
    "inspect gpt.export --arguments",
    "inspect gpt.export --lint --recipe fp8",
    "inspect conv.export --matmuls --recipe fp8",
    "inspect gpt8.export",
    "inspect pairs.export --arguments",
    "recipes",
    "recipes fp8-current",
    "rules",
    "rules dot_general",
    "opt mlp.export --pass-pipeline=help",
    "check mlp.export mlp8.export --inputs mlp.npz",
    "check gpt.export gpt8.export",
    "check gpt.export gpt8.export --inputs gpt.npz --per-value",
    "calibrate gpt.export --inputs gpt.npz -o profile.json",
    "stats gpt.export --inputs gpt.npz -o stats.json",
    "bisect-nan gpt.export --inputs nan.npz",
    "compare mlp.export --inputs mlp.npz --recipes fp8-current,bf16,fp8,unit",
    "blame mlp.export --inputs mlp.npz --recipe fp8-current --runs 6",
    "search mlp.export --inputs mlp.npz --recipe fp8-current --budget narrow>=0.9",
    "explain gpt.export --target cpu --recipe fp8-current",
    "compile mlp.export --target cpu -o compiled",
)
"""The words after `scalify-hlo`; the outputs of some commands are the inputs of others."""

FILES = ("report.json", "profile.json", "stats.json")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with programs and inputs."""
    folder = tmp_path_factory.mktemp("first_day")
    first_day.write(folder)
    spoiled = dict(np.load(folder / "gpt.npz"))
    spoiled["arr_1"] = spoiled["arr_1"] * np.float32(1e38)
    np.savez(folder / "nan.npz", **spoiled)
    return folder


def test_forty_rows() -> None:
    assert len(set(TYPED)) == 40


@pytest.mark.parametrize("typed", TYPED)
def test_what_is_read(typed: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(console, "_is_terminal", lambda _: True)
    monkeypatch.setattr(console, "_PATIENCE", 1e6)
    result = call(*typed.split())
    assert result.exit_code in (0, 1), result.output
    assert "defect" not in result.output
    lines = result.output.splitlines()
    assert len(lines) <= LINES, result.output
    assert max(map(len, lines), default=0) <= COLUMNS, result.output
    assert not BANNED.search(result.output), result.output


@pytest.mark.parametrize("typed", [*TYPED[12:33:2], TYPED[35], TYPED[38]])
def test_tables_in_a_pipe_have_the_width(
    typed: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A longer line is a sentence, which may have a path in it, and no row of columns."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    long = [line.strip() for line in call(*typed.split()).stdout.splitlines() if line[COLUMNS:]]
    assert not [line for line in long if "  " in line]


def test_files_have_the_names_of_layers(folder: Path) -> None:
    for name in FILES:
        assert not BANNED.search((folder / name).read_text()), name
