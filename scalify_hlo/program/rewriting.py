"""Rewrites a program that was read, whatever it was read from."""

from __future__ import annotations

from dataclasses import replace

from scalify_hlo.passes.pipeline import Options
from scalify_hlo.program.program import Program
from scalify_hlo.program.record import rewrite_recorded
from scalify_hlo.program.wellformed import located
from scalify_hlo.report.model import Report


def rewrite_program(program: Program, options: Options) -> tuple[Program, Report]:
    """Rewrites a program that was read; its module is edited in place.

    Args:
        program: The program.
        options: The options, such as those of `make_options`.

    Returns:
        The rewritten program, and the report.

    Raises:
        InputError: The program cannot be rewritten.
        UsageError: The options do not fit the program.
    """
    if program.exported is None:
        with located(program.name):
            return program, rewrite_recorded(program.module, options, program.name)
    from scalify_hlo.program.exported import rewrite_with_report

    rewritten = rewrite_with_report(program, options)
    return replace(program, exported=rewritten.exported), rewritten.report
