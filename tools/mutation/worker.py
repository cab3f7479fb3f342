"""Runs tests on a changed module in a child of a process that has imported what does not change.

A child is forked before any part of the package and any backend of XLA is imported, so it starts
in milliseconds, reads the changed text instead of the file of the module, and no file is edited.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import json
import math
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any, BinaryIO

import pytest
from _pytest.config import default_plugins

from tools.mutation.mutant import ROOT

PACKAGE = "scalify_hlo"

# Imported before the first fork: these take ten times as long as the package.
_WARM = (
    "numpy",
    "jax",
    "jax.numpy",
    "jax.export",
    "jaxlib.mlir.dialects.stablehlo",
    "jaxlib.mlir.dialects.chlo",
    "jaxlib.mlir.passmanager",
    "ml_dtypes",
    "hypothesis",
    "click.testing",
    "rich.table",
    "flatbuffers",
    "flax.linen",
    "optax",
    "_hypothesis_pytestplugin",
    "tools.mutation.lit_items",
)
# For seconds of CPU time; a child that waits forever is ended after as many times this.
_PATIENCE = 10
# Bytes of address space: a mutant that allocates without end fails by itself.
_MEMORY = 16 << 30
_PLUGINS = ("-ptools.mutation.lit_items", "-p_hypothesis_pytestplugin", "-pno:cacheprovider")
# Characters of the output that are kept.
_SHOWN = 4000
_OPTIONS = ("-q", "--no-header", "--tb=line", "-W", "ignore::pytest.PytestAssertRewriteWarning")


@dataclass(frozen=True)
class Outcome:
    """The end of the tests of a mutant.

    Attributes:
        verdict: "survived", "failed" (a test), "crashed" (on import, or the process) or "timeout".
        failed: The tests that failed.
        passed: The tests that passed.
        output: The end of pytest's output.
    """

    verdict: str
    failed: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    output: str = field(default="", repr=False)


class MutatedLoader(SourceFileLoader):
    """Loads a module from a text instead of its file."""

    def __init__(self, fullname: str, path: str, text: str) -> None:
        super().__init__(fullname, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        """Compiles the text; bytecode that is cached for the file is not read."""
        del fullname
        code: CodeType = compile(self._text, self.path, "exec", dont_inherit=True)
        return code


class MutatedFinder(MetaPathFinder):
    """Finds one module elsewhere than in its file.

    Attributes:
        module: The dotted name of the module.
        text: The text to load for it.
    """

    def __init__(self, module: str, text: str) -> None:
        self.module = module
        self.text = text

    def find_spec(
        self, fullname: str, path: Any, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See `MetaPathFinder`."""
        del path, target
        if fullname != self.module:
            return None
        file = str(ROOT / f"{fullname.replace('.', '/')}.py")
        loader = MutatedLoader(fullname, file, self.text)
        return importlib.util.spec_from_file_location(fullname, file, loader=loader)


class Chosen:
    """A pytest plugin that keeps the chosen tests, in their order, and notes the end of each."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._order = {test: place for place, test in enumerate(tests)}
        self.failed: list[str] = []
        self.passed: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Drops and sorts tests."""
        kept = [item for item in items if item.nodeid in self._order]
        items[:] = sorted(kept, key=lambda item: self._order[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes a test."""
        if report.failed:
            self.failed.append(report.nodeid)
        elif report.when == "call" and report.passed:
            self.passed.append(report.nodeid)


def warm() -> None:
    """Imports what the children share, and makes draws of hypothesis repeatable.

    Raises:
        RuntimeError: The package is imported already, so that children would not see a change.
    """
    os.environ |= {"CI": "1", "JAX_PLATFORMS": "cpu", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    sys.dont_write_bytecode = False
    for name in (*_WARM, *(f"_pytest.{name}" for name in default_plugins)):
        importlib.import_module(name)
    if PACKAGE in sys.modules:
        raise RuntimeError(f"{PACKAGE} must not be imported in the parent of the mutants")
    gc.freeze()


def run(
    module: str, text: str, tests: Sequence[str], seconds: float, *, to_the_end: bool = False
) -> Outcome:
    """Runs tests with one module changed.

    Args:
        module: The dotted name of the module.
        text: What to load instead of its file.
        tests: The tests, in the order to run them.
        seconds: CPU time after which the child is ended.
        to_the_end: Whether the tests after the first that fails are run.

    Returns:
        The outcome. If pytest ends in another way than by success or failure of tests, as it does
        if a module of tests cannot be imported, the mutant has crashed.
    """
    told, log = os.memfd_create("told"), os.memfd_create("log")
    child = os.fork()
    if child == 0:
        code = 70
        try:
            _confine(seconds, log)
            sys.meta_path.insert(0, MutatedFinder(module, text))
            code = _pytest(tests, told, to_the_end)
        finally:
            os._exit(code)
    status = _wait(child, seconds * _PATIENCE)
    with os.fdopen(told, "rb") as parts, os.fdopen(log, "rb") as output:
        return _outcome(status, _content(parts), _content(output))


def _content(file: BinaryIO) -> str:
    """Returns all of a file that a child has written."""
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _confine(seconds: float, log: int) -> None:
    """Bounds time and memory of this child, and writes its output to a file."""
    os.setsid()
    limit = math.ceil(seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    for stream in (1, 2):
        os.dup2(log, stream)


def _pytest(tests: Sequence[str], told: int, to_the_end: bool) -> int:
    """Runs pytest on the files of tests, and writes which failed and passed."""
    chosen = Chosen(tests)
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    options = [*_PLUGINS, *_OPTIONS, *([] if to_the_end else ["-x"]), f"--rootdir={ROOT}"]
    code = pytest.main([*options, *files], plugins=[chosen])
    sys.stdout.flush()
    os.write(told, json.dumps({"failed": chosen.failed, "passed": chosen.passed}).encode())
    return int(code)


def _wait(child: int, seconds: float) -> int:
    """Waits for a child, and ends it and the processes that it started."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            _end(child)
            return status
        time.sleep(0.02)
    _end(child)
    return signal.SIGXCPU if os.waitpid(child, 0)[0] else 0


def _end(group: int) -> None:
    """Ends what is left of a process group."""
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return


def _outcome(status: int, told: str, output: str) -> Outcome:
    """Returns the outcome of a child."""
    code = os.waitstatus_to_exitcode(status)
    output = output[-_SHOWN:]
    if code in (-signal.SIGXCPU, -signal.SIGKILL):
        return Outcome("timeout", output=output)
    if not told:
        return Outcome("crashed", output=f"{output}\nexit status {code}")
    verdict = {0: "survived", 1: "failed"}.get(code, "crashed")
    parts = json.loads(told)
    return Outcome(verdict, tuple(parts["failed"]), tuple(parts["passed"]), output)
