"""The estimated time of a rewrite on a device, or the reason why there is none."""

from __future__ import annotations

from scalify_hlo._compat import ir
from scalify_hlo.commands.explain.compiled import Progress, explain_module
from scalify_hlo.errors import InputError
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.report.model import Estimate
from scalify_hlo.targets.description import Target, plugin_versions


def reason_without(target: Target, options: Options) -> str:
    """Returns why there can be no estimate, with a cure; empty if there can be one.

    Args:
        target: The device.
        options: The options of the rewrite.
    """
    if target.bandwidth is None:
        return f"the target {target.name} describes no speeds"
    if not options.recipe.narrow:
        return f"the recipe {options.recipe.name} changes no format"
    try:
        plugin_versions(target)
    except InputError as error:
        return f"{error.message}; {error.hint}"
    return ""


def estimate(
    module: ir.Module,
    target: Target,
    options: Options,
    *,
    name: str,
    timeout: float = 600.0,
    progress: Progress = lambda *_: None,
) -> Estimate:
    """Returns the estimated time of the rewrite of a program, beside the original in bf16.

    Both are compiled for the device, which need not be there; see `explain`.

    Args:
        module: The original, which is not changed.
        target: The device, for which `reason_without` has no reason.
        options: The options of the rewrite.
        name: The name of the program in diagnostics.
        timeout: The time limit of each compilation in seconds.
        progress: Called with the number of compilations that are done, and of all.

    Raises:
        InputError: XLA cannot compile one of both, or the program does not fit into the memory of
            the device.
    """
    explained = explain_module(
        module, target, options, name=name, timeout=timeout, progress=progress
    )
    seconds, original = explained.program.work.seconds, explained.original
    before = None if original is None else original.work.seconds
    launches = explained.speedup_with_launches
    if not seconds or not before or launches is None:
        raise InputError("XLA made no kernel of the program, or of the original", location=name)
    return Estimate(target.name, seconds, before, launches, explained.speedup_reached)
