"""A GPT-2 step under `scalify`, over `jax.jit` of the program that `rewrite` makes of it."""

import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import jax
from jax import monitoring

import scalify_hlo
from benchmarks.common import Row, arguments, interleaved, ratio, report, timed
from examples import data, gpt2
from examples.demo import CONFIG

RECIPES = ("propagate", "bf16", "fp8-current")
SAME, REWRITING = 1.03, 0.15
"""The most of the time of a call and of memory, over those of `jax.jit`; and of rewriting, over
XLA's compile time."""


@dataclass(frozen=True)
class Calls:
    """A training step in both forms, called once.

    Attributes:
        functions: The compiled functions, `scalify` and `jax.jit`, and the function that rewrites.
        traces: How often `scalify` traced the step in two calls.
        compiled: The seconds of each compilation in two calls of `scalify`.
        held: The bytes of the results of each function.
    """

    functions: dict[str, Callable[..., Any]]
    traces: int
    compiled: list[float]
    held: dict[str, int]

    def needed(self, name: str, inputs: Any) -> int:
        """The bytes of arguments, temporaries and results that XLA gives a function."""
        function: Any = self.functions[name]
        stats = function.lower(*inputs).compile().memory_analysis()
        used: int = stats.argument_size_in_bytes + stats.output_size_in_bytes
        return used + stats.temp_size_in_bytes - stats.alias_size_in_bytes


@contextmanager
def compilations() -> Iterator[list[float]]:
    """Lists the seconds of each compilation by XLA."""
    found: list[float] = []

    def note(event: str, duration_secs: float, **_: Any) -> None:
        if "backend_compile" in event:
            found.append(duration_secs)

    monitoring.register_event_duration_secs_listener(note)
    try:
        yield found
    finally:
        monitoring.unregister_event_duration_listener(note)


def called(recipe: str, inputs: Any) -> Calls:
    """Calls the step in both forms: `scalify` twice."""
    traces: list[None] = []

    def step(params: Any, state: Any, tokens: Any) -> Any:
        traces.append(None)
        return gpt2.adamw_step(params, state, tokens)

    exported = jax.export.export(jax.jit(gpt2.adamw_step))(*inputs)
    rewriting = partial(scalify_hlo.rewrite, exported, recipe=recipe, report=True)
    functions: dict[str, Any] = {
        "scalify": scalify_hlo.scalify(step, recipe=recipe),
        "jit": jax.jit(rewriting()[0].call),
        "rewrite": rewriting,
    }
    with compilations() as compiled:
        for _ in range(2):
            jax.block_until_ready(functions["scalify"](*inputs))
    traced = len(traces)
    held = {name: _held(functions[name], inputs) for name in ("scalify", "jit")}
    return Calls(functions, traced, compiled, held)


def _held(function: Callable[..., Any], inputs: Any) -> int:
    """The bytes of the arrays that live after a call and did not before."""
    before = sum(array.nbytes for array in jax.live_arrays())
    results = jax.block_until_ready(function(*inputs))
    held = sum(array.nbytes for array in jax.live_arrays()) - before
    del results
    return held


def rows(recipe: str, inputs: Any, rounds: int) -> list[Row]:
    """The figures of a recipe."""
    calls = called(recipe, inputs)

    def run(name: str) -> object:
        return jax.block_until_ready(calls.functions[name](*inputs))

    later = {name: partial(run, name) for name in ("scalify", "jit")}
    seconds = interleaved(later, rounds, time.process_time)
    needed = {name: calls.needed(name, inputs) for name in ("scalify", "jit")}
    rewriting = statistics.median(timed(calls.functions["rewrite"]) for _ in range(3))
    return [
        Row(f"{recipe}: traces", calls.traces, 1, "d"),
        Row(f"{recipe}: compilations", len(calls.compiled), 1, "d"),
        Row(f"{recipe}: processor time of a later call", ratio(seconds, "scalify", "jit"), SAME),
        Row(f"{recipe}: memory that XLA needs", needed["scalify"] / needed["jit"], SAME),
        Row(f"{recipe}: memory of results", calls.held["scalify"] / calls.held["jit"], SAME),
        Row(f"{recipe}: rewriting over compiling", rewriting / sum(calls.compiled), REWRITING),
    ]


def main() -> int:
    """Measures each recipe, and prints its figures at once."""
    options = arguments(__doc__ or "", layers=CONFIG.layers, rounds=30)
    config = replace(CONFIG, layers=options.layers)
    inputs = *gpt2.state(config, gpt2.ADAMW), next(data.batches(config.batch, config.sequence, 1))
    title = f"`scalify` over `jax.jit` of the rewritten program, GPT-2, {options.layers} layers"
    title += f", medians of {options.rounds} interleaved calls"
    return max([report(title, rows(recipe, inputs, options.rounds)) for recipe in RECIPES])


if __name__ == "__main__":
    sys.exit(main())
