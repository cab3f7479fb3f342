"""A file json.py in the working folder is not run, neither by a command nor by its children."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from scalify_hlo.storage import children
from tests.py.shared import samples
from tests.py.shared.commands import python

HOSTILE = ("click", "jax", "json", "jaxlib", "ml_dtypes", "numpy", "pickle", "select", "subprocess")
"""Modules that Python itself does not import before it starts the command."""


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A folder with a program, and with modules that leave a file when they are run."""
    (tmp_path / "m.mlir").write_text(samples.TEXT)
    for name in HOSTILE:
        (tmp_path / f"{name}.py").write_text(f"open('ran {name}', 'w'); raise ImportError")
    return tmp_path


@pytest.mark.parametrize("entry", ["", ".", "{folder}", "{folder}/../{name}"])
def test_a_child_imports_nothing_from_the_working_folder(
    hostile: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    monkeypatch.chdir(hostile)
    monkeypatch.setattr(sys, "path", [entry.format(folder=hostile, name=hostile.name), *sys.path])
    line = children.command("scalify_hlo.program.sandbox", "available", "an argument")
    subprocess.run(line, check=True)
    assert not list(hostile.glob("ran *"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "line",
    [
        "rewrite m.mlir",
        "check m.mlir m.mlir --backend interpreter",
        "compile m.mlir --target cpu -o out",
        "explain m.mlir --target cpu --recipe fp8",
    ],
)
def test_a_command_imports_nothing_from_the_working_folder(hostile: Path, line: str) -> None:
    python("-m", "scalify_hlo", *line.split(), cwd=hostile)
    assert not list(hostile.glob("ran *"))


def test_a_working_folder_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert children.trusted(["", "/usr/lib", "lib"]) == ["/usr/lib"]
