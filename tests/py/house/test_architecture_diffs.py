"""The diffs in ARCHITECTURE.md apply to the sources of today, and do what the page says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.py.house.test_lit import LIT_MAIN
from tools import pages

TEXT = (pages.ROOT / "ARCHITECTURE.md").read_text()
MOST = dict.fromkeys(
    ("A rule", "A recipe", "A pass", "A layer", "A target", "A format", "A command"), 1
)
"""The most source files that each kind of change may touch."""

EVERY_KIND = pytest.mark.parametrize("kind", MOST)
PROGRAMS = {"lit": ["-c", LIT_MAIN, "-v"], "scalify-hlo": ["-m", "scalify_hlo"]}


def example(kind: str) -> tuple[str, str]:
    """Returns the diff of a section of the page, and the command that shows its effect."""
    _, _, section = TEXT.partition(f"\n### {kind}\n")
    section = section.split("\n### ")[0]
    (diff,), (command,) = pages.blocks(section, "diff"), pages.blocks(section, "sh")
    return diff, command


def source_files(diff: str) -> set[str]:
    return set(re.findall(r"^\+\+\+ b/(scalify_hlo/.*)$", diff, re.MULTILINE))


def apply(diff: str, folder: Path, *options: str) -> None:
    command = ["git", "apply", "--whitespace=error", *options, "-"]
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)},
        input=diff,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.returncode, f"{done.stderr}\nmake the change again, and paste `git diff`"


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs a command of the page with the sources in a folder."""
    program, *words = shlex.split(command)
    return subprocess.run(
        [sys.executable, *PROGRAMS[program], *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sources and the lit tests, outside of any repository."""
    ignored = shutil.ignore_patterns("__pycache__", "Output", ".lit_test_times.txt")
    for name in ("scalify_hlo", "tests/lit", "examples"):
        shutil.copytree(pages.ROOT / name, tmp_path / name, ignore=ignored)
    return tmp_path


@EVERY_KIND
def test_few_source_files_change(kind: str) -> None:
    diff, _ = example(kind)
    assert 1 <= len(source_files(diff)) <= MOST[kind]


@EVERY_KIND
def test_the_diff_applies(kind: str, copy: Path) -> None:
    diff, _ = example(kind)
    apply(diff, copy)
    for name in re.findall(r"^\+\+\+ b/(.*)$", diff, re.MULTILINE):
        assert (copy / name).exists()


@pytest.mark.slow
@EVERY_KIND
def test_the_command_succeeds_with_the_diff_alone(kind: str, copy: Path) -> None:
    diff, command = example(kind)
    if "b/tests/" in diff:
        apply(diff, copy, "--include=tests/*")
    assert run(command, copy).returncode, "it succeeds without the change of the sources"
    apply(diff, copy, "--exclude=tests/*")
    done = run(command, copy)
    assert not done.returncode, done.stdout + done.stderr


def test_the_sections_are_those_of_the_page() -> None:
    _, _, section = TEXT.partition("\n## Adding to it\n")
    assert re.findall(r"^### (.*)$", section, re.MULTILINE) == list(MOST)
