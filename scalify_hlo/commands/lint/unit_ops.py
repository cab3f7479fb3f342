"""Ops at which a model may depart from unit scale, and the functions that mend them there.

The kinds are those of table A.2 of the Unit Scaling paper: sums of products, activations, softmax
and attention, sums over rows, rows of a table, and residual connections.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import LINT_DEPTH, LOSS_CONE
from scalify_hlo.algebra.search import Search
from scalify_hlo.commands.lint.values import CARRIES, elements_of, number_of
from scalify_hlo.dataflow.matmuls import ACTIVATION, GRADIENT, WEIGHT
from scalify_hlo.dataflow.names import FORWARD, name_of
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import place_of_text
from scalify_hlo.ir.functions import maker
from scalify_hlo.ir.locations import source_location
from scalify_hlo.ir.monoid import is_sum
from scalify_hlo.ir.through import behind, readers
from scalify_hlo.ir.traits import ARITHMETIC, CONTRACTIONS, CONVOLUTIONS, DOTS
from scalify_hlo.ir.value_map import ValueSet
from scalify_hlo.layers.model import NORMS
from scalify_hlo.rules.contraction import contracted, window
from scalify_hlo.rules.unit_scaling import ACTIVATIONS

_ADD: Final = "stablehlo.add"
_MULTIPLY, _DIVIDE = "stablehlo.multiply", "stablehlo.divide"
_SCATTER, _REDUCE = "stablehlo.scatter", "stablehlo.reduce"
_SQRT: Final = "stablehlo.sqrt"
_EXPONENTIAL: Final = "stablehlo.exponential"
_ELEMENTWISE: Final = frozenset({*ARITHMETIC, *CARRIES, "stablehlo.tanh", "stablehlo.power"})
_SOFTMAX: Final = "softmax"
_OF_UNIT: Final = frozenset({"gelu", "silu", "relu"})
_GATES: Final = frozenset({"sigmoid"})
"""Activations whose mean is most of their result, and has to stay."""
_FACTOR: Final = "unit_factor"
"""The scope of the factors of `scalify_hlo.unit`, which their authors chose."""

RESULT: Final = "the result of this {}"
_OF_INPUT: Final = "the gradient of its input"
_OF_OPERAND: Final = "the gradient of its operand"
_OF_WEIGHT: Final = "the gradient of its weight"


class Kind(NamedTuple):
    """A kind of op at which a model may depart from unit scale.

    Attributes:
        noun: Its name, such as ``matmul``; the findings of a line are merged by it.
        what: The noun for its result, with a placeholder for the name.
        why: The reason for its size; may be empty.
        cure: The clause on the function that mends it; empty if its result only has to be followed.
        operand: The number of the operand whose size times 2^gain the result has; None if the
            prediction holds.
        gain: log2 of that factor; of a backward matmul, of the factor that its gradient has.
        inputs: The numbers of the operands that should have unit scale, but for that factor.
        expected: log2 of the rms of the result for such an input, if that is known. Without a cure,
            it is taken for granted.
    """

    noun: str
    what: str = RESULT
    why: str = ""
    cure: str = ""
    operand: int | None = None
    gain: float = 0.0
    inputs: tuple[int, ...] = ()
    expected: float | None = None


class Watched(NamedTuple):
    """An op at which a model may depart from unit scale.

    Attributes:
        kind: Its kind.
        after: log2 of the constants that multiply the result before anything else reads it.
        trusted: Whether a factor of `scalify_hlo.unit` is the last of them.
        backward: Whether the op is part of a backward pass.
        location: The source location.
        name: The name stack of the op.
    """

    kind: Kind
    after: float
    trusted: bool
    backward: bool
    location: str
    name: str


@dataclass
class Finder:
    """Finds the ops to watch, in program order.

    Attributes:
        linear: The places of matmuls and convolutions with a weight.
        averages: The places of matmuls with the probabilities of a softmax.
        factors: log2 of the constants by which the author multiplies their results, by place. JAX
            multiplies the gradients that their backward matmuls read by the same ones.
        trains: Whether the backward pass began.
    """

    linear: set[str] = field(default_factory=set)
    averages: set[str] = field(default_factory=set)
    factors: dict[str, float] = field(default_factory=dict)
    trains: bool = False

    def watched(self, op: ir.Operation) -> Watched | None:
        """Returns an op as it is watched; None if it does not change sizes."""
        if len(op.results) != 1:
            return None
        present = op.attributes
        if attributes.PART in present and present[attributes.PART].value != FORWARD:
            self.trains = True
        name = name_of(op)
        backward = self.trains or "transpose(" in name
        kind = self._kind(op, backward)
        if kind is None:
            return None
        after, trusted = _factors_after(op.results[0])
        if op.name in CONTRACTIONS and not backward and not trusted:
            self.factors[_place(op)] = after
        if backward and not trusted and kind.what in (_OF_INPUT, _OF_OPERAND):
            after = 0.0  # The constants are those of the op that made the input.
        return Watched(kind, after, trusted, backward, source_location(op.location), name)

    def _kind(self, op: ir.Operation, backward: bool) -> Kind | None:
        names = _layers(op, attributes.LAYER)
        if op.name in CONTRACTIONS:
            return self._contraction(op, backward)
        if _SOFTMAX in names and not backward:
            return _of_softmax(op)
        of_gradient = _layers(op, attributes.LAYER_GRADIENT)
        for name in (names | of_gradient) & ACTIVATIONS.keys() - _GATES:
            return _of_activation(name, name in of_gradient)
        if op.name == _SCATTER and backward:
            return _of_embedding(op)
        if op.name == _REDUCE and backward:
            return _of_rows(op)
        return _of_add(op, backward) if op.name == _ADD else None

    def _contraction(self, op: ir.Operation, backward: bool) -> Kind | None:
        place = _place(op)
        softmaxes = [_is_softmax(value, attributes.LAYER) for value in list(op.operands)[:2]]
        if any(softmaxes) and not backward:
            self.averages.add(place)
            return _of_average(op, softmaxes.index(True))
        scores = (_is_softmax(value, attributes.LAYER_GRADIENT) for value in op.operands)
        if backward and (place in self.averages or any(scores)):
            return Kind("attention", expected=0.0)
        roles = roles_of(op)
        if not backward and WEIGHT in roles:
            self.linear.add(place)
        kind = _of_products(op, roles, place in self.linear, backward)
        return kind._replace(gain=self.factors.get(place, 0.0) if backward else 0.0)


def _place(op: ir.Operation) -> str:
    """Returns the line and column of a matmul, which are those of its gradients too."""
    return place_of_text(source_location(op.location), "")


def roles_of(op: ir.Operation) -> list[str]:
    """Returns the roles of the operands of a matmul; none if it was not reached."""
    present = op.attributes
    return attributes.texts(present[attributes.ROLES]) if attributes.ROLES in present else []


def weights_of(
    ops: Iterable[ir.Operation], main: ir.Block
) -> Iterator[tuple[ir.BlockArgument, ir.Operation]]:
    """Yields the arguments of a block that are weights, each with the first op that reads it."""
    seen = ValueSet()
    for op in ops:
        for value, role in zip(op.operands, roles_of(op), strict=False):
            source = behind(value, CARRIES)
            if role == WEIGHT and source.owner == main and source not in seen:
                seen.add(source)
                yield ir.BlockArgument(source), op


def loss_of(op: ir.Operation) -> tuple[str, str]:
    """Returns the noun for the loss whose gradient an op computes, and the function that mends it.

    The gradient of a cross entropy has an exponential.
    """
    near = islice(
        Search(list(op.results), _up_to_matmuls, seen=ValueSet(), nearest=True), LOSS_CONE
    )
    if any((made := maker(value)) is not None and made.name == _EXPONENTIAL for value in near):
        return "cross entropy", "unit.cross_entropy"
    return "loss", "unit.identity"


def _up_to_matmuls(value: ir.Value) -> Sequence[ir.Value]:
    op = maker(value)
    return () if op is None or op.name in CONTRACTIONS else list(op.operands)


def _layers(op: ir.Operation, name: str) -> set[str]:
    return {*attributes.texts(op.attributes[name])} if name in op.attributes else set()


def _number(value: ir.Value) -> float | None:
    """Returns the number that all elements of a value are, or the root of one."""
    op = maker(behind(value, CARRIES))
    if op is not None and op.name == _SQRT:
        number = number_of(op.operands[0])
        return None if number is None or number < 0 else math.sqrt(number)
    return number_of(value)


def _factors_after(value: ir.Value) -> tuple[float, bool]:
    """Returns log2 of the constants by which a value is multiplied before all other uses.

    The first factor of `scalify_hlo.unit` ends them.

    Returns:
        The logarithm, and whether it ends with such a factor.
    """
    after = 0.0
    for _ in range(LINT_DEPTH):
        users = list(readers(value, CARRIES))
        if len(users) != 1:
            break
        op, place = users[0]
        if op.name in (_MULTIPLY, _DIVIDE):
            number = _number(op.operands[1 - place])
            if not number or (op.name == _DIVIDE and place):
                break
            after += math.log2(abs(number)) * (-1 if op.name == _DIVIDE else 1)
            if _FACTOR in name_of(op):
                return after, True
        elif not _keeps_all(op):
            break
        value = op.results[0]
    return after, False


def source_of(value: ir.Value, factor: float) -> ir.Value:
    """Returns the value of which another one is made by constants whose product is 2^factor."""
    source, left = value, factor
    for _ in range(LINT_DEPTH):
        if abs(left) < _ROUNDED:
            return source
        op = maker(behind(source, CARRIES))
        if op is None or op.name not in (_MULTIPLY, _DIVIDE):
            break
        numbers = [_number(each) for each in op.operands]
        place = 1 if op.name == _DIVIDE or numbers[1] else 0
        number = numbers[place]
        if not number:
            break
        left -= math.log2(abs(number)) * (-1 if op.name == _DIVIDE else 1)
        source = op.operands[1 - place]
    return value


_ROUNDED: Final = 2.0**-6
"""The octaves by which factors that are rounded to bf16 and more digits may differ."""


def _of_products(op: ir.Operation, roles: Sequence[str], linear: bool, backward: bool) -> Kind:
    terms = window(op) if op.name in CONVOLUTIONS else contracted(op) if op.name in DOTS else None
    why = f"a sum of {terms} products" if terms else "a sum of products"
    noun, function = "matmul", "linear" if linear else "matmul"
    if op.name in CONVOLUTIONS:
        noun, function = "convolution", "conv"
    of = _OF_OPERAND if not linear else _OF_INPUT if WEIGHT in roles else _OF_WEIGHT
    what = of if backward else RESULT
    read = GRADIENT if backward else ACTIVATION
    inputs = tuple(i for i, role in enumerate(roles) if role == read)
    return Kind(noun, what, why, f"unit.{function} divides by sqrt({terms or 'K'})", inputs=inputs)


def _of_activation(name: str, backward: bool) -> Kind:
    activation = ACTIVATIONS[name]
    function = f"unit.{name}" if name in _OF_UNIT else f"unit.scaled({name}, ...)"
    factor = activation.backward if backward else activation.forward
    expected = activation.gradient_size if backward else activation.size()
    cure = f"{function} multiplies by {factor:.3g}"
    return Kind(name, _OF_INPUT if backward else RESULT, "", cure, expected=expected)


def _of_softmax(op: ir.Operation) -> Kind | None:
    """Watches a softmax that is no part of attention."""
    divisor = behind(op.operands[-1], CARRIES)
    terms = elements_of(op.results[0]) // max(elements_of(divisor), 1)
    if any(user.name in CONTRACTIONS for user, _ in readers(op.results[0], CARRIES)):
        return None
    cure = f"unit.softmax multiplies by {terms}/sqrt(e)"
    return Kind(_SOFTMAX, RESULT, f"{terms} probabilities", cure)


def _of_average(op: ir.Operation, softmax: int) -> Kind | None:
    """Watches the mean of values by the probabilities of a softmax, whose p² have the sum e / s."""
    terms = contracted(op) if op.name in DOTS else None
    if not terms:
        return None
    gain = min(math.log2(math.e / terms) / 2, 0.0)
    cure = f"unit.attention multiplies by sqrt({terms}/e), and the gradients too"
    return Kind("attention", RESULT, f"a mean over {terms} keys", cure, 1 - softmax, gain)


def _is_softmax(value: ir.Value, mark: str) -> bool:
    """Whether a value is a softmax, or the gradient of one, times constants; masked perhaps."""
    for _ in range(LINT_DEPTH):
        op = maker(behind(value, CARRIES))
        if op is None or _SOFTMAX in _layers(op, mark):
            return op is not None
        masks = op.name == "stablehlo.select"
        if not masks and op.name not in (_MULTIPLY, _DIVIDE):
            return False
        kept = [each for each in list(op.operands)[masks:] if _number(each) is None]
        if len(kept) != 1:
            return False
        value = kept[0]
    return False


def _of_embedding(op: ir.Operation) -> Kind | None:
    """Watches the gradient of a table: rows of updates that are added to zeros."""
    table, updates = op.operands[0], op.operands[-1]
    inner = [each.operation.name for each in op.regions[0].blocks[0].operations]
    if _ADD not in inner or number_of(table) != 0 or table.type.rank < 2:
        return None
    rows, width = table.type.shape[0], math.prod(table.type.shape[1:])
    if updates.type.shape[-1:] != table.type.shape[-1:] or min(rows, width) <= 0:
        return None
    count = elements_of(updates) // width
    cure = f"unit.embedding multiplies by sqrt({rows}/{count})"
    return Kind("embedding", "the gradient of the table", f"{count} rows of {rows}", cure)


def _of_rows(op: ir.Operation) -> Kind | None:
    """Watches the gradient of a bias or a gain, which is a sum over rows that is not spread."""
    dims = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    shape = op.operands[0].type.shape
    rows = math.prod(shape[d] for d in dims if shape[d] > 0)
    if not is_sum(op) or 0 not in dims or not op.results[0].type.rank or rows == 1:
        return None
    later = islice(Search([op.results[0]], _read_elementwise, seen=ValueSet()), LINT_DEPTH)
    if any(elements_of(value) > elements_of(op.results[0]) for value in later):
        return None
    cure = f"unit.linear, unit.layer_norm and unit.rms_norm divide by sqrt({rows})"
    return Kind("bias or gain", "the gradient of a {}", f"a sum of {rows} rows", cure)


def _read_elementwise(value: ir.Value) -> Iterator[ir.Value]:
    users = (use.owner.operation for use in value.uses)
    passed = (op for op in users if op.name in _ELEMENTWISE or _keeps_all(op))
    return (result for op in passed for result in op.results)


def _keeps_all(op: ir.Operation) -> bool:
    """Whether an op is a reduction over dimensions of size 1, which jax writes for a reshape."""
    return op.name == _REDUCE and elements_of(op.operands[0]) == elements_of(op.results[0])


def _of_add(op: ir.Operation, backward: bool) -> Kind | None:
    """Watches sums of activations; a bias is zero at initialization, and does not change a size."""
    if any(number_of(value) is not None for value in op.operands):
        return None
    for place, value in enumerate(op.operands):
        if _is_bias(value):
            return Kind("bias", operand=1 - place)
    if backward:
        return Kind("sum of gradients")
    lhs, rhs = op.operands
    if not (_is_branch(lhs) or _is_branch(rhs)) or _made_of(lhs, rhs) or _made_of(rhs, lhs):
        return None
    cure = "unit.residual_add and unit.weighted_add keep unit scale"
    return Kind("residual add", RESULT, "a sum of 2 values", cure)


def _is_bias(value: ir.Value) -> bool:
    """Whether a value is a vector, or is spread over several dimensions, as positions are not."""
    source, spread = value, 0
    while (op := maker(source)) is not None and op.name in CARRIES:
        before, after = op.operands[0].type.shape, op.results[0].type.shape
        if op.name == "stablehlo.broadcast_in_dim":
            spread += sum(n != 1 for n in after) - sum(n != 1 for n in before)
        source = op.operands[0]
    return spread > 1 or (spread == 1 and source.type.rank <= 1)


def _is_branch(value: ir.Value) -> bool:
    """Whether a value is the result of a matmul or a layer, with a bias and a factor perhaps."""
    for _ in range(LINT_DEPTH):
        op = maker(behind(value, CARRIES))
        if op is None:
            return False
        if op.name in CONTRACTIONS or _layers(op, attributes.LAYER) & (NORMS | ACTIVATIONS.keys()):
            return True
        if op.name not in (_ADD, _MULTIPLY, _DIVIDE):
            return False
        kept = [v for v in op.operands if behind(v, CARRIES).type.rank > 1]
        if len(kept) != 1:
            return False
        value = kept[0]
    return False


def _made_of(value: ir.Value, source: ir.Value) -> bool:
    """Whether a value is computed element by element of another one, as in ``x + x ** 3``."""
    source = behind(source, CARRIES)
    near = islice(Search([value], _elementwise, seen=ValueSet(), nearest=True), LINT_DEPTH)
    return any(found == source for found in near)


def _elementwise(value: ir.Value) -> Sequence[ir.Value]:
    op = maker(value)
    return () if op is None or op.name not in _ELEMENTWISE else list(op.operands)
