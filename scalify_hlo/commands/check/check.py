"""Runs a program and its rewrite on the same inputs, and compares results and declared sizes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.ir.patterns import matches
from scalify_hlo.program.arrays import StoredArray
from scalify_hlo.program.program import Program
from scalify_hlo.program.record import recorded_sizes
from scalify_hlo.program.tensors import Array, Tensor, interface
from scalify_hlo.recipes.toml import parse_input_scale
from scalify_hlo.results.model import keys
from scalify_hlo.run.differences import Difference, compare
from scalify_hlo.run.input_scales import measured_size
from scalify_hlo.run.made_up import Values, made_up
from scalify_hlo.run.runner import Backend, Runner, at_inputs, compiled
from scalify_hlo.run.session import Session, Step


@keys("name declared measured octaves")
class WrongSize(NamedTuple):
    """A declared size of an input that is wrong by an octave or more.

    Attributes:
        name: The name of the input.
        declared: The declared rms.
        measured: The rms of its values.
    """

    name: str
    declared: float
    measured: float

    @property
    def octaves(self) -> float:
        """The octaves by which the declared size is too large; negative if it is too small."""
        return math.log2(self.declared) - math.log2(self.measured)

    def __str__(self) -> str:
        large = "large" if self.octaves > 0 else "small"
        return (
            f"the declared size {self.declared:.3g} of {self.name} is too {large} by "
            f"{abs(self.octaves):.1f} octaves: its rms is {self.measured:.3g}"
        )


def wrong_sizes(
    tensors: Sequence[Tensor], values: Sequence[Array], declared: Iterable[str]
) -> list[WrongSize]:
    """Returns the declared sizes that are wrong by an octave or more.

    Values that are all zero have any size.

    Args:
        tensors: The arguments of the program.
        values: The value of each argument.
        declared: ``PATTERN=NUMBER``; the last match counts.

    Raises:
        UsageError: A declaration is not valid, or matches no argument.
    """
    sizes: dict[int, float] = {}
    for text in declared:
        pattern, size = parse_input_scale(text)
        found = [i for i, tensor in enumerate(tensors) if matches(pattern, tensor.name, i)]
        if not found:
            names = [tensor.name for tensor in tensors]
            raise UsageError(
                f"input scale {pattern!r} matches no argument{nearest(pattern, names)}",
                hint="`scalify-hlo inspect --arguments` lists the arguments and their names",
            )
        sizes.update(dict.fromkeys(found, float(size)))
    wrong: list[WrongSize] = []
    for i, declared_size in sizes.items():
        measured = measured_size(values[i]) if np.any(values[i]) else None
        if measured is not None:
            each = WrongSize(tensors[i].name, declared_size, 2.0**measured)
            wrong += [each] if abs(each.octaves) >= 1 else []
    return sorted(wrong, key=lambda each: -abs(each.octaves))


_LARGEST_RANDOM_SCALE = 6
"""Random scales lie within 2^±6, so that neither data nor values leave the range of f16."""


@dataclass(frozen=True)
class Checked:
    """A comparison of a rewrite with its original.

    Attributes:
        original: The original, with static shapes.
        differences: The difference of each result.
        values: The arguments of the original.
        step: The last step of the rewrite.
        wrong: The declared sizes that are wrong for the inputs; none if these are random.
    """

    original: Program
    differences: list[Difference]
    values: list[Array]
    step: Step
    wrong: list[WrongSize]


def checked(
    original: Program,
    rewritten: Program,
    *,
    inputs: Mapping[str, Array | StoredArray] | None = None,
    seed: int = 0,
    scale: float | None = None,
    backend: Backend = "xla",
    declared: Sequence[str] = (),
    sizes: Values | None = None,
) -> Checked:
    """Compares a rewrite with its original, result by result.

    Args:
        original: The program before the rewrite.
        rewritten: The rewritten program, with the same signature or with float arguments and
            results as data and scale.
        inputs: Arrays by argument name, or ``arr_0``, ``arr_1`` ... by position; random by default.
        seed: The seed of random inputs and scales.
        scale: The scale of all arguments that are pairs, a power of two; random by default.
        backend: ``xla`` for XLA on the CPU, or ``interpreter`` for the reference interpreter.
        declared: Declared sizes as ``PATTERN=NUMBER``, which are compared with inputs that are
            given, besides those that the rewrite records.
        sizes: The values of symbolic sizes of random inputs.

    Raises:
        InputError: The programs do not have matching signatures, or the backend refuses one.
        UsageError: The inputs do not fit the program, or there is a scale and no pair.
    """
    rng, runner = np.random.default_rng(seed), Runner(original)
    given = made_up(original, sizes or {}, rng) if inputs is None else inputs
    values = runner.flat(given, "the inputs")
    original, rewritten = at_inputs(runner, rewritten, values)
    before = interface(original.module, original.name)
    run = partial(compiled, rewritten, backend)
    session = Session(run, before, rewritten.module, rewritten.name)
    recorded = [] if inputs is None else recorded_sizes(rewritten.module, rewritten.name)
    wrong = wrong_sizes(before.arguments, values, [*recorded, *declared])
    expected = compiled(original, backend)(values)

    def draw() -> float:
        low_high = (-_LARGEST_RANDOM_SCALE, _LARGEST_RANDOM_SCALE + 1)
        drawn.append(2.0 ** int(rng.integers(*low_high)) if scale is None else scale)
        return drawn[-1]

    drawn = list[float]()
    step = session.converge(values, draw)
    if scale is not None and not drawn:
        raise UsageError(
            "the scale of pairs has no effect: the program takes none",
            location=rewritten.name,
            hint="leave --scale out, or rewrite with the signature scaled",
        )
    differences = [
        compare(tensor.name, array, value.astype(tensor.dtype))
        for tensor, array, value in zip(before.results, expected, step.values, strict=True)
    ]
    return Checked(original, differences, values, step, wrong)
