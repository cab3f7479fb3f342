"""`scalify-hlo opt`: run any pipeline of passes, as mlir-opt does."""

from __future__ import annotations

import importlib
import re
from collections.abc import Sequence

from scalify_hlo.cli import console
from scalify_hlo.cli.command import command
from scalify_hlo.cli.options import WithOutput, WithRemarks
from scalify_hlo.errors import InputError, Remark, ScalifyError, UsageError, place_of_text
from scalify_hlo.program.byte_source import Source, source_of
from scalify_hlo.program.printing import text_of
from scalify_hlo.recipes.fields import option
from scalify_hlo.storage.files import STREAM, display_name, read_file, write_file

_COMMENT = re.compile(
    r"//\s*expected-(?P<kind>error|remark|note)\s*(@(?P<at>[+-]?\d+|unknown))?\s*\{\{(?P<text>.*?)\}\}"
)
Diagnostic = tuple[str, int, str]
"""The kind, the line (0 if there is none) and the message of a diagnostic."""


def verify(text: str, name: str, remarks: Sequence[Remark], error: ScalifyError | None) -> None:
    """Compares the diagnostics of one module with the comments in its text.

    A comment is ``// expected-error@+1 {{part of the message}}``, or ``remark`` or ``note`` instead
    of ``error``. A line with a sign is relative to the line of the comment; ``@unknown`` is for
    diagnostics without a line.

    Args:
        text: The text of the module.
        name: The name of the module in diagnostics.
        remarks: The remarks on the module.
        error: The error, if there is one.

    Raises:
        InputError: A diagnostic is missing, or was not expected.
    """
    wanted = _wanted(text)
    given = _given(name, remarks, error)
    for diagnostic in given:
        hit = next((w for w in wanted if _fits(w, diagnostic)), None)
        if hit is None:
            kind, line, message = diagnostic
            raise _mismatch(f"unexpected {kind}: {message}", name, line)
        wanted.remove(hit)
    if wanted:
        kind, line, message = wanted[0]
        raise _mismatch(f"expected {kind} was not given: {message}", name, line)


def _wanted(text: str) -> list[Diagnostic]:
    return [
        (match["kind"], _line(number, match["at"]), match["text"])
        for number, line in enumerate(text.splitlines(), start=1)
        for match in _COMMENT.finditer(line)
    ]


def _line(own: int, at: str | None) -> int:
    if at == "unknown":
        return 0
    if at is None:
        return own
    return own + int(at) if at[0] in "+-" else int(at)


def _given(name: str, remarks: Sequence[Remark], error: ScalifyError | None) -> list[Diagnostic]:
    given = [
        ("remark", _line_of(place_of_text(r.location, name), name), f"{r.op}: {r.message}")
        for r in remarks
    ]
    if error is not None:
        given.append(("error", _line_of(error.location or "", name), error.message))
    return given


def _line_of(location: str, name: str) -> int:
    rest = location.removeprefix(name).lstrip(":").partition(":")[0]
    return int(rest) if rest.isdigit() else 0


def _fits(wanted: Diagnostic, given: Diagnostic) -> bool:
    return wanted[:2] == given[:2] and wanted[2] in given[2]


def _mismatch(message: str, name: str, line: int) -> InputError:
    return InputError(
        message,
        location=f"{name}:{line}" if line else name,
        hint="change the expected-* comment, or the pass",
    )


_SPLIT = "// -----"


@command(
    "scalify-hlo opt in.mlir "
    "--pass-pipeline='builtin.module(scalify-signature{signature=scaled},scalify-propagate)'"
)
class Opt(WithOutput, WithRemarks):
    """Run a pipeline of passes over the module IN and print it as text.

    The passes of scalify-hlo, MLIR and StableHLO can be used. `scalify-hlo opt
    --pass-pipeline=help` lists those of scalify-hlo.

    Attributes:
        pass_pipeline: The passes to run, as for mlir-opt.
        print_ir_after_all: Print the module after each pass.
        mlir_timing: Print the time of each pass.
        mlir_print_debuginfo: Print locations.
        split_input_file: Split the input at // ----- lines.
        verify_diagnostics: Check the diagnostics against expected-* comments.
    """

    program: str = option("-", metavar="[IN]", argument=True, reads=True)
    pass_pipeline: str = option("", metavar="PASSES")
    print_ir_after_all: bool = False
    mlir_timing: bool = False
    mlir_print_debuginfo: bool = False
    split_input_file: bool = False
    verify_diagnostics: bool = False

    def run(self) -> None:
        """See `Command.run`."""
        if self.pass_pipeline == "help":
            _list_passes()
            return
        _check_pipeline(self.pass_pipeline)
        if self.verify_diagnostics and (self.output != STREAM or self.mlir_print_debuginfo):
            raise UsageError(
                "--verify-diagnostics writes no module",
                hint="leave out -o and --mlir-print-debuginfo",
            )
        name = display_name(self.program)
        if not (self.split_input_file or self.verify_diagnostics):
            text, remarks = _run(source_of(self.program), name, self)
            console.report_remarks(remarks, name, verbose=self.verbose)
            write_file(self.output, text)
            return
        parts = _parts(_read_text(self.program), split=self.split_input_file)
        outputs = [_run_part(part, name, self) for part in parts]
        if not self.verify_diagnostics:
            write_file(self.output, f"{_SPLIT}\n".join(outputs))


def _check_pipeline(pipeline: str) -> None:
    """Checks a pipeline before the input is read."""
    from scalify_hlo.passes.text import parse_pipeline

    try:
        parse_pipeline(pipeline)
    except UsageError:
        # The import of jax registers MLIR's own passes, such as canonicalize.
        importlib.import_module("jax")
        parse_pipeline(pipeline)


def _run(source: Source, name: str, settings: Opt) -> tuple[str, list[Remark]]:
    """Runs the pipeline on one module, and returns its text and the remarks."""
    from scalify_hlo._compat import ir
    from scalify_hlo.passes.text import run_pipeline
    from scalify_hlo.program.program import read_program
    from scalify_hlo.program.wellformed import located, place

    program = read_program(source, name, guarded=True, checked=False)
    try:
        with located(name):
            report = run_pipeline(
                program.module,
                settings.pass_pipeline,
                print_ir_after_all=settings.print_ir_after_all,
                timing=settings.mlir_timing,
            )
    except ir.MLIRError as error:
        first = next(iter(error.error_diagnostics), None)
        raise InputError(
            first.message if first else str(error),
            location=place(first.location, name) if first else name,
            hint="--print-ir-after-all shows the module up to the pass that failed",
        ) from None
    text = text_of(program.module, debug_info=settings.mlir_print_debuginfo, verified=False)
    return text, report.remarks


def _run_part(part: str, name: str, settings: Opt) -> str:
    text, remarks, error = "", list[Remark](), None
    try:
        text, remarks = _run(part.encode(), name, settings)
    except ScalifyError as caught:
        error = caught
    if settings.verify_diagnostics:
        verify(part, name, remarks, error)
    elif error is not None:
        raise error
    else:
        console.report_remarks(remarks, name, verbose=settings.verbose)
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
    console.echo(console.printed(console.table(("pass", "what it does"), rows)))
