"""The uncertainty of the predicted sizes of a loop's carries.

An iteration computes a carry of degree d in itself, from other values with an uncertainty of o
octaves. For d below 1, the errors of iterations converge to ``o / (1 - d)``. For d = 1 they add up.
The size of a carry that multiplies itself cannot be predicted.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from scalify_hlo._compat import ir
from scalify_hlo.algebra.limits import (
    ASSUMED_TURNS,
    HANDED_CARRIES,
    HIGHEST_DEGREE,
    ROOMLESS,
    UNBOUNDED,
)
from scalify_hlo.algebra.runtime_size import RuntimeSize
from scalify_hlo.algebra.scale import Scaled, ScaleInfo
from scalify_hlo.algebra.search import Search
from scalify_hlo.algebra.uncertainty import UNKNOWN, Root, Uncertainty, of_root, renamed
from scalify_hlo.dataflow.frames import Named
from scalify_hlo.dataflow.turns import turns_of
from scalify_hlo.dialect import attributes
from scalify_hlo.ir.formats import is_narrow
from scalify_hlo.ir.functions import callee_of, terminator
from scalify_hlo.ir.traits import WRITES

_CONVERGES: Final = 0.75
"""The degree up to which errors of iterations are assumed to converge."""

_SQUARE: Final = 1.01
"""The degree above which a carry multiplies itself."""


def has_narrow_values(blocks: Iterable[ir.Block], functions: Collection[str] = ()) -> bool:
    """Whether sizes are needed in a block, for narrow floats or casts of a recipe.

    Args:
        blocks: Blocks, any of which may need sizes.
        functions: The functions in which sizes are needed.
    """
    known: dict[ir.Type, bool] = {}
    return any(_has_narrow(block, functions, known) for block in blocks)


def make_narrow_values(ops: Iterable[Named]) -> bool:
    """Whether sizes are needed for one of several ops; the ops in their regions do not count."""
    known: dict[ir.Type, bool] = {}
    return any(_makes_narrow(name, op, (), known) for name, op in ops)


def _has_narrow(block: ir.Block, functions: Collection[str], known: dict[ir.Type, bool]) -> bool:
    for op in block.operations:
        operation = op.operation
        if _makes_narrow(operation.name, operation, functions, known):
            return True
        for region in operation.regions:
            if any(_has_narrow(inner, functions, known) for inner in region.blocks):
                return True
    return False


def _makes_narrow(
    name: str, op: ir.Operation, functions: Collection[str], known: dict[ir.Type, bool]
) -> bool:
    if attributes.CAST in op.attributes:
        return True
    if name == "func.call" and callee_of(op) in functions:
        return True
    results = op.results
    for i in range(len(results)):  # The list is slow to iterate over.
        type_ = results[i].type
        narrow = known.get(type_)
        if narrow is None:
            narrow = known[type_] = is_narrow(type_)
        if narrow:
            return True
    return False


def entered(infos: Sequence[ScaleInfo]) -> tuple[list[ScaleInfo], list[Root | None]]:
    """Returns the scale information of carries at the start of an iteration, each with a root.

    Returns:
        The scale information of each carry, and its root if it has one.
    """
    inside: list[ScaleInfo] = []
    roots: list[Root | None] = []
    for info in infos:
        root = None
        if isinstance(info, Scaled):
            root = renamed(info.uncertainty)
            info = info._replace(uncertainty=Uncertainty({root: 1.0}))
        inside.append(info)
        roots.append(root)
    return inside, roots


def after_turns(
    op: ir.Operation,
    infos: Sequence[ScaleInfo],
    ends: Sequence[ScaleInfo],
    roots: Sequence[Root | None],
) -> list[Uncertainty | None]:
    """Returns the uncertainty of carries after a loop; None if no size is predicted.

    Args:
        op: The loop.
        infos: The scale information of the carries on entry.
        ends: The scale information of the carries after one iteration.
        roots: The root of each carry in that iteration.
    """
    courses = _courses(infos, ends, roots, assumed_turns(op))
    return _fed([course and course.after() for course in courses], ends, roots)


def in_turns(
    op: ir.Operation,
    infos: Sequence[ScaleInfo],
    ends: Sequence[ScaleInfo],
    roots: Sequence[Root | None],
    *,
    predicts: bool,
) -> tuple[list[ScaleInfo], list[Uncertainty | None]]:
    """Returns the scale information of carries that holds at the start of every iteration.

    Before the last iteration, one iteration less has made errors. The level of a carry whose size
    changes is in the middle of its sizes, which are at most half of their range away from it.

    Args:
        op: The loop.
        infos: The scale information of the carries on entry.
        ends: The scale information of the carries after one iteration.
        roots: The root of each carry in that iteration.
        predicts: Whether sizes are predicted; otherwise levels are whole numbers.

    Returns:
        That, and the uncertainty after the loop of each carry whose errors add up.
    """
    courses = _courses(infos, ends, roots, assumed_turns(op))
    middles = [course.middle if course else 0.0 for course in courses]
    moved = middles if predicts else [round(octaves) for octaves in middles]
    pairs = list(zip(courses, moved, strict=True))
    found = [course and course.after(octaves, before=1) for course, octaves in pairs]
    added = [course.after(octaves) if course and course.adds else None for course, octaves in pairs]
    shifted = [
        info._replace(level=info.level + octaves) if octaves and isinstance(info, Scaled) else info
        for info, octaves in zip(infos, moved, strict=True)
    ]
    return with_uncertainties(shifted, _fed(found, ends, roots)), added


class _Course(NamedTuple):
    """The size of a carry in the iterations of a loop.

    Attributes:
        root: The root of the carry in an iteration.
        made: Its uncertainty after one iteration.
        degree: Its degree in itself.
        moved: The change of its predicted size in one iteration, in octaves; `UNBOUNDED` if it
            follows from sizes that are measured at run time.
        turns: The number of iterations.
    """

    root: Root
    made: Uncertainty
    degree: float
    moved: float
    turns: int

    @property
    def adds(self) -> bool:
        """Whether the errors of iterations add up."""
        return self.degree > _CONVERGES

    @property
    def middle(self) -> float:
        """The octaves from the size on entry to the middle of those before all iterations."""
        if not 0.0 < self.degree <= _SQUARE or self.moved == UNBOUNDED:
            return 0.0
        return max(-ROOMLESS, min(ROOMLESS, self.moved * self._series(self.turns - 1) / 2))

    def after(self, shift: float = 0.0, *, before: int = 0) -> Uncertainty:
        """Returns the uncertainty of the carry in all iterations, or after the last.

        The roots of an iteration may be those of all, such as slices of one argument. So their
        degrees add up: a product of n slices is a power of the argument.

        Args:
            shift: The octaves by which its level was moved from the size on entry.
            before: The number of last iterations whose errors are not in the carry.
        """
        if self.degree > _SQUARE:
            return UNKNOWN
        root, turns = self.root, self.turns - before
        errors, all_ = self._errors(turns), self._errors(self.turns)
        far = self.moved * self._series(turns) if self.degree else 0.0
        spread = max(abs(far - shift), abs(shift))
        if self.adds and not spread and not errors.misdeclared:
            return Uncertainty({root: 1.0})
        parts = (
            (root.deviation, errors.octaves + spread),
            (root.in_powers, all_.in_powers + spread),
            (root.misdeclared, all_.misdeclared + spread),
        )
        join = sum if self.adds else max
        return Uncertainty({Root(*(min(join(part), UNBOUNDED) for part in parts)): 1.0})

    def _series(self, turns: int) -> float:
        """Returns the octaves of errors of an octave in each iteration, after the last.

        After each further iteration, an error is that to the power of the degree.
        """
        if self.adds:
            return turns
        return (1.0 - self.degree**turns) / (1.0 - self.degree)

    def _errors(self, turns: int) -> Uncertainty:
        """Returns the uncertainty that iterations add to that on entry."""
        others = {r: k for r, k in self.made.degrees.items() if r is not self.root}
        own = Uncertainty(others, self.made.rest, self.made.bias, tails=self.made.tails)
        return own ** self._series(turns) if self.degree else own


def no_less(
    infos: Sequence[ScaleInfo], uncertainties: Sequence[Uncertainty | None]
) -> list[ScaleInfo]:
    """Returns scale information that is as uncertain as given, if it is less uncertain."""
    return [
        info._replace(uncertainty=known)
        if isinstance(info, Scaled)
        and known is not None
        and known.misdeclared > info.uncertainty.misdeclared
        else info
        for info, known in zip(infos, uncertainties, strict=True)
    ]


def _courses(
    infos: Sequence[ScaleInfo],
    ends: Sequence[ScaleInfo],
    roots: Sequence[Root | None],
    turns: int,
) -> list[_Course | None]:
    """Returns the sizes of carries in a number of iterations; None if no size is predicted."""
    degrees = _own_degrees(ends, roots)
    return [
        None
        if root is None or not isinstance(info, Scaled) or not isinstance(end, Scaled)
        else _Course(root, end.uncertainty, degree, _moved(info, end), turns)
        for info, end, root, degree in zip(infos, ends, roots, degrees, strict=True)
    ]


def _own_degrees(ends: Sequence[ScaleInfo], roots: Sequence[Root | None]) -> list[float]:
    """Returns the degree of each carry in itself, as the mean over iterations.

    Carries that depend on each other grow by the spectral radius of the matrix of degrees.
    """
    matrix = np.zeros((len(roots), len(roots)))
    for row, end in enumerate(ends):
        if isinstance(end, Scaled):
            degrees = end.uncertainty.degrees
            matrix[row] = [abs(degrees.get(root, 0.0)) if root else 0.0 for root in roots]
    found = [float(degree) for degree in np.diagonal(matrix)]
    for group in _circles(matrix > 0):
        values = np.linalg.eigvals(np.minimum(matrix[np.ix_(group, group)], HIGHEST_DEGREE))
        radius = float(np.abs(values).max())
        for carry in group:
            found[carry] = radius
    return found


def _circles(feeds: npt.NDArray[np.bool_]) -> list[list[int]]:
    """Returns the groups of two or more carries that depend on each other."""
    if np.count_nonzero(feeds) == np.count_nonzero(np.diagonal(feeds)):
        return []
    reached = feeds | np.eye(len(feeds), dtype=np.bool_)
    while True:
        further = reached.astype(np.float32) @ reached.astype(np.float32) > 0
        if np.array_equal(further, reached):
            break
        reached = further
    groups = {tuple(np.flatnonzero(row).tolist()) for row in reached & reached.T}
    return [list(group) for group in groups if len(group) > 1]


def _fed(
    found: Sequence[Uncertainty | None], ends: Sequence[ScaleInfo], roots: Sequence[Root | None]
) -> list[Uncertainty | None]:
    """Returns carries with the uncertainty that they take from others after all iterations."""
    carries = {root: i for i, root in enumerate(roots) if root is not None}
    fed = list(found)
    for _ in range(HANDED_CARRIES):
        before = list(fed)
        for i, end in enumerate(ends):
            known = before[i]
            if known is None or not isinstance(end, Scaled):
                continue
            for root, degree in end.uncertainty.degrees.items():
                other = before[carries[root]] if root in carries else None
                if other is None or carries[root] == i:
                    continue
                octaves = min(abs(degree) * other.octaves, UNBOUNDED)
                if octaves > known.octaves:
                    fed[i] = known = of_root(octaves)
        if all(a is b for a, b in zip(before, fed, strict=True)):
            break
    return fed


def with_uncertainties(
    infos: Sequence[ScaleInfo], uncertainties: Sequence[Uncertainty | None]
) -> list[ScaleInfo]:
    """Returns scale information with other uncertainties, if they are given."""
    return [
        info._replace(uncertainty=found) if isinstance(info, Scaled) and found else info
        for info, found in zip(infos, uncertainties, strict=True)
    ]


def made_anew(op: ir.Operation, writing: Collection[str]) -> list[bool]:
    """Returns the carries that an iteration computes: not unchanged or partly updated ones.

    Args:
        op: The loop.
        writing: The functions that return a value into which they write.
    """
    yielded = terminator(op.regions[1].blocks[0]).operands
    return [
        not isinstance(value.owner, ir.Block) and not _writes(value.owner, writing)
        for value in yielded
    ]


def writing_functions(functions: Mapping[str, ir.OpView]) -> frozenset[str]:
    """Returns the functions that return a value into which they write, as scans do."""
    found: set[str] = set()
    returning: dict[str, list[str]] = {}  # By function, those that return its result.
    for name, function in functions.items():
        blocks = function.regions[0].blocks
        returned = terminator(blocks[0]).operands if blocks else []
        if len(returned) != 1 or isinstance(returned[0].owner, ir.Block):
            continue
        maker = returned[0].owner.operation
        if maker.name == "func.call":
            returning.setdefault(callee_of(maker), []).append(name)
        elif maker.name in WRITES:
            found.add(name)
    return frozenset(Search(found, lambda name: returning.get(name, ())))


def _writes(op: ir.OpView, writing: Collection[str]) -> bool:
    operation = op.operation
    if operation.name == "func.call":
        return callee_of(operation) in writing
    return operation.name in WRITES


def recurring(
    ends: Sequence[ScaleInfo], roots: Sequence[Root | None], anew: Sequence[bool], turns: int
) -> list[ScaleInfo]:
    """Returns the scale information of a loop's results; recurrences are uncertain.

    A sum over n iterations has between one and n times the size of its terms. If a term is a
    product with an input whose scale is misdeclared, a short sum is as uncertain as a long one.

    Args:
        ends: The scale information of the carries after the last iteration.
        roots: The root of each carry in that iteration.
        anew: For each carry, whether the iteration computes it.
        turns: The number of iterations.
    """
    octaves = min(math.log2(turns), _RECURRENCE)
    return [
        end._replace(
            uncertainty=end.uncertainty * Uncertainty({Root(octaves, misdeclared=_RECURRENCE): 1.0})
        )
        if isinstance(end, Scaled) and root in end.uncertainty.degrees and made
        else end
        for end, root, made in zip(ends, roots, anew, strict=False)
    ]


_RECURRENCE: Final = 4.0
"""The largest uncertainty, in octaves, of the result of a recurrence."""


def _moved(info: Scaled, end: Scaled) -> float:
    """Returns the change of the predicted size in one iteration, in octaves."""
    between = end.scale / info.scale
    if not between.passing:
        return 0.0
    moved = end.level + between.size - info.level
    return UNBOUNDED if isinstance(moved, RuntimeSize) else moved


def assumed_turns(op: ir.Operation) -> int:
    """Returns the number of iterations of a loop, at least 1; an assumed one if it is not known."""
    turns = turns_of(op)
    return ASSUMED_TURNS if turns is None else max(1, turns)
