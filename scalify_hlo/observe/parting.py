"""Compares the values of a rewrite with those of its original, one by one in program order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.analysis.matmuls import MATMULS
from scalify_hlo.dialect.value_map import ValueMap
from scalify_hlo.io.artifact import copy_module
from scalify_hlo.io.program import Program
from scalify_hlo.io.tensors import Array, interface
from scalify_hlo.observe.instrument import Instrumented, Sampler
from scalify_hlo.observe.prepare import Programs, Selection
from scalify_hlo.observe.samples import Sampled, sample_values
from scalify_hlo.observe.values import Scan, Watched
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.quantize.encoding import dtype_of
from scalify_hlo.rules.probes import Probed
from scalify_hlo.run.added import first_state, with_state
from scalify_hlo.run.check import Checked, compiled_run
from scalify_hlo.run.compare import Difference, compare


@dataclass(frozen=True, slots=True)
class ComparedValue:
    """A value of a program, and its difference in a rewrite.

    Attributes:
        op: The op that makes it; empty for an argument.
        name: Its name stack, or the name of the argument.
        location: Its source location; empty if unknown.
        difference: The difference of data times scale from the value of the original.
    """

    op: str
    name: str
    location: str
    difference: Difference


def compare_values(original: Program, options: Options, done: Checked) -> list[ComparedValue]:
    """Compares the values that an original and its rewrite have in common.

    Args:
        original: The original.
        options: The options of its rewrite.
        done: The comparison of the results, which has the arguments.

    Returns:
        The values of samples of at least 4096 elements, in program order. In loops, some turns of
        each are compared together.

    Raises:
        InputError: The program cannot be rewritten, or XLA cannot run it.
        UsageError: The options do not fit the program.
    """
    module = copy_module(original.module)
    programs = _SampledPrograms(module, original.name, Selection())
    before = programs.original
    expected = compiled_run(original, before.module)(done.values)
    after = programs.rewritten(options)
    state = first_state(after.module, interface(after.module, original.name))
    now = dict(zip(sorted(state), done.state, strict=True))
    actual = compiled_run(original, after.module)(with_state(done.fed, now))
    first, second = programs.sampled
    pairs = (first.read(expected), second.read(actual))
    return list(_compared(programs.watched[0], *pairs))


class _SampledPrograms(Programs):
    """Makes programs that return samples of their values instead of statistics.

    Attributes:
        sampled: The meaning of the results of each program that was made.
        watched: The values of each.
    """

    def __init__(self, module: ir.Module, name: str, selection: Selection) -> None:
        self.sampled: list[Sampled] = []
        self.watched: list[list[Watched]] = []
        super().__init__(module, name, selection)

    def _instrument(
        self,
        main: ir.OpView,
        values: list[Watched],
        scan: Scan,
        samplers: Mapping[str, Mapping[str, Sampler]],
        scales: ValueMap[Probed] | None,
    ) -> Instrumented:
        del scan, samplers
        self.sampled.append(sample_values(main, values, scales))
        self.watched.append(values)
        return Instrumented([], [], [], {}, [], self.sampled[-1].count, [])


def _compared(
    values: Sequence[Watched], before: Mapping[str, Array], after: Mapping[str, Array]
) -> Iterator[ComparedValue]:
    """Yields the comparison of each value that both programs have and computed."""
    for one in values:
        old, new = before.get(one.id), after.get(one.id)
        if old is None or new is None or old.shape != new.shape or not old.size:
            continue
        difference = _difference(one, old, new)
        if one.op in MATMULS:
            difference = max(
                difference,
                _difference(one, old, _at_scale_of(old, new)),
                key=lambda each: (-each.mismatched, each.snr_db),
            )
        yield ComparedValue(one.op, one.name, one.location, difference)


def _at_scale_of(old: Array, new: Array) -> Array:
    """The value in each turn times the factor that makes it most like another.

    A recipe that measures operands multiplies the result of a matmul by their scales in the next
    op, so the result itself is at a scale that no probe knows.
    """
    known = np.where(np.isfinite(old) & np.isfinite(new), new, 0)
    largest = np.abs(known).max(-1, keepdims=True)
    unit = np.divide(known, largest, out=np.zeros_like(known), where=largest > 0)
    power = np.square(unit).sum(-1, keepdims=True)
    like = (unit * np.where(np.isfinite(old), old, 0)).sum(-1, keepdims=True)
    factor = np.divide(like, power, out=np.ones_like(power), where=power > 0)
    return np.where(np.isfinite(new), unit * factor, new)


def _difference(one: Watched, old: Array, new: Array) -> Difference:
    dtype = np.dtype(dtype_of(one.encoding.format.name))
    with np.errstate(over="ignore", invalid="ignore"):
        found = compare(one.name, old.astype(dtype), new.astype(dtype))
    return replace(found, type=f"{one.dtype}[{', '.join(map(str, one.shape))}]")
