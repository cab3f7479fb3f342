"""A progress bar is shown on a terminal, if the work takes long, and nowhere else."""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pytest

from scalify_hlo.cli import console
from tests.py.shared.commands import RUNS, call, write

QUIET = ("rewrite", "calibrate", "stats")
"""The commands with an option that suppresses messages."""


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("progress")
    write(folder)
    return folder


class Bar:
    """Stands for the bar on the screen."""

    made: ClassVar[list[Bar]] = []

    def __init__(self, what: str) -> None:
        self.what, self.started, self.ended = what, threading.Event(), False
        self.parts: list[tuple[int, int]] = []
        Bar.made.append(self)

    def start(self) -> None:
        self.started.set()

    def update(self, done: int, total: int) -> None:
        self.parts.append((done, total))

    def abandon(self) -> None:
        raise AssertionError

    def stop(self) -> None:
        assert self.started.wait(30)
        self.ended = True


@pytest.fixture(name="bars")
def _bars(monkeypatch: pytest.MonkeyPatch) -> list[Bar]:
    monkeypatch.setattr(console, "_Bar", Bar)
    monkeypatch.setattr(console, "_PATIENCE", 0.0)
    monkeypatch.setattr(Bar, "made", [])
    # The bar is started by another thread: it is not cancelled, however short the work is.
    monkeypatch.setattr(threading.Timer, "cancel", lambda _: None)
    return Bar.made


def on_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_is_terminal", lambda stream: stream is sys.stderr)


WRITING = {"rewrite": "out", "blame": "out.toml", "search": "out.toml", "compile": "folder"}
"""The commands that need an output, or print less with one."""

COMPILING = ("compile", "explain")
"""The commands that start a process for each compilation."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=pytest.mark.slow if each in COMPILING else ()) for each in RUNS],
)
def test_a_command_has_a_bar_on_a_terminal_only(
    folder: Path, monkeypatch: pytest.MonkeyPatch, bars: list[Bar], name: str
) -> None:
    monkeypatch.chdir(folder)
    output = ("-o", WRITING[name]) if name in WRITING else ()
    call(name, *RUNS[name], *output, code=0)
    assert not bars
    on_terminal(monkeypatch)
    if name in QUIET:
        call(name, *RUNS[name], *output, "--quiet", code=0)
        assert not bars
    call(name, *RUNS[name], *output, code=0)
    (bar,) = bars
    assert bar.ended
    assert all(done <= total for done, total in bar.parts)


@contextmanager
def terminal(patch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """Makes standard error a terminal; the value reads its screen until there is some text."""
    ours, theirs = os.openpty()
    patch.setenv("TERM", "xterm")

    def until(text: str) -> str:
        seen = ""
        while text not in seen:
            assert select.select([ours], [], [], 30)[0], seen
            seen += os.read(ours, 4096).decode()
        return seen

    with open(theirs, "w") as screen:
        patch.setattr(sys, "stderr", screen)
        yield until
    os.close(ours)


def test_a_bar_is_shown_and_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_PATIENCE", 0.0)
    with terminal(monkeypatch) as screen:
        with console.progress("Working") as progress:
            progress(1, 4)
            assert "Working" in screen("25%")
            progress(3, 4)
            screen("75%")
        print("after", file=sys.stderr, flush=True)
        assert "\x1b[?25h" in screen("after")  # the cursor


def test_short_work_has_no_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_PATIENCE", 60.0)
    with terminal(monkeypatch) as screen:
        with console.progress("Working") as progress:
            progress(1, 4)
        monkeypatch.setattr(console, "_PATIENCE", 0.0)
        with console.progress("Working", quiet=True) as progress:
            progress(1, 4)
        print("after", file=sys.stderr, flush=True)
        assert screen("after").strip() == "after"


def test_a_bar_does_not_start_after_the_work() -> None:
    bar = console._Bar("Working")
    bar.stop()
    bar.start()
    bar.update(1, 2)
    assert bar._shown is None


def test_an_interrupt_leaves_a_clean_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    bar = console._Bar("Working")
    bar.abandon()
    assert capfd.readouterr().err == ""
    monkeypatch.setenv("TERM", "xterm")
    bar.start()
    try:
        bar.abandon()
        assert "\x1b[?25h" in capfd.readouterr().err
    finally:
        bar.stop()


@pytest.mark.parametrize("stream", [None, object()])
def test_a_closed_stream_is_no_terminal(monkeypatch: pytest.MonkeyPatch, stream: object) -> None:
    monkeypatch.setattr(sys, "stderr", stream)
    with console.progress("Working") as progress:
        progress(1, 4)
