"""The cost of the casts of a matmul, as a share of the loss.

The casts give the result of a matmul an error, whose energy is measured in the rewrite. The cost is
how far it moves the loss. These changes have independent signs, so the cost of several matmuls is
the root of the sum of the squares of their costs.

* A forward matmul changes the loss by the scalar product of the error and the gradient of the loss
  with respect to the result. If the signs of the error's elements are independent, and its size has
  nothing to do with that of the gradient, the rms of this change is
  ``sqrt(|gradient|^2 |error|^2 / elements)``. The cost is this over the loss.
* A matmul of the backward pass adds noise to the gradients of weights, and so does a forward one,
  since the backward pass reads what follows from its result. If the noise is a share ``s`` of the
  energy of the gradients, its scalar product with them is at most ``sqrt(s)`` times their energy.
  So the cost is ``sqrt(s)`` times the share of the loss that a step takes away.

For a gradient of a weight, ``s`` is ``|error|^2`` as a share of the energies of all gradients of
weights. The gradient of an activation passes its error on to gradients of weights. Gradients of
activations have different units, so each is multiplied by its activation: ``s`` is
``|error|^2 |activation|^2`` as a share of the sum of ``|gradient|^2 |activation|^2``. For a forward
matmul, it is ``|error|^2 |gradient|^2`` as a share of the sum of ``|result|^2 |gradient|^2``.

For other matmuls, and in a program without a loss, the cost is the rms of the error over that of
the result.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from scalify_hlo.choose.casts import RESULT, CastError
from scalify_hlo.choose.cotangents import Backward
from scalify_hlo.choose.energies import NOTHING, Energy
from scalify_hlo.choose.partition import LARGEST

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
            site: self._cost(numbers, min(casts[site, RESULT].ratio, LARGEST))
            for site, numbers in groups.items()
            if (site, RESULT) in casts
        }

    def _cost(self, numbers: Iterable[int], ratio: float) -> Cost:
        squares = dict.fromkeys(EFFECTS, 0.0)
        for number in numbers:
            for effect, amount in self._effects(number, ratio).items():
                squares[effect] += amount**2
        worst = max(EFFECTS, key=lambda effect: squares[effect])
        return Cost(math.sqrt(sum(squares.values())), worst, ratio)

    def _effects(self, number: int, ratio: float) -> dict[str, float]:
        """Returns the effects of a matmul, with their costs."""
        energy = self.energies.get(number, NOTHING)
        if not self.loss or not math.isfinite(self.loss):
            return {RATIO: math.sqrt(ratio)}
        for group in (self._of_results, self._of_weights, self._of_activations):
            if number in group:
                whole = sum(group.values())
                share = ratio * group[number] / whole if whole else 0.0
                noise = {GRADIENTS: self.decrease * math.sqrt(share)}
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
