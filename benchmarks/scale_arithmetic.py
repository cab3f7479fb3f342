"""Scale arithmetic that a rewriting leaves in the program.

Without run-time statistics every scale of a `same` rewriting is known beforehand, so arithmetic on
scales would be arithmetic on constants: an op that computes and depends on no argument. The
original has some of its own (a causal mask from two iotas), which are counted on both sides.
"""

import sys
from collections.abc import Iterator
from typing import Any, TypeAlias

from benchmarks.common import Row, gpt2_step, report, versions
from scalify_hlo._compat import ir, new_context

MOVES_ONLY = frozenset(
    f"stablehlo.{name}"
    for name in ("constant", "iota", "broadcast_in_dim", "reshape", "convert", "return")
)

Counts: TypeAlias = tuple[int, int]
"""Ops that compute from constants alone, and ops that compute a float of rank 0."""


def functions(module: ir.Module) -> Iterator[ir.Block]:
    """Bodies of the module's functions."""
    for function in module.body.operations:
        yield from (block for region in function.regions for block in region.blocks)


def count(text: str) -> Counts:
    """Counts both kinds of op in all functions, without those inside reduction regions."""
    constant, scalar = 0, 0
    with new_context():
        for block in functions(ir.Module.parse(text)):
            known: set[Any] = set()
            for op in block.operations:
                from_constants = not op.regions and all(v in known for v in op.operands)
                if from_constants:
                    known.update(op.results)
                if op.name not in MOVES_ONLY:
                    constant += from_constants and bool(op.results)
                    scalar += any(map(is_float_scalar, op.results))
    return constant, scalar


def is_float_scalar(value: Any) -> bool:
    """Whether a value is a float tensor of rank 0."""
    kind = value.type
    return (
        isinstance(kind, ir.RankedTensorType)
        and not kind.shape
        and isinstance(kind.element_type, ir.FloatType)
    )


def main() -> int:
    """Counts in the demonstration's step; only the `same` rewriting has a bound."""
    counts = {name: count(text) for name, text in versions(gpt2_step()).items()}
    constant, scalar = counts.pop("original")
    rows = [
        Row("original: ops that compute from constants", constant, form=".0f"),
        Row("original: ops that compute a float scalar", scalar, form=".0f"),
    ]
    for name, (constants, scalars) in counts.items():
        bound = 0 if name == "same" else None
        rows += [Row(f"{name}: more ops on constants", constants - constant, bound, ".0f")]
        rows += [Row(f"{name}: more ops for float scalars", scalars - scalar, form=".0f")]
    return report("Scale arithmetic, GPT-2 AdamW step", rows)


if __name__ == "__main__":
    sys.exit(main())
