"""`inspect` and `--strict` agree on which ops have no scaled form, for every op with a rule."""

from __future__ import annotations

import pytest

from scalify_hlo.cli.inspected import Inspected
from scalify_hlo.cli.matmul_table import Selection
from scalify_hlo.errors import InputError
from scalify_hlo.passes.pipeline import Options, rewrite_module
from scalify_hlo.program.program import read_program
from tests.py.programs import PROGRAMS, Program
from tests.py.shared.judge import parse

pytestmark = pytest.mark.slow


def refusal_of(program: Program) -> str:
    """The error of a strict rewrite, or nothing."""
    try:
        rewrite_module(parse(program.text()).operation, Options(signature="scaled", strict=True))
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_inspect_marks_what_strict_refuses(program: Program) -> None:
    loaded = read_program(program.text().encode())
    inspected = Inspected.of(loaded, Options(signature="scaled"), Selection())
    refused = [each.op for each in inspected.reads if each.refused]
    refusal = refusal_of(program)
    asked = "since the author asked for scales" in refusal  # A cast of data, and no read.
    assert bool(refused) == (bool(refusal) and not asked)
    assert not refused or any(op in refusal for op in refused)
