"""Runs a module in a process of its own that has eight devices: a process can't get them later."""

from __future__ import annotations

import os
from pathlib import Path

from tests.py.commands import python

ROOT = Path(__file__).resolve().parents[2]


def run(module: str, *arguments: str) -> str:
    """Returns the output of a module of the tests.

    Args:
        module: Its name, such as ``sharded_runs``.
        arguments: Those of its command line.
    """
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=8"
    env = {**os.environ, "XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu", "PYTHONPATH": str(ROOT)}
    return python("-m", f"tests.py.{module}", *arguments, env=env, cwd=ROOT).stdout
