"""Damaged programs become valid programs, or are refused in one located sentence.

Most of what the edits of a text leave is no StableHLO, and the parser says so; the rest are
programs that nobody would write, which the rules meet as they are.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from functools import cache
from random import Random
from typing import BinaryIO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scalify_hlo import guard
from scalify_hlo.api import make_options, rewrite_program
from scalify_hlo.artifact import write_artifact
from scalify_hlo.diagnostics import InputError, UsageError
from scalify_hlo.passes.pipeline import Options
from scalify_hlo.program import Program, read_program, read_text, write_program
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

TYPES = (
    *("f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2", "i1", "i32", "ui8", "complex<f32>"),
    *("index", "!stablehlo.token", "tuple<>"),
)
NUMBERS = (
    *("0", "-1", "1", "2", "5", "16", "?", "2147483648", "9223372036854775807"),
    *("99999999999999999999", "1.0", "0x7FC00000"),
)
OPS = (
    *("add", "multiply", "divide", "maximum", "compare", "negate", "sqrt", "exponential"),
    *("convert", "reshape", "transpose", "constant", "return", "while", "if", "tuple", "iota"),
    *("optimization_barrier", "custom_call", "real", "imag", "dot", "power", "select"),
)
_NAME = re.compile(r"%[\w#]+")
_TYPE = re.compile(r"\b(?:bf16|f16|f32|f64|i1|i32|i64)\b")
_NUMBER = re.compile(r"(?<![\w%@.#])-?\d+(?:\.\d+)?")
_OP = re.compile(r"(?<=stablehlo\.)\w+")


def _of_lines(text: str, random: Random) -> str:
    """Takes a line out, puts it in again elsewhere, or changes its place with another's."""
    lines = text.split("\n")
    i, j = random.randrange(len(lines)), random.randrange(len(lines))
    kind = random.randrange(3)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


def _of_words(pattern: re.Pattern[str], others: tuple[str, ...] = ()) -> Edit:
    """Puts another word of its kind in a word's place, or in those of all words like it."""

    def edit(text: str, random: Random) -> str:
        found = list(pattern.finditer(text))
        if not found:
            return text
        word = random.choice(found)
        other = random.choice(others or tuple(match.group() for match in found))
        if random.random() < 0.5:
            return text[: word.start()] + other + text[word.end() :]
        return pattern.sub(lambda m: other if m.group() == word.group() else m.group(), text)

    return edit


def _of_characters(text: str, random: Random) -> str:
    """Takes out a few characters."""
    start = random.randrange(len(text))
    return text[:start] + text[start + random.randrange(1, 9) :]


Edit = Callable[[str, Random], str]
EDITS: tuple[Edit, ...] = (
    _of_lines,
    _of_words(_NAME),
    _of_words(_TYPE, TYPES),
    _of_words(_TYPE),
    _of_words(_NUMBER, NUMBERS),
    _of_words(_NUMBER),
    _of_words(_OP, OPS),
    _of_words(_OP),
    _of_characters,
)
OPTIONS = (
    {"signature": "scaled"},
    {"signature": "same", "input_scale": {"*": 2.0**3}},
    {"signature": "scaled", "settings": {"meet": "max"}},
)


def edited(text: str, random: Random) -> str:
    for _ in range(random.randrange(1, 4)):
        text = random.choice(EDITS)(text, random)
    return text


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

    def work(stream: BinaryIO) -> None:
        guard._SECONDS = 1
        stream.write(bytes([check_bytes(data, options)]))

    assert guard.in_child(work, len(data)) is not None, "see what check_bytes does of these bytes"


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


def damaged(data: bytes, random: Random) -> bytes:
    """A program that ends early, or a few bits of which are others."""
    if random.random() < 0.2:
        return data[: random.randrange(len(data))]
    changed = bytearray(data)
    for _ in range(random.randrange(1, 4)):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


PICKED = {
    "name": st.sampled_from(sorted(TEXTS)),
    "how": st.sampled_from([make_options(**options) for options in OPTIONS]),
    "random": st.randoms(),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_programs_are_whole_before(name: str) -> None:
    assert check_text(TEXTS[name], make_options(signature="scaled"))


def test_every_name_is_a_programs() -> None:
    assert set(TEXTS) == set(NAMES)


@settings(max_examples=300)
@given(**PICKED)
def test_an_edited_text_is_a_program_or_an_input_error(
    name: str, how: Options, random: Random
) -> None:
    check_text(edited(TEXTS[name], random), how)


@settings(max_examples=60)
@given(**PICKED, portable=st.booleans())
def test_damaged_bytecode_is_a_program_or_an_input_error(
    name: str, how: Options, random: Random, *, portable: bool
) -> None:
    check_bytes_in_child(damaged(stored(name, portable=portable), random), how)


def test_the_edits_leave_some_programs_whole() -> None:
    """The rules, and not the parser alone, see what was edited."""
    random = Random(0)
    options = make_options(signature="scaled")
    texts = [edited(TEXTS[name], random) for name in sorted(TEXTS) for _ in range(3)]
    assert sum(check_text(text, options) for text in texts) > len(texts) / 10
