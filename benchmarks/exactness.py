"""A whole tiny GPT-2 training step with SGD on StableHLO's reference interpreter: every bit equal.

XLA fuses multiplications and additions differently in a program that is written differently; the
interpreter runs op by op, so there nothing but the rewriting can move a bit.
"""

import sys
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from benchmarks.common import SIGNATURES, Row, export_text, report, rewritten
from examples import data, gpt2
from scalify_hlo.commands.check.check import checked
from scalify_hlo.program.program import read_text

CONFIG = gpt2.Config(layers=2, width=16, heads=2, sequence=8, vocab=data.VOCAB, batch=1)


def inputs() -> tuple[Any, ...]:
    """Parameters, the (empty) state of SGD, and one batch."""
    batch = next(data.batches(CONFIG.batch, CONFIG.sequence, 1))
    return (*gpt2.state(CONFIG, gpt2.SGD), batch)


def by_position(tree: Any) -> Mapping[str, np.ndarray[Any, Any]]:
    """Leaves under the names that say their place among the arguments."""
    return {f"arr_{i}": np.asarray(leaf) for i, leaf in enumerate(jax.tree.leaves(tree))}


def main() -> int:
    """Compares every new parameter and the loss."""
    arguments = inputs()
    text = export_text(gpt2.sgd_step, *arguments)
    rows = []
    for name in SIGNATURES:
        results = checked(
            read_text(text),
            read_text(rewritten(text, name)),
            inputs=by_position(arguments),
            backend="interpreter",
        ).differences
        unequal = sum(result.max_ulp > 0 for result in results)
        rows += [
            Row(f"{name}: results that differ, of {len(results)}", unequal, 0, ".0f"),
            Row(f"{name}: largest difference (ulp)", max(r.max_ulp for r in results), 0, ".0f"),
        ]
    return report("GPT-2 SGD step, f32, reference interpreter", rows)


if __name__ == "__main__":
    sys.exit(main())
