"""Compares the matmuls of a report with those of the program, counted another way."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

import scalify_hlo
from scalify_hlo._compat import ir, new_context
from scalify_hlo.ir.traits import CONTRACTIONS


def matmuls(text: str) -> int:
    """Returns the number of matmuls and convolutions; those of a function count for each call.

    Those in a loop or a branch count once, and so do those of a function that no call leads to.
    """
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        functions = {op.attributes["sym_name"].value: op for op in module.body.operations}
        called = Counter[str]()
        count = _in_function("main", functions, called)
        return count + sum(
            _own(function)[0] for name, function in functions.items() if not called[name]
        )


def _in_function(name: str, functions: Mapping[str, ir.OpView], called: Counter[str]) -> int:
    called[name] += 1
    count, calls = _own(functions[name])
    return count + sum(_in_function(callee, functions, called) for callee in calls)


def _own(function: ir.OpView) -> tuple[int, list[str]]:
    """The number of matmuls that stand in a function, and the functions that it calls."""
    names: list[str] = []
    calls: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        names.append(op.name)
        if op.name == "func.call":
            calls.append(op.attributes["callee"].value)
        return ir.WalkResult.ADVANCE

    function.operation.walk(visit)
    return sum(name in CONTRACTIONS for name in names), calls


def faults(request: Mapping[str, Any], text: str, statistics: int) -> list[str]:
    """Returns the faults of the report of a rewrite; none if the list is empty.

    Args:
        request: The options of `scalify_hlo.rewrite`.
        text: The program.
        statistics: How many reductions the rewrite adds to the program.
    """
    _, report = scalify_hlo.rewrite(text, report=True, **request)
    listed, present = sum(m.calls for m in report.matmuls), matmuls(text)
    found = [] if listed == present else [f"{listed} of {present} matmuls are listed"]
    if report.statistics != statistics:
        found.append(f"{report.statistics} of {statistics} statistics are told")
    for matmul in report.matmuls:
        narrow = any(format_ not in ("f32", "f64") for format_ in matmul.formats[:2])
        if narrow == (matmul.wide is not None):
            found.append(f"{matmul.location} is {matmul.formats}, and wide: {matmul.wide}")
        if matmul.wide is None and None in matmul.scales:
            found.append(f"{matmul.location} has an operand without a scale")
    return found
