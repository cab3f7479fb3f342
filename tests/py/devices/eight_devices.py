"""Calls functions in processes of their own that have eight devices: none can get them later."""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

from tests.py.shared.commands import python

ROOT = Path(__file__).resolve().parents[3]


def run(function: Callable[..., Any], *arguments: str) -> Any:
    """Returns what a function returns of some arguments where there are eight devices, as JSON."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    env = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    line = (function.__module__, function.__name__, *arguments)
    printed = python("-m", "tests.py.devices.eight_devices", *line, env=env, cwd=ROOT).stdout
    return json.loads(printed.splitlines()[-1])


def mesh(**axes: int) -> Mesh:
    """A mesh of the devices, with the sizes of its axes."""
    types = (AxisType.Auto,) * len(axes)
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=types)


def places(on: Mesh, *specs: tuple[str | None, ...]) -> list[NamedSharding]:
    """The places of tensors, by the axes of their dimensions."""
    return [NamedSharding(on, PartitionSpec(*spec)) for spec in specs]


if __name__ == "__main__":
    module, name, *given = sys.argv[1:]
    print(json.dumps(getattr(importlib.import_module(module), name)(*given)))
