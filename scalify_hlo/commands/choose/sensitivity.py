"""The cost of the casts of a matmul, as a share of the loss.

The casts give the result of a matmul an error, whose energy is measured in the rewrite. The cost is
how far it moves the loss. These changes have independent signs, so the cost of several matmuls is
the root of the sum of the squares of their costs.

* A forward matmul changes the loss by the scalar product of the error and the gradient of the loss
  with respect to the result. If the signs of the error's elements are independent, and its size has
  nothing to do with that of the gradient, the rms of this change is
  ``sqrt(|gradient|^2 |error|^2 / elements)``. The cost is this over the loss.
* A matmul of the backward pass changes the gradients of weights, and so does a forward one, since
  the backward pass reads what follows from its result. The error has a part along the result, which
  is a share ``g`` of it, and noise with a share ``r`` of its energy. The first part makes steps
  longer or shorter by ``g``. Noise is nearly orthogonal to the gradient. But an optimizer that
  divides by the root of a mean square takes steps that are shorter by ``r / 2``. So the cost is
  ``g + r / 2``, times what a step takes away from the loss, times the share that the matmul has of
  the energy of the gradients.

The energy of the gradient of a weight is a share of that of all such gradients. The gradient of an
activation passes its error on to gradients of weights. Gradients of activations have different
units, so the energy of each is multiplied by that of its activation, and is a share of the sum of
these products. That of a forward matmul is multiplied by the energy of its gradient.

For other matmuls, and in a program without a loss, the cost is the rms of the error over that of
the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from scalify_hlo.commands.choose.energies import NOTHING, Backward, Energy
from scalify_hlo.commands.choose.operand_errors import RESULT, CastError
from scalify_hlo.commands.choose.partition import LARGEST

LOSS, GRADIENTS, RATIO = "loss", "gradients", "noise"
"""The effect from which a cost follows: the change of the loss, the noise of gradients, or the
noise of the result itself."""

EFFECTS: Final = (LOSS, GRADIENTS, RATIO)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a site.

    Attributes:
        amount: The cost, as a share of the loss.
        effect: One of `EFFECTS`; the worst one, if there are several.
        ratio: The energy of the error over that of the result.
    """

    amount: float
    effect: str
    ratio: float


@dataclass(frozen=True)
class Sensitivity:
    """The measurements of the original program from which costs follow.

    Attributes:
        sites: The site of each matmul by the number of its op.
        energies: The energies of matmuls by the numbers of their ops.
        backward: The backward pass.
        loss: The loss; None if there is none.
        decrease: The share of the loss that a step takes away; 1 if it is not known.
    """

    sites: Mapping[int, str]
    energies: Mapping[int, Energy]
    backward: Backward
    loss: float | None
    decrease: float = 1.0

    def costs(self, casts: Mapping[tuple[str, str], CastError]) -> dict[str, Cost]:
        """Returns the costs of sites by their names.

        Args:
            casts: The errors of matmuls and of their operands in a rewrite, by site and value.
        """
        groups: dict[str, list[int]] = {}
        for number, site in self.sites.items():
            groups.setdefault(site, []).append(number)
        return {
            site: self._cost(numbers, casts[site, RESULT])
            for site, numbers in groups.items()
            if (site, RESULT) in casts
        }

    def _cost(self, numbers: Iterable[int], error: CastError) -> Cost:
        ratio, growth = min(error.ratio, LARGEST), min(error.growth, LARGEST)
        squares = dict.fromkeys(EFFECTS, 0.0)
        for number in numbers:
            for effect, amount in self._effects(number, ratio, growth).items():
                squares[effect] += amount**2
        worst = max(EFFECTS, key=lambda effect: squares[effect])
        return Cost(math.sqrt(sum(squares.values())), worst, ratio)

    def _effects(self, number: int, ratio: float, growth: float) -> dict[str, float]:
        """Returns the effects of a matmul, with their costs.

        Args:
            number: The number of its op.
            ratio: The energy of its error over that of its result.
            growth: The share of the result that the part of the error along it is.
        """
        energy = self.energies.get(number, NOTHING)
        if not self.loss or not math.isfinite(self.loss):
            return {RATIO: math.sqrt(ratio)}
        for group in (self._of_results, self._of_weights, self._of_activations):
            if number in group:
                whole = sum(group.values())
                share = group[number] / whole if whole else 0.0
                noise = {GRADIENTS: self.decrease * share * (growth + ratio / 2)}
                if group is not self._of_results:
                    return noise
                variance = self._gradient_of(number) * ratio * energy.result
                change = math.sqrt(variance / max(energy.count, 1.0)) / abs(self.loss)
                return {LOSS: change} | noise
        return {RATIO: math.sqrt(ratio)}

    def _gradient_of(self, number: int) -> float:
        """Returns the energy of the gradient of the result of a forward matmul."""
        source, side = self.backward.cotangents[number]
        return self.energies.get(source, NOTHING).operands[side]

    @cached_property
    def _of_results(self) -> dict[int, float]:
        """The energies of results of forward matmuls times those of their gradients."""
        return {
            number: self.energies.get(number, NOTHING).result * self._gradient_of(number)
            for number in self.backward.cotangents
        }

    @cached_property
    def _of_weights(self) -> dict[int, float]:
        """The energies of gradients of weights."""
        numbers = self.backward.weights
        return {number: self.energies.get(number, NOTHING).result for number in numbers}

    @cached_property
    def _of_activations(self) -> dict[int, float]:
        """The energies of gradients of activations times those of the activations."""
        return {
            number: self.energies.get(number, NOTHING).result
            * self.energies.get(forward, NOTHING).operands[side]
            for number, (forward, side) in self.backward.activations.items()
        }
