"""Exports a case, rewrites it under both signatures, and runs all on the same values."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np

from benchmarks.common import SIGNATURES
from benchmarks.models.model import Case
from benchmarks.models.run import RUNS, Run
from scalify_hlo.api import make_options
from scalify_hlo.program.program import read_text, write_program
from scalify_hlo.program.rewriting import rewrite_program
from scalify_hlo.program.tensors import Array, interface
from scalify_hlo.run.differences import Difference, compare
from scalify_hlo.run.pairs import match

LARGEST_SCALE = 6
"""Scales of arguments lie within 2^±6, and differ."""

_UNSCALED = (
    *("exponential", "exponential_minus_one", "log", "log_plus_one", "logistic", "tanh", "tan"),
    *("sine", "cosine", "power", "ceil", "floor", "round_nearest_afz", "round_nearest_even"),
    *("is_finite", "bitcast_convert", "rng", "convert", "custom_call", "composite"),
)
UNSCALED = frozenset(f"stablehlo.{name}" for name in _UNSCALED)
"""The ops that have no scaled form: functions of a value, grid positions, bits, foreign calls.

Of `convert`, only floats to integers read at scale 1; of `power`, all but constant exponents; of
`composite`, the functions of CHLO.
"""


@dataclass(frozen=True)
class Export:
    """A case as any consumer of it has it.

    Attributes:
        text: StableHLO text.
        arguments: What `main` is run with.
    """

    text: str
    arguments: tuple[Array, ...]


@dataclass(frozen=True)
class Rewritten:
    """A rewrite of a case.

    Attributes:
        text: StableHLO text, empty if there is none.
        given_up: How often each op read values at scale 1.
        seconds: How long the rewrite took.
        failure: What went wrong, if something did.
    """

    text: str = ""
    given_up: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    failure: str = ""

    @property
    def avoidable(self) -> Counter[str]:
        """The ops given up that have a scaled form."""
        return Counter({op: n for op, n in self.given_up.items() if op not in UNSCALED})


def export(case: Case) -> Export:
    """Exports a case for the CPU."""
    exported = jax.export.export(jax.jit(case.function), platforms=["cpu"])(*case.arguments)
    leaves = jax.tree.leaves(case.arguments)
    arguments = tuple(np.asarray(leaves[i]) for i in exported.module_kept_var_idx)
    return Export(str(exported.mlir_module()), arguments)


def count(text: str) -> int:
    """How many ops of StableHLO a program has."""
    return text.count("stablehlo.")


def rewrite(exported: Export, signature: str) -> Rewritten:
    """Rewrites a case; a crash is told, not raised."""
    program = read_text(exported.text)
    options = make_options("propagate", **SIGNATURES[signature])
    start = time.perf_counter()
    try:
        program, report = rewrite_program(program, options)
    except Exception as error:
        return Rewritten(failure=f"rewrite: {type(error).__name__}: {error}")
    seconds = time.perf_counter() - start
    return Rewritten(str(write_program(program)), report.given_up, seconds)


class Runner:
    """The original and its rewrites on one backend.

    Args:
        exported: The original.
        backend: One of `RUNS`.
    """

    def __init__(self, exported: Export, backend: str) -> None:
        self._exported = exported
        self._run: Run = RUNS[backend]
        self.results = self._run(exported.text, exported.arguments)

    def compare(self, text: str, seed: int = 0) -> list[Difference]:
        """Runs a rewrite and compares its results with the original's.

        Args:
            text: The rewrite.
            seed: Of the scales of its arguments, if it takes any.
        """
        original, rewritten = (
            interface(read_text(t).module, "program") for t in (self._exported.text, text)
        )
        arguments, results = match(original, rewritten, "program")
        rng = np.random.default_rng(seed)
        fed: list[Array] = []
        for value, scale in zip(self._exported.arguments, arguments.scales, strict=True):
            fed += [value] if scale is None else _pair(value, rng)
        given = iter(self._run(text, fed))
        return [
            compare(tensor.name, expected, _value(given, paired=scale is not None))
            for tensor, expected, scale in zip(
                original.results, self.results, results.scales, strict=True
            )
        ]


def floor(runners: Sequence[Runner]) -> float:
    """How far the original is from itself on two backends: what XLA's fusion alone does."""
    one, other = (runner.results for runner in runners)
    return max(distance(compare("", a, b)) for a, b in zip(one, other, strict=True))


def distance(difference: Difference) -> float:
    """The largest difference over the largest magnitude; infinite where one side is not finite."""
    return float("inf") if difference.mismatched else difference.relative_error


def _pair(value: Array, rng: np.random.Generator) -> list[Array]:
    scale = np.float32(2.0 ** int(rng.integers(-LARGEST_SCALE, LARGEST_SCALE + 1)))
    return [value / scale.astype(value.dtype), np.asarray(scale)]


def _value(given: Any, *, paired: bool) -> Array:
    data: Array = next(given)
    return data * next(given).astype(data.dtype) if paired else data
