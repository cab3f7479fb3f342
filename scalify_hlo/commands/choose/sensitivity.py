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

The energy of a tensor is the sum of its squares.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np

from scalify_hlo._compat import ir, stablehlo
from scalify_hlo.commands.choose.operand_errors import (
    RESULT,
    CastError,
    following,
    matmuls_of,
    squares,
)
from scalify_hlo.commands.choose.results import LARGEST
from scalify_hlo.commands.stats.packing import Added
from scalify_hlo.dataflow.frames import named
from scalify_hlo.dataflow.matmuls import Matmul, Walk
from scalify_hlo.dataflow.names import BACKWARD, FORWARD
from scalify_hlo.dialect import attributes
from scalify_hlo.ir import emit
from scalify_hlo.ir.calls import functions_in
from scalify_hlo.ir.formats import is_real
from scalify_hlo.ir.functions import main_function
from scalify_hlo.program.tensors import Array


@dataclass(frozen=True, slots=True)
class Energy:
    """The energies of a matmul, over all its calls.

    Attributes:
        operands: The energies of its operands.
        result: The energy of its result.
        count: The number of elements of its result.
    """

    operands: tuple[float, float]
    result: float
    count: float

    def __add__(self, other: Energy) -> Energy:
        """Returns the energies of two calls together."""
        lhs, rhs = self.operands
        more, others = other.operands
        return Energy(
            (lhs + more, rhs + others), self.result + other.result, self.count + other.count
        )


NOTHING: Final = Energy((0.0, 0.0), 0.0, 0.0)
"""The energies of no call."""


def measure_energies(main: ir.OpView, wanted: Container[int]) -> tuple[Added, list[int]]:
    """Makes a function return the energies of its matmuls.

    Args:
        main: A function with numbered ops, in which calls were inlined. It is edited.
        wanted: The numbers of the ops that are measured, if their operands and result are real.

    Returns:
        The energies that were added, and the number of the op of each.
    """
    added, numbers = Added(), list[int]()
    for number, op in matmuls_of(main):
        values = [*list(op.operands)[:2], op.results[0]]
        if number in wanted and all(is_real(value.type) for value in values):
            numbers.append(number)
            added.add(_energies(op, values), "add")
    added.finish(main)
    return added, numbers


def _energies(op: ir.Operation, values: Sequence[ir.Value]) -> ir.Value:
    """Returns the energies of three tensors and the size of the last one, as ``f32[4]``."""
    at = following(op)
    one = ir.RankedTensorType.get([1], ir.F32Type.get())
    size = emit.constant(one, math.prod(values[-1].type.shape), at)
    parts = [squares(emit.convert(value, ir.F32Type.get(), at), at) for value in values]
    return stablehlo.concatenate(
        [*parts, size], 0, **emit.before(at)
    )  # fmt: skip


def energies_of(rows: Sequence[Array], numbers: Sequence[int]) -> Mapping[int, Energy]:
    """Returns the energies of a run by the numbers of ops.

    Args:
        rows: The energies that were added.
        numbers: The measured ops.
    """
    found: dict[int, Energy] = {}
    for number, row in zip(numbers, rows, strict=True):
        lhs, rhs, result, count = np.asarray(row, np.float64).tolist()
        found[number] = found.get(number, NOTHING) + Energy((lhs, rhs), result, count)
    return found


# The gradients that a program holds with respect to the results of its matmuls.
#
# The backward matmuls of ``Y = A . B`` are ``dA = dY . B`` and ``dB = dY . A``. Both have the
# gradient of ``Y`` as an operand.


@dataclass(frozen=True)
class Backward:
    """The backward pass of a program, by the numbers of its ops.

    Attributes:
        cotangents: For each forward matmul: the number of a matmul with the gradient of its result,
            and the number of the operand that is the gradient.
        weights: The backward matmuls whose results are gradients of weights.
        activations: For each other backward matmul whose result is a gradient of an operand of a
            forward one: the number of that matmul, and the number of the operand.
    """

    cotangents: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    weights: frozenset[int] = frozenset()
    activations: Mapping[int, tuple[int, int]] = field(default_factory=dict)


def backward_of(module: ir.Module) -> Backward:
    """Returns the backward pass of a program with numbered ops.

    Args:
        module: The program, which is not edited.
    """
    with module.context:
        main = main_function(module.operation)
        if main is None or not main.regions[0].blocks:
            return Backward()
        walk = Walk(functions_in(module.operation))
        walk.main(main, named(main.regions[0].blocks[0]))
        found = _read(walk.matmuls)
        walk.release()
    return found


def _read(matmuls: Sequence[Matmul]) -> Backward:
    cotangents: dict[int, tuple[int, int]] = {}
    weights, activations = set[int](), dict[int, tuple[int, int]]()
    for matmul in matmuls:
        if matmul.part != BACKWARD:
            continue
        number, partner = _number(matmul), matmul.partner
        if partner is None:
            continue
        cotangents.setdefault(_number(partner), (number, matmul.gradients.index(True)))
        if matmul.is_of_weight:
            weights.add(number)
        else:
            activations[number] = _number(partner), 1 - matmul.shared
    _add_recomputed(matmuls, cotangents)
    return Backward(cotangents, frozenset(weights), activations)


def _add_recomputed(matmuls: Sequence[Matmul], cotangents: dict[int, tuple[int, int]]) -> None:
    """Adds the gradients of matmuls that the backward pass recomputes.

    The backward matmuls share the operands of the recomputed matmul. The result of the first one
    has the same gradient.
    """
    known = {
        _weight_of(each): cotangents[_number(each)]
        for each in matmuls
        if each.weight is not None and _number(each) in cotangents
    }
    for each in matmuls:
        if each.part == FORWARD and each.weight is not None and _weight_of(each) in known:
            cotangents.setdefault(_number(each), known[_weight_of(each)])


def _weight_of(matmul: Matmul) -> tuple[object, ...]:
    return matmul.origins[matmul.weight or 0], str(matmul.op.results[0].type)


def _number(matmul: Matmul) -> int:
    number: int = ir.IntegerAttr(matmul.op.attributes[attributes.VALUE_NUMBER]).value
    return number


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
