"""Trains several compiled versions of one training step on the same data, turn by turn."""

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import jax

from examples.xla import Executable, flat
from scalify_hlo._compat import ir, new_context


@dataclass
class Contender:
    """One version of a training step, with the state that it carries.

    Attributes:
        name: how tables call it.
        path: file of StableHLO text: (state, *batch) -> (state, loss), all of them flat.
        initial: the state to begin with, a pytree.
        convert: what makes arguments of a pytree; `as_scaled_array` for the `scaled` signature.
        rewrite_seconds: wall time of the command that wrote the file, 0 for the original.
        carried: the scaling state of a program with delayed scales, which it has last.
        losses: one for each step taken.
        seconds: wall time of each step taken.
    """

    name: str
    path: Path
    initial: Any
    convert: Callable[[Any], Any] = lambda tree: tree
    rewrite_seconds: float = 0.0
    carried: list[jax.Array] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Reads the file back from the disk and compiles it."""
        text = self.path.read_text()
        self.ops = len(op_names(text))
        self.executable = Executable(text)
        self.state = self.executable.stored(flat(self.convert(self.initial)))

    def step(self, batch: Any) -> None:
        """Takes one training step; the new state and the loss are the results of `main`."""
        arguments = [*self.state, *flat(self.convert(batch)), *self.carried]
        start = time.perf_counter()
        results = self.executable(arguments)
        self.seconds.append(time.perf_counter() - start)
        kept = len(results) - len(self.carried)
        self.carried = results[kept:]
        self.state, loss = results[: len(self.state)], results[len(self.state) : kept]
        # A scaled loss comes as data and scale.
        self.losses.append(float(loss[0]) * float(loss[1]) if len(loss) == 2 else float(loss[0]))

    def slowdown(self, original: "Contender") -> float:
        """Median step time over that of the original."""
        return statistics.median(self.seconds) / statistics.median(original.seconds)

    def difference(self, original: "Contender") -> float:
        """Largest relative difference of a loss from the original's."""
        pairs = zip(self.losses, original.losses, strict=True)
        return max(abs(mine - theirs) / abs(theirs) for mine, theirs in pairs)


def train(contenders: Sequence[Contender], batches: Iterable[Any]) -> Iterator[int]:
    """Takes a step of every contender for each batch, and yields the number of steps taken.

    Who goes first changes from step to step, so that none always finds the caches warm.
    """
    for index, batch in enumerate(batches):
        first = index % len(contenders)
        for contender in (*contenders[first:], *contenders[:first]):
            contender.step(batch)
        yield index + 1


def op_names(text: str) -> list[str]:
    """Names of the StableHLO ops of a module, those in regions and private functions included."""
    names: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        names.append(op.name)
        return ir.WalkResult.ADVANCE

    with new_context():
        ir.Module.parse(text).operation.walk(visit)
    return [name for name in names if name.startswith("stablehlo.")]
