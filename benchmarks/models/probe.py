"""Makes a program return values of its ops as well, those in loops and branches too.

A value of `main` itself is returned as it is. Of a value in a loop, the sum of its squares over the
turns is returned, in f64, and after all values how many turns there were.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from scalify_hlo._compat import ir, new_context
from scalify_hlo.ir import emit
from scalify_hlo.ir.functions import main_function
from scalify_hlo.program.tensors import Array
from scalify_hlo.transforms.hoist import add_results, block_of, lift
from scalify_hlo.transforms.inlining import inline_calls

T = TypeVar("T")

PREFIX = "benchmarks."
"""Of the attributes by which benchmarks mark ops."""

_INLINED = f"{PREFIX}inlined"
_LOOP = "stablehlo.while"
_BRANCHES = frozenset({"stablehlo.case", "stablehlo.if"})

Wanted = Callable[[ir.OpView], Callable[[ir.Operation], Iterable[tuple[ir.Value, T]]]]
"""Takes `main`, all calls inlined, and gives what says of each of its ops which values are wanted,
each with a tag."""


@dataclass(frozen=True)
class Probed(Generic[T]):
    """A program that returns values.

    Attributes:
        text: The program.
        results: How many results it had.
        tags: What the further results are.
        turns: For each, the number of the further result that says how many turns there were; None
            if the value stands in no loop and no branch.
    """

    text: str
    results: int
    tags: Sequence[T]
    turns: Sequence[int | None]

    def magnitudes(self, results: Sequence[Array]) -> Iterator[tuple[T, Array]]:
        """Each value's absolute elements in f64, in a loop their rms over the turns.

        Args:
            results: All that the program returned.
        """
        given = results[self.results :]
        for tag, turns, array in zip(self.tags, self.turns, given, strict=False):
            if turns is None:
                yield tag, np.abs(array.astype(np.float64))
            elif given[turns]:
                yield tag, np.sqrt(array / given[turns])


def log_rms(magnitudes: Array) -> float | None:
    """log2 of the rms of finite elements, -inf where they are zeros; None if there are none."""
    finite = magnitudes[np.isfinite(magnitudes)]
    if not finite.size:
        return None
    largest = float(finite.max())
    if not largest:
        return -np.inf
    return float(np.log2(largest) + np.log2(np.mean((finite / largest) ** 2)) / 2)


def probed(text: str, wanted: Wanted[T]) -> Probed[T]:
    """Adds results to a program.

    Args:
        text: StableHLO with debug locations.
        wanted: See `Wanted`. Values that cannot be returned, such as those in a reduction or in
            the condition of a loop, are passed over.
    """
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text).operation
        for op in ops_in(module):
            op.attributes[_INLINED] = ir.UnitAttr.get()
        inline_calls(module, (_INLINED,))
        main = main_function(module)
        if main is None:
            raise ValueError("the program has no function main")
        results = len(main.regions[0].blocks[0].operations[-1].operands)
        choose = wanted(main)
        every = [entry for op in ops_in(main.operation) for entry in choose(op)]
        found = [(value, tag) for value, tag in every if _reachable(value)]
        turns = _return(main, [value for value, _ in found])
        _unmark(module)
        added = module.get_asm(enable_debug_info=False)
    return Probed(added, results, [tag for _, tag in found], turns)


def _return(main: ir.OpView, values: Sequence[ir.Value]) -> list[int | None]:
    """Makes `main` return values, and the turns of the loops that they are in."""
    top = main.regions[0].blocks[0]
    inner = dict.fromkeys(block for value in values if (block := block_of(value)) != top)
    numbers = {block: len(values) + i for i, block in enumerate(inner)}
    turns = [numbers.get(block_of(value)) for value in values]
    wanted = [v if n is None else _square(v) for v, n in zip(values, turns, strict=True)]
    wanted += [_one(block) for block in inner]
    add_results(main, lift(main, wanted, "add"), ["probe"] * len(wanted))
    return turns


def ops_in(parent: ir.Operation) -> list[ir.Operation]:
    """The ops inside of one that are neither functions nor modules, operands before users."""
    found: list[ir.Operation] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name not in ("func.func", "builtin.module"):
            found.append(op)
        return ir.WalkResult.ADVANCE

    parent.walk(visit)
    return found


def _reachable(value: ir.Value) -> bool:
    """Whether a value can be taken from where it stands."""
    block = block_of(value)
    while (owner := block.owner.operation).name != "func.func":
        in_body = owner.name == _LOOP and block == owner.regions[1].blocks[0]
        if not (in_body or owner.name in _BRANCHES):
            return False
        block = owner.block
    return True


def _square(value: ir.Value) -> ir.Value:
    """The squares of a value's elements, in f64."""
    last = block_of(value).operations[-1].operation
    wide = emit.convert(value, ir.F64Type.get(), last)
    return emit.multiply(wide, wide, last)


def _one(block: ir.Block) -> ir.Value:
    last = block.operations[-1].operation
    return emit.constant(emit.scalar_type(ir.F64Type.get()), 1.0, last)


def _unmark(module: ir.Operation) -> None:
    """Takes off what only benchmarks read."""
    for op in ops_in(module):
        for name in [name for name, _ in op.attributes.items()]:
            if name.startswith(PREFIX):
                del op.attributes[name]
