"""An explanation as JSON, which ``explain.schema.json`` describes."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

from scalify_hlo.dialect.locations import place_of_text
from scalify_hlo.explaining.kernels import label_of
from scalify_hlo.explaining.model import ExplainedMatmul, Explanation, Program, part_of
from scalify_hlo.explaining.requirements import figures
from scalify_hlo.explaining.warnings import warnings_of
from scalify_hlo.report.entries import size_entry
from scalify_hlo.targets.record import summary_record

VERSION: Final = 1
"""The version of the JSON form."""
_MICRO: Final = 1e6


def explain_record(explanation: Explanation, name: str = "<program>") -> dict[str, Any]:
    """Returns an explanation as an object of JSON.

    Args:
        explanation: The explanation.
        name: The name of the program.

    Returns:
        An object with the name of its ``format`` and its ``version``. Its JSON Schema is
        ``scalify_hlo/explaining/explain.schema.json``. Times are in microseconds.
    """
    return {
        "format": "scalify-hlo explain",
        "version": VERSION,
        "program": name,
        "target": explanation.target.name,
        "native": list(explanation.target.native),
        "recipe": explanation.recipe or None,
        "figures": figures(explanation),
        "f8_shares": dict(explanation.shares()),
        "compiled": _program(explanation.program, explanation),
        "original": explanation.original and _program(explanation.original, explanation),
        "matmuls": [_matmul(each, name) for each in explanation.matmuls],
        "warnings": list(warnings_of(explanation)),
    }


def dump_explanation(explanation: Explanation, name: str = "<program>") -> str:
    """Returns an explanation as JSON.

    Args:
        explanation: What `explain` returned.
        name: The name of the program.

    Returns:
        An object with the name of its ``format`` and its ``version``, the ``figures`` on the whole
        program, the ``matmuls`` with their kernels, and ``warnings``. Its JSON Schema is
        ``scalify_hlo/explaining/explain.schema.json``.
    """
    return json.dumps(explain_record(explanation, name), indent=1, allow_nan=False) + "\n"


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of `explain_record`."""
    text = files("scalify_hlo.explaining").joinpath("explain.schema.json").read_text("utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def _program(program: Program, explanation: Explanation) -> dict[str, Any]:
    return summary_record(program.compiled, explanation.target, program.work)


def _matmul(each: ExplainedMatmul, name: str) -> dict[str, Any]:
    matmul, wide = each.matmul, each.matmul.wide
    lhs, rhs, result = matmul.formats
    return {
        "name": matmul.name,
        "label": matmul.label,
        "op": matmul.op,
        "location": place_of_text(matmul.location, name),
        "part": part_of(matmul),
        "operands": list(matmul.roles),
        **{key: size_entry(size) for key, size in zip("mnk", matmul.extent, strict=False)},
        "batch": size_entry(matmul.extent.batch),
        "calls": matmul.calls,
        "formats": {"lhs": lhs, "rhs": rhs, "result": result},
        "wide": wide and {"kind": wide.kind, "reason": wide.reason, "chosen": wide.chosen},
        "falls_back": each.falls_back,
        "kernels": [
            {
                "name": kernel.name,
                "kernel": kernel.kernel,
                "label": label_of(kernel),
                "times": kernel.times,
                "flops": dict(kernel.flops),
            }
            for kernel in each.kernels
        ],
        "us": _microseconds(each.seconds),
        "us_in_bf16": _microseconds(each.before),
    }


def _microseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * _MICRO, 3)
