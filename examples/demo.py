"""Trains GPT-2 in f32, BF16 and FP8, side by side: what `make demo` runs.

The step (forward, backward, AdamW) is exported by `jax.export` to a file, the command line rewrites
the file twice, and XLA compiles all three from the disk. Nothing else passes between them. A CPU
emulates FP8, so the demo shows losses and sizes; the speeds that it prints were measured on a GPU.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import jax
import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import scalify_hlo
from examples import data, gpt2
from examples.side_by_side import Contender, train
from examples.xla import Executable

CONFIG = gpt2.Config(layers=4, width=256, heads=4, sequence=128, vocab=data.VOCAB, batch=8)
FOLDER = Path("build/demo")
STEPS = 40
LAST = 10
"""The losses at the end that the summary averages."""

BOUND = 0.05
"""The largest difference of these losses from those of f32."""

VERSIONS: Mapping[str, Sequence[str]] = {
    "bf16": ("--recipe", "bf16"),
    "FP8": ("--recipe", "fp8-state8", "--signature", "scaled"),
}
"""The options with which the step is rewritten."""

SPEEDS = Path(__file__).parents[1] / "benchmarks/results/gpu.json"
"""The figures that `python -m benchmarks.gpu` measured."""

MODELS = {
    "swiglu": "SwiGLU layer, 4096 x 14336",
    "llama": "Llama, 2 layers",
    "vit": "ViT, 2 layers",
}
MODELS["gpt2"] = "GPT-2, 2 layers of width 1024"


def export_step(config: gpt2.Config, path: Path) -> None:
    """Writes the AdamW training step of a model as StableHLO text."""
    step = jax.jit(gpt2.adamw_step)
    exported = jax.export.export(step)(*gpt2.abstract_state(config, gpt2.ADAMW))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(exported.mlir_module())


def rewrite(source: Path, target: Path, options: Sequence[str], console: Console) -> float:
    """Runs the command line on a file and returns its wall time in seconds."""
    report = str(target.with_suffix(".json"))
    arguments = ["rewrite", str(source), "-o", str(target), "--report", report, *options]
    shown = [f"'{argument}'" if "*" in argument else argument for argument in arguments]
    console.print("$", "scalify-hlo", *shown, style="bold", highlight=False, soft_wrap=True)
    start = time.perf_counter()
    command = [sys.executable, "-m", "scalify_hlo", *arguments]
    if code := subprocess.run(command, check=False).returncode:
        sys.exit(code)  # the command has said why
    return time.perf_counter() - start


def contenders(
    config: gpt2.Config, folder: Path, console: Console, versions: Mapping[str, Sequence[str]]
) -> list[Contender]:
    """Exports, rewrites and compiles: the original first, then each version."""
    source = folder / "step.mlir"
    export_step(config, source)
    files = {name: folder / f"{name}.mlir" for name in versions}
    seconds = {n: rewrite(source, files[n], versions[n], console) for n in versions}
    Executable(source.read_text())  # the first compilation in a process pays for XLA's own start
    state = gpt2.state(config, gpt2.ADAMW)
    entries = [Contender("f32", source, state)]
    for name, options in versions.items():
        convert = scalify_hlo.as_scaled_array if "scaled" in options else lambda tree: tree
        entries.append(Contender(name, files[name], state, convert, rewrite_seconds=seconds[name]))
    return entries


def with_progress(steps: Iterable[int], total: int, console: Console) -> None:
    """Runs the training loop, behind a bar if somebody is watching."""
    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("training", total=total)
        for step in steps:
            progress.update(task, completed=step)


def losses_table(entries: Sequence[Contender]) -> Table:
    """Mean losses of ten steps each, one column for each version."""
    table = Table("steps", title="Losses", title_justify="left")
    for entry in entries:
        table.add_column(entry.name, justify="right")
    for start in range(0, len(entries[0].losses), LAST):
        parts = [entry.losses[start : start + LAST] for entry in entries]
        means = [f"{np.mean(part):.3f}" for part in parts]
        table.add_row(f"{start + 1} to {start + len(parts[0])}", *means)
    return table


def low_precision(entry: Contender) -> str:
    """Counts the matmuls in low precision, as the report of the rewrite says."""
    report = entry.path.with_suffix(".json")
    if not report.exists():
        return "0"
    matmuls = json.loads(report.read_text())["matmuls"]
    return f"{sum(matmul['wide'] is None for matmul in matmuls)} of {len(matmuls)}"


def summary_table(entries: Sequence[Contender]) -> Table:
    """Returns the cost and the effects of rewriting, with one column for each version."""
    table = Table("", title="Summary", title_justify="left")
    for entry in entries:
        table.add_column(entry.name, justify="right")
    rows: dict[str, Callable[[Contender], str]] = {
        f"loss, the mean of the last {LAST} steps": lambda e: f"{last_loss(e):.3f}",
        "matmuls in low precision": low_precision,
        "weights and optimizer state (MB)": lambda e: f"{nbytes(e) / 1e6:.1f}",
        "rewrite, the whole command (s)": lambda e: f"{e.rewrite_seconds:.2f}",
        "compile with XLA (s)": lambda e: f"{e.executable.compile_seconds:.2f}",
        "median step on this CPU (s)": lambda e: f"{statistics.median(e.seconds):.3f}",
    }
    for label, cell in rows.items():
        table.add_row(label, *(cell(entry) for entry in entries))
    return table


def last_loss(entry: Contender) -> float:
    """The mean of the last losses."""
    return float(np.mean(entry.losses[-LAST:]))


def nbytes(entry: Contender) -> int:
    """The bytes of the state that a step takes and returns."""
    return sum(array.nbytes for array in entry.state)


def speeds_table() -> Table:
    """The speeds of training steps on a GPU over those of the originals in BF16, as measured."""
    record = json.loads(SPEEDS.read_text())
    title = f"Speed over BF16: an {record['device']}, {record['measured']}"
    table = Table("training step", title=title, title_justify="left")
    recipes = "unit", "fp8-current", "fp8-delayed"
    for recipe in recipes:
        table.add_column(recipe, justify="right")
    for name, label in MODELS.items():
        times = {key: p["us"] for key, p in record["models"][name]["programs"].items()}
        table.add_row(label, *(f"{times['bf16'] / times[recipe]:.2f}" for recipe in recipes))
    return table


def plot(entries: Sequence[Contender], path: Path) -> None:
    """Draws the losses."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for entry in entries:
        axes.plot(range(1, len(entry.losses) + 1), entry.losses, label=entry.name)
    axes.set(xlabel="step", ylabel="loss", title="GPT-2, AdamW")
    axes.legend()
    figure.savefig(path)


def main() -> int:
    """Runs the demonstration; 1 if a loss is further from that of f32 than the bound."""
    console = Console()
    batches = data.batches(CONFIG.batch, CONFIG.sequence, STEPS)
    console.print(f"GPT-2, {CONFIG.layers} layers, width {CONFIG.width}, AdamW, {STEPS} steps")
    entries = contenders(CONFIG, FOLDER, console, VERSIONS)
    with_progress(train(entries, batches), STEPS, console)
    console.print(losses_table(entries), summary_table(entries), speeds_table())
    if find_spec("matplotlib") is not None:
        plot(entries, FOLDER / "losses.svg")
        console.print(f"wrote {FOLDER / 'losses.svg'}")
    console.print("python -m examples.stats_page makes a page of all values of the step in FP8")
    gaps = [last_loss(entry) - last_loss(entries[0]) for entry in entries[1:]]
    verdict = "within" if max(gaps) <= BOUND else "NOT within"
    console.print(f"The last losses are {verdict} {BOUND:g} of those of f32.")
    return int(max(gaps) > BOUND)


if __name__ == "__main__":
    sys.exit(main())
