"""Calibrated scales: static scales that follow from a profile of the operands.

Operands of one kind, such as those of equal layers, share the largest of their scales, if the
profile says that this costs little accuracy. XLA compiles the kernels of equal layers once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

import numpy as np

from scalify_hlo.algebra.limits import ENCODED_BOUND, MOST_OBSERVED_MEMBERS
from scalify_hlo.casts.channels import independent
from scalify_hlo.casts.constant_operands import ConstantOperands
from scalify_hlo.casts.matmuls import SIDES, Site, member_names
from scalify_hlo.casts.operand_scales import Operand, OperandPlace, QuantizeRequest, Quantizing
from scalify_hlo.casts.own_scales import OwnScales
from scalify_hlo.casts.strategy import CastContext
from scalify_hlo.errors import InputError, Remark, UsageError, nearest
from scalify_hlo.ir.locations import remark
from scalify_hlo.ir.value_map import ValueCache, ValueSet
from scalify_hlo.profile.model import METHODS, Profile, TensorProfile
from scalify_hlo.recipes.model import Scaling
from scalify_hlo.report.model import Report

SHARING = 0.1
"""The largest loss of signal-to-noise ratio of an operand by a shared scale, in dB."""

Kind: TypeAlias = tuple[Hashable, ...]
"""The type of an operand, the type of its matmul, and the side of the operand."""


class Calibrated(OwnScales):
    """Scales from a profile.

    If a weight has a scale for each output channel, these follow from its own values. This needs a
    constant of the program. For other weights, a profile has no statistics of channels, and the
    weight has one scale.

    Args:
        context: The program.
        profile: The profile of the program.
        names: The names of the operands in the profile.
    """

    def __init__(
        self, context: CastContext, profile: Profile, names: ValueCache[Sequence[str]]
    ) -> None:
        super().__init__(context)
        self._constants = ConstantOperands(context.module, context.recipe)
        self._profile, self._names = profile, names
        self._methods = Methods(context.recipe.scaling, names)
        self._kinds: ValueCache[Kind] = ValueCache()
        self._kinds.update((place, _kind(place)) for place in names)
        self._alike: dict[Kind, list[TensorProfile]] = {}
        for place, kind in self._kinds.items():
            self._alike.setdefault(kind, []).extend(self._seen(place)[:1])
        self._shared: dict[tuple[Kind, str, str], int] = {}
        self._sharing: list[Remark] = []

    def operand(self, request: QuantizeRequest) -> Operand:
        """See `OwnScales`."""
        names = self._names[request.place]
        found = self._seen(request.place)
        if not found:
            raise InputError(
                f"the profile has no tensor {names[0]!r}",
                location=self._profile.name,
                hint="make a new one with `scalify-hlo calibrate` of this version",
            )
        exponent = self._exponent(request, found[0])
        constant = self._constants.operand(request, exponent)
        if constant is not None:
            return constant
        members = self._of_members(request)
        if members is not None:
            return members
        return Quantizing(request.whole, self._recipe).static(np.asarray(exponent))

    def _of_members(self, request: QuantizeRequest) -> Operand | None:
        """Returns an operand with a scale for each member; None if the profile has none of them."""
        result, side = request.place
        op, tensors = result.owner, self._profile.tensors
        dims = independent(op.opview, side, each=False)
        if dims is None:
            return None
        every = (member_names(name, op.operation, side) for name in self._names[request.place])
        names = next((each for each in every if each and tensors.keys() >= {*each}), None)
        if names is None:
            message = "members share the scales of the profile"
            self._sharing.append(remark(op, message, _SHARED))
            return None
        method = self._methods.of(request.place)
        exponents = [self._own(tensors[name], method, request.format) for name in names]
        shape = [request.value.type.shape[dim] for dim in dims.dims]
        request = replace(request, channels=dims)
        return Quantizing(request, self._recipe).static(np.reshape(exponents, shape))

    def _own(self, tensor: TensorProfile, method: str, format_: str) -> int:
        """Returns log2 of the scale of a tensor by itself."""
        scaling = self._recipe.scaling
        exponent = tensor.exponent(method, format_, percent=scaling.percentile)
        return max(-ENCODED_BOUND, min(ENCODED_BOUND, exponent + scaling.margin))

    def _seen(self, place: OperandPlace) -> list[TensorProfile]:
        """Returns the statistics of an operand, under each name that it has in the profile."""
        tensors = self._profile.tensors
        return [tensors[name] for name in self._names[place] if name in tensors]

    def _exponent(self, request: QuantizeRequest, seen: TensorProfile) -> int:
        """Returns log2 of an operand's scale: that of its kind, unless its own is more accurate."""
        format_, method = request.format, self._methods.of(request.place)
        key = self._kinds[request.place], format_, method
        if key not in self._shared:
            every = self._alike[key[0]]
            self._shared[key] = max(self._own(tensor, method, format_) for tensor in every)
        exponent, shared = self._own(seen, method, format_), self._shared[key]
        if exponent == shared:
            return exponent
        allowed = 10 ** (SHARING / 10) * seen.mse(exponent, format_)
        return shared if seen.mse(shared, format_) <= allowed else exponent

    def finish(self, report: Report) -> None:
        """Erases the constants without uses, and says whether members share a scale."""
        super().finish(report)
        self._constants.clean()
        report.remarks += self._sharing[:1]


_SHARED: Final = (
    f"make a new profile; use fp8-current for more than {MOST_OBSERVED_MEMBERS} members"
)


def _kind(place: OperandPlace) -> Kind:
    result, side = place
    return result.owner.operands[side].type, result.type, side


class Methods:
    """The methods of a recipe, by patterns of matmuls and their operands.

    A tensor that is an operand of several matmuls has the method of the last pattern that matches
    one of them.

    Args:
        scaling: The options.
        places: The operands of the matmuls of the program.

    Raises:
        UsageError: An item is not ``pattern=method``, or its pattern matches no operand.
    """

    def __init__(self, scaling: Scaling, places: Iterable[OperandPlace]) -> None:
        self._default = scaling.method
        self._chosen: ValueCache[str] = ValueCache()
        sites = {place: Site.of(place[0].owner) for place in places} if scaling.methods else {}
        tensors = {(result, side): result.owner.operands[side] for result, side in sites}
        for text in scaling.methods:
            pattern, method = _parsed(text)
            matmul, _, end = pattern.rpartition(":")
            found = ValueSet(
                tensors[place]
                for place, site in sites.items()
                if site.is_matched(matmul if end == SIDES[place[1]] else pattern)
            )
            if not found:
                known = dict.fromkeys(name for site in sites.values() for name in site.names)
                raise UsageError(
                    f"scaling.methods {pattern!r} matches no operand{nearest(pattern, known)}",
                    hint="patterns are those of matmul.exclude, and may end in :lhs or :rhs",
                )
            chosen = (place for place, tensor in tensors.items() if tensor in found)
            self._chosen.update((place, method) for place in chosen)

    def of(self, place: OperandPlace) -> str:
        """Returns the method of an operand."""
        return self._chosen.get(place, self._default)


def _parsed(text: str) -> tuple[str, str]:
    pattern, sign, method = text.rpartition("=")
    if not sign or method not in METHODS:
        raise UsageError(
            f"{text!r} in scaling.methods gives no method{nearest(method, METHODS)}",
            hint=f"write pattern=method, as in '*mlp*=mse'; the methods are: {', '.join(METHODS)}",
        )
    return pattern, method
