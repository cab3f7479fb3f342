"""Time and memory of a training step with statistics of all its values, over those without.

    python -m benchmarks.stats_cost                            # GPT-2 small, one sequence of 512
    python -m benchmarks.stats_cost --layers 4 --width 256 --sequence 128

The step and the same step with statistics run in turn on XLA CPU, in one process. Then the command
`stats` runs on the step, with inputs that it makes up. Times are processor times, as other work on
the machine changes the others; memory is that of arguments, results and temporaries. Exit code 1
if a bound is missed.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import jax
import numpy as np

from benchmarks.common import Row, arguments, report
from examples import gpt2
from scalify_hlo._compat import CpuProgram, compile_on_cpu
from scalify_hlo.commands.stats.prepare import Programs, Selection
from scalify_hlo.commands.stats.readout import Readout
from scalify_hlo.commands.stats.run import effects_of
from scalify_hlo.program.program import read_text

RUNNING, MEMORY = 6.0, 2.0
"""The most that statistics may cost, as ratios."""

COMPILATIONS, SECONDS = 3.0, 5.0
"""The most that the command may take: so many compilations of the step, and so many seconds."""


def processor(function: Callable[[], object]) -> float:
    """Processor time of a call in seconds, of all threads."""
    start = time.process_time()
    function()
    return time.process_time() - start


def command(text: str) -> float:
    """Processor time of the command on a program in seconds, of all its processes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "step.mlir")
        path.write_text(text, encoding="utf-8")
        run = [sys.executable, "-m", "scalify_hlo", "stats", str(path), "-o", f"{path}.json"]
        before = os.times()
        subprocess.run([*run, "--quiet"], check=True)
        after = os.times()
    return sum(after[2:4]) - sum(before[2:4])


def small_step(doc: str) -> tuple[gpt2.Config, str, list[np.ndarray], int]:
    """Returns a training step of GPT-2 small, or of the sizes that the command line gives.

    Args:
        doc: The help text of the command.

    Returns:
        The sizes of the model, the text of the step, its arguments, and the number of rounds.
    """
    config = gpt2.Config()
    names = [f.name for f in fields(config) if f.name != "tied"]
    defaults: dict[str, int] = {name: getattr(config, name) for name in names}
    options = vars(arguments(doc, **{**defaults, "batch": 1, "sequence": 512, "rounds": 2}))
    rounds = options.pop("rounds")
    config = gpt2.Config(**options)
    abstract = gpt2.abstract_state(config, gpt2.ADAMW)
    text = str(jax.export.export(jax.jit(gpt2.adamw_step))(*abstract).mlir_module())
    rng = np.random.default_rng(0)
    return config, text, [draw(leaf, rng, config) for leaf in jax.tree.leaves(abstract)], rounds


def main() -> int:
    """Prints the costs."""
    config, text, values, rounds = small_step(__doc__ or "")
    prepared = Programs(read_text(text).module, "step", Selection()).original
    counted = prepared.module.operation.get_asm()
    compiled: dict[str, CpuProgram] = {}
    seconds: dict[str, list[float]] = {"step": [], "stats": []}
    compiling: dict[str, float] = {}
    for name, program in (("step", text), ("stats", counted)):
        start = time.process_time()
        compiled[name] = compile_on_cpu(program)
        compiling[name] = time.process_time() - start
    readout = Readout(prepared.instrumented, scaled=False)
    for turn in range(rounds + 1):
        for name, run in compiled.items():
            start = time.process_time()
            results = run(values)
            if turn:
                seconds[name].append(time.process_time() - start)
    host = processor(lambda: readout.add([np.asarray(result) for result in results]))
    casts = processor(lambda: effects_of(prepared, readout))
    running = min(seconds["stats"]) + host + casts
    return report(
        f"Statistics of GPT-2 ({config.layers} layers, width {config.width}, "
        f"{config.batch} x {config.sequence} tokens)",
        [
            Row("values", len(prepared.instrumented.values), form=".0f"),
            Row("matmul operands", len(prepared.operands), form=".0f"),
            Row("step, s", min(seconds["step"])),
            Row("with statistics, s", min(seconds["stats"])),
            Row("reading of the results, s", host),
            Row("casts to formats, s", casts),
            Row("running, over that of the step", running / min(seconds["step"]), RUNNING),
            Row("memory", compiled["stats"].memory / compiled["step"].memory, MEMORY),
            Row("compilation, s", compiling["step"]),
            Row("compilation with statistics, s", compiling["stats"]),
            Row("compilation, over that of the step", compiling["stats"] / compiling["step"]),
            Row("the command, s", command(text), COMPILATIONS * compiling["step"] + SECONDS),
        ],
    )


def draw(leaf: jax.ShapeDtypeStruct, rng: np.random.Generator, config: gpt2.Config) -> np.ndarray:
    """Values like those of a step: small floats, and integers that are tokens."""
    if np.issubdtype(leaf.dtype, np.integer):
        return rng.integers(0, config.vocab, leaf.shape).astype(leaf.dtype)
    return (rng.standard_normal(leaf.shape, np.float32) * 0.02).astype(leaf.dtype) ** 2


if __name__ == "__main__":
    sys.exit(main())
