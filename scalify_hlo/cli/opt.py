"""The command `scalify-hlo opt`."""

from __future__ import annotations

import importlib
from dataclasses import dataclass

import click

from scalify_hlo.cli import console, expected
from scalify_hlo.cli.options import output_option
from scalify_hlo.errors import InputError, Remark, ScalifyError, UsageError
from scalify_hlo.io.printing import text_of
from scalify_hlo.storage.byte_source import Source
from scalify_hlo.storage.files import (
    display_name,
    read_file,
    require_writable,
    source_of,
    write_file,
)

_SPLIT = "// -----"


@dataclass(frozen=True)
class Settings:
    """The options for running a pipeline.

    Attributes:
        pipeline: The pipeline, as MLIR spells it.
        debug_info: Whether locations are printed.
        print_ir_after_all: Whether the module is printed after each pass.
        timing: Whether the time of each pass is printed.
    """

    pipeline: str
    debug_info: bool
    print_ir_after_all: bool
    timing: bool


@click.command(
    name="opt",
    epilog="Example: scalify-hlo opt in.mlir "
    "--pass-pipeline='builtin.module(scalify-signature{signature=scaled},scalify-propagate)'",
)
@click.argument("program", metavar="[IN]", default="-")
@output_option
@click.option(
    "--pass-pipeline", metavar="PASSES", default="", help="The passes to run, as for mlir-opt."
)
@click.option("--print-ir-after-all", is_flag=True, help="Print the module after each pass.")
@click.option("--mlir-timing", is_flag=True, help="Print the time of each pass.")
@click.option("--mlir-print-debuginfo", is_flag=True, help="Print locations.")
@click.option("--split-input-file", is_flag=True, help="Split the input at // ----- lines.")
@click.option(
    "--verify-diagnostics", is_flag=True, help="Check the diagnostics against expected-* comments."
)
def command(
    program: str,
    output: str,
    pass_pipeline: str,
    print_ir_after_all: bool,
    mlir_timing: bool,
    mlir_print_debuginfo: bool,
    split_input_file: bool,
    verify_diagnostics: bool,
) -> None:
    """Run a pipeline of passes over the module IN and print it as text.

    The passes of scalify-hlo, MLIR and StableHLO can be used. `scalify-hlo opt
    --pass-pipeline=help` lists those of scalify-hlo.
    """
    if pass_pipeline == "help":
        _list_passes()
        return
    _check_pipeline(pass_pipeline)
    require_writable(output)
    settings = Settings(pass_pipeline, mlir_print_debuginfo, print_ir_after_all, mlir_timing)
    if not (split_input_file or verify_diagnostics):
        text, remarks = _run(source_of(program), display_name(program), settings)
        console.report_remarks(remarks, display_name(program))
        write_file(output, text)
        return
    parts = _parts(_read_text(program), split=split_input_file)
    outputs = [_run_part(p, display_name(program), settings, verify_diagnostics) for p in parts]
    if not verify_diagnostics:
        write_file(output, f"{_SPLIT}\n".join(outputs))


def _check_pipeline(pipeline: str) -> None:
    """Checks a pipeline before the input is read."""
    from scalify_hlo.passes.text import parse_pipeline

    try:
        parse_pipeline(pipeline)
    except UsageError:
        # The import of jax registers MLIR's own passes, such as canonicalize.
        importlib.import_module("jax")
        parse_pipeline(pipeline)


def _run(source: Source, name: str, settings: Settings) -> tuple[str, list[Remark]]:
    """Runs the pipeline on one module, and returns its text and the remarks."""
    from scalify_hlo._compat import ir
    from scalify_hlo.io.program import read_program
    from scalify_hlo.io.wellformed import located, place
    from scalify_hlo.passes.text import run_pipeline

    program = read_program(source, name, guarded=True, checked=False)
    try:
        with located(name):
            report = run_pipeline(
                program.module,
                settings.pipeline,
                print_ir_after_all=settings.print_ir_after_all,
                timing=settings.timing,
            )
    except ir.MLIRError as error:
        first = next(iter(error.error_diagnostics), None)
        raise InputError(
            first.message if first else str(error),
            location=place(first.location, name) if first else name,
            hint="--print-ir-after-all shows the module up to the pass that failed",
        ) from None
    text = text_of(program.module, debug_info=settings.debug_info, verified=False)
    return text, report.remarks


def _run_part(part: str, name: str, settings: Settings, verify: bool) -> str:
    text, remarks, error = "", list[Remark](), None
    try:
        text, remarks = _run(part.encode(), name, settings)
    except ScalifyError as caught:
        error = caught
    if verify:
        expected.verify(part, name, remarks, error)
    elif error is not None:
        raise error
    else:
        console.report_remarks(remarks, name)
    return text


def _parts(text: str, *, split: bool) -> list[str]:
    """Returns the parts of a file, padded with empty lines so that line numbers are kept."""
    if not split:
        return [text]
    parts: list[str] = []
    start = 0
    lines = text.splitlines(keepends=True)
    ends = [i for i, line in enumerate(lines) if line.startswith(_SPLIT)]
    for end in (*ends, len(lines)):
        parts.append("\n" * start + "".join(lines[start:end]))
        start = end + 1
    return [part for part in parts if part.strip()]


def _read_text(path: str) -> str:
    try:
        return read_file(path).decode()
    except UnicodeDecodeError:
        raise InputError(
            "this is not MLIR text",
            location=display_name(path),
            hint="--split-input-file and --verify-diagnostics need text",
        ) from None


def _list_passes() -> None:
    from scalify_hlo.passes.text import PASSES

    rows = [(name, (p.__doc__ or "").splitlines()[0]) for name, p in PASSES.items()]
    console.echo(console.table(("pass", "what it does"), rows))
