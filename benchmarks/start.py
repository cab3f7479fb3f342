"""Processor time of the first commands of a process, over that of imports."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import jax

from benchmarks.common import Row, arguments, children, interleaved, ratio, report

FOLDER = Path("build/bench")
BOUNDS = {
    "--help": ("import click", 2.0),
    "rewrite of a .mlir": ("import jax", 0.8),
    "rewrite of an .export": ("import jax", 1.5),
}


def commands() -> dict[str, list[str]]:
    """The arguments of Python for each process; the program of the .export file is one matmul."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    square = jax.ShapeDtypeStruct((32, 32), "float32")
    exported = jax.export.export(jax.jit(lambda x, w: x @ w))(square, square)
    given, made = FOLDER / "matmul.export", FOLDER / "out"
    given.write_bytes(exported.serialize())
    package = ["-m", "scalify_hlo"]
    return {
        "import click": ["-c", "import click"],
        "import jax": ["-c", "import jax"],
        "--help": [*package, "--help"],
        "rewrite of a .mlir": [*package, "rewrite", "examples/layer.mlir", "-o", f"{made}.mlir"],
        "rewrite of an .export": [*package, "rewrite", str(given), "-o", f"{made}.export"],
    }


def start(arguments: list[str]) -> None:
    """Runs Python, which reads compiled modules as those of an installed package."""
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, *arguments], env=env, check=True, capture_output=True)


def main() -> int:
    """Starts the processes turn by turn; those of the first round, which compile, do not count."""
    options = arguments(__doc__ or "", rounds=9)
    processes = {name: partial(start, given) for name, given in commands().items()}
    interleaved(processes, 1)
    seconds = interleaved(processes, options.rounds, children)
    rows = [
        Row(f"{name}, over {base}", ratio(seconds, name, base), bound)
        for name, (base, bound) in BOUNDS.items()
    ]
    title = f"Processor time of a process, medians of {options.rounds} interleaved runs"
    return report(title, rows)


if __name__ == "__main__":
    sys.exit(main())
