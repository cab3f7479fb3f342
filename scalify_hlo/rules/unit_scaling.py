"""The factors of the Unit Scaling paper (table A.2), from which sizes of data are predicted.

The result of an op times its factor alpha is near unit, if its inputs are unit normal. The gradient
of an input times the factor beta is near unit, if the incoming gradient is unit normal. This module
has the factors of ops and of activations. Rules read them as sizes, log2 of an rms, and predictions
add these sizes along a program. The sums are exact, since only the scale of a cast is rounded to a
power of two.

The factors of the paper normalize the standard deviation. Data with a mean need room for the mean
too, so sizes here include it. Softmax with cross-entropy, and layer norm, consist of other ops in a
program, whose sizes result in the factors of the table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ActivationSize:
    """An elementwise function.

    Attributes:
        forward: alpha: one over the standard deviation of the result.
        backward: beta: one over the rms of the derivative.
        mean: The mean of the result, which the table leaves out.
        bounded: Whether the range of the function is bounded. Other functions are assumed to be
            homogeneous: a ReLU is, and the others are nearly.
    """

    forward: float
    backward: float
    mean: float = 0.0
    bounded: bool = False

    def size(self, of_input: float = 0.0) -> float:
        """Returns log2 of the rms of the result.

        Args:
            of_input: log2 of the rms of the input.
        """
        if self.bounded:
            deviation = 2.0 ** min(of_input, 0.0) / self.forward
            return math.log2(math.hypot(deviation, self.mean))
        return of_input + math.log2(math.hypot(1 / self.forward, self.mean))

    @property
    def gradient_size(self) -> float:
        """Returns log2 of the rms of the input gradient, for a unit output gradient."""
        return -math.log2(self.backward)


_RELU: Final = ActivationSize(
    math.sqrt(2 / (1 - 1 / math.pi)), math.sqrt(2), mean=1 / math.sqrt(2 * math.pi)
)

ACTIVATIONS: Final[Mapping[str, ActivationSize]] = {
    "relu": _RELU,
    "leaky_relu": _RELU,  # The square of a slope is small against 1.
    "gelu": ActivationSize(1.701, 1.481, mean=1 / math.sqrt(4 * math.pi)),
    "tanh": ActivationSize(1.593, 1.467, bounded=True),
    "sigmoid": ActivationSize(4.802, 4.722, mean=0.5, bounded=True),
    "silu": ActivationSize(1.787, 1.623, mean=0.2066),
    "hard_silu": ActivationSize(1.814, 1.67, mean=0.1662),
    "quick_gelu": ActivationSize(1.709, 1.491, mean=0.2823),
    "mish": ActivationSize(1.592, 1.445, mean=0.2404),
}
"""Activations by the names of layers; those from SiLU on are computed as the paper's GELU was."""


def matmul(terms: int) -> float:
    """Returns the factor of a contraction over a number of terms, and of its gradients."""
    return 1 / math.sqrt(terms)


def sum_of(terms: int) -> float:
    """Returns the factor of a sum of independent terms; its gradient has beta = 1."""
    return 1 / math.sqrt(terms)


def weighted_add(weights: Iterable[float]) -> float:
    """Returns the factor of a weighted sum of unit terms; beta is one over a term's weight."""
    return 1 / math.sqrt(sum([weight * weight for weight in weights]))


def softmax(size: int) -> float:
    """Returns the factor of a softmax over similar elements, and of its gradient."""
    return float(size)


def size_of(factor: float) -> float:
    """Returns log2 of the rms that a factor rescales to unit."""
    return -math.log2(factor)


def added(sizes: Iterable[float]) -> float:
    """Returns log2 of the rms of a sum of independent terms of several sizes."""
    terms = list(sizes)
    largest = max(terms)  # Sizes may be beyond the range of a float.
    return largest + size_of(weighted_add([2.0 ** (size - largest) for size in terms]))
