"""The arguments of the runs of a program: inputs, and state that comes back as results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.analysis.carried import carried_arguments
from scalify_hlo.analysis.frames import Frame
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.functions import main_function
from scalify_hlo.errors import UsageError
from scalify_hlo.io.tensors import Array, Interface
from scalify_hlo.run.added import exponent_of
from scalify_hlo.run.check import Match
from scalify_hlo.run.inputs import scaled_by
from scalify_hlo.run.packed import is_packed, packed
from scalify_hlo.run.scale_arrays import split_in_blocks


def carried_state(module: ir.Module, name: str) -> dict[int, int]:
    """Returns the results of a program that are arguments of its next call.

    Args:
        module: The program.
        name: Its name in diagnostics.

    Returns:
        The number of the argument for the number of each such result.

    Raises:
        UsageError: There is none.
    """
    with module.context:
        main = main_function(module.operation)
        found: dict[int, int] = {}
        if main is not None:
            names = attributes.argument_names(main)
            results = attributes.result_names(attributes.result_attributes(main))
            found = carried_arguments(main, names, results, {}, Frame.of(main))
    if not found:
        raise UsageError(
            "no result of the program is an argument of its next call",
            location=name,
            hint="state is found by names as params['w'], by donation and by data flow; run one "
            "step, or export a step that returns its state",
        )
    return found


@dataclass
class Feeding:
    """The flat arguments of a program in each step.

    Attributes:
        match: The correspondence of arguments and results to those of the original.
        carried: The results of the original that are arguments of the next step.
    """

    match: tuple[Match, Match]
    carried: dict[int, int]

    @classmethod
    def same(cls, program: Interface, carried: dict[int, int]) -> Feeding:
        """Returns the feeding of the original, or of a rewrite with the same signature."""
        arguments, results = program.arguments, program.results
        return cls(
            (
                Match(arguments, arguments, (None,) * len(arguments)),
                Match(results, results, (None,) * len(results)),
            ),
            carried,
        )

    def first(self, values: Sequence[Array]) -> list[Array]:
        """Returns the arguments of a step from those of the original."""
        fed: list[Array] = []
        arguments, _ = self.match
        for value, data, scale in zip(values, arguments.data, arguments.scales, strict=True):
            if scale is None:
                fed.append(value.astype(data.dtype))
                continue
            if is_packed(scale):
                fed += packed(value, data)
                continue
            if scale.shape:
                fed += split_in_blocks(value, data, scale)
                continue
            exponent = exponent_of(value)
            fed.append(scaled_by(value, 2.0**-exponent).astype(data.dtype))
            fed.append(np.asarray(2.0**exponent, scale.dtype))
        return fed

    def next(self, values: Sequence[Array], results: Sequence[Array]) -> list[Array]:
        """Returns the arguments of a step that takes over state.

        Args:
            values: The arguments of the original that are not state, and any for state.
            results: The results of the step before.
        """
        fed = self.first(values)
        arguments, given = (_starts(match) for match in self.match)
        for result, argument in self.carried.items():
            start, end = arguments[argument], arguments[argument + 1]
            count = given[result + 1] - given[result]
            if count == end - start:
                fed[start:end] = results[given[result] : given[result] + count]
        return fed


def _starts(match: Match) -> list[int]:
    """Returns the number in the rewrite of each value of the original, and their end."""
    starts = [0]
    for scale in match.scales:
        starts.append(starts[-1] + (1 if scale is None else 2))
    return starts
