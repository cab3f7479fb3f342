"""Blocks of Markdown pages, and pages whose blocks run.

    python -m tools.pages    # run the pages, and write the printed output into them

The ``python`` blocks of a page run in order, in one namespace and in an empty folder. A ``python``
block with a ``title`` is a file of that name instead. In ``sh`` blocks, lines that begin with
``scalify-hlo`` or ``python`` run. A ``text`` block right after a block that runs is its output.

The first block of a page, its box, runs as it stands in a checkout: the folder has ``examples``.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
EXAMPLES = "examples"

PAGES = (
    "README.md",
    "docs/index.md",
    "docs/tutorial.md",
    "docs/ecosystems.md",
    "docs/concepts.md",
    "docs/deployment.md",
    "docs/cookbook.md",
    "docs/reports.md",
    "docs/stats.md",
    "docs/nan.md",
    "docs/compare.md",
    "docs/targets.md",
    "docs/troubleshooting.md",
    "docs/loss_differs.md",
    "docs/markers.md",
    "docs/unit_scaling.md",
    "docs/algorithms.md",
    "docs/experiments.md",
    "docs/profiles.md",
)
"""The paths of the pages that run, in the order in which a user reads them."""

WRITTEN_WITH = "0.10."
"""The version of jax with which the output of pages is written."""

WIDTH = "400"
"""The width of the tables of pages and of tests, in which no name is cut."""

_BOX = re.compile(
    r"# .*\n\n(?:(?!#|\||```|Do this).+\n)*\n?Do this\b.*:\n\n```(?:sh|python)\n(?:.*\n){1,6}?```\n"
)
_FENCE = re.compile(r"^```([a-z]+)(?: title=\"([^\"\n]+)\")?\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_ABSENT = "raise ImportError('scalify_hlo is not on this host')\n"
_OUTPUT = "```\n\n```text\n"
"""The end of a block whose output follows."""


def blocks(page: str, language: str) -> list[str]:
    """Returns the fenced blocks of a page in a language, except files."""
    return [block.text for block in parse(page) if block.language == language and not block.title]


def box(page: str) -> str:
    """Returns a page up to the end of its box: a paragraph at most, "Do this:", and five lines."""
    found = _BOX.match(page)
    return found[0] if found else ""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        language: The language, such as ``python``.
        title: The name of the file that the block is; empty if it is none.
        text: The content.
        start: The offset of the content in the page.
        end: The offset after the content.
    """

    language: str
    title: str
    text: str
    start: int
    end: int


def parse(page: str) -> list[Block]:
    """Returns the fenced blocks of a page in order."""
    return [
        Block(match[1], match[2] or "", match[3], match.start(3), match.end(3))
        for match in _FENCE.finditer(page)
    ]


def run(page: str, name: str, folder: Path, names: dict[str, Any] | None = None) -> str:
    """Runs a page.

    Args:
        page: The text of the page.
        name: The name of the page in tracebacks.
        folder: The folder in which the blocks run.
        names: The namespace of the first ``python`` block.

    Returns:
        The page with the output that was printed in its ``text`` blocks.

    Raises:
        RuntimeError: A command failed, and the page does not show its output.
    """
    namespace = {} if names is None else names
    os.environ["COLUMNS"] = WIDTH
    if not (folder / EXAMPLES).exists():
        (folder / EXAMPLES).symlink_to(ROOT / EXAMPLES)
    parts, written, printed = list[str](), 0, None
    for block in parse(page):
        if printed is not None:
            parts += [page[written : block.start], printed]
            written, printed = block.end, None
        elif block.language in ("python", "sh"):
            line = page.count("\n", 0, block.start)
            output, failed = _run(block, "\n" * line, name, folder, namespace)
            shown = page.startswith(_OUTPUT, block.end)
            if failed and not shown:
                raise RuntimeError(f"{name}:{line}: {output}")
            printed = output if shown else None
    return "".join((*parts, page[written:]))


def _run(
    block: Block, padding: str, name: str, folder: Path, names: dict[str, Any]
) -> tuple[str, bool]:
    """Runs a block, and returns its output, and whether a command in it failed."""
    if block.title:
        (folder / block.title).write_text(block.text)
        return "", False
    with contextlib.chdir(folder), warnings.catch_warnings():
        if block.language == "sh":
            results = list(_commands(block.text))
            return "".join(output for output, _ in results), any(code for _, code in results)
        from scalify_hlo import ScalifyWarning

        warnings.simplefilter("error", ScalifyWarning)
        code = compile(padding + block.text, name, "exec")
        with contextlib.redirect_stdout(io.StringIO()) as output:
            exec(code, names)
        return output.getvalue(), False


def _commands(text: str) -> Iterator[tuple[str, int]]:
    """Runs the commands of a shell block, and yields the output and exit status of each."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        program = _PROGRAMS.get(words[0]) if words else None
        if program is not None:
            yield program(words[1:])


def _scalify_hlo(words: list[str]) -> tuple[str, int]:
    """Runs the command line in this process, which saves an import of jax for each command."""
    from click.testing import CliRunner

    from scalify_hlo.cli.main import main

    result = CliRunner().invoke(main, words)
    return result.output, result.exit_code


def _python(words: list[str]) -> tuple[str, int]:
    """Runs a script as on a host where scalify_hlo is not installed."""
    with tempfile.TemporaryDirectory() as absent:
        (Path(absent) / "scalify_hlo.py").write_text(_ABSENT)
        done = subprocess.run(
            [sys.executable, *words],
            env={**os.environ, "PYTHONPATH": absent},
            capture_output=True,
            text=True,
            check=False,
        )
    return done.stdout + done.stderr * bool(done.returncode), done.returncode


_PROGRAMS: dict[str, Callable[[list[str]], tuple[str, int]]] = {
    "scalify-hlo": _scalify_hlo,
    "python": _python,
}


def _main() -> None:
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    for name in PAGES:
        path = ROOT / name
        with tempfile.TemporaryDirectory() as folder:
            path.write_text(run(path.read_text(), path.name, Path(folder)))


if __name__ == "__main__":
    _main()
