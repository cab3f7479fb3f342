"""Trains GPT-2 as exported and as rewritten, side by side: what `make demo` runs.

The step (forward, backward, AdamW) is exported by `jax.export` to a file, the command line rewrites
the file in two ways, and XLA compiles all three from the disk. Nothing else passes between them.
"""

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import jax
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import scalify_hlo
from examples import data, gpt2
from examples.side_by_side import Contender, train
from examples.xla import Executable

CONFIG = gpt2.Config(layers=4, width=256, heads=4, sequence=128, vocab=data.VOCAB, batch=8)
FOLDER = Path("build/demo")
STEPS = 20
BOUND = 1e-5
"""The largest relative difference of a loss from that of the original."""

EXACT = ("--recipe", "propagate")
SCALED = (*EXACT, "--signature", "scaled")
SAME = (*EXACT, "--signature", "same", "--input-scale", "*=2^-4")


def export_step(config: gpt2.Config, path: Path) -> None:
    """Writes the AdamW training step of a model as StableHLO text."""
    step = jax.jit(gpt2.adamw_step)
    exported = jax.export.export(step)(*gpt2.abstract_state(config, gpt2.ADAMW))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(exported.mlir_module())


def rewrite(source: Path, target: Path, options: Sequence[str], console: Console) -> float:
    """Runs the command line on a file and returns its wall time in seconds."""
    arguments = ["rewrite", str(source), "-o", str(target), *options]
    shown = [f"'{argument}'" if "*" in argument else argument for argument in arguments]
    console.print("$", "scalify-hlo", *shown, style="bold", highlight=False, soft_wrap=True)
    start = time.perf_counter()
    command = [sys.executable, "-m", "scalify_hlo", *arguments]
    if code := subprocess.run(command, check=False).returncode:
        sys.exit(code)  # the command has said why
    return time.perf_counter() - start


def contenders(config: gpt2.Config, folder: Path, console: Console) -> list[Contender]:
    """Exports, rewrites and compiles: the original first, then `same`, then `scaled`."""
    source, same, scaled = (folder / f"{name}.mlir" for name in ("step", "same", "scaled"))
    export_step(config, source)
    seconds = {
        same: rewrite(source, same, SAME, console),
        scaled: rewrite(source, scaled, SCALED, console),
    }
    Executable(source.read_text())  # the first compilation in a process pays for XLA's own start
    state = gpt2.state(config, gpt2.ADAMW)
    return [
        Contender("original", source, state),
        Contender("same", same, state, rewrite_seconds=seconds[same]),
        Contender(
            "scaled", scaled, state, scalify_hlo.as_scaled_array, rewrite_seconds=seconds[scaled]
        ),
    ]


def with_progress(steps: Iterable[int], total: int, console: Console) -> None:
    """Runs the training loop, behind a bar if somebody is watching."""
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("training", total=total)
        for step in steps:
            progress.update(task, completed=step)


def losses_table(entries: Sequence[Contender]) -> Table:
    """Loss of each step, one column for each version."""
    table = Table("step", title="Losses", title_justify="left")
    for entry in entries:
        table.add_column(entry.name, justify="right")
    for step, losses in enumerate(zip(*(entry.losses for entry in entries), strict=True), 1):
        table.add_row(str(step), *(f"{loss:.7f}" for loss in losses))
    return table


def summary_table(entries: Sequence[Contender]) -> Table:
    """Returns the cost and the effects of rewriting, with one column for each version."""
    original = entries[0]
    table = Table("", title="Summary", title_justify="left")
    for entry in entries:
        table.add_column(entry.name, justify="right")
    rows: dict[str, Callable[[Contender], str]] = {
        "largest relative difference of a loss": lambda e: f"{e.difference(original):.1e}",
        "StableHLO ops": lambda e: f"{e.ops:,}",
        "optimized HLO instructions": lambda e: f"{e.executable.instructions:,}",
        "rewrite, the whole command (s)": lambda e: f"{e.rewrite_seconds:.2f}",
        "compile with XLA (s)": lambda e: f"{e.executable.compile_seconds:.2f}",
        "median step time (s)": lambda e: f"{statistics.median(e.seconds):.3f}",
        "step time over the original's": lambda e: f"{e.slowdown(original):.3f}",
    }
    for label, cell in rows.items():
        table.add_row(label, *(cell(entry) for entry in entries))
    return table


def main() -> int:
    """Runs the demonstration; 1 if a loss differs by more than the bound."""
    console = Console()
    batches = data.batches(CONFIG.batch, CONFIG.sequence, STEPS)
    console.print(f"GPT-2, {CONFIG.layers} layers, width {CONFIG.width}, AdamW, {STEPS} steps")
    entries = contenders(CONFIG, FOLDER, console)
    with_progress(train(entries, batches), STEPS, console)
    console.print(losses_table(entries), summary_table(entries))
    worst = max(entry.difference(entries[0]) for entry in entries[1:])
    verdict = "equal" if worst <= BOUND else "NOT equal"
    console.print(f"The losses are {verdict} to {BOUND:g} (largest difference {worst:.1e}).")
    return int(worst > BOUND)


if __name__ == "__main__":
    sys.exit(main())
