"""Makes a page of statistics of GPT-2's training step: every value, as exported and under `fp8`.

    python -m examples.stats_page          # writes build/demo/stats.html

The step is that of `python -m examples.demo`, and the inputs are fresh parameters and batches of
its text. The rest is one command, which is printed.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import jax
import numpy as np
from rich.console import Console

from examples import data, gpt2
from examples.demo import CONFIG, FOLDER, export_step

STEPS = 4


def write_inputs(config: gpt2.Config, folder: Path) -> Iterator[Path]:
    """Writes the arguments of each step, by position; statistics carry the state themselves.

    Args:
        config: The sizes of the model.
        folder: Where to write.

    Yields:
        The files, one for each step.
    """
    state = gpt2.state(config, gpt2.ADAMW)
    for number, tokens in enumerate(data.batches(config.batch, config.sequence, STEPS)):
        leaves = jax.tree.leaves((*state, tokens))
        path = folder / f"inputs_{number}.npz"
        np.savez(path, *map(np.asarray, leaves))
        yield path


def command(config: gpt2.Config, folder: Path) -> list[str]:
    """Writes a step and its inputs, and returns the command that makes the page of them."""
    program = folder / "step.mlir"
    export_step(config, program)
    inputs = [f"--inputs={path}" for path in write_inputs(config, folder)]
    options = ["--recipe", "fp8", "--steps", str(STEPS), "--carry", "state"]
    return ["stats", str(program), *inputs, *options, "-o", str(folder / "stats.html")]


def main() -> int:
    """Makes the page; returns the exit code of the command."""
    arguments = command(CONFIG, FOLDER)
    Console().print("$", "scalify-hlo", *arguments, style="bold", highlight=False, soft_wrap=True)
    return subprocess.run([sys.executable, "-m", "scalify_hlo", *arguments], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
