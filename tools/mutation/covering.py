"""The tests that cover a line, from a coverage run with one context for each test."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tools.mutation import durations
from tools.mutation.mutant import BUILD, ROOT

DATA = BUILD / "coverage.sqlite"
CONFIGURATION = Path(__file__).with_name("coverage.ini")

# These start processes, which no coverage of this process sees, or read the sources as text.
_ELSEWHERE = ("lit", "docs", "examples", "hostile_input", "standard_streams", "structure")
# Letters of strings that are too short to tell tests by.
_SHORT = 2
# Seconds to import a file of tests, and whatever its first test needs.
_COLLECTING = 0.7
_LIT, _MODELS = "tests/lit/", "tests/lit/models/"
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
        left_out = [f"--ignore-glob=*/test_{name}.py" for name in _ELSEWHERE]
        tests = ["-m", "not slow", *left_out, "tests/py", "tests/lit"]
    options = ["--cov", f"--cov-config={CONFIGURATION}", "--cov-context=test", "--cov-report="]
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", *_PLUGINS, "--cov-append"]
    return subprocess.run([*command, *options, *tests], cwd=ROOT, check=False).returncode


class Covering:
    """The map from lines to tests.

    Args:
        only: The files and tests that there are; all if none.
    """

    def __init__(self, only: tuple[str, ...] = ()) -> None:
        from coverage import CoverageData

        seconds = durations.read()
        self.seconds = {test: s for test, s in seconds.items() if not only or test.startswith(only)}
        self._data = CoverageData(str(DATA))
        self._data.read()

    def tests(self, file: str, lines: tuple[int, int]) -> list[str]:
        """Returns the tests that run code, shortest first.

        Args:
            file: The path of a module, relative to the repository.
            lines: The first and the last line of the code.

        Returns:
            The tests that run one of the lines, or, if the lines are part of a longer statement,
            the statement. There are none for code that runs on import.
        """
        by_line = self._by_line(file)
        statement = self._statement(file, lines[0])
        if not statement.in_function:
            return []
        found = _union(by_line, range(lines[0], lines[1] + 1))
        return self._sorted(found or _union(by_line, statement.lines))

    def others(self, file: str, lines: tuple[int, int]) -> list[str]:
        """Returns the other tests that are about the same module.

        A line that runs on import, or whose result is cached, was run for the first of many tests.

        Args:
            file: The path of a module, relative to the repository.
            lines: The first and the last line of the code.

        Returns:
            The tests in the file named after the module, those named after a string in the
            statement, and the rest of those that run code of the module; the shortest first.
        """
        by_line, words = self._by_line(file), self._statement(file, lines[0]).words
        named = {test for test in self.seconds if _file(test) == about(file)}
        told = {test for test in self.seconds if any(word in test for word in words)}
        found = (_union(by_line, by_line) | named | told) - set(self.tests(file, lines))
        return sorted(self._sorted(found), key=lambda test: (test not in named, test not in told))

    def _sorted(self, tests: Iterable[str]) -> list[str]:
        """Returns tests, shortest first."""
        return sorted(tests, key=lambda test: (self.seconds[test], test))

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
    def _statement(self, file: str, line: int) -> Statement:
        """Returns the smallest statement around a line."""
        tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
        around = [s for s in _statements(tree, in_function=False) if line in s.lines]
        return min(around, key=lambda s: len(s.lines), default=Statement(range(0), False, ()))


@dataclass(frozen=True)
class Statement:
    """A statement without its body.

    Attributes:
        lines: The numbers of its lines.
        in_function: Whether it runs when a function is called, not when the module is imported.
        words: The strings in it.
    """

    lines: range
    in_function: bool
    words: tuple[str, ...]


def _statements(node: ast.AST, *, in_function: bool) -> Iterator[Statement]:
    """Yields all statements below a node."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            lines = _head(child)
            constants = [c for c in ast.walk(child) if isinstance(c, ast.Constant)]
            texts = {c.value for c in constants if isinstance(c.value, str) and c.lineno in lines}
            words = tuple(sorted(text for text in texts if len(text) > _SHORT))
            yield Statement(lines, in_function, words)
        inner = in_function or isinstance(child, ast.FunctionDef)
        yield from _statements(child, in_function=inner)


def _head(node: ast.stmt) -> range:
    """Returns the lines of a statement, those of its body apart."""
    body = getattr(node, "body", None)
    first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
    last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
    return range(first, max(last, node.lineno) + 1)


def _union(by_line: Mapping[int, frozenset[str]], lines: Iterable[int]) -> frozenset[str]:
    """Returns the tests that run one of some lines."""
    return frozenset().union(*(by_line.get(line, frozenset()) for line in lines))


def about(file: str) -> str:
    """Returns the path of the tests that are named after a module."""
    name = f"test_{Path(file).stem}.py"
    found = next((ROOT / "tests" / "py").rglob(name), None)
    return name if found is None else found.relative_to(ROOT).as_posix()


def choose(
    tests: Sequence[str], seconds: Mapping[str, float], budget: float, first: str = ""
) -> list[str]:
    """Chooses tests to run.

    After one file that may be named comes the lit suite: it is quick and compares whole texts.
    Single ops may take half of the budget, and whole models the rest. Then come the files of which
    the largest part of the tests covers the line; each may take a third of the budget.

    Args:
        tests: The tests to choose from, the best first.
        seconds: The seconds that each test takes, of all tests.
        budget: The seconds that the chosen tests may take together. One is chosen in any case.
        first: The file that comes first.

    Returns:
        The tests in the order to run them.
    """
    files: dict[str, list[str]] = defaultdict(list)
    for test in tests:
        files[_file(test)].append(test)
    sizes = Counter(map(_file, seconds))
    shares = {_LIT: budget / 2, _MODELS: budget, first: budget}
    parts = {file: round(len(found) / sizes[file], 1) for file, found in files.items()}
    chosen: list[str] = []
    for file in sorted(files, key=lambda f: (f != first, f != _LIT, f != _MODELS, -parts[f])):
        collecting = 0.0 if file in shares else _COLLECTING
        share = min(budget, shares.get(file, budget / 3)) - collecting
        found = _within(files[file], seconds, share, at_least=not chosen)
        chosen += found
        budget -= sum(seconds[test] for test in found) + (collecting if found else 0)
    return chosen


def _file(test: str) -> str:
    """Returns the file of a test; folders of the lit suite are one, as there is no import."""
    folders = (folder for folder in (_MODELS, _LIT) if test.startswith(folder))
    return next(folders, test.partition("::")[0])


def _within(
    tests: Iterable[str], seconds: Mapping[str, float], budget: float, *, at_least: bool
) -> list[str]:
    """Returns those tests, in turn, that the budget has room for."""
    chosen: list[str] = []
    for test in tests:
        if seconds[test] <= budget or (at_least and not chosen):
            budget -= seconds[test]
            chosen.append(test)
    return chosen
