"""The driver of mutation testing: planted mutants are told apart by the end of their tests."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from tests.py.shared.commands import python
from tools.mutation.covering import choose
from tools.mutation.lit_items import run_lines
from tools.mutation.mutant import ROOT, function_at

SCALE = "scalify_hlo/algebra/scale.py"
ADD = "tests/lit/rules/elementwise/add.mlir::add"
GROUP = "tests/py/algebra/test_scale.py::TestGroup::test_commutes"

PLANTED = {
    "unchanged": ("", "", 30),
    "wrong": ("exponent + ", "exponent - ", 30),
    "import": ("from dataclasses import", "from dataclass import", 30),
    "abort": ("from __future__ import annotations", "import os\nos.abort()", 30),
    "endless": ("from __future__ import annotations", "while True: pass", 1),
}
"""A part of the text of `scale.py`, its replacement, and the time of the tests in seconds."""

CODE = f"""
import json, sys
from tools.mutation import worker
worker.warm()
ends = {{}}
for name, (text, seconds) in json.load(sys.stdin).items():
    end = worker.run("scalify_hlo.algebra.scale", text, {[ADD, GROUP]!r}, seconds)
    ends[name] = [end.verdict, list(end.failed), list(end.passed)]
print(json.dumps(ends))
"""


@pytest.mark.slow
def test_planted_mutants() -> None:
    original = (ROOT / SCALE).read_text()
    assert all(old in original for old, _, _ in PLANTED.values())
    texts = {
        name: (original.replace(old, new), seconds) for name, (old, new, seconds) in PLANTED.items()
    }
    done = python("-c", CODE, input=json.dumps(texts), cwd=ROOT)
    assert json.loads(done.stdout) == {
        "unchanged": ["survived", [], [ADD, GROUP]],
        "wrong": ["failed", [GROUP], [ADD]],
        "import": ["crashed", [], []],
        "abort": ["crashed", [], []],
        "endless": ["timeout", [], []],
    }
    assert (ROOT / SCALE).read_text() == original


class TestChoice:
    seconds = {  # noqa: RUF012
        "tests/lit/a.mlir::a": 0.5,
        "tests/lit/b.mlir::b": 0.6,
        "tests/py/test_about.py::test_1": 0.1,
        "tests/py/test_about.py::test_2": 0.9,
        "tests/py/test_other.py::test_1": 0.1,
        "tests/py/test_other.py::test_2": 0.1,
        "tests/py/test_other.py::test_3": 0.1,
    }
    covering = (*list(seconds)[:5],)

    def test_lit_comes_first(self) -> None:
        assert choose(self.covering, self.seconds, 1.0) == ["tests/lit/a.mlir::a"]

    def test_then_the_files_that_are_about_the_line(self) -> None:
        assert choose(self.covering, self.seconds, 100.0) == list(self.covering)

    def test_one_at_least(self) -> None:
        assert choose(self.covering[3:], self.seconds, 0.0) == [self.covering[3]]


def test_function_at() -> None:
    code = "x = 1\nclass A:\n    y = 2\n    @f\n    def g(self):\n        return 3\n"
    names = [function_at(code, line) for line in range(1, 7)]
    assert names == ["", "A", "A", "A.g", "A.g", "A.g"]


def test_lines_of_lit_files_are_joined(tmp_path: Path) -> None:
    file = tmp_path / "a.mlir"
    file.write_text("// RUN: one \\\n// RUN:   | two\n// CHECK: x\n// RUN: three\n")
    assert run_lines(file) == ["one  | two", "three"]


def named() -> list[dict[str, str]]:
    table = tomllib.loads((ROOT / "tests" / "mutation" / "equivalent.toml").read_text())
    found: list[dict[str, str]] = table["equivalent"]
    return found


def test_equivalent_mutants_have_reasons() -> None:
    for mutant in named():
        assert set(mutant) == {"file", "function", "original", "mutated", "reason"}
        assert mutant["reason"].endswith(".")
        assert mutant["original"] != mutant["mutated"]


def test_equivalent_mutants_are_of_lines_that_there_are() -> None:
    for mutant in named():
        lines = [line.strip() for line in (ROOT / mutant["file"]).read_text().splitlines()]
        assert set(mutant["original"].splitlines()) <= set(lines), mutant
