"""Writes the CHECK lines of the lit tests of whole programs, from what the passes write.

    python -m tools.check_lines                          # tests/lit/models
    python -m tools.check_lines tests/lit/models/gru.mlir

Each pair of lines ``// RUN: %scalify-opt %s ... | %filecheck %s --check-prefix=P`` asks for the
lines with the prefix P, or CHECK if it names none: all of the output, line by line. A change of
these files is read like a change of code: it shows what a change of a rule does to whole programs.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

FOLDER: Final = Path("tests/lit/models")

_OPT: Final = "%scalify-opt"
_RUN: Final = re.compile(r"^// RUN:\s*(.*?)(\\?)$")
_ALGORITHM: Final = re.compile(r", algorithm = <[^>]*>")
"""An attribute of dots that depends on the version of jax."""

_PREFIX: Final = re.compile(r"--check-prefix=([\w-]+)")


def runs(text: str) -> Iterator[tuple[str, str]]:
    """Yields the command and the prefix of each test in a file.

    Args:
        text: The text of the file.
    """
    command = ""
    for line in text.splitlines():
        found = _RUN.match(line)
        if found is None:
            continue
        command += found[1]
        if found[2]:
            continue
        prefix = _PREFIX.search(command)
        if _OPT in command:
            yield command.partition("|")[0], prefix[1] if prefix else "CHECK"
        command = ""


def output(command: str, file: Path) -> list[str]:
    """Returns the lines that the passes of a command write for a file.

    Args:
        command: A command with the substitutions of lit.
        file: The file with the command.
    """
    place = file.resolve()
    command = command.replace("%s ", f"{shlex.quote(str(place))} ").replace("%S", str(place.parent))
    opt = [sys.executable, "-m", "scalify_hlo", "opt"]
    words = [*opt, *shlex.split(command.replace(_OPT, ""))]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    lines = _ALGORITHM.sub("{{(, algorithm = <[^>]*>)?}}", done.stdout).splitlines()
    return [line.strip() for line in lines if line.strip()]


def checked(text: str, file: Path) -> str:
    """Returns the text of a file with CHECK lines that fit the output.

    Args:
        text: The text of the file.
        file: Its path.
    """
    asked = list(runs(text))
    old = re.compile(rf"^// (?:{'|'.join(prefix for _, prefix in asked)})(?:-[A-Z]+)?:")
    kept = [line for line in text.splitlines() if not old.match(line)]
    start = next(i for i, line in enumerate(kept) if line.strip() and not line.startswith("//"))
    head = "\n".join(kept[:start]).rstrip()
    lines: list[str] = []
    for command, prefix in asked:
        first, *rest = output(command, file)
        lines.append(f"// {prefix}:      {first}")
        lines += [f"// {prefix}-NEXT: {line}" for line in rest]
    return "\n".join([head, *lines, "", *kept[start:]]) + "\n"


def main(arguments: Sequence[str]) -> None:
    """Writes the files that are named, or all of `FOLDER`."""
    for file in [Path(name) for name in arguments] or sorted(FOLDER.glob("*.mlir")):
        text = file.read_text()
        new = checked(text, file)
        if new != text:
            file.write_text(new)
            print(file)


if __name__ == "__main__":
    main(sys.argv[1:])
