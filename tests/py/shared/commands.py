"""A small program with inputs and a rewrite, and calls of all commands on it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import jax
import jax.numpy as jnp
import numpy as np
from click.testing import CliRunner, Result

from scalify_hlo.cli.main import main
from tests.py.shared.judge import program_of

PROGRAM: Final = "step.export"
REWRITTEN: Final = "fp8.export"
SCALED: Final = "scaled.export"
INPUTS: Final = ("--inputs", "x.npz")
FP8: Final = ("--recipe", "fp8-current")
RUNS: Final[dict[str, tuple[str, ...]]] = {
    "rewrite": (PROGRAM, *FP8),
    "state": (SCALED, "x.npz"),
    "check": (PROGRAM, REWRITTEN),
    "calibrate": (PROGRAM, *INPUTS),
    "stats": (PROGRAM, *INPUTS),
    "bisect-nan": (PROGRAM, *INPUTS),
    "compare": (PROGRAM, *INPUTS, "--recipes", "fp8-current"),
    "blame": (PROGRAM, *INPUTS, *FP8),
    "search": (PROGRAM, *INPUTS, *FP8, "--budget", "wide<=1"),
    "compile": (PROGRAM, "--target", "cpu"),
    "explain": (PROGRAM, "--target", "cpu", *FP8),
    "inspect": (PROGRAM,),
}
"""The arguments of each command that rewrites or runs a program, without an output."""


OUTPUTS: Final = {
    "rewrite": ("-o", "out.export"),
    "opt": ("-o", "out.mlir"),
    "state": ("-o", "out.npz"),
    "calibrate": ("-o", "out.json"),
    "stats": ("-o", "out.html"),
    "compare": ("-o", "out.txt"),
    "blame": ("-o", "out.toml"),
    "search": ("-o", "out.toml"),
    "rewrite --report": ("-o", "/dev/null", "--report", "out.json"),
}
"""The commands that write files, with options for an output."""


def writing(case: str) -> tuple[str, ...]:
    """Returns the arguments of a command that writes a file, whose name is the last."""
    name = case.partition(" ")[0]
    run = RUNS.get(name, (PROGRAM, "--pass-pipeline=scalify-normalize"))
    return (name, *run, *OUTPUTS[case])


def step(x: Any, w: Any) -> Any:
    with jax.named_scope("head"):
        return jnp.tanh(x @ w)


def write(folder: Path) -> None:
    """Writes the program, its inputs, and rewrites of it with both signatures."""
    x = np.random.default_rng(0).standard_normal((32, 32), np.float32)
    (folder / PROGRAM).write_bytes(program_of(step, x, x).serialize())
    np.savez(folder / "x.npz", x=x, w=x)
    for name, signature in ((REWRITTEN, "same"), (SCALED, "scaled")):
        options = ("-o", folder / name, "--signature", signature)
        call("rewrite", folder / PROGRAM, *options, *FP8, code=0)


def call(*arguments: object, text: bytes | str | None = None, code: int | None = None) -> Result:
    """Calls a command.

    Args:
        arguments: Its name, and the arguments.
        text: Standard input.
        code: What it should exit with, if anything else is a failure.
    """
    done = CliRunner().invoke(main, [*map(str, arguments)], input=text)
    assert code in (None, done.exit_code), done.output
    return done


def python(*arguments: object, code: int = 0, **how: Any) -> subprocess.CompletedProcess[str]:
    """Runs Python in a process of its own, which should exit with a code."""
    line = [sys.executable, *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, check=False, **how)
    assert done.returncode == code, done.stderr
    return done
