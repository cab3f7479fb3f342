"""What the benchmarks share: the programs they measure, and the table in which they print.

Both sides of every ratio are measured in one run, turn by turn.
"""

import argparse
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
from rich.console import Console
from rich.table import Table

import scalify_hlo
from examples import gpt2
from examples.demo import CONFIG
from examples.xla import flat
from scalify_hlo.recipes.model import NONE

WIDTH = 100
"""Columns of a table, also where the output is a file."""

SIGNATURES: Mapping[str, Mapping[str, Any]] = {
    "same": {"signature": "same", "input_scale": {"*": 2.0**-4}},
    "scaled": {"signature": "scaled"},
}
"""How each signature is measured: `same` always with every input at 2^-4."""


NO_SITES = {"norm_gradients.statistic": "none"}
"""A recipe without statistics: its scales are static where those of its inputs are."""

NARROW: Mapping[str, Mapping[str, Any]] = {
    "fp8 same": {"recipe": "fp8", "settings": NO_SITES, "input_scale": {"*": 2.0**-4}},
    "fp8 scaled": {"recipe": "fp8", "settings": NO_SITES, "signature": "scaled"},
    "unit same": {"recipe": "unit", "input_scale": {"*": 2.0**-4}},
    "fp8-current": {"recipe": "fp8-current"},
    "fp8-delayed": {"recipe": "fp8-delayed"},
}
"""How low precision is measured; `benchmarks.sites` measures what rescalings cost."""

BLOCKS: Mapping[str, Mapping[str, Any]] = {
    name: {"recipe": name} for name in ("mxfp8", "fp8-block", "nvfp4")
}
"""The rewrites with block scales that benchmarks measure."""


@dataclass(frozen=True)
class Row:
    """One figure.

    Attributes:
        what: its name.
        value: the measurement.
        bound: the most it may be, or None if the figure is only for information.
        form: how `value` and `bound` are printed.
    """

    what: str
    value: float
    bound: float | None = None
    form: str = ".3f"

    @property
    def holds(self) -> bool:
        """Whether the bound is kept; NaN keeps none."""
        return self.bound is None or self.value <= self.bound

    def cells(self) -> tuple[str, str, str, str]:
        """What the table shows."""
        if self.bound is None:
            return self.what, format(self.value, self.form), "", ""
        verdict = "yes" if self.holds else "NO"
        return self.what, format(self.value, self.form), format(self.bound, self.form), verdict


def report(title: str, rows: Sequence[Row]) -> int:
    """Prints the rows and returns the exit code: 1 if a bound is missed."""
    table = Table("what", title=title, title_justify="left")
    for name in ("measured", "at most", "holds"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*row.cells())
    Console(width=None if sys.stdout.isatty() else WIDTH).print(table)
    return int(not all(row.holds for row in rows))


def export_text(step: Callable[..., Any], *arguments: Any) -> str:
    """StableHLO text of a function, given arrays or their shapes."""
    return str(jax.export.export(jax.jit(step))(*arguments).mlir_module())


def gpt2_step(config: gpt2.Config = CONFIG) -> str:
    """StableHLO text of a GPT-2 training step with AdamW; no array is made."""
    return export_text(gpt2.adamw_step, *gpt2.abstract_state(config, gpt2.ADAMW))


def rewritten(text: str, signature: str) -> str:
    """The program as the benchmarks measure it under a signature."""
    how = {**SIGNATURES, **NARROW, **BLOCKS}[signature]
    return scalify_hlo.rewrite(text, **{"recipe": "propagate", **how})


def predicts(recipe: str) -> bool:
    """Whether a preset takes static scales, which are measured once, and the signature `same`."""
    return scalify_hlo.load_recipe(recipe).predict != NONE


def first_scales(text: str, state: Any, batch: Any) -> dict[str, float]:
    """The scales of a step's inputs, measured from what it begins with."""
    return scalify_hlo.measured_scales(text, *flat(state), *flat(batch))


def versions(text: str, names: Iterable[str] = SIGNATURES) -> dict[str, str]:
    """The original and its rewrites, by name."""
    return {"original": text, **{name: rewritten(text, name) for name in names}}


def arguments(description: str, **defaults: int) -> argparse.Namespace:
    """Parses a benchmark's command line: one integer option for each keyword."""
    parser = argparse.ArgumentParser(description=description)
    for name, default in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=default, help="default: %(default)s")
    return parser.parse_args()


def timed(function: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Seconds of one call, of wall time unless another clock is given."""
    start = clock()
    function()
    return clock() - start


def children() -> float:
    """Processor time of the child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def interleaved(
    functions: Mapping[str, Callable[[], object]],
    rounds: int,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """Times every function once a round; who goes first changes from round to round."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    names = list(functions)
    for index in range(rounds):
        first = index % len(names)
        for name in (*names[first:], *names[:first]):
            seconds[name].append(timed(functions[name], clock))
    return seconds


def ratio(seconds: Mapping[str, Sequence[float]], name: str, baseline: str = "original") -> float:
    """Time of one function over that of another: the median of what each round gives.

    A machine that slows down for a while slows both of a round.
    """
    return statistics.median(a / b for a, b in zip(seconds[name], seconds[baseline], strict=True))
