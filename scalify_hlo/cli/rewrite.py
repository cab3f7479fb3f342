"""`scalify-hlo rewrite`: rewrite a program into scaled form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import OfProgram, WithOutput, WithQuiet, WithRemarks, WithRewrite
from scalify_hlo.cli.running import read_inputs, with_measured
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.recipes.fields import option
from scalify_hlo.storage.files import save_file, write_file

if TYPE_CHECKING:
    from scalify_hlo.passes.pipeline import Options
    from scalify_hlo.program.program import Program
    from scalify_hlo.report.model import Estimate, Report
    from scalify_hlo.targets.description import Target


class Estimator:
    """The estimate of a rewrite that has not been done yet.

    The module of the program is copied, as the rewrite changes it.

    Args:
        device: The device; None for no estimate.
        source: The program.
        options: The options of the rewrite.
    """

    def __init__(self, device: Target | None, source: Program, options: Options) -> None:
        self._device, self._options = device, options
        self._source, self._reason = source, ""
        if device is not None:
            from scalify_hlo.commands.explain.compiled import reason_without
            from scalify_hlo.program.artifact import copy_module

            self._reason = reason_without(device, options)
            if not self._reason:
                self._source = replace(source, module=copy_module(source.module))

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
        if self._reason:
            return None
        from scalify_hlo.commands.explain.compiled import estimate

        with console.progress("Compiling", quiet=quiet) as progress:
            try:
                return estimate(self._source, device, self._options, progress=progress)
            except InputError as error:
                if self._options.strict:
                    raise InputError(
                        f"no estimate for {device.name}: {error.message}",
                        location=error.location,
                        hint="leave --strict or --target out; explain --timeout gives XLA longer",
                    ) from error
                self._reason = error.message
                return None


def lines(report: Report, rows: int) -> Iterator[str]:
    """Yields the summary of a rewrite, its remarks, and its matmuls, the largest first.

    Args:
        report: The report of the rewrite.
        rows: How many rows of each table there are; 0 for all.
    """
    from scalify_hlo.cli.matmul_table import Selection, listed
    from scalify_hlo.passes.summary import summary

    yield summary(report)
    kinds = console.counted_remarks(report.remarks)
    yield from (f"{first}{times}" for first, times in kinds[: console.KINDS])
    if len(kinds) > console.KINDS:
        yield f"{len(kinds) - console.KINDS} more kinds of remarks are among its `remarks`"
    selection = Selection(sort="size")
    yield from listed(report.matmuls, selection.of(report.matmuls), selection, "<program>", rows)


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


def _require_sizes(options: Options) -> None:
    """Refuses measured inputs for a recipe on which their sizes have no effect."""
    recipe = options.recipe
    if recipe.narrow and not recipe.depends_on_sizes and recipe.predict == "none":
        raise UsageError(
            f"--input-values has no effect: no cast of the recipe {recipe.name} depends on sizes",
            hint="leave it out, or take a recipe of propagated scales, such as fp8",
        )


@command("scalify-hlo rewrite step.mlir --recipe unit --input-scale '*=2^-4'")
class Rewrite(OfProgram, WithOutput, WithRewrite, WithQuiet, WithRemarks):
    """Rewrite the program IN into scaled form.

    The output is of the kind that its suffix names: .mlir is MLIR text, .mlirbc bytecode, .vhlo a
    portable artifact, and .export or .jax_export a jax.export file with its pytrees and its vjp.
    With another suffix or none, it is of the same kind as the input. If the command fails, no
    output is written.

    The attribute scalify.rewritten of the module records the version, the recipe and the options.
    A program with this attribute is refused unless --again is given.

    --optimize replaces scatters of single numbers into a constant, such as the gradient of a
    cross-entropy with integer labels, by selects. This changes no bit of the result. For targets
    that are GPUs, matmuls have their dimensions in the order in which transposes read them. They
    have the same sums, which a compiler may add up in another order.

    --target sets the target of the recipe: for h100, h200 and others, matmuls stay wide that FP8 is
    not estimated to make faster. If the compiler of the device is installed, the program and its
    original in bf16 are compiled for it. A line on standard error and the report have the estimated
    speed; `explain` has each matmul.

    With --require, the program is written only if all bounds hold; the report is always written. A
    bound is a name, one of >=, <=, ==, > and <, and a number. The names are narrow, narrow-forward,
    narrow-backward and narrow-flops, which are shares of the matmuls; matmuls and wide, which are
    numbers of matmuls; statistics (for each forward matmul with a weight) and statistics-total;
    state-bytes, over those of the original; assumed, the number of arguments that are quantized at
    a scale that was not declared; and remarks.

    Attributes:
        input_values: Measure the scales of inputs from arrays by argument name, or arr_0, arr_1 ...
        target_version: Write a portable artifact of this StableHLO version.
        report: Write a list of all matmuls, with the reason if one stays wide.
        require: Fail unless these bounds hold, as in 'narrow>=0.9,statistics<=2'.
        strict: Make each remark an error, such as one on a matmul that stays wide.
        optimize: Replace ops by faster ones of the same value, whatever the recipe does.
        target: The device to rewrite for: cpu, l40s, rtx4090, h100, h200, b200, tpu-v5e, tpu-v6e or
            tpu7x.
        again: Accept a program that was rewritten before.
    """

    input_values: str | None = option(None, metavar="F.NPZ", reads=True)
    target_version: str | None = option(None, metavar="X.Y.Z|current|minimum")
    report: str | None = option(None, metavar="R.JSON", writes=True)
    require: str | None = option(None, metavar="BOUNDS")
    strict: bool = False
    optimize: bool = False
    target: str | None = option(None, metavar="NAME")
    again: bool = False

    def run(self) -> None:
        """See `Command.run`."""
        from scalify_hlo.passes.summary import dump_report, summary
        from scalify_hlo.program.program import is_text, of_kind, save_program
        from scalify_hlo.program.rewriting import rewrite_program
        from scalify_hlo.report.totals import BOUNDS

        if self.report == self.output:
            raise UsageError(
                f"the program and its report have the same output file {self.report!r}",
                hint="give --report and -o different files",
            )
        required = BOUNDS.parse(self.require)
        device, settings = self._device()
        listed = self.report is not None or bool(required)
        options = self.options(settings, strict=self.strict)
        options = replace(options, again=self.again, optimize=self.optimize, listed=listed)
        source = of_kind(self.read(), self.output, self.target_version)
        if self.input_values is not None:
            options = with_measured(
                options, source, read_inputs(source, self.input_values, quiet=self.quiet)
            )
            _require_sizes(options)
        estimator = Estimator(device, source, options)
        with console.progress("Rewriting", quiet=self.quiet):
            rewritten, done = rewrite_program(source, options)
        if not self.quiet:
            console.report_remarks(done.remarks, rewritten.name, verbose=self.verbose)
        console.refuse_terminal(self.output, text=is_text(rewritten, self.target_version))
        done.estimate = estimator.make(quiet=self.quiet)
        if self.report is not None:
            write_file(self.report, dump_report(done, rewritten.name))
        BOUNDS.check(done.totals, required, rewritten.name)
        save_file(self.output, lambda file: save_program(rewritten, file, self.target_version))
        if not self.quiet:
            console.report_summary(summary(done))

    def _device(self) -> tuple[Target | None, dict[str, object]]:
        """Returns the device, and the options of the recipe with its target."""
        if self.target is None:
            return None, self.keyed
        from scalify_hlo.commands.explain.device import for_device
        from scalify_hlo.targets.description import load_target

        return load_target(self.target), for_device(self.target, self.keyed)
