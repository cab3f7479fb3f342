"""Calibrates training steps that are spread over eight devices."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from jax import export

from scalify_hlo.commands.calibrate.calibration import calibrate
from scalify_hlo.profile.model import Profile
from tests.py.devices.eight_devices import mesh
from tests.py.devices.sharded_steps import CASES, step
from tests.py.shared.judge import program_of


def tensors(profile: Profile) -> list[dict[str, Any]]:
    """Returns the measured tensors, in program order."""
    return [asdict(tensor) for tensor in profile.tensors.values()]


def main() -> dict[str, Any]:
    """The tensors of each step, and of that on one device."""
    cases = [case for case in CASES if case.plain is step]
    arguments = cases[0].arguments()
    found = {"": tensors(calibrate(program_of(step, *arguments), [arguments]))}
    for case in cases:
        exported = export.export(case.spread(mesh(d=4, t=2), case))(*arguments)
        found[case.name] = tensors(calibrate(exported, [arguments]))
    return found
