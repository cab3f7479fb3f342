"""Values that a forward pass keeps rounded for its backward pass.

In f8, each 128 numbers along the last dimension have a power-of-two scale, as in COAT (arXiv
2410.19313, section 5); see `casts.blocks.moments`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import gcd, prod

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import READER_STEPS
from scalify_hlo.algebra.moments import block_length, scale_shape
from scalify_hlo.algebra.search import Search
from scalify_hlo.casts.blocks.moments import Packed, packed, unpacked
from scalify_hlo.casts.blocks.stochastic import Steps
from scalify_hlo.ir import emit
from scalify_hlo.ir.formats import element_of, element_type, format_of, is_small
from scalify_hlo.ir.traits import CASTING
from scalify_hlo.recipes.formats import canonical
from scalify_hlo.recipes.model import Recipe
from scalify_hlo.rules.placement import partitions_of


class KeptForm:
    """The form in which tolerant values are kept; see `transforms.residuals.Form`.

    Args:
        module: The module.
        recipe: The recipe, of which the options `activations` count.
    """

    def __init__(self, module: ir.Operation, recipe: Recipe) -> None:
        self._blocks = recipe.activations.saved == "f8"
        self._format = canonical("e4m3" if self._blocks else "bf16", recipe.target)
        self._stochastic = recipe.activations.rounding == "stochastic"
        self._steps, self._devices = Steps(module), partitions_of(module)

    def size(self, type_: ir.Type) -> int | None:
        """Returns the bytes of a value of a type; None if it is kept as it is."""
        element = element_type(type_)
        if not isinstance(element, ir.FloatType) or not type_.has_static_shape:
            return None
        shape = list(type_.shape)
        if is_small(type_) or 0 in shape or not shape:
            return None
        elements: int = prod(shape)
        return elements + prod(scale_shape(self._tiled(shape))) if self._blocks else 2 * elements

    def _tiled(self, shape: list[int]) -> list[int]:
        """Returns a shape whose last dimension has groups of which none is on several devices."""
        share, rest = divmod(shape[-1], self._devices)
        group = block_length(share)
        if self._devices == 1 or rest or not share % group:
            return shape
        return [*shape[:-1], shape[-1] // gcd(share, group), gcd(share, group)]

    def parts(self, value: ir.Value, at: ir.Operation) -> list[ir.Value]:
        """Returns what is kept of a value, built before an op."""
        if not self._blocks:
            return [emit.convert(value, element_of(self._format), at)]
        if isinstance(value.type.element_type, ir.F32Type) and not _is_cast(value):
            # XLA writes probabilities for the amax of groups and for the cast: in half of the
            # bytes. What the recipe casts to f8 it writes in any case.
            half = emit.convert(value, ir.BF16Type.get(), at)
            value = emit.op(at, "stablehlo.optimization_barrier", [half.type], [half]).results[0]
        value = emit.reshaped(value, self._tiled(list(value.type.shape)), at)
        salt = None
        if self._stochastic:
            salt = self._steps.word(emit.convert(value, ir.F32Type.get(), at), at)
        return list(packed(value, self._format, salt, at))

    def whole(self, parts: Sequence[ir.Value], type_: ir.Type, at: ir.Operation) -> ir.Value:
        """Returns a value of a type of what was kept of it, built before an op."""
        if len(parts) == 1:
            return emit.convert(parts[0], type_.element_type, at)
        value = unpacked(Packed(*parts), type_.element_type, at)
        return emit.reshaped(value, list(type_.shape), at)

    def bound(self, cast: ir.Operation) -> None:
        """Has a cast saturate, which did not overflow before its operand was rounded."""
        type_, format_ = cast.results[0].type, format_of(cast.results[0].type)
        if format_ is not None and is_small(type_):
            cast.operands[0] = emit.saturate(cast.operands[0], format_.max_finite, cast)


def _is_cast(value: ir.Value) -> bool:
    """Whether a recipe casts a value to f8."""

    def casts(each: ir.Value) -> Iterator[ir.Value]:
        for use in each.uses:
            if use.owner.name in CASTING:
                yield use.owner.results[0]

    found = islice(Search([value], casts), READER_STEPS)
    return any(is_small(each.type) for each in found)
