"""`scalify-hlo compare`: run a program by several recipes, and suggest one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import WithOutput, WithSettings
from scalify_hlo.cli.running import Choosing, WithSteps
from scalify_hlo.recipes.fields import Count, option
from scalify_hlo.results.decibels import written
from scalify_hlo.results.model import cells, headers, mebibytes, microseconds
from scalify_hlo.storage.files import write_file

if TYPE_CHECKING:
    from scalify_hlo.commands.choose.trials import Comparison, Trial


@command("scalify-hlo compare step.jax_export --recipes fp8,unit,bf16 --inputs x.npz")
class Compare(WithSteps, Choosing, WithSettings, WithOutput):
    """Run the program IN and its rewrites by several recipes, and compare their results.

    Each rewrite runs once on the same inputs as the original, with XLA on the CPU. A table has, for
    each recipe: the signal-to-noise ratio in dB of the worst output, gradient and change of
    weights; the difference of the loss; the share of matmuls in FP8; the number of statistics; and
    the bytes of state over those of the original. The worst results and matmuls are listed. A
    matmul is compared with the matmul of the same operands without casts.

    A step of training runs 50 times, or --steps times, and passes on its state, and the loss of the
    last step is compared too. The last line suggests the cheapest recipe whose loss is within a
    share of the first loss, --within. Of other programs, with --steps alone, and with --snr, it
    suggests the cheapest one whose outputs and gradients have that ratio, or 20 dB. If gradients
    are not among the results, the changes of first moments stand for them, or those of weights.

    With --seeds, steps run again with other first weights, and the standard deviation of the
    original's loss stands beside it. Scales
    of inputs are measured from the inputs. Recipes that the program cannot take, or in which an
    option of --set has no effect, are listed with the reason.

    --target sets the target of the recipes, and adds a column: the estimated time of all matmuls on
    that device, in µs, for which nothing is compiled. Casts and other ops are left out; `explain`
    compiles a program for the device, and estimates all kernels.

    --memory adds a column: how much each rewrite has in memory at the peak, in MiB. The original
    and all rewrites are compiled once more for it, for the device of --target, or for the CPU.

    Attributes:
        recipes: The recipes: names and TOML files with commas between them; literature is all
            recipes of papers.
        settings: Set an option of all recipes, as in matmul.smallest=64.
        steps: How many steps to run; by default 50 of training, and 1 of other programs.
        snr: The signal-to-noise ratio that outputs and gradients need.
        within: The share of the first loss by which the last may be larger than that of the
            original; by default 0.02.
        seeds: How many runs, of which all but the first have other first weights.
        target: Estimate times on a device: l40s, rtx4090, h100, h200, b200, tpu-v5e, tpu-v6e or
            tpu7x.
        memory: Compile for the device, or for the CPU, and show the peak of memory.
    """

    recipes: str = option("all", metavar="all|literature|NAME|FILE,...")
    steps: Count | None = None  # type: ignore[assignment]
    snr: float | None = option(None, metavar="DB")
    within: float | None = option(None, metavar="SHARE")
    seeds: Count = 1
    target: str | None = option(None, metavar="NAME")
    memory: bool = False

    def run(self) -> None:
        """See `Command.run`."""
        from scalify_hlo.commands.choose.comparison import compare_recipes

        source = self.read()
        arrays = self.arrays(source)
        with console.progress("Comparing") as progress:
            found = compare_recipes(
                source,
                arrays,
                self.recipes,
                settings=self.keyed,
                steps=self.steps,
                carry=self.carry == "state",
                seeds=self.seeds,
                snr_db=self.snr,
                within=self.within,
                signature=self.signature,
                profile=self.profile,
                target=self.target,
                memory=self.memory,
                progress=progress,
            )
        write_file(self.output, self.text(found, lines(found, self.rows)))


_ERRORS: Final = ("recipe", "outputs", "gradients", "weights", "loss")
_COSTS: Final = "fp8:.0% narrow:.0% statistics state:.2f"
_OF_GRADIENTS: Final = ("gradient", "moment")


def lines(found: Comparison, rows: int) -> Iterator[str]:
    """Yields the lines on a comparison, with so many rows of each table; 0 for all."""
    ran = [trial for trial in found.trials if not trial.reason]
    steps = _of_steps(found)
    if ran:
        header = (*_ERRORS, *steps, *headers(_COSTS), *_of_target(found), *_of_memory(found))
        yield from console.table(header, [_row(trial, found) for trial in ran], rows)
    for trial in found.trials:
        if trial.reason:
            yield f"{trial.name}: not possible: {trial.reason}"
    yield from _loss_lines(found)
    if found.seconds is not None:
        time = microseconds(found.seconds)
        yield f"matmuls of the original on {found.target}: {time} µs, estimated"
    if found.memory is not None:
        device = found.target or "the CPU"
        yield f"memory of the original on {device}: {mebibytes(found.memory)} MiB"
    if found.unknown_turns:
        yield f"matmuls in loops of unknown length, which count once: {found.unknown_turns}"
    noise = [each.name for each in ran[0].results if each.kind == "noise"] if ran else []
    if noise:
        yield f"not judged, as they are rounding noise in the original: {', '.join(noise)}"
    if ran:
        yield from _results(found, ran, rows)
        yield from _matmuls(ran, rows)
    yield f"suggestion: {found.suggestion}"


def _of_target(found: Comparison) -> tuple[str, ...]:
    return (f"matmuls on {found.target}, µs",) if found.target else ()


def _of_memory(found: Comparison) -> tuple[str, ...]:
    return ("memory, MiB",) if found.memory is not None else ()


def _of_steps(found: Comparison) -> tuple[str, ...]:
    return (f"loss {found.steps}",) if found.steps > 1 and found.loss else ()


def _row(trial: Trial, found: Comparison) -> tuple[str, ...]:
    kinds = (("output",), _OF_GRADIENTS, ("update",))
    worst = [text for each in kinds for text in cells(trial.worst(each), "snr_db:dB")]
    losses = [_change(found, trial, 0)]
    if _of_steps(found):
        losses.append(_change(found, trial, -1))
    times = [microseconds(trial.seconds) or "-" for _ in _of_target(found)]
    sizes = [text for _ in _of_memory(found) for text in cells(trial, "memory:MiB")]
    return (trial.name, *worst, *losses, *cells(trial, _COSTS), *times, *sizes)


def _change(found: Comparison, trial: Trial, step: int) -> str:
    change = found.loss_change(trial, step)
    if change is None:
        return "-"
    changes = found.loss_changes(trial, step)
    text = f"{change:+.3g}"
    return text if len(changes) == 1 else f"{text} ({min(changes):+.3g} to {max(changes):+.3g})"


def _loss_lines(found: Comparison) -> Iterator[str]:
    """Yields a line on the loss of the original."""
    if not found.loss:
        return
    first = [losses[0] for losses in found.losses]
    text = f"loss of the original ({found.loss}): {sum(first) / len(first):.6g}"
    if found.steps > 1:
        last = [losses[-1] for losses in found.losses]
        text += f", after {found.steps} steps {sum(last) / len(last):.6g}"
    if found.spread is not None:
        text += f", ±{found.spread:.2g} over {len(found.losses)} seeds"
    yield text


def _results(found: Comparison, ran: Sequence[Trial], rows: int) -> Iterator[str]:
    """Yields a table of the results with the largest errors, in dB for each recipe."""
    tables = [list(trial.results) for trial in ran]
    numbers = sorted(range(len(tables[0])), key=lambda i: min(each[i].snr_db for each in tables))
    wanted = [i for i in numbers if tables[0][i].kind in found.judged]
    if wanted:
        cells = [
            (*(written(each[i].snr_db) for each in tables), tables[0][i].kind, tables[0][i].name)
            for i in wanted
        ]
        header = (*(trial.name for trial in ran), "kind", "name")
        yield from console.titled("worst results, in dB", header, cells, rows)


def _matmuls(ran: Sequence[Trial], rows: int) -> Iterator[str]:
    """Yields a table of the worst matmuls, in dB for each recipe."""
    with_casts = [trial for trial in ran if trial.matmuls]
    tables = [{each.site.name: each for each in trial.matmuls} for trial in with_casts]
    sites = dict.fromkeys(name for table in tables for name in table)
    order = sorted(sites, key=lambda n: min(t[n].snr_db for t in tables if n in t))
    if order:
        header = (*(trial.name for trial in with_casts), "site")
        cells = [(*(written(t[n].snr_db) if n in t else "wide" for t in tables), n) for n in order]
        yield from console.titled("worst matmuls, in dB", header, cells, rows and rows // 2)
    yield ""
