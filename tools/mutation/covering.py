"""The tests that cover a line, from a coverage run with one context for each test."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from coverage import CoverageData

from tools.mutation import durations

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "build" / "mutation" / "coverage.sqlite"
CONFIGURATION = Path(__file__).with_name("coverage.ini")

# These start processes, which no coverage of this process sees, or read the sources as text.
_ELSEWHERE = ("lit", "docs", "readme", "examples", "hostile_input", "standard_streams", "structure")
# Seconds to import a file of tests.
_COLLECTING = 0.2
_PLUGINS = ("-p", "tools.mutation.lit_items", "-p", "tools.mutation.durations")


def cover(tests: Sequence[str]) -> int:
    """Runs tests under coverage, and notes the lines and the seconds of each.

    Args:
        tests: Arguments of pytest; without any, all tests of `make test` and the lit suite, whose
            lines replace those of earlier runs.

    Returns:
        The exit status of pytest.
    """
    if not tests:
        DATA.unlink(missing_ok=True)
        durations.FILE.unlink(missing_ok=True)
        left_out = [f"--ignore=tests/py/test_{name}.py" for name in _ELSEWHERE]
        tests = ["-m", "not slow", *left_out, "tests/py", "tests/lit"]
    options = ["--cov", f"--cov-config={CONFIGURATION}", "--cov-context=test", "--cov-report="]
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", *_PLUGINS, "--cov-append"]
    return subprocess.run([*command, *options, *tests], cwd=ROOT, check=False).returncode


class Covering:
    """The map from lines to tests."""

    def __init__(self) -> None:
        self.seconds = durations.read()
        self._data = CoverageData(str(DATA))
        self._data.read()

    def tests(self, file: str, lines: tuple[int, int]) -> list[str]:
        """Returns the tests that run code, shortest first.

        Args:
            file: The path of a module, relative to the repository.
            lines: The first and the last line of the code.

        Returns:
            The tests that run one of the lines; if none does, as it is part of a statement that
            stands on several lines, those that run the statement; and for code that runs on import,
            all tests that run code of the module.
        """
        by_line = self._by_line(file)
        for chosen in (range(lines[0], lines[1] + 1), self._statement(file, lines[0]), by_line):
            found = {test for line in chosen for test in by_line.get(line, ())}
            if found:
                return sorted(found, key=lambda test: (self.seconds[test], test))
        return []

    @cache  # noqa: B019
    def _by_line(self, file: str) -> dict[int, frozenset[str]]:
        """Returns the tests that run each line of a module, those that passed."""
        by_line = self._data.contexts_by_lineno(str(ROOT / file))
        return {line: self._passed(contexts) for line, contexts in by_line.items()}

    def _passed(self, contexts: Iterable[str]) -> frozenset[str]:
        """Returns the tests of contexts; the setup of a test is another context than its call."""
        tests = (context.rpartition("|")[0] for context in contexts)
        return frozenset(test for test in tests if test in self.seconds)

    @cache  # noqa: B019
    def _statement(self, file: str, line: int) -> range:
        """Returns the lines of the smallest statement around a line, without its body."""
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        around = [_span(node) for node in ast.walk(tree) if isinstance(node, ast.stmt)]
        return min((s for s in around if line in s), key=len, default=range(0))


def _span(node: ast.stmt) -> range:
    """Returns the lines of a statement, or of the head of a compound statement."""
    body = getattr(node, "body", None)
    last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
    return range(node.lineno, max(last, node.lineno) + 1)


def choose(tests: Iterable[str], seconds: dict[str, float], budget: float) -> list[str]:
    """Chooses tests to run: the shortest of each file in turn, as long as the budget has room.

    Args:
        tests: The tests to choose from, shortest first.
        seconds: The seconds that each test takes.
        budget: The seconds that the chosen tests may take together. One is chosen in any case.

    Returns:
        The tests in the order to run them.
    """
    by_file = defaultdict(list)
    for test in tests:
        by_file[test.partition("::")[0]].append(test)
    turns = [(turn, seconds[t], t) for file in by_file.values() for turn, t in enumerate(file)]
    chosen: list[str] = []
    for turn, spent, test in sorted(turns):
        cost = spent + (_COLLECTING if turn == 0 else 0)
        if cost <= budget or not chosen:
            budget -= cost
            chosen.append(test)
    return chosen
