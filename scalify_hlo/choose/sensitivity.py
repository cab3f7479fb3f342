"""The cost of the casts of a matmul, as a share of the loss.

The casts give the result of a matmul an error, whose energy is measured in the rewrite. The cost of
a site is the sum of the costs of its matmuls:

* A forward matmul changes the loss by the scalar product of the error and the gradient of the loss
  with respect to the result. If the signs of the error's elements are independent, and its size has
  nothing to do with that of the gradient, the rms of this change is
  ``sqrt(|gradient|^2 |error|^2 / elements)``. The cost is this over the loss.
* A matmul that makes the gradient of a weight adds noise to the step. The cost is the energy of its
  error as a share of the energy of all gradients of weights. The decreases of the loss in all steps
  together are not more than the loss, and this share of them is lost in noise at most.
* A matmul that makes the gradient of an activation passes its error on to gradients of weights.
  Gradients of activations have different units, so each is multiplied by its activation: the cost
  is ``|error|^2 |activation|^2`` as a share of the sum of ``|gradient|^2 |activation|^2``.
* For other matmuls, and in a program without a loss, the cost is the energy of the error as a share
  of the energy of the result.
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
        effect: One of `EFFECTS`; the worst one, if the matmuls of the site have several.
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
    """

    sites: Mapping[int, str]
    energies: Mapping[int, Energy]
    backward: Backward
    loss: float | None

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
        amounts = dict.fromkeys(EFFECTS, 0.0)
        for number in numbers:
            effect, amount = self._effect(number, ratio)
            # The changes of the loss have independent signs, so their squares add up.
            amounts[effect] += amount**2 if effect == LOSS else amount
        amounts[LOSS] = math.sqrt(amounts[LOSS])
        worst = max(EFFECTS, key=lambda effect: amounts[effect])
        return Cost(sum(amounts.values()), worst, ratio)

    def _effect(self, number: int, ratio: float) -> tuple[str, float]:
        """Returns the effect of a matmul, and its cost."""
        backward, energy = self.backward, self.energies.get(number, NOTHING)
        if not self.loss or not math.isfinite(self.loss):
            return RATIO, ratio
        if number in backward.cotangents:
            source, side = backward.cotangents[number]
            gradient = self.energies.get(source, NOTHING).operands[side]
            variance = gradient * ratio * energy.result / max(energy.count, 1.0)
            return LOSS, math.sqrt(variance) / abs(self.loss)
        for group in (self._of_weights, self._of_activations):
            if number in group:
                whole = sum(group.values())
                return GRADIENTS, ratio * group[number] / whole if whole else 0.0
        return RATIO, ratio

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
