"""Flow: what a program computes from an argument."""

from __future__ import annotations

from collections.abc import Mapping

from scalify_hlo.analysis.frames import Place
from scalify_hlo.analysis.reach import rank_of


def flow_of(starts: Mapping[Place, int]) -> dict[Place, int]:
    """Returns the tensors that are computed from several arguments.

    The search ends at scalars: a norm of all gradients, by which they are clipped, depends on each
    argument, and each result depends on the norm. The search also ends at the end of a loop's body,
    as the model of the next iteration depends on the results of the optimizer.

    Args:
        starts: A set of bits for each argument.

    Returns:
        For each value that depends on an argument, the arguments as a set of bits.
    """
    found: dict[Place, int] = {}
    for start, bits in starts.items():
        waiting = [start]
        while waiting:
            place = waiting.pop()
            known = found.get(place, 0)
            if known & bits:
                continue
            found[place] = known | bits
            waiting += _computed_from(place)
    return found


def _computed_from(place: Place) -> list[Place]:
    value, frame = place
    found: list[Place] = []
    for use in value.uses:
        moved = frame.passed_on(use)
        found += map(frame.place, use.owner.operation.results) if moved is None else moved
    return [part for part in found if rank_of(part[0]) > 0]
