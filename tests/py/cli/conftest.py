"""A folder in which every command can run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.py.shared.commands import write


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program, its inputs and its rewrites."""
    folder = tmp_path_factory.mktemp("commands")
    write(folder)
    return folder


@pytest.fixture
def here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, as the working directory."""
    monkeypatch.chdir(folder)
    return folder
