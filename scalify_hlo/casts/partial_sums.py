"""Sums of gradients of which several devices have parts, so that the parts are exchanged once.

    Y = G_1 W_1 + G_2 W_2,    G_i = G_id * G_is,    W_i = W_id * W_is

If the devices divide the dimension over which the matmuls sum, XLA adds their parts up right behind
each matmul, in an all-reduce. It adds the matmuls first only if no scale stands between. So the
gradients are cast once more, at scales with which all products of scales are equal:

    S = max_i(G_is * W_is);    G_i' = cast(G_i / (S / W_is));    Y = (G_1' W_1d + G_2' W_2d) * S

All scales are powers of two. S / W_is is at least G_is, so that no other data saturate than
before. It is larger if another summand is, and then the data that become subnormal, or zero,
hardly count in the sum. Delayed scales are of the past: if one gradient was far larger in the
history than it is now, the others lose small numbers as it does itself. The gradients of weights
read the casts at their own scales as before.

This holds for the gradients of activations that are read by several matmuls in tensor-parallel
training: gate and up of a gated MLP; query, key and value of attention.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Final, TypeAlias

import numpy as np

from scalify_hlo._compat import ir
from scalify_hlo.casts.casts import unwidened
from scalify_hlo.casts.exchanges import Exchanges
from scalify_hlo.casts.operand_scales import (
    Operand,
    QuantizeRequest,
    Quantizing,
    Rule,
    most_of,
    multiplied,
    times_powers,
)
from scalify_hlo.dataflow.matmuls import GRADIENT, WEIGHT
from scalify_hlo.ir import emit
from scalify_hlo.ir.calls import Calls
from scalify_hlo.ir.contraction import contraction_of
from scalify_hlo.ir.functions import callee_of, is_block, terminator
from scalify_hlo.ir.through import dims_through
from scalify_hlo.ir.value_map import ValueMap, ValueSet, erase, erase_unread, replace_uses
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.rules.emitter import Emitter
from scalify_hlo.rules.placement import argument_sharding, divided
from scalify_hlo.transforms.carries import carried_by

_ADD: Final = "stablehlo.add"
_DOT: Final = "stablehlo.dot_general"


Times: TypeAlias = Callable[[ir.Value], ir.Value]
"""Multiplies a sum with its scale."""


@dataclass(frozen=True)
class Product:
    """A quantized matmul of a gradient and a weight, and its result times their scales.

    Attributes:
        matmul: The matmul.
        side: The number of the operand that is the gradient.
        request: The request to quantize the gradient.
        gradient: The quantized gradient.
        weight: The quantized weight.
    """

    matmul: ir.Operation
    side: int
    request: QuantizeRequest
    gradient: Operand
    weight: Operand

    @property
    def value(self) -> ir.Value:
        """The gradient, as it is cast."""
        return unwidened(self.request.value)

    @property
    def kind(self) -> str:
        """The source of the scales: ``state``, ``static``, ``program``, or empty if they differ."""
        operands = self.gradient, self.weight
        if any(operand.channels is not None for operand in operands):
            return ""
        states = [operand.state is not None for operand in operands]
        if any(states):
            return "state" if all(states) else ""
        if all(operand.scale is None for operand in operands):
            return "static" if self.gradient.origin == "profile" else ""
        known = all(o.scale is not None and not o.exponents.any() for o in operands)
        return "program" if known else ""


class PartialSums:
    """The gradients of a module that are added, and that devices have parts of.

    Args:
        module: The module.
        recipe: The recipe, whose scales are powers of two.
        exchanges: The ops that casts stand before.
    """

    def __init__(self, module: ir.Operation, recipe: Recipe, exchanges: Exchanges) -> None:
        self._recipe, self._exchanges = recipe, exchanges
        self._divided = DividedDims(module)
        self._products: ValueMap[Product] = ValueMap()

    def note(
        self,
        value: ir.Value,
        result: ir.Value,
        roles: Sequence[str],
        requests: Sequence[QuantizeRequest],
        operands: Sequence[Operand],
    ) -> None:
        """Notes a quantized matmul.

        Args:
            value: The result times the scales of the operands.
            result: The result of the matmul.
            roles: The roles of the operands.
            requests: The requests to quantize them.
            operands: The quantized operands.
        """
        matmul = result.owner.operation
        if sorted(roles) != sorted((GRADIENT, WEIGHT)) or matmul.name != _DOT or value == result:
            return
        side = list(roles).index(GRADIENT)
        weight = unwidened(requests[1 - side].value)
        if self._divided.of(weight).isdisjoint(contraction_of(matmul.opview)[1 - side].summed):
            return
        made = Product(matmul, side, requests[side], operands[side], operands[1 - side])
        if made.kind:
            self._products[value] = made

    def join(self) -> None:
        """Gives the summands of each sum one scale."""
        for value in list(self._products):
            found = self._sum(value) if value in self._products else None
            if found is not None:
                self._join(found)

    def _sum(self, value: ir.Value) -> _Sum | None:
        """Returns the largest sum of noted products that a value is a summand of."""
        largest, reader = None, _only_reader(value)
        while reader is not None and reader.name == _ADD:
            found = self._summands(reader)
            if found is None:
                break
            largest = _Sum(reader, *found)
            reader = _only_reader(reader.results[0])
        products = [] if largest is None else [self._products[v] for v in largest.summands]
        kinds = {product.kind for product in products}
        blocks = [product.matmul.block for product in products]
        return largest if len(kinds) == 1 and all(b == blocks[0] for b in blocks) else None

    def _summands(self, add: ir.Operation) -> tuple[list[ir.Value], list[ir.Operation]] | None:
        """Returns the products that an addition adds up, and the additions before it."""
        summands, inner = list[ir.Value](), list[ir.Operation]()
        for operand in add.operands:
            if _only_reader(operand) is None:
                return None
            if operand in self._products:
                summands.append(operand)
                continue
            made = operand.owner
            found = None if is_block(made) or made.name != _ADD else self._summands(made.operation)
            if found is None:
                return None
            summands += found[0]
            inner += [*found[1], made.operation]
        return summands, inner

    def _join(self, found: _Sum) -> None:
        """Casts the gradients of a sum anew, and multiplies the sum with the scales."""
        top, products = found.top, [self._products[value] for value in found.summands]
        times = self._cast(products, top)
        for value, product in zip(found.summands, products, strict=True):
            product.matmul.move_before(top)
            (use,) = value.uses
            use.owner.operands[use.operand_number] = product.matmul.results[0]
            del self._products[value]
            _erase_product(value)
        for add in found.inner:
            add.move_before(top)
        added = emit.rebuilt(top, top.operands)
        replace_uses(top.results[0], times(added))
        erase(top)

    def _cast(self, products: Sequence[Product], at: ir.Operation) -> Times:
        """Casts the gradients of products with one scale, by which the sum is multiplied."""
        if products[0].kind == "static":
            exponents = [int(p.gradient.exponents + p.weight.exponents) for p in products]
            largest = max(exponents)
            for product, exponent in zip(products, exponents, strict=True):
                if exponent < largest:
                    mine = np.asarray(product.gradient.exponents + largest - exponent)
                    quantizing, _ = self._quantizing(product, at)
                    self._recast(product, quantizing.static(mine), at)
            return lambda value: times_powers(value, largest, at)
        most = most_of(products[0].matmul.results[0].type.element_type)
        rules = [*(partial(_inverse, i) for i in range(len(products))), partial(_product, most)]
        *inverses, scale = _computed(products, rules, at)
        for product, inverse in zip(products, inverses, strict=True):
            quantizing, source = self._quantizing(product, at)
            self._recast(product, quantizing.operand(source, inverse, inverse), at)
        return lambda value: emit.times(value, emit.convert(scale, value.type.element_type, at), at)

    def _quantizing(self, product: Product, at: ir.Operation) -> tuple[Quantizing, ir.Value]:
        """Returns the new cast of a gradient, and the value that is cast."""
        source = self._exchanges.source(product.value)
        return Quantizing(replace(product.request, value=source), self._recipe, before=at), source

    def _recast(self, product: Product, made: Operand, at: ir.Operation) -> None:
        """Makes a matmul read a new cast of its gradient."""
        data = self._exchanges.moved_before(product.value, made.data, at)
        product.matmul.operands[product.side] = data


@dataclass(frozen=True)
class _Sum:
    """A sum of products.

    Attributes:
        top: The last addition.
        summands: The products, times their scales.
        inner: The additions before, in the order of the program.
    """

    top: ir.Operation
    summands: list[ir.Value]
    inner: list[ir.Operation]


def _computed(
    products: Sequence[Product], rules: Sequence[Rule], at: ir.Operation
) -> list[ir.Value]:
    """Returns numbers that follow from the scales of gradients and then those of weights."""
    operands = [*(p.gradient for p in products), *(p.weight for p in products)]
    state = operands[0].state
    if state is not None:
        numbers = [operand.state.number for operand in operands if operand.state is not None]
        f32 = ir.F32Type.get()
        return [state.scales.computed(numbers, rule, f32, at) for rule in rules]
    scales = [operand.scale for operand in operands if operand.scale is not None]
    return Emitter(at, wide=False).kept_together(*(rule(scales, at) for rule in rules))


def _inverse(number: int, scales: Sequence[ir.Value], at: ir.Operation) -> ir.Value:
    """Returns the reciprocal of the new scale of a gradient: of the largest G_js * (W_js / W_is).

    A product of scales may be 0 or infinite in f32 where this is not.
    """
    emitter, half = Emitter(at, wide=False), len(scales) // 2
    gradients, weights = scales[:half], scales[half:]
    largest = gradients[number]
    for i in range(half):
        if i != number:
            ratio = emitter.divide(weights[i], weights[number])
            largest = emitter.maximum(largest, emitter.multiply(gradients[i], ratio))
    return emitter.divide(emitter.number(1.0), largest)


def _product(most: float, scales: Sequence[ir.Value], at: ir.Operation) -> ir.Value:
    """Returns the largest product of the scales of a gradient and its weight, at most a number."""
    half = len(scales) // 2
    pairs = zip(scales[:half], scales[half:], strict=True)
    return reduce(Emitter(at, wide=False).maximum, (multiplied(pair, most, at) for pair in pairs))


def _only_reader(value: ir.Value) -> ir.Operation | None:
    uses = list(value.uses)
    return uses[0].owner.operation if len(uses) == 1 else None


def _erase_product(value: ir.Value) -> None:
    """Erases a product with scales, and the ops on scales that only it read."""

    def is_of_scalars(op: ir.Operation) -> bool:
        return len(op.operands) > 0 and not any(value.type.rank for value in op.operands)

    operands = ValueSet(value.owner.operands)
    erase(value.owner)
    while operands:
        erase_unread(operands.popitem()[0], is_of_scalars)


# The dimensions of weights that devices divide, also where loops slice stacks of weights.


class DividedDims:
    """The dimensions of tensors that devices divide, as far as the program says.

    A sharding of Shardy is on an argument, or on a constraint. Ops between it and the tensor may
    slice, reshape, transpose or convert, and be in loops and functions that are called once.

    Args:
        module: The module.
    """

    def __init__(self, module: ir.Operation) -> None:
        self._calls = Calls(module)

    def of(self, value: ir.Value) -> set[int]:
        """Returns the dimensions of a tensor that devices divide; none if that is not known."""
        dims: list[int | None] = list(range(value.type.rank))
        entered: list[ir.Operation] = []  # The calls whose results were followed into functions.
        while True:
            sharding = _sharding(value)
            if sharding is not None:
                found = divided(sharding)
                return {i for i, dim in enumerate(dims) if dim in found}
            source = self._source(value, entered)
            if source is None:
                return set()
            value, places = source
            dims = [None if dim is None else places[dim] for dim in dims]

    def _source(
        self, value: ir.Value, entered: list[ir.Operation]
    ) -> tuple[ir.Value, Sequence[int | None]] | None:
        """Returns what a tensor is made of, and the dimension there of each of its dimensions."""
        whole: list[int | None] = list(range(value.type.rank))
        carried = carried_by(value)
        if carried is not None:
            return carried[1], whole
        if is_block(value.owner):
            given = self._given(value, entered)
            return None if given is None else (given, whole)
        op = value.owner.operation
        if op.name == "func.call":
            function = self._calls.functions[callee_of(op)]
            entered.append(op)
            end = terminator(function.regions[0].blocks[0])
            return end.operands[ir.OpResult(value).result_number], whole
        if op.name == "stablehlo.optimization_barrier":
            return op.operands[ir.OpResult(value).result_number], whole
        places = dims_through(op)
        return None if places is None else (op.operands[0], places)

    def _given(self, argument: ir.Value, entered: list[ir.Operation]) -> ir.Value | None:
        """Returns the operand of a call for an argument: of that entered, or of the only one."""
        function = argument.owner.owner
        if function.operation.name != "func.func":
            return None
        name, number = function.name.value, ir.BlockArgument(argument).arg_number
        if entered and callee_of(entered[-1]) == name:
            return entered.pop().operands[number]
        calls = self._calls.sites.get(name, [])
        return calls[0].operands[number] if len(calls) == 1 and not entered else None


def _sharding(value: ir.Value) -> ir.Attribute | None:
    """Returns the sharding that an argument or a constraint has."""
    if is_block(value.owner):
        return argument_sharding(value)
    placed = value.owner.name == "sdy.sharding_constraint"
    return value.owner.attributes["sharding"] if placed else None
