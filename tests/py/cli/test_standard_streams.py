"""Standard streams that are full or closed, and an interrupt at the start, end in a sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.py.shared import samples
from tests.py.shared.commands import python

FULL = "> /dev/full"
NO_INPUT = "<&-"
NO_OUTPUT = ">&-"
NO_ERRORS = "2>&-"


def shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    (folder / "tiny.mlir").write_text(samples.TEXT)
    line = f"exec {sys.executable} -m scalify_hlo {command}"
    return subprocess.run(
        ["bash", "-c", f"cd {folder}; {line}"], capture_output=True, text=True, check=False
    )


def assert_refused(done: subprocess.CompletedProcess[str], sentence: str) -> None:
    error, note = done.stderr.splitlines()
    assert (done.returncode, error) == (1, sentence)
    assert " note: " in note


@pytest.mark.parametrize(
    "command",
    [
        "rewrite tiny.mlir --recipe propagate",
        *("inspect tiny.mlir", "rules", "recipes --markdown", "--help"),
    ],
)
def test_a_full_device(tmp_path: Path, command: str) -> None:
    done = shell(tmp_path, f"{command} {FULL}")
    assert_refused(done, "<stdout>: error: cannot write the output: no space left on device")


@pytest.mark.parametrize("command", ["rewrite tiny.mlir", "inspect tiny.mlir", "recipes", "rules"])
def test_a_closed_output(tmp_path: Path, command: str) -> None:
    done = shell(tmp_path, f"{command} {NO_OUTPUT}")
    assert_refused(done, "<stdout>: error: cannot write the output: standard output is closed")


@pytest.mark.parametrize("command", ["rewrite -", "inspect -", "check - tiny.mlir"])
def test_a_closed_input(tmp_path: Path, command: str) -> None:
    assert_refused(
        shell(tmp_path, f"{command} {NO_INPUT}"), "<stdin>: error: standard input is closed"
    )


@pytest.mark.slow
@pytest.mark.parametrize("closed", [NO_INPUT, NO_OUTPUT, NO_ERRORS, "<&- >&- 2>&-", "2>/dev/full"])
@pytest.mark.parametrize("kind", ["bytecode", "text"])
def test_what_needs_no_stream_runs_without(tmp_path: Path, kind: str, closed: str) -> None:
    data = samples.stored()[kind]
    (tmp_path / "in").write_bytes(data)
    done = shell(tmp_path, f"rewrite in -o with --signature scaled {closed}")
    assert done.returncode == 0, done.stderr
    shell(tmp_path, "rewrite in -o without --signature scaled")
    assert (tmp_path / "with").read_bytes() == (tmp_path / "without").read_bytes()


def test_a_closed_stream_of_errors_keeps_the_exit_code(tmp_path: Path) -> None:
    for closed in (NO_ERRORS, "2>/dev/full"):
        assert shell(tmp_path, f"rewrite nothing {closed}").returncode == 1
        assert shell(tmp_path, f"rewrite --nothing {closed}").returncode == 2


def test_an_interrupt_among_the_imports_has_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "click.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nimport time\ntime.sleep(60)\n"
    )
    # A shell lets what it runs in the background ignore interrupts, and its children as well.
    heard = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    path = f"{heard}; import sys; sys.path.insert(0, {str(tmp_path)!r})"
    code = f"{path}; from scalify_hlo.__main__ import run; run()"
    assert python("-c", code, code=130).stderr == ""


def test_the_command_is_the_entry_that_can_be_interrupted() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"scalify-hlo": "scalify_hlo.__main__:run"}
