"""Uncertainties of arguments inside of functions.

A function is rewritten once for many calls. So inside of it, the uncertainty of an argument is a
root that represents the uncertainty of the caller's value.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from scalify_hlo.algebra.limits import ROOMLESS
from scalify_hlo.algebra.scale import Scaled, ScaleInfo
from scalify_hlo.algebra.uncertainty import CERTAIN, CONSTANT, Root, Uncertainty, of_root

_NEGLIGIBLE: Final = 0.3
"""The largest uncertainty, in octaves, of a size that counts as certain."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The arguments of one call.

    Attributes:
        infos: The scale information inside of the function.
        key: A key that is equal for calls with the same decisions in the function.
        outside: The uncertainty in the caller for each root inside.
    """

    infos: list[ScaleInfo]
    key: Hashable
    outside: dict[Root, Uncertainty]


def parameters_of(infos: Sequence[ScaleInfo], *, casting: bool) -> Parameters:
    """Replaces the uncertainties of arguments by roots.

    Args:
        infos: The scale information of the operands of the call.
        casting: Whether the function has narrow values, whose scales depend on uncertainties.
    """
    inside: list[ScaleInfo] = []
    key: list[Hashable] = []
    outside: dict[Root, Uncertainty] = {}
    for info in infos:
        alike: Hashable = None
        if isinstance(info, Scaled):
            own = info.uncertainty
            if own.octaves > _NEGLIGIBLE:
                root = _rounded(own) if casting else Root(1.0, constant=own.constant)
                alike = root.deviation, root.misdeclared, root.in_powers, root.constant, root.peak
                outside[root] = own
                own = Uncertainty({root: 1.0})
            elif own is CONSTANT:
                alike = CONSTANT  # Other certain values have another key.
            else:
                own = CERTAIN
            info = info._replace(uncertainty=own)
        inside.append(info)
        key.append(alike)
    return Parameters(inside, tuple(key), outside)


def _rounded(own: Uncertainty) -> Root:
    """Returns the root of an argument; similar uncertainties have equal keys."""
    octaves = (own.octaves, own.in_powers, own.misdeclared)
    rounded = (min(round(4 * number) / 4 or 0.25, float(ROOMLESS)) for number in octaves)
    return Root(*rounded, constant=own.constant, peak=own.peak)


def returned(infos: Sequence[ScaleInfo], inner: Parameters, call: Parameters) -> list[ScaleInfo]:
    """Returns the scale information of a function's results with the uncertainties of one call.

    Args:
        infos: The scale information of the results of the body.
        inner: The arguments with which the body was rewritten.
        call: The arguments of the call.
    """
    names = dict(zip(inner.outside, call.outside.values(), strict=True))
    for info in infos:
        if isinstance(info, Scaled):
            for root in info.uncertainty.degrees:
                if root not in names:  # Each call makes its own root.
                    names[root] = of_root(root.deviation, constant=root.constant, peak=root.peak)
    return [
        info._replace(uncertainty=info.uncertainty.rooted_at(names))
        if isinstance(info, Scaled) and info.uncertainty.degrees
        else info
        for info in infos
    ]
