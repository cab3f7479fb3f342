"""Random programs as lists of steps, which stay programs when some steps are left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from random import Random
from typing import TypeVar

T = TypeVar("T")

_SEEDS = 2**31


@dataclass(frozen=True)
class Step:
    """An op, or a few, on earlier values.

    Attributes:
        kind: Which.
        number: Unique in the program.
        seed: Of all else that is chosen about the step.
        bodies: The steps of its branches, turns or callees.
    """

    kind: str
    number: int
    seed: int
    bodies: tuple[Steps, ...] = ()

    def random(self) -> Random:
        """The generator of the step's own choices, the same in each program that has the step."""
        return Random(self.seed)

    def pick(self, slot: int, values: Sequence[T], name: Callable[[T], str]) -> T:
        """Picks an operand; the choice stays the same if one of the other values goes."""
        return min(values, key=lambda v: blake2b(f"{self.seed} {slot} {name(v)}".encode()).digest())


Steps = tuple[Step, ...]


def draw_steps(
    random: Random, kinds: Mapping[str, int], bodies: Mapping[str, int], most: int, depth: int = 2
) -> Steps:
    """Draws the steps of a program.

    Args:
        random: What to draw from.
        kinds: How often each kind comes, relative to the others.
        bodies: How many bodies those kinds have that have some.
        most: How many steps there are at the most.
        depth: How deep bodies nest.
    """
    numbers = iter(range(1_000_000))
    return tuple(_draw(random, kinds, bodies, most, depth, numbers))


def _draw(
    random: Random,
    kinds: Mapping[str, int],
    bodies: Mapping[str, int],
    most: int,
    depth: int,
    numbers: Iterator[int],
) -> Iterator[Step]:
    names = [kind for kind in kinds if depth or kind not in bodies]
    weights = [kinds[kind] for kind in names]
    for _ in range(random.randint(1, most)):
        (kind,) = random.choices(names, weights)
        number, seed = next(numbers), random.randrange(_SEEDS)
        inner = tuple(
            tuple(_draw(random, kinds, bodies, 3, depth - 1, numbers))
            for _ in range(bodies.get(kind, 0))
        )
        yield Step(kind, number, seed, inner)


def kinds_of(steps: Steps) -> set[str]:
    """The kinds of some steps and of those in their bodies."""
    inner = (body for step in steps for body in step.bodies)
    return {step.kind for step in steps}.union(*map(kinds_of, inner))


def fewer(steps: Steps) -> Iterator[Steps]:
    """The programs with one step less, in a body or at the top."""
    for index, step in enumerate(steps):
        yield (*steps[:index], *steps[index + 1 :])
        for which, body in enumerate(step.bodies):
            for smaller in fewer(body):
                bodies = (*step.bodies[:which], smaller, *step.bodies[which + 1 :])
                yield (*steps[:index], replace(step, bodies=bodies), *steps[index + 1 :])


def reduced(steps: Steps, fails: Callable[[Steps], bool], tries: int = 200) -> Steps:
    """The fewest steps that still fail, as far as leaving out one after the other finds them."""
    found = True
    while found:
        found = False
        for smaller in fewer(steps):
            tries -= 1
            if tries < 0:
                return steps
            if fails(smaller):
                steps, found = smaller, True
                break
    return steps
