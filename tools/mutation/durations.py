"""A pytest plugin that notes the seconds of each test that passes in build/mutation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

FILE = Path(__file__).resolve().parents[2] / "build" / "mutation" / "durations.json"


class Durations:
    """The seconds of the calls of the tests that passed, by their identifiers."""

    def __init__(self) -> None:
        self._seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes a test."""
        if report.when == "call" and report.passed:
            self._seconds[report.nodeid] = round(report.duration, 4)

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
