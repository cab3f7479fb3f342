"""Factors of matmuls of which devices have parts, behind the exchange of the parts.

    X_1 c + X_2 c = (X_1 + X_2) c,    place(X c) = place(X) c

X_i is a matmul of f8 operands, or a sum of such, and place is a change of sharding. If the devices
divide the dimension that a matmul sums over, XLA adds their parts up right behind it. It adds up
the parts of a sum only once, and leaves each device only its part of the result, if no product
stands between. In the first line c is a power of two, and X_i is f32 or bf16, so that both sides
have the same significands. They may differ only if data or their product with c leave the range of
normal numbers. Sums of products of f8 numbers do not, and what is rounded to a subnormal number is
below 2^-126. In f16, X_1 + X_2 could be infinite.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from scalify_hlo._compat import ir
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import element_type, is_real, is_small
from scalify_hlo.ir.functions import is_block
from scalify_hlo.ir.splats import filled_with
from scalify_hlo.ir.value_map import ValueSet, erase, replace_uses
from scalify_hlo.ir.walk import ops_in

_ADD: Final = "stablehlo.add"
_DOT: Final = "stablehlo.dot_general"
_PLACE: Final = "sdy.sharding_constraint"


class _Scaled(NamedTuple):
    """A tensor X and its product with a factor, which is the same for all elements."""

    value: ir.Value
    factor: ir.Value
    product: ir.Operation


class LateFactors:
    """Moves factors of matmuls behind sums and changes of sharding, in the order of the program."""

    def __init__(self) -> None:
        self._sums = ValueSet()

    def move(self, module: ir.Operation) -> None:
        """Moves all factors of a module."""
        for op in ops_in(module, (_ADD, _PLACE), outer_first=True):
            if op.name == _PLACE or not self._is_small_add(op):
                self._late(op)

    def _is_small_add(self, op: ir.Operation) -> bool:
        """Whether an addition is a sum of matmuls without factors, or in f16."""
        if all(map(self._is_sum, op.operands)):
            self._sums.add(op.results[0])
            return True
        return isinstance(element_type(op.results[0].type), ir.F16Type)

    def _late(self, op: ir.Operation) -> None:
        """Replaces an op on values times one factor by its result without it, times the factor."""
        found = [each for value in op.operands if (each := self._scaled(value)) is not None]
        powers = {_power(each.factor) for each in found}
        alike = len(found) == 1 or (len(powers) == 1 and None not in powers)
        if len(found) < len(op.operands) or not alike:
            return
        made = emit.rebuilt(op, [each.value for each in found])
        self._sums.add(made)
        replace_uses(op.results[0], emit.multiply(made, found[0].factor, op))
        erase(op)
        for each in found:
            erase(each.product)

    def _scaled(self, value: ir.Value) -> _Scaled | None:
        """Returns a matmul, or what was made of some, that only one op reads times a factor."""
        product = value.owner
        if is_block(product) or product.name != "stablehlo.multiply" or len(list(value.uses)) != 1:
            return None
        for data, factor in (product.operands, list(product.operands)[::-1]):
            if self._is_sum(data) and len(list(data.uses)) == 1 and _is_scalar(factor):
                return _Scaled(data, factor, product.operation)
        return None

    def _is_sum(self, value: ir.Value) -> bool:
        """Whether a value is a matmul of f8 operands, or a sum of such."""
        return value in self._sums or _is_small_dot(value)


def _is_small_dot(value: ir.Value) -> bool:
    owner = value.owner
    if is_block(owner) or owner.name != _DOT:
        return False
    return all(is_small(operand.type) for operand in owner.operands)


def _is_scalar(factor: ir.Value) -> bool:
    """Whether all elements of a tensor are the same."""
    owner = factor.owner
    if is_block(owner):
        return False
    if owner.name == "stablehlo.broadcast_in_dim":
        return not owner.operands[0].type.rank
    return _power(factor) is not None


def _power(factor: ir.Value) -> float | None:
    """Returns the power of two that fills a constant; None if it is no such constant."""
    number = filled_with(factor) if is_real(factor.type) else None
    exact = number is not None and math.isfinite(number) and math.frexp(number)[0] == 0.5
    return number if exact else None
