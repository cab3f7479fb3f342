"""Counts the reductions that recipes add to programs: the statistics that are taken at run time.

    python -m benchmarks.models.reductions REQUESTS
    python -m benchmarks.models.reductions --shares REQUESTS   # narrow FLOPs of matmuls over all

REQUESTS is a JSON file: a list of objects with the path of a `program`, and the arguments
`recipe`, `signature`, `input_scale` and `settings` of `scalify_hlo.rewrite`. The counts are printed
as a JSON list. Only the public functions of scalify_hlo are used, so that other versions of it can
count as well: run this file with their directory first in PYTHONPATH.
"""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import scalify_hlo
from scalify_hlo._compat import ir, new_context

_REDUCE = "stablehlo.reduce"


def reductions(text: str) -> int:
    """How many `reduce` ops a program runs; those in a loop or a branch count once.

    A function counts as often as it is called.
    """
    with new_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        functions = {op.attributes["sym_name"].value: op for op in module.body.operations}
        return _in_function("main", functions)


def _in_function(name: str, functions: Mapping[str, ir.OpView]) -> int:
    count = 0
    called: list[str] = []

    def visit(op: ir.Operation) -> ir.WalkResult:
        nonlocal count
        count += op.name == _REDUCE
        if op.name == "func.call":
            called.append(op.attributes["callee"].value)
        return ir.WalkResult.ADVANCE

    functions[name].operation.walk(visit)
    return count + sum(_in_function(callee, functions) for callee in called)


def added(request: Mapping[str, Any]) -> int:
    """How many more reductions a program has after a rewrite."""
    options = dict(request)
    text = Path(options.pop("program")).read_text(encoding="utf-8")
    return reductions(scalify_hlo.rewrite(text, **options)) - reductions(text)


def share(request: Mapping[str, Any]) -> float | None:
    """The share of the matmuls' FLOPs that a rewrite makes narrow; None if it is refused."""
    options = dict(request)
    text = Path(options.pop("program")).read_text(encoding="utf-8")
    try:
        _, report = scalify_hlo.rewrite(text, report=True, **options)
    except scalify_hlo.ScalifyError:
        return None
    flops: float | None = report.totals.flops
    return flops


def main() -> int:
    """Counts for each request of a file."""
    requests = json.loads(Path(sys.argv[-1]).read_text(encoding="utf-8"))
    figure = share if "--shares" in sys.argv else added
    print(json.dumps([figure(request) for request in requests]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
