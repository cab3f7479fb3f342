"""Calibrates training steps that are spread over eight devices; prints one JSON object for each.

Devices have to be asked for before JAX starts: hence a process of its own.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import jax
from jax import export
from jax.sharding import AxisType

from scalify_hlo.profile.model import Profile
from scalify_hlo.run.calibration import calibrate
from tests.py.judge import program_of
from tests.py.sharded_steps import CASES, step


def tensors(profile: Profile) -> list[dict[str, Any]]:
    """Returns the measured tensors, in program order."""
    return [asdict(tensor) for tensor in profile.tensors.values()]


if __name__ == "__main__":
    mesh = jax.make_mesh((4, 2), ("d", "t"), axis_types=(AxisType.Auto,) * 2)
    cases = [case for case in CASES if case.plain is step]
    arguments = cases[0].arguments()
    plain = tensors(calibrate(program_of(step, *arguments), [arguments]))
    for case in cases:
        exported = export.export(case.spread(mesh, case))(*arguments)
        found = tensors(calibrate(exported, [arguments]))
        print(json.dumps({"name": case.name, "plain": plain, "spread": found}), flush=True)
