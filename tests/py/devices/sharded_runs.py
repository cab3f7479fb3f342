"""Runs programs for eight devices and their rewrites, and tells how they compare."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import export
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

import scalify_hlo as jsa
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.program.exported import rewrite_with_report
from scalify_hlo.program.given import readable
from tests.py.devices.eight_devices import mesh
from tests.py.devices.sharded_layers import LAYERS
from tests.py.devices.sharded_steps import CASES, Case, Tree


def distance(actual: Tree, expected: Tree) -> float:
    """The largest difference, relative to the largest number of its array."""
    pairs = zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True)
    return max(
        float(np.max(np.abs(np.asarray(a) - np.asarray(b))) / np.max(np.abs(np.asarray(b))))
        for a, b in pairs
    )


def same(actual: Tree, expected: Tree) -> bool:
    """Whether all bits are the same."""
    pairs = zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True)
    return all(np.array_equal(np.asarray(a), np.asarray(b)) for a, b in pairs)


def divided(arguments: Tree) -> Tree:
    """Each argument as data and a scale of its own."""
    leaves, tree = jax.tree.flatten(arguments)
    pairs = [
        jsa.ScaledArray(leaf / np.float32(2.0**e), np.float32(2.0**e))
        for leaf, e in zip(leaves, itertools.cycle([3, -2, 0, 5, -7, 1, -4, 6]))
    ]
    return jax.tree.unflatten(tree, pairs)


def place(on: Mesh, case: Case, arguments: Tree) -> Tree:
    """Puts arguments where they belong; scales are put on every device."""

    def one(spec: P, value: Any) -> Any:
        if not isinstance(value, jsa.ScaledArray):
            return jax.device_put(value, NamedSharding(on, spec))
        data = jax.device_put(value.data, NamedSharding(on, spec))
        return jsa.ScaledArray(data, jax.device_put(value.scale, NamedSharding(on, P())))

    is_spec = partial(jax.tree.map, one, is_leaf=lambda spec: isinstance(spec, P))
    return is_spec(case.placed(), arguments)


def scales_of(results: Tree) -> Iterator[list[float]]:
    """The scale of each result, as each device has it."""
    pairs = jax.tree.leaves(results, is_leaf=lambda leaf: isinstance(leaf, jsa.ScaledArray))
    for pair in pairs:
        yield [float(np.asarray(shard.data)) for shard in pair.scale.addressable_shards]


def run(case: Case) -> dict[str, Any]:
    """Returns the results of the rewrites of a case."""
    on = mesh(d=4, t=2)
    arguments = case.arguments()
    one_device = jax.jit(case.plain)(*arguments)
    exported = export.export(case.spread(on, case))(*arguments)
    spread = jax.jit(exported.call)(*place(on, case, arguments))
    program = jsa.rewrite(exported, recipe="propagate", input_scale={"*": 2.0**-4})
    results = jax.jit(program.call)(*place(on, case, arguments))
    rewritten = rewrite_with_report(readable(exported), Options(signature="scaled"))
    pairs, report = rewritten.exported, rewritten.report
    paired = jax.jit(pairs.call)(*place(on, case, divided(arguments)))
    multiplied = jax.device_get(jsa.asarray(paired))
    return {
        "devices": [exported.nr_devices, program.nr_devices, pairs.nr_devices],
        "spread": distance(spread, one_device),
        "same": distance(results, one_device),
        "scaled": distance(multiplied, one_device),
        "same bits": same(results, spread),
        "scaled bits": same(multiplied, spread),
        "placed": [
            a.sharding.is_equivalent_to(b.sharding, a.ndim)
            for a, b in zip(jax.tree.leaves(results), jax.tree.leaves(spread), strict=True)
        ],
        "scales": list(scales_of(paired)),
        "given up": sorted({*report.given_up, *(remark.op for remark in report.remarks)}),
    }


def main() -> dict[str, dict[str, Any]]:
    """Runs all cases."""
    return {case.name: run(case) for case in (*CASES, *LAYERS)}
