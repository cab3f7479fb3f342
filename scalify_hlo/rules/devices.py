"""The devices that have parts of one tensor, inside of a per-device computation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from scalify_hlo._compat import ir, sdy
from scalify_hlo.ir.functions import symbol_of
from scalify_hlo.rules.statistics import Devices

_MANUAL = "sdy.manual_computation"


def devices_of(op: ir.Operation, *, nested: bool = True) -> Devices | None:
    """Returns the devices among which a per-device computation divides its tensors.

    Args:
        op: The computation; others may be around it.
        nested: Whether the devices of the computations around it are included.

    Returns:
        The devices; None if the computation has no mesh.
    """
    axes: set[str] = set()
    mesh: str | None = None
    outer: ir.Operation | None = op.operation
    while outer is not None and outer.name != "builtin.module":
        if outer.name == _MANUAL and (nested or outer == op.operation):
            manual = sdy.ManualAxesAttr(outer.attributes["manual_axes"])
            axes |= {manual[i] for i in range(len(manual))}
            mesh = mesh or mesh_of(outer)
        outer = outer.parent
    if mesh is None or outer is None or not axes:
        return None
    return _devices(mesh_named(mesh, outer), axes)


def replicated_after(
    shardings: ir.Attribute, types: Sequence[ir.Type], mesh: str | None = None
) -> ir.Attribute:
    """Returns shardings with those of more values, which are replicated, after them.

    Args:
        shardings: The shardings of the first values, at least one if the mesh is not given.
        types: The tensor types of the other values.
        mesh: The name of the mesh, by default that of the first value.
    """
    kept = list(sdy.TensorShardingPerValueAttr(shardings).shardings)
    where = mesh if mesh is not None else sdy.TensorShardingAttr(kept[0]).mesh_or_ref
    whole = sdy.DimensionShardingAttr.get([], is_closed=True)
    added = [sdy.TensorShardingAttr.get(where, [whole] * type_.rank) for type_ in types]
    return sdy.TensorShardingPerValueAttr.get([*kept, *added])


def mesh_of(op: ir.Operation) -> str | None:
    """Returns the name of the mesh of a per-device computation; None if it has none."""
    for name in ("in_shardings", "out_shardings"):
        for sharding in sdy.TensorShardingPerValueAttr(op.attributes[name]).shardings:
            mesh = sdy.TensorShardingAttr(sharding).mesh_or_ref
            if isinstance(mesh, ir.FlatSymbolRefAttr):
                return str(mesh.value)
    return None


def mesh_named(name: str, module: ir.Operation) -> sdy.MeshAttr | None:
    """Returns the mesh with a name; None if the module has none."""
    for op in module.regions[0].blocks[0].operations:
        if op.operation.name == "sdy.mesh" and symbol_of(op) == name:
            return sdy.MeshAttr(op.attributes["mesh"])
    return None


def _devices(mesh: sdy.MeshAttr | None, axes: set[str]) -> Devices | None:
    if mesh is None:
        return None
    known = [(axis.name, axis.size) for axis in map(sdy.MeshAxisAttr, mesh.axes)]
    sizes = [size for _, size in known]
    ids = np.array(list(mesh.device_ids) or range(int(np.prod(sizes))), np.int64).reshape(sizes)
    ours = [i for i, (name, _) in enumerate(known) if name in axes]
    others = [i for i in range(len(known)) if i not in ours]
    count = int(np.prod([sizes[i] for i in ours]))
    groups = np.ascontiguousarray(ids.transpose(*others, *ours).reshape(-1, count))
    i64 = ir.IntegerType.get_signless(64)
    return Devices(ir.DenseElementsAttr.get(groups, type=i64), count)
