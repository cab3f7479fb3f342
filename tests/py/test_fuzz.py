"""Damaged programs become valid programs, or are refused in one located sentence.

Most of what the edits of a text leave is no StableHLO, and the parser says so; the rest are
programs that nobody would write, which the rules meet as they are.
"""

from __future__ import annotations

import io
from functools import cache, partial
from random import Random
from typing import BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalify_hlo.api import make_options
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.frontend.rewriting import rewrite_program
from scalify_hlo.io import sandbox as guard
from scalify_hlo.io.artifact import write_artifact
from scalify_hlo.io.program import Program, read_program, read_text, write_program
from scalify_hlo.passes.pipeline import Options
from tests.py.fuzzing.edits import damaged, edited
from tests.py.judge import parse
from tests.py.programs import PROGRAMS

NAMES = (
    *("nested_calls", "call_that_meets", "while_in_while", "while_that_captures", "if_that_moves"),
    *("case_that_moves", "composite_that_moves", "all_reduce_of_two", "reduce_scatter_multiply"),
    *("collective_permute", "chlo_scan", "chlo_ragged_dot", "chlo_erf", "chlo_broadcast_select"),
    *("tuple_of_tuples", "futures", "outfeed", "custom_call", "sort_by_both", "map_call"),
    *("reduce_logsumexp", "argmax_of_jax", "scatter_pairs", "reduce_window_pairs", "select"),
    *("select_and_scatter_by_value", "sdy_sharding_constraint", "nested_manual", "clamp"),
    *("manual_in_a_loop", "sharding_group", "dot", "dynamic_slice"),
)
"""No convolution: MLIR's parser takes minutes where the number of a dimension is 2^31."""
TEXTS = {p.name: p.text() for p in PROGRAMS if p.name in NAMES}

OPTIONS = (
    {"recipe": "propagate", "signature": "scaled"},
    {"recipe": "propagate", "signature": "same", "input_scale": {"*": 2.0**3}},
    {"recipe": "propagate", "signature": "scaled", "settings": {"meet": "max"}},
)


def assert_one_located_sentence(error: InputError | UsageError) -> None:
    assert error.hint
    assert "fault of the rewriter" not in error.hint
    assert error.message.strip()
    assert "\n" not in f"{error.location}{error.message}{error.hint}"
    assert error.location or isinstance(error, UsageError)


def check_text(text: str, options: Options) -> bool:
    """Rewrites a text; whether it is a program."""
    try:
        result = write_program(rewrite_program(read_text(text, guarded=True), options)[0])
    except (InputError, UsageError) as error:
        assert_one_located_sentence(error)
        return False
    assert isinstance(result, str)
    read_text(result, guarded=True)
    return True


def check_bytes(data: bytes, options: Options) -> bool:
    """Rewrites what may be a program as bytes; whether it is one."""
    try:
        program: Program = read_program(data, guarded=True)
        result = write_program(rewrite_program(program, options)[0])
    except (InputError, UsageError) as error:
        assert_one_located_sentence(error)
        return False
    assert isinstance(result, bytes)
    read_program(result, guarded=True)
    return True


def check_bytes_in_child(data: bytes, options: Options) -> None:
    """As `check_bytes`, where neither a crash nor a loop without an end ends the tests."""

    work = partial(_check_and_answer, data, options)
    assert guard.in_child(work, len(data)) is not None, "see what check_bytes does of these bytes"


def _check_and_answer(data: bytes, options: Options, stream: BinaryIO) -> None:
    guard._SECONDS = 1
    stream.write(bytes([check_bytes(data, options)]))


@cache
def stored(name: str, *, portable: bool) -> bytes:
    """A program as bytecode, or as a portable artifact if it can be one."""
    module = parse(TEXTS[name])
    if portable and name != "chlo_scan":
        with module.context:
            return write_artifact(module, "current", name)
    buffer = io.BytesIO()
    module.operation.write_bytecode(buffer)
    return buffer.getvalue()


PICKED = {
    "name": st.sampled_from(sorted(TEXTS)),
    "how": st.sampled_from([make_options(**options) for options in OPTIONS]),
    "random": st.randoms(),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_programs_are_whole_before(name: str) -> None:
    assert check_text(TEXTS[name], make_options("propagate", "scaled"))


def test_every_name_is_a_programs() -> None:
    assert set(TEXTS) == set(NAMES)


@pytest.mark.slow
@settings(max_examples=300)
@given(**PICKED)
def test_an_edited_text_is_a_program_or_an_input_error(
    name: str, how: Options, random: Random
) -> None:
    check_text(edited(TEXTS[name], random), how)


@pytest.mark.slow
@settings(max_examples=60)
@given(**PICKED, other=st.sampled_from(sorted(TEXTS)), portable=st.booleans())
def test_damaged_bytecode_is_a_program_or_an_input_error(
    name: str, other: str, how: Options, random: Random, *, portable: bool
) -> None:
    data, another = (stored(n, portable=portable) for n in (name, other))
    check_bytes_in_child(damaged(data, another, random), how)


def test_the_edits_leave_some_programs_whole() -> None:
    """The rules, and not the parser alone, see what was edited."""
    random = Random(0)
    options = make_options("propagate", "scaled")
    texts = [edited(TEXTS[name], random) for name in sorted(TEXTS) for _ in range(3)]
    assert sum(check_text(text, options) for text in texts) > len(texts) / 10
