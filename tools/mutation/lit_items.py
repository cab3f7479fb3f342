"""A pytest plugin that runs files of the lit suite in the process of pytest, one item each.

The suite itself starts two processes for each file. In one process, coverage sees what a file
runs, and a file takes milliseconds. Redirections and commands other than those of the suite are
refused, so that no file passes without its check.
"""

from __future__ import annotations

import io
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from filecheck.finput import FInput
from filecheck.matcher import Matcher
from filecheck.options import parse_argv_options
from filecheck.parser import Parser

_RUN = "RUN:"


class LitFile(pytest.File):
    """A `.mlir` file."""

    def collect(self) -> Iterator[LitItem]:
        """Yields one item for all `RUN:` lines of the file."""
        yield LitItem.from_parent(self, name=self.path.stem)


class LitItem(pytest.Item):
    """The `RUN:` lines of a file."""

    def runtest(self) -> None:
        """Runs each command, and FileCheck on its output."""
        for line in run_lines(self.path):
            run_line(line, self.path)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any) -> str:
        """Returns the message of a failed check."""
        return excinfo.exconly()


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> LitFile | None:
    """Collects `.mlir` files."""
    if file_path.suffix != ".mlir":
        return None
    file: LitFile = LitFile.from_parent(parent, path=file_path)
    return file


def run_lines(path: Path) -> list[str]:
    """Returns the commands of a lit file, continued lines joined."""
    lines = path.read_text(encoding="utf-8").splitlines()
    runs = [line.split(_RUN, 1)[1].strip() for line in lines if _RUN in line]
    return "\n".join(runs).replace("\\\n", " ").splitlines()


def run_line(line: str, path: Path) -> None:
    """Runs one command of a lit file.

    Args:
        line: The text after `RUN:`.
        path: The lit file.

    Raises:
        pytest.fail.Exception: A command ended with another status, or a check failed.
        ValueError: The command is none that this plugin can run.
    """
    command, _, check = line.partition(" | ")
    output = output_of(command, path)
    if check:
        _check(shlex.split(_replaced(check, path)), output)


def output_of(command: str, path: Path) -> str:
    """Runs a command of the package as a lit file has it.

    Args:
        command: The command.
        path: The lit file.

    Returns:
        What it prints to standard output, and with ``2>&1`` to standard error.

    Raises:
        pytest.fail.Exception: The command ended with another status than it should.
        ValueError: The command is none that this plugin can run.
    """
    arguments = shlex.split(_replaced(command, path))
    fails = arguments[0] == "not"
    both = arguments[-1] == "2>&1"
    status, output, errors = _invoke(arguments[fails : len(arguments) - both])
    if (status != 0) != fails:
        pytest.fail(f"{command} ended with {status}:\n{errors}")
    return output + errors if both else output


def _replaced(text: str, path: Path) -> str:
    """Returns a command with the names of the lit file and its folder."""
    return re.sub(r"%s\b", str(path), text.replace("%S", str(path.parent)))


def _invoke(arguments: list[str]) -> tuple[int, str, str]:
    """Returns the exit status, standard output and standard error of a command of the package."""
    from scalify_hlo.cli.main import main

    prefixes = {"%scalify-opt": ["opt"], "%scalify-hlo": []}
    if arguments[0] not in prefixes or {"|", ">", "<"} & set(arguments):
        raise ValueError(f"this plugin cannot run {shlex.join(arguments)}")
    result = CliRunner().invoke(main, [*prefixes[arguments[0]], *arguments[1:]])
    return result.exit_code, result.stdout, result.stderr


def _check(arguments: list[str], text: str) -> None:
    """Runs FileCheck on a text."""
    if arguments[0] != "%filecheck":
        raise ValueError(f"this plugin cannot run {shlex.join(arguments)}")
    options = parse_argv_options(["filecheck", *arguments[1:]])
    matcher = Matcher(options, FInput("-", text), Parser.from_opts(options))
    matcher.stderr = io.StringIO()
    if matcher.run():
        pytest.fail(matcher.stderr.getvalue())
