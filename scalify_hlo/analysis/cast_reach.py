"""The casts of a recipe whose data depend on the size of an argument."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import FLOW_VALUES
from scalify_hlo.algebra.search import Search
from scalify_hlo.analysis.frames import Place
from scalify_hlo.analysis.layers.model import NORMS
from scalify_hlo.dialect import attributes
from scalify_hlo.dialect.formats import format_of

_OF_DATA: Final = frozenset({attributes.DATA, attributes.GRADIENT})

_SIZELESS: Final = NORMS | {"softmax"}
"""The layers whose results have a size that does not depend on the inputs."""


def reaches_narrow_cast(start: Place) -> bool:
    """Whether a cast to a format of less range than f32 depends on the size of an argument.

    Data are followed through all ops except normalizations and softmaxes, whose results have a
    size that does not depend on that of the argument. If there are too many values to follow, the
    answer is yes.
    """
    search = Search([start], _after, limit=FLOW_VALUES)
    casts = (_is_narrow_cast(use.owner.operation) for value, _ in search for use in value.uses)
    return any(casts) or search.ended


def _is_narrow_cast(op: ir.Operation) -> bool:
    if attributes.CAST not in op.attributes:
        return False
    kind, format_ = op.attributes[attributes.CAST].value, format_of(op.results[0].type)
    return kind in _OF_DATA and format_ is not None and not format_.wide


def _after(place: Place) -> Iterator[Place]:
    """Yields the values that are made of a value, if they have a size."""
    value, frame = place
    for use in value.uses:
        moved = frame.passed_on(use, turns=True)
        if moved is None:
            owner = use.owner.operation
            layers = attributes.texts(owner.attributes.get(attributes.LAYER, ir.ArrayAttr.get([])))
            sized = [r for r in owner.results if format_of(r.type) is not None]
            moved = list(map(frame.place, sized)) if _SIZELESS.isdisjoint(layers) else []
        yield from moved
