"""Scales really propagate: with the data fixed, moving input scales moves only result scales.

A rewriter that multiplies data and scale at the entry cannot pass: its data move and its result
scales stay. It is measured as well, to show that the check has teeth.
"""

import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.common import Row, export_text, report, rewritten
from benchmarks.homogeneous import NETWORK, OPS, Case
from examples.side_by_side import op_names
from examples.xla import Executable, flat
from scalify_hlo.rules.table import RULES

UNSCALED = frozenset({"read", "degree 0", "source", "opaque", "structural"})
"""Families of rules whose results carry no scale of their own."""

WITHOUT_SCALED_FORM = {op.partition(".")[2] for op, r in RULES.items() if r.family in UNSCALED}
"""Ops that read values at scale 1, as `scalify-hlo rules` says: nothing propagates there."""

Rewriter = Callable[[Case], str]


def propagating(case: Case) -> str:
    """The program as scalify-hlo rewrites it, every argument and result a pair."""
    return rewritten(_original(case), "scaled")


def unscaling_at_entry(case: Case) -> str:
    """The program behind a multiplication of each argument, every result with scale 1."""

    def entry(*pairs: jax.Array) -> list[Any]:
        inputs = [data * scale for data, scale in zip(pairs[::2], pairs[1::2], strict=True)]
        results = jax.tree.leaves(case.function(*inputs))
        return [(result, jnp.float32(1)) for result in results]

    scale = jax.ShapeDtypeStruct((), jnp.float32)
    return export_text(entry, *(part for data in _shapes(case) for part in (data, scale)))


def _original(case: Case) -> str:
    return export_text(case.function, *_shapes(case))


def _shapes(case: Case) -> list[jax.ShapeDtypeStruct]:
    return [jax.ShapeDtypeStruct(shape, jnp.float32) for shape in case.shapes]


def propagates(case: Case, rewriter: Rewriter) -> bool:
    """Whether data are bit-identical, and scales move by the right power, when inputs move."""
    program = Executable(rewriter(case))
    before = program(_pairs(case, [0] * len(case.moves)))
    after = program(_pairs(case, case.moves))
    same_data = all(
        _bits(old) == _bits(new) for old, new in zip(before[::2], after[::2], strict=True)
    )
    moved = [float(new / old) for old, new in zip(before[1::2], after[1::2], strict=True)]
    return same_data and moved == [2.0**power for power in case.expected]


def _pairs(case: Case, moves: Sequence[int]) -> list[jax.Array]:
    random = np.random.default_rng(0)
    pairs: list[Any] = []
    for shape, move in zip(case.shapes, moves, strict=True):
        data = random.standard_normal(shape, dtype=np.float32)
        pairs += [abs(data) if case.positive else data, np.float32(2.0**move)]
    return flat(pairs)


def _bits(array: jax.Array) -> bytes:
    return np.asarray(array).tobytes()


def exercised() -> tuple[int, int]:
    """How many rules with a scaled form the programs reach, and how many there are."""
    names = {name for case in (*OPS, NETWORK) for name in op_names(_original(case))}
    scaled = {op for op, rule in RULES.items() if rule.family not in UNSCALED}
    return len(scaled & names), len(scaled)


def main() -> int:
    """Runs every program; any that does not propagate is a missed bound."""
    cases = [case for case in (*OPS, NETWORK) if case.name not in WITHOUT_SCALED_FORM]
    stuck = [case.name for case in cases if not propagates(case, propagating)]
    passed = [case.name for case in cases if propagates(case, unscaling_at_entry)]
    reached, rules = exercised()
    rows = [
        Row("programs", len(cases), form=".0f"),
        Row(f"rules with a scaled form that they reach, of {rules}", reached, form=".0f"),
        Row(f"scalify-hlo: programs that fail {stuck or ''}", len(stuck), 0, ".0f"),
        Row(f"unscaling at entry: programs that pass {passed or ''}", len(passed), 0, ".0f"),
    ]
    return report("Scales propagate, f32, XLA CPU", rows)


if __name__ == "__main__":
    sys.exit(main())
