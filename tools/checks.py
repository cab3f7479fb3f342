"""Writes the checks of tests/lit/models: the texts that whole programs are rewritten to.

    python -m tools.checks                        # all files
    python -m tools.checks tests/lit/models/x.mlir

The `RUN:` lines of a file have a command for each prefix, and the program follows the checks. Read
the difference that this makes to a file: it is what a change of the rewriter does to a program. Run
it with jax 0.10, whose programs have attributes that those of later versions lack.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tools.mutation.lit_items import output_of, run_lines

ROOT = Path(__file__).resolve().parents[1]
MODELS = ROOT / "tests" / "lit" / "models"
_PREFIX = re.compile(r"--check-prefix[= ](\w+)")
# Matmuls have an algorithm with jax 0.10 and none after it, see `scalify_hlo._compat`.
_ALGORITHM = re.compile(r", algorithm = <[^>]*>")
_SPECIAL = re.compile(r"\[\[|\{\{|\\")


def main(paths: list[str]) -> None:
    """Writes the checks of some files, or of all.

    Args:
        paths: The files; all of the folder if there are none.
    """
    for path in map(Path, paths or sorted(map(str, MODELS.glob("*.mlir")))):
        path.write_text(with_checks(path), encoding="utf-8")


def with_checks(path: Path) -> str:
    """Returns the text of a lit file with the checks that hold now."""
    lines = path.read_text(encoding="utf-8").splitlines()
    runs = [line for line in lines if line.startswith("// RUN:")]
    prefixes = {_prefix(line) for line in run_lines(path)}
    checked = re.compile(rf"// ({'|'.join(prefixes)})[-A-Z]*:")
    rest = [line for line in lines if line not in runs and not checked.match(line)]
    start = next(i for i, line in enumerate(rest) if line.startswith(("module", "func.func")))
    checks = [check for line in run_lines(path) for check in _checks(line, path)]
    head = [line for line in rest[:start] if line]
    return "\n".join([*runs, "", *head, *checks, "", *rest[start:]]) + "\n"


def _checks(line: str, path: Path) -> Iterator[str]:
    """Yields a check for each line that a command prints."""
    text = output_of(line.partition(" | ")[0], path).splitlines()
    for number, printed in enumerate(filter(str.strip, text)):
        kind = "-NEXT:" if number else ":     "
        yield f"// {_prefix(line)}{kind} {_escaped(printed.strip())}"


def _prefix(line: str) -> str:
    """Returns the prefix of the checks of a command."""
    found = _PREFIX.search(line)
    return found.group(1) if found else "CHECK"


def _escaped(text: str) -> str:
    """Returns a text as FileCheck finds it letter by letter."""
    escaped = _SPECIAL.sub(lambda match: f"{{{{{re.escape(match.group())}}}}}", text)
    return _ALGORITHM.sub(f"{{{{({_ALGORITHM.pattern})?}}}}", escaped)


if __name__ == "__main__":
    main(sys.argv[1:])
