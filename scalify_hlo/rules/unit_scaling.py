"""The factors of the Unit Scaling paper (table A.2), from which sizes of data are predicted.

A factor is what an op's result (forward, alpha) or the gradient of its input (backward, beta) is
multiplied with to be near unit, where its inputs and the gradient that comes in are unit normal.
This is the one place that has them. Rules read them as sizes, log2 of an rms, and predictions add
up these sizes along a program: exactly, since it is a scale that is rounded to a power of two, at
each cast, and not each factor.

The paper restores the standard deviation. Data that have a mean need room for that as well, so a
size is that of both. Softmax with cross-entropy, and layer norm, are made of other ops in a
program; the sizes of those give the table's factors for the whole.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ActivationSize:
    """A function of single elements.

    Attributes:
        forward: alpha: one over the standard deviation of the result.
        backward: beta: one over the rms of the derivative.
        mean: The mean of the result, which the table leaves out.
        bounded: Whether the result stays within a range, however large the input is; the others
            are taken to be homogeneous: a ReLU is, and the rest are nearly.
    """

    forward: float
    backward: float
    mean: float = 0.0
    bounded: bool = False

    def size(self, of_input: float = 0.0) -> float:
        """log2 of the rms of the result.

        Args:
            of_input: log2 of the rms of the input, 0 where it is unit.
        """
        if self.bounded:
            deviation = 2.0 ** min(of_input, 0.0) / self.forward
            return math.log2(math.hypot(deviation, self.mean))
        return of_input + math.log2(math.hypot(1 / self.forward, self.mean))

    @property
    def gradient_size(self) -> float:
        """log2 of the rms of the gradient of the input, where that of the output is unit."""
        return -math.log2(self.backward)


ACTIVATIONS: Final[Mapping[str, ActivationSize]] = {
    "relu": ActivationSize(
        math.sqrt(2 / (1 - 1 / math.pi)), math.sqrt(2), mean=1 / math.sqrt(2 * math.pi)
    ),
    "gelu": ActivationSize(1.701, 1.481, mean=1 / math.sqrt(4 * math.pi)),
    "tanh": ActivationSize(1.593, 1.467, bounded=True),
    "sigmoid": ActivationSize(4.802, 4.722, mean=0.5, bounded=True),
    "silu": ActivationSize(1.787, 1.623, mean=0.2066),
}
"""Activations by the names that layers have; SiLU is not in the table, and found as GELU was."""


def matmul(terms: int) -> float:
    """Factor of a contraction over a number of terms: for its gradients too, with their numbers."""
    return 1 / math.sqrt(terms)


def sum_of(terms: int) -> float:
    """Factor of a sum of independent terms; its gradient keeps its size, beta = 1."""
    return 1 / math.sqrt(terms)


def weighted_add(weights: Iterable[float]) -> float:
    """Factor of a sum of unit terms with weights; beta is one over a term's weight."""
    return 1 / math.sqrt(sum([weight * weight for weight in weights]))


def softmax(size: int) -> float:
    """Factor of a softmax over a number of elements, all about alike, and of its gradient."""
    return float(size)


def cross_entropy(size: int) -> float:
    """Factor of the gradient of softmax and cross-entropy, all classes about as probable."""
    return size / math.sqrt(size - 1)


def layer_norm_weight(rows: int) -> float:
    """Factor of the gradients of gain and bias of a layer norm; its other factors are 1."""
    return 1 / math.sqrt(rows)


def size_of(factor: float) -> float:
    """log2 of the rms of what a factor rescales to unit."""
    return -math.log2(factor)


def added(sizes: Iterable[float]) -> float:
    """log2 of the rms of a sum of independent terms of several sizes."""
    terms = list(sizes)
    largest = max(terms)  # sizes may be beyond the range of a float
    return largest + size_of(weighted_add([2.0 ** (size - largest) for size in terms]))
