"""Measures a step that `jax.shard_map` divides among eight devices; prints a value as JSON."""

from __future__ import annotations

import json

import jax
from jax.sharding import AxisType, PartitionSpec

from scalify_hlo.api import collect_stats
from scalify_hlo.observe.record import COLUMNS
from tests.py.judge import program_of
from tests.py.stats_reference import planted

if __name__ == "__main__":
    mesh = jax.make_mesh((4, 2), ("d", "t"), axis_types=(AxisType.Auto,) * 2)
    spec = PartitionSpec("d", "t")

    def part(x: jax.Array) -> jax.Array:
        return x[::-1] @ x.T @ x

    step = jax.shard_map(part, mesh=mesh, in_specs=spec, out_specs=spec)
    values = planted((16, 8))
    exported = program_of(step, values)
    record = collect_stats(exported, [(values,)])
    (stats,) = (v for v in record.variants[0].values if v.op == "stablehlo.reverse")
    print(
        json.dumps(
            {
                "columns": {name: getattr(stats, name) for name in COLUMNS},
                "turns": stats.turns,
                "shape": stats.shape,
                "sample": stats.histogram.sample,
                "operands": sum(operand.sample for operand in record.operands),
            }
        )
    )
