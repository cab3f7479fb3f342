"""A compiled program as JSON, which ``compile.schema.json`` describes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib import metadata
from importlib.resources import files
from typing import Any, Final

from scalify_hlo.targets.compiling import Compiled
from scalify_hlo.targets.description import Target
from scalify_hlo.targets.hlo import read_hlo
from scalify_hlo.targets.kernels import Kernel, kernels_of, unknown_loops
from scalify_hlo.targets.roofline import LAUNCH, Work, kernel_seconds, work_of

VERSION: Final = 1
"""The version of the JSON form."""
_MICRO: Final = 1e6
_PACKAGES: Final = ("scalify-hlo", "jax", "jaxlib")


def compile_record(compiled: Compiled, target: Target, program: str) -> dict[str, Any]:
    """Returns what is known of a compiled program.

    Args:
        compiled: The compiled program.
        target: The device.
        program: The name of the program.

    Returns:
        An object of JSON with the name of its ``format`` and its ``version``;
        ``scalify_hlo/targets/compile.schema.json`` is its JSON Schema. Times are in microseconds,
        and those of estimates are null if the target describes no peaks.
    """
    module = read_hlo(compiled.hlo)
    kernels = kernels_of(module)
    return {
        "format": "scalify-hlo compile",
        "version": VERSION,
        "program": program,
        "target": target.name,
        **summary_record(compiled, target, work_of(kernels, target)),
        "loops_of_unknown_length": unknown_loops(module),
        "kernels": _kernels(kernels, target),
    }


def summary_record(compiled: Compiled, target: Target, work: Work) -> dict[str, Any]:
    """Returns the facts about a compiled program as a whole.

    Args:
        compiled: The compiled program.
        target: The device.
        work: The work of the program.
    """
    return {
        "devices": compiled.devices,
        "versions": _versions(compiled),
        "compiler": compiled.compiler,
        "compile_s": round(compiled.seconds, 3),
        "memory": _memory(compiled, target),
        "flops": work.flops,
        "f8_share": work.f8_share,
        "bytes": {"read": work.read, "written": work.written},
        "launches": work.launches,
        "causes": _causes(work),
        "collectives": work.collectives,
        "estimate": _estimate(work),
    }


def dump(record: dict[str, Any]) -> str:
    """Returns a record as JSON text."""
    return json.dumps(record, indent=1, allow_nan=False) + "\n"


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of a record."""
    text = files("scalify_hlo.targets").joinpath("compile.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _versions(compiled: Compiled) -> dict[str, str]:
    own: dict[str, str] = {}
    for name in _PACKAGES:
        try:
            own[name] = metadata.version(name)
        except metadata.PackageNotFoundError:  # A copy of the sources that is not installed.
            own[name] = "unknown"
    return {**own, **compiled.plugins}


def _memory(compiled: Compiled, target: Target) -> dict[str, int | None]:
    return {
        "arguments": compiled.arguments,
        "results": compiled.results,
        "aliased": compiled.aliased,
        "temporaries": compiled.temporaries,
        "peak": compiled.peak,
        "code": compiled.code,
        "device": target.memory,
    }


def _microseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * _MICRO, 3)


def _estimate(work: Work) -> dict[str, float | None]:
    return {
        "us": _microseconds(work.seconds),
        "us_with_launches": _microseconds(work.seconds_with_launches),
        "us_of_a_launch": LAUNCH * _MICRO,
        "us_reached": _microseconds(work.seconds_reached),
    }


def _causes(work: Work) -> dict[str, dict[str, Any]]:
    return {
        cause: {
            "launches": share.launches,
            "bytes": share.bytes,
            "us": _microseconds(share.seconds),
        }
        for cause, share in work.causes.items()
    }


def _kernels(kernels: Sequence[Kernel], target: Target) -> list[dict[str, Any]]:
    return [
        {
            "name": kernel.name,
            "op_name": kernel.op_name,
            "kernel": kernel.kernel,
            "cause": kernel.cause,
            "times": kernel.times,
            "flops": dict(kernel.flops),
            "read": kernel.read,
            "written": kernel.written,
            "us": _microseconds(kernel_seconds(kernel, target)),
        }
        for kernel in kernels
    ]
