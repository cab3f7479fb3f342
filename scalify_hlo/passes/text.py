"""Pipelines as text, and the passes by name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Final

from scalify_hlo import passes
from scalify_hlo._compat import ir, passmanager, register_passes
from scalify_hlo.errors import UsageError, nearest
from scalify_hlo.passes.base import REGISTERED, Pass
from scalify_hlo.passes.pipeline import run_passes
from scalify_hlo.report.model import Report

for _each in pkgutil.iter_modules(passes.__path__, f"{passes.__name__}."):
    importlib.import_module(_each.name)

PASSES: Final[Mapping[str, type[Pass]]] = dict(sorted(REGISTERED.items()))
"""The passes by name: those of all files of this folder."""


def parse_pipeline(text: str) -> list[Pass | str]:
    """Reads a pipeline such as ``builtin.module(scalify-propagate{recipe=fp8},cse)``.

    Returns:
        The passes of this package, and those of MLIR as text.

    Raises:
        UsageError: A pass or an option is unknown, or the brackets do not match.
    """
    inner = text.strip()
    if inner.startswith("builtin.module(") and inner.endswith(")"):
        inner = inner[len("builtin.module(") : -1]
    return [_parse_pass(element) for element in _elements(inner)]


def run_pipeline(
    module: ir.Module, text: str, *, print_ir_after_all: bool = False, timing: bool = False
) -> Report:
    """Runs a pipeline given as text.

    Args:
        module: The module, which is edited.
        text: The pipeline, as for `parse_pipeline`.
        print_ir_after_all: Whether the module is printed to standard error after each pass.
        timing: Whether the time of each pass is printed to standard error.

    Returns:
        The report of the passes.

    Raises:
        UsageError: The text is not a pipeline.
        InputError: A pass refuses the module.
    """
    passes = parse_pipeline(text)
    return run_passes(module, passes, print_ir_after_all=print_ir_after_all, timing=timing)


def _elements(text: str) -> list[str]:
    """Splits a pipeline at the commas outside of brackets."""
    depth, start, elements = 0, 0, []
    for i, char in enumerate(text):
        depth += (char in "({") - (char in ")}")
        if depth < 0:
            break
        if char == "," and depth == 0:
            elements.append(text[start:i])
            start = i + 1
    if depth:
        raise UsageError(
            f"the brackets of pipeline {text!r} don't match",
            hint="write it as 'builtin.module(pass-a,pass-b{option=value})'",
        )
    return [e.strip() for e in (*elements, text[start:]) if e.strip()]


def _parse_pass(text: str) -> Pass | str:
    name, _, options = text.partition("{")
    if name in PASSES:
        return PASSES[name].parse(options.rstrip("}").split())
    register_passes()
    with ir.Context():
        try:
            passmanager.PassManager.parse(f"builtin.module({text})")
        except ValueError:
            raise UsageError(
                f"no pass is named {name!r}{nearest(name, PASSES)}",
                hint=f"the passes are: {', '.join(PASSES)}, and those of MLIR and StableHLO",
            ) from None
    return text
