"""Interrupts and streams that are full or closed end in a sentence, and leave files whole."""

from __future__ import annotations

import builtins
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scalify_hlo.storage import files, interrupts
from tests.py.shared import samples
from tests.py.shared.commands import OUTPUTS, PROGRAM, call, python, writing

OLD = "before"


def interrupt(*_: Any, **__: Any) -> Any:
    raise KeyboardInterrupt


class Half:
    """A file of which half of the first write is written, and then the user presses Ctrl-C."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __enter__(self) -> Half:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def write(self, data: bytes) -> int:
        self._file.write(data[: len(data) // 2])
        self._file.flush()
        raise KeyboardInterrupt


def half_written(patch: pytest.MonkeyPatch) -> None:
    def opened(name: Any, mode: str, **more: Any) -> Any:
        return Half(builtins.open(name, mode, **more))

    patch.setattr(files, "open", opened, raising=False)


def after(of: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a function that is interrupted when it has done its work."""

    def call(*arguments: Any) -> None:
        of(*arguments)
        raise KeyboardInterrupt

    return call


POINTS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "before it is created": lambda p: p.setattr("os.urandom", interrupt),
    "half written": half_written,
    "before its mode is set": lambda p: p.setattr("os.chmod", interrupt),
    "before it is renamed": lambda p: p.setattr("os.replace", interrupt),
    "after it is renamed": lambda p: p.setattr("os.replace", after(os.replace)),
}


def assert_old(done: Any, output: Path, before: list[str]) -> None:
    assert (done.exit_code, done.stderr.strip()) == (130, "")
    assert output.read_text() == OLD
    assert sorted(os.listdir(output.parent)) == before


@pytest.mark.parametrize("case", OUTPUTS)
def test_a_command_that_is_interrupted_while_it_writes(here: Path, case: str) -> None:
    call_ = writing(case)
    output = here / call_[-1]
    output.write_text(OLD)
    before = sorted(os.listdir(here))
    with pytest.MonkeyPatch.context() as patch:
        half_written(patch)
        done = call(
            *call_, *("--quiet",) * (call_[0] in ("rewrite", "state", "stats", "calibrate"))
        )
    assert_old(done, output, before)


@pytest.mark.parametrize("point", POINTS)
def test_each_point_of_a_write(here: Path, point: str) -> None:
    output = here / "out.export"
    output.write_text(OLD)
    before = sorted(os.listdir(here))
    with pytest.MonkeyPatch.context() as patch:
        POINTS[point](patch)
        done = call(*writing("rewrite"), "--quiet")
    if point == "after it is renamed":
        assert (done.exit_code, done.stderr.strip()) == (130, "")
        assert not call("inspect", str(output)).exit_code
        assert sorted(os.listdir(here)) == before
    else:
        assert_old(done, output, before)


_CUT = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # A shell may have it ignored.
from scalify_hlo.storage import files, interrupts

interrupts.end_on_interrupt()

class Tied:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass  # The handler runs here, where an exception would be ignored.

def save(file):
    file.write(b"half")
    file.flush()
    Tied()
    file.write(b"rest")

files.save_file(sys.argv[1], save)
"""


def test_an_interrupt_where_exceptions_are_lost(tmp_path: Path) -> None:
    output = tmp_path / "out"
    output.write_text(OLD)
    done = python("-c", _CUT, output, code=130)
    assert (done.stdout, done.stderr) == ("", "")
    assert os.listdir(tmp_path) == ["out"]
    assert output.read_text() == OLD


def test_another_handler_of_interrupts_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    for known in (signal.SIG_IGN, interrupt):
        monkeypatch.setattr(signal, "getsignal", lambda _, known=known: known)
        monkeypatch.setattr(signal, "signal", interrupt)
        interrupts.end_on_interrupt()
        interrupts.ignore_interrupts()


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), *((n, -n) for n in (signal.SIGTERM, signal.SIGKILL))]
)
def test_a_compilation_leaves_no_process_and_no_files(
    here: Path, tmp_path: Path, number: int, code: int
) -> None:
    """XLA compiles in another process, and in a folder of its own."""
    # A shell that starts the tests in the background lets them ignore the signal.
    start = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
        "from scalify_hlo.__main__ import run; run()"
    )
    command = ["compile", PROGRAM, "--target", "cpu", "-o", "compiled"]
    process = subprocess.Popen(
        [sys.executable, "-c", start, *command],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not _runs(str(tmp_path)) and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    _, told = process.communicate(timeout=60)
    assert (process.returncode, told) == (code, "")
    assert not (here / "compiled").exists()
    end = time.monotonic() + 30  # A process that was killed takes a moment to end.
    while _runs(str(tmp_path)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _runs(str(tmp_path))
    assert not list(tmp_path.iterdir())


def _runs(text: str) -> bool:
    """Whether a process runs that has a text in its command line."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if text.encode() in path.read_bytes():
                return True
    return False


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
