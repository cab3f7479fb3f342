"""Declared sizes of inputs that are wrong, found from values."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.ir.patterns import matches
from scalify_hlo.program.tensors import Array, Tensor
from scalify_hlo.recipes.toml import parse_input_scale
from scalify_hlo.results.model import keys
from scalify_hlo.run.input_scales import measured_size


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
