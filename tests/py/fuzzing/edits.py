"""Edits that damage a program: of its text, and of the bytes of any file."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

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
_SYMBOL = re.compile(r"@\w+")
_STRING = re.compile(r'(?<=")[^"\n]*(?=")')

Edit = Callable[[str, Random], str]
ByteEdit = Callable[[bytes, bytes, Random], bytes]
"""Changes bytes; the second ones are those of another file of the same kind."""


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
    start = random.randrange(len(text) + 1)
    return text[:start] + text[start + random.randrange(1, 9) :]


def _of_strings(text: str, random: Random) -> str:
    """Puts bytes that are no UTF-8 into a string or a symbol, as MLIR writes them."""
    found = [*_STRING.finditer(text), *(m for m in _SYMBOL.finditer(text) if random.random() < 0.2)]
    if not found:
        return text
    word = random.choice(found)
    other = random.choice(("\\FF", "a\\C3", "\\00", "\\0A", "\\ED\\A0\\80", ""))
    if word.group().startswith("@"):
        other = f'@"{other}"'
    return text[: word.start()] + other + text[word.end() :]


EDITS: tuple[Edit, ...] = (
    _of_lines,
    _of_words(_NAME),
    _of_words(_TYPE, TYPES),
    _of_words(_TYPE),
    _of_words(_NUMBER, NUMBERS),
    _of_words(_NUMBER),
    _of_words(_OP, OPS),
    _of_words(_OP),
    _of_words(_SYMBOL),
    _of_strings,
    _of_characters,
)


def edited(text: str, random: Random) -> str:
    """A text after a few edits."""
    for _ in range(random.choice((1, 1, 2, 3))):
        text = random.choice(EDITS)(text, random)
    return text


def _span(data: bytes, random: Random, most: int = 512) -> tuple[int, int]:
    """Returns the start and the end of a piece of bytes."""
    start = random.randrange(len(data) + 1)
    return start, min(len(data), start + random.randrange(1, most))


def _flip(data: bytes, other: bytes, random: Random) -> bytes:
    """Changes a few bits."""
    del other
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 3, 16)) if data else 0):
        changed[random.randrange(len(changed))] ^= 1 << random.randrange(8)
    return bytes(changed)


def _overwrite(data: bytes, other: bytes, random: Random) -> bytes:
    """Puts the same byte, or a large number, in place of a few."""
    del other
    start, end = _span(data, random, 9)
    filler = random.choice(
        (b"\x00", b"\xff", b"\x7f", b"\x80", b"\xc3", bytes([random.randrange(256)]))
    )
    return data[:start] + filler * (end - start) + data[end:]


def _truncate(data: bytes, other: bytes, random: Random) -> bytes:
    """Ends early."""
    del other
    return data[: random.randrange(len(data) + 1)]


def _remove(data: bytes, other: bytes, random: Random) -> bytes:
    """Takes a piece out."""
    del other
    start, end = _span(data, random)
    return data[:start] + data[end:]


def _duplicate(data: bytes, other: bytes, random: Random) -> bytes:
    """Has a piece twice, the second time anywhere."""
    del other
    start, end = _span(data, random)
    place = random.choice((end, random.randrange(len(data) + 1)))
    return data[:place] + data[start:end] * random.choice((1, 1, 2, 50)) + data[place:]


def _splice(data: bytes, other: bytes, random: Random) -> bytes:
    """Goes on as another file, or has a piece of it."""
    start, end = _span(other, random)
    if random.random() < 0.3:
        return data[: random.randrange(len(data) + 1)] + other[start:]
    place, until = _span(data, random)
    return data[:place] + other[start:end] + data[random.choice((place, until)) :]


def _no_text(data: bytes, other: bytes, random: Random) -> bytes:
    """Has bytes somewhere that are no UTF-8, or none that are printed."""
    del other
    place = random.randrange(len(data) + 1)
    odd = random.choice(
        (b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\0", b"\xef\xbb\xbf")
    )
    return data[:place] + odd + data[place:]


BYTE_EDITS: tuple[ByteEdit, ...] = (
    _flip,
    _flip,
    _flip,
    _overwrite,
    _overwrite,
    _truncate,
    _remove,
    _duplicate,
    _splice,
    _no_text,
)


def damaged(data: bytes, other: bytes, random: Random) -> bytes:
    """A file after an edit of its bytes, seldom two.

    Args:
        data: The file.
        other: Another of the same kind.
        random: What to draw from.
    """
    for _ in range(random.choice((1, 1, 1, 2))):
        data = random.choice(BYTE_EDITS)(data, other, random)
    return data
