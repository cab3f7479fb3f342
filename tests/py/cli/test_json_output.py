"""Every command that prints a result prints it as JSON, and shows a bar if the work takes long."""

from __future__ import annotations

import json
import os
import re
import select
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Final

import click
import pytest

from scalify_hlo.cli import console
from scalify_hlo.cli.main import main
from scalify_hlo.schemas import MODELS
from tests.py.shared.commands import PROGRAM, RUNS, call
from tests.py.shared.schemas import faults, keys_of

OUT: Final = "out.json"
JSON: Final = ("--format", "json")
CALLS: Final[dict[str, tuple[str, ...]]] = {
    "rewrite": (*RUNS["rewrite"], "-o", "o.export", "--report", OUT),
    "check": (*RUNS["check"], "--per-value", *JSON),
    "calibrate": RUNS["calibrate"],
    "stats": RUNS["stats"],
    "bisect-nan": (*RUNS["bisect-nan"], *JSON),
    "compare": (*RUNS["compare"], *JSON),
    "blame": (*RUNS["blame"], *JSON),
    "search": (*RUNS["search"], *JSON),
    "compile": (*RUNS["compile"], "-o", "compiled", *JSON),
    "explain": (*RUNS["explain"], *JSON),
    "inspect": (*RUNS["inspect"], *JSON),
    "rules": ("add", *JSON),
    "recipes": ("fp8", "--all", *JSON),
}
"""For each command, options with which it writes JSON."""

WITHOUT_JSON: Final = {"opt", "state"}
"""The commands whose only result is a program, or arrays."""


def test_every_command_is_here() -> None:
    assert CALLS.keys() | WITHOUT_JSON == set(main.list_commands(click.Context(main)))


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("name", CALLS)
def test_a_command_writes_json_of_a_version(name: str) -> None:
    arguments = CALLS[name]
    done = call(name, *arguments)
    assert not done.exit_code, done.output
    content = json.loads(Path(OUT).read_text() if OUT in arguments else done.stdout)
    assert content["format"].startswith("scalify-hlo")
    assert isinstance(content["version"], int)
    assert not faults(content, name)
    for key in ("format", "version"):
        assert faults(content | {key: "another"}, name)
        assert faults({k: v for k, v in content.items() if k != key}, name)


def test_every_json_has_a_schema_and_a_place_in_the_page() -> None:
    page = (Path(__file__).parents[3] / "docs" / "reports.md").read_text("utf-8")
    assert CALLS.keys() == MODELS.keys()
    for name in CALLS:
        assert f"| `{name}" in page


PAGES: Final = {
    "stats": "stats",
    "bisect-nan": "nan",
    "compare": "compare",
    "blame": "compare",
    "search": "compare",
}


@pytest.mark.parametrize(("name", "page"), PAGES.items())
def test_a_page_describes_every_key(name: str, page: str) -> None:
    text = (Path(__file__).parents[3] / "docs" / f"{page}.md").read_text("utf-8")
    assert keys_of(name) <= set(re.findall(r"`([a-z_0-9]+)`", text))


@pytest.mark.usefixtures("here")
def test_a_failed_check_is_written_too() -> None:
    done = call("check", *RUNS["check"], "--per-value", "--rtol", "1e-7", *JSON)
    assert done.exit_code == 1
    content = json.loads(done.stdout)
    assert not faults(content, "check")
    assert not content["passed"]
    assert not content["results"][0]["passed"]
    assert content["limits"]["rtol"] == 1e-7
    assert content["limits"]["min_snr_db"] is None
    values = content["values"]
    assert {each["op"] for each in values["parted"]} >= {"stablehlo.dot_general"}
    assert values["compared"] - values["within"] == len(values["parted"])
    assert "results are not within" in done.stderr


@pytest.mark.usefixtures("here")
def test_a_check_has_the_bound_of_the_recipe() -> None:
    content = json.loads(call("check", *RUNS["check"], "--per-value", *JSON).stdout)
    inside = content["values"]["limits"]
    assert content["limits"]["casts"] == inside["casts"] == {"f8E4M3FN": 2}
    assert content["limits"]["min_snr_db"] == pytest.approx(28.9 - 3 - 6, abs=0.1)
    assert inside["min_snr_db"] == pytest.approx(content["limits"]["min_snr_db"] - 6.02, abs=0.01)
    assert content["rewritten"]["rewrites"]
    assert not content["original"]["rewrites"]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("backend", ["xla", "interpreter"])
def test_equal_results_are_exact(backend: str) -> None:
    done = call("check", PROGRAM, PROGRAM, "--backend", backend, *JSON)
    content = json.loads(done.stdout)
    assert not faults(content, "check")
    (result,) = content["results"]
    assert result["snr_db"] == "exact"
    assert result["relative_error"] == result["max_ulp"] == 0
    assert content["limits"]["epsilons"] == 64
    assert content["values"] is None


def test_lists_have_every_rule_and_recipe() -> None:
    rules = json.loads(call("rules", *JSON).stdout)
    assert not faults(rules, "rules")
    assert {"stablehlo.add", "chlo.erf"} <= {each["op"] for each in rules["rules"]}
    recipes = json.loads(call("recipes", *JSON).stdout)
    assert not faults(recipes, "recipes")
    options = {each["name"]: each["options"] for each in recipes["recipes"]}
    assert not options["propagate"]
    assert options["fp8"]["matmul.weight"] == "f8E4M3FN"
    assert {"unit", "fp8-delayed"} <= options.keys()


def test_settings_are_in_a_recipe() -> None:
    done = call("recipes", "fp8", "--set", "matmul.exclude=head,*embed*", *JSON)
    (recipe,) = json.loads(done.stdout)["recipes"]
    assert recipe["options"]["matmul.exclude"] == ["head", "*embed*"]


@pytest.mark.parametrize("name", ["rules", "recipes"])
def test_one_form_at_a_time(name: str) -> None:
    done = call(name, "--markdown", *JSON)
    assert done.exit_code == 2
    assert "--markdown and --format json are different forms" in done.stderr


QUIET = ("rewrite", "calibrate", "stats")
"""The commands with an option that suppresses messages."""


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
@pytest.mark.usefixtures("here")
def test_a_command_has_a_bar_on_a_terminal_only(
    monkeypatch: pytest.MonkeyPatch, bars: list[Bar], name: str
) -> None:
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
            assert "Working" in screen("1/4")
            progress(3, 4)
            screen("3/4")
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
