"""Uncertainties of arguments inside of the functions that they are passed to.

A function is walked once for many calls, so inside of it the uncertainty of an argument is a root
that stands for that of the caller's value.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Final

from scalify_hlo.algebra.limits import ROOMLESS
from scalify_hlo.algebra.scale import Scaled, ScaleInfo
from scalify_hlo.algebra.uncertainty import CERTAIN, CONSTANT, Root, Uncertainty, of_root

_NEGLIGIBLE: Final = 0.3
"""Octaves up to which a size counts as certain."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """The arguments of one call.

    Attributes:
        infos: As the function sees them.
        key: Equal for calls for which the function makes the same decisions.
        outside: The caller's uncertainty for each root inside.
    """

    infos: list[ScaleInfo]
    key: Hashable
    outside: dict[Root, Uncertainty]


def parameters_of(infos: Sequence[ScaleInfo], *, casting: bool) -> Parameters:
    """Gives arguments roots in the place of their uncertainties.

    Args:
        infos: Those of the call's operands.
        casting: Whether the function has narrow values, whose scales depend on how uncertain its
            arguments are.
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
                alike = CONSTANT  # unlike what is certain for other reasons
            else:
                own = CERTAIN
            info = info._replace(uncertainty=own)
        inside.append(info)
        key.append(alike)
    return Parameters(inside, tuple(key), outside)


def _rounded(own: Uncertainty) -> Root:
    """The root of an argument, for which calls that are about as uncertain are alike."""
    octaves = (own.octaves, own.in_powers, own.misdeclared)
    rounded = (float(min(math.ceil(number), ROOMLESS)) for number in octaves)
    return Root(*rounded, constant=own.constant, peak=own.peak)


def returned(infos: Sequence[ScaleInfo], inner: Parameters, call: Parameters) -> list[ScaleInfo]:
    """Returns the infos of a function's results with the uncertainties of one call.

    Args:
        infos: Those that its body returns.
        inner: The arguments with which its body was walked.
        call: Those of the call.
    """
    names = dict(zip(inner.outside, call.outside.values(), strict=True))
    for info in infos:
        if isinstance(info, Scaled):
            for root in info.uncertainty.degrees:
                if root not in names:  # each call makes its own
                    names[root] = of_root(root.deviation, constant=root.constant, peak=root.peak)
    return [
        info._replace(uncertainty=info.uncertainty.rooted_at(names))
        if isinstance(info, Scaled) and info.uncertainty.degrees
        else info
        for info in infos
    ]
