"""The estimate that `scalify-hlo rewrite --target` prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scalify_hlo.cli import console
from scalify_hlo.errors import InputError

if TYPE_CHECKING:
    from scalify_hlo._compat import ir
    from scalify_hlo.passes.pipeline import Options
    from scalify_hlo.report.model import Estimate
    from scalify_hlo.targets.description import Target


class Estimator:
    """The estimate of a rewrite that has not been done yet.

    The module of the program is copied, as the rewrite changes it.

    Args:
        device: The device; None for no estimate.
        module: The program.
        options: The options of the rewrite.
        name: The name of the program in diagnostics.
    """

    def __init__(
        self, device: Target | None, module: ir.Module, options: Options, name: str
    ) -> None:
        self._device, self._options, self._name = device, options, name
        self._module, self._reason = None, ""
        if device is not None:
            from scalify_hlo.commands.explain.estimate import reason_without
            from scalify_hlo.program.artifact import copy_module

            self._reason = reason_without(device, options)
            self._module = None if self._reason else copy_module(module)

    def make(self, *, quiet: bool) -> Estimate | None:
        """Compiles the program and its original, and prints the estimate or why there is none.

        Args:
            quiet: Whether nothing is printed.

        Raises:
            InputError: The options are strict, and XLA cannot compile one of both.
        """
        if self._device is None:
            return None
        made = self._made(self._device, quiet=quiet)
        if not quiet:
            console.report_summary(
                f"{self._device.name}: no estimate: {self._reason}" if made is None else told(made)
            )
        return made

    def _made(self, device: Target, *, quiet: bool) -> Estimate | None:
        if self._module is None:
            return None
        from scalify_hlo.commands.explain.estimate import estimate

        with console.progress("Compiling", quiet=quiet) as progress:
            try:
                return estimate(
                    self._module,
                    device,
                    self._options,
                    name=self._name,
                    progress=progress,
                )
            except InputError as error:
                if self._options.strict:
                    raise InputError(
                        f"no estimate for {device.name}: {error.message}",
                        location=error.location,
                        hint="leave --strict or --target out; explain --timeout gives XLA longer",
                    ) from error
                self._reason = error.message
                return None


def told(made: Estimate) -> str:
    """Returns an estimate as one line."""
    reached = made.speedup_reached
    slower = "; slower than bf16" * ((made.speedup if reached is None else reached) < 1)
    measured = "" if reached is None else f", {reached:.2f} at the speeds that kernels reached"
    return (
        f"{made.target}: estimated at {made.speedup:.2f} times the speed of bf16 "
        f"({made.seconds * 1e6:,.1f} µs for {made.before * 1e6:,.1f}), and at "
        f"{made.speedup_with_launches:.2f} with 2 µs for each kernel{measured}{slower}"
    )
