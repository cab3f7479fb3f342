"""The gradients that a program holds with respect to the results of its matmuls.

The backward matmuls of ``Y = A . B`` are ``dA = dY . B`` and ``dB = dY . A``. Both have the
gradient of ``Y`` as an operand.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from scalify_hlo._compat import ir
from scalify_hlo.analysis.frames import named
from scalify_hlo.analysis.matmuls import Matmul, Walk
from scalify_hlo.analysis.names import BACKWARD, FORWARD
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.calls import functions_in
from scalify_hlo.dialect.functions import main_function


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
