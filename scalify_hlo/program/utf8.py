"""Checks for strings that MLIR or its Python bindings cannot read: not UTF-8, or empty symbols.

MLIR keeps strings as bytes. Its Python bindings raise an error or abort the process if they read a
string that is not UTF-8: the name in a location, a symbol, or the message of a diagnostic. Only the
`backend_config` of a custom call may hold such bytes, since nothing reads it as text. MLIR prints
an empty symbol as `@`, which its parser refuses.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from scalify_hlo.errors import InputError
from scalify_hlo.program.byte_source import Buffer

_ESCAPED = re.compile(rb"\\[89A-Fa-f][0-9A-Fa-f]")
"""The escape sequence of a byte that is not ASCII in MLIR text; such bytes also occur unescaped."""
_CHUNK = 1 << 20
_TOKEN = re.compile(
    rb'//[^\n]*|(?P<opaque>(?:"[\w.]*)?backend_config"?\s*=\s*)|(?P<brace>[{}])'
    rb'|"(?P<string>[^"\\\n]*(?:\\[^\n][^"\\\n]*)*)"'
)
_EMPTY = re.compile(rb'""')
_NAMES = (b"sym_name", b"callee", b"call_target_name")
_ESCAPE = re.compile(rb"\\([0-9A-Fa-f]{2}|[^\n])")
_CONTROLS = {b"n": b"\n", b"t": b"\t"}
_SHOWN = 40
"""The most characters of a string that an error message quotes."""
_HINT = "write it in UTF-8: no string but a backend_config may hold other bytes"

_STRING_SECTION = 0
_ALIGNED = 0x80
_SECTION = 0x7F


def require_utf8_strings(text: Buffer, name: str, *, lines: bool = True) -> None:
    """Refuses MLIR text with a string that is not UTF-8 once the parser has unescaped it.

    Args:
        text: MLIR text.
        name: The name of the text in diagnostics.
        lines: Whether diagnostics give line and column; False if the user does not have the text.

    Raises:
        InputError: A string, other than in a `backend_config`, is not UTF-8.
    """
    if _is_ascii(text):
        return
    for start, stop in _strings(text):
        if not _is_ascii(text, start, stop) and not _is_utf8(text[start:stop]):
            spelled = text[start:stop].decode(errors="backslashreplace")
            shown = spelled if len(spelled) <= _SHOWN else f"{spelled[:_SHOWN]}..."
            raise InputError(
                f'the string "{shown}" is not UTF-8',
                location=f"{name}:{_place(text, start - 1)}" if lines else name,
                hint=_HINT,
            )


def require_symbols(text: Buffer, name: str) -> None:
    """Refuses MLIR text that has a symbol without a name.

    Raises:
        InputError: A symbol is empty.
    """
    ends = {found.end() - 1 for found in _EMPTY.finditer(text) if _is_name(text, found.start())}
    for start, _ in _strings(text) if ends else ():
        if start in ends:
            raise InputError(
                "a symbol has no name",
                location=f"{name}:{_place(text, start - 1)}",
                hint="name the function, or the target of the custom call",
            )


def has_utf8_strings(data: Buffer, start: int) -> bool:
    """Whether all strings of MLIR bytecode are UTF-8; False also if the bytecode is damaged.

    Args:
        data: The bytes that contain the bytecode.
        start: Offset in bytes of the start of the bytecode.
    """
    try:
        start, stop = _string_section(data, start)
        if stop > len(data):
            return False
        data[start:stop].decode()
    except (IndexError, ValueError):
        return False
    return True


def _strings(text: Buffer) -> Iterator[tuple[int, int]]:
    """Yields start and stop of each string of a text, without its quotes and except opaque ones."""
    depth = opaque_from = 0
    opaque_at = -1
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        opaque = bool(opaque_from) or token.start() == opaque_at
        if kind == "opaque":
            opaque_at = token.end()
        elif kind == "string" and not opaque:
            yield token.span("string")
        elif kind == "brace":
            opening = text[token.start() : token.end()] == b"{"
            depth += 1 if opening else -1
            if opening and opaque and not opaque_from:
                opaque_from = depth
            elif depth < opaque_from:
                opaque_from = 0


def _is_ascii(text: Buffer, start: int = 0, stop: int | None = None) -> bool:
    """Whether a part of a text has no byte beyond ASCII, escaped or not."""
    stop = len(text) if stop is None else stop
    if _ESCAPED.search(text, start, stop):
        return False
    return all(text[at : min(at + _CHUNK, stop)].isascii() for at in range(start, stop, _CHUNK))


def _is_name(text: Buffer, quotes: int) -> bool:
    """Whether quotes enclose the name of a symbol: ``@"name"`` or ``sym_name = "name"``."""
    if text[quotes - 1 : quotes] == b"@":
        return True
    equals = _before_spaces(text, quotes)
    if text[equals - 1 : equals] != b"=":
        return False
    end = _before_spaces(text, equals - 1)
    return text[max(end - _SHOWN, 0) : end].removesuffix(b'"').endswith(_NAMES)


def _before_spaces(text: Buffer, end: int) -> int:
    while text[end - 1 : end].isspace():
        end -= 1
    return end


def _is_utf8(spelled: bytes) -> bool:
    try:
        _ESCAPE.sub(_byte_of, spelled).decode()
    except UnicodeDecodeError:
        return False
    return True


def _byte_of(escape: re.Match[bytes]) -> bytes:
    code = escape[1]
    return bytes.fromhex(code.decode()) if len(code) == 2 else _CONTROLS.get(code, code)


def _place(text: Buffer, position: int) -> str:
    """Line and column of a position in a text."""
    before = text[:position]
    line, column = before.count(b"\n") + 1, position - before.rfind(b"\n")
    return f"{line}:{column}"


def _string_section(data: Buffer, start: int) -> tuple[int, int]:
    """Start and stop of the strings of MLIR bytecode; see "MLIR Bytecode Format" in MLIR's docs.

    Raises:
        IndexError: The bytecode ends before its string section.
        ValueError: The bytecode has no producer.
    """
    position = start + len(b"ML\xefR")
    _, position = _varint(data, position)  # the version
    position = data.find(b"\0", position) + 1
    if not position:
        raise ValueError("the producer does not end")
    while True:
        kind = data[position]
        length, position = _varint(data, position + 1)
        if kind & _ALIGNED:
            alignment, position = _varint(data, position)
            position += -(position - start) % max(alignment, 1)
        if kind & _SECTION == _STRING_SECTION:
            return _after_lengths(data, position), position + length
        position += length


def _after_lengths(data: Buffer, position: int) -> int:
    """The offset at which the strings of a string section start, after their lengths."""
    count, position = _varint(data, position)
    for _ in range(count):
        _, position = _varint(data, position)
    return position


def _varint(data: Buffer, position: int) -> tuple[int, int]:
    """Decodes a variable-width integer; the first byte has as many trailing zeros as bytes follow.

    Returns:
        The integer, and the offset of its end.
    """
    first = data[position]
    if not first:
        return int.from_bytes(data[position + 1 : position + 9], "little"), position + 9
    count = (first & -first).bit_length()
    end = position + count
    return int.from_bytes(data[position:end], "little") >> count, end
