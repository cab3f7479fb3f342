"""Measures a step that `jax.shard_map` divides among eight devices."""

from __future__ import annotations

from typing import Any

import jax
from jax.sharding import PartitionSpec

from scalify_hlo.api import collect_stats
from scalify_hlo.commands.stats.record import COLUMNS
from tests.py.devices.eight_devices import mesh
from tests.py.shared.judge import program_of
from tests.py.shared.stats_reference import planted


def main() -> dict[str, Any]:
    """The statistics of a value."""
    spec = PartitionSpec("d", "t")

    def part(x: jax.Array) -> jax.Array:
        return x[::-1] @ x.T @ x

    step = jax.shard_map(part, mesh=mesh(d=4, t=2), in_specs=spec, out_specs=spec)
    values = planted((16, 8))
    exported = program_of(step, values)
    record = collect_stats(exported, [(values,)])
    (stats,) = (v for v in record.variants[0].values if v.op == "stablehlo.reverse")
    return {
        "columns": {name: getattr(stats, name) for name in COLUMNS},
        "turns": stats.turns,
        "shape": stats.shape,
        "sample": stats.histogram.sample,
        "operands": sum(operand.sample for operand in record.operands),
    }
