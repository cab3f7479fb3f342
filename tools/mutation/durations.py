"""A pytest plugin that notes the CPU time of each test that passes in build/mutation."""

from __future__ import annotations

import json
import time
from collections.abc import Generator

import pytest

from tools.mutation.mutant import BUILD

FILE = BUILD / "durations.json"


class Durations:
    """Seconds of CPU time of the tests that passed, by their identifiers, fixtures included."""

    def __init__(self) -> None:
        self._passed: set[str] = set()
        self._seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, bool, bool]:
        """Measures a test."""
        start = time.process_time()
        handled = yield
        if item.nodeid in self._passed:
            self._seconds[item.nodeid] = round(time.process_time() - start, 4)
        return handled

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes whether a test passed."""
        if report.when == "call" and report.passed:
            self._passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Adds the tests of this run to those of other runs."""
        FILE.parent.mkdir(parents=True, exist_ok=True)
        FILE.write_text(json.dumps(read() | self._seconds, indent=0), encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """Registers the plugin."""
    config.pluginmanager.register(Durations())


def read() -> dict[str, float]:
    """Returns the seconds of each test that has passed; none before the first run."""
    seconds: dict[str, float] = json.loads(FILE.read_text()) if FILE.is_file() else {}
    return seconds
