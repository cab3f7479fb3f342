"""Finds the StableHLO programs in TensorFlow SavedModels, such as those that jax2tf writes.

A program is the attribute ``module`` of an op ``XlaCallModule``: a portable artifact. The fields of
the protocol buffers around it are few and do not change, so that no reader of them is installed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from scalify_hlo.errors import InputError, nearest
from scalify_hlo.program.artifact import damaged
from scalify_hlo.program.byte_source import Buffer, Part, Source, viewed

SAVED_MODEL_KIND: Final = "TensorFlow SavedModel"
START: Final = b"\x08\x01\x12"
"""The first bytes: the version 1, and the tag of a graph."""
FILE: Final = "saved_model.pb"
_GRADIENT: Final = "internal_grad_fn"
_LONGEST: Final = 10
"""The most bytes of a number."""


class _Span(NamedTuple):
    """A message or a string among the bytes of a file."""

    start: int
    stop: int


def path_in(path: str) -> str:
    """Returns the path of the file of a SavedModel if a path is that of its folder."""
    inner = os.path.join(path, FILE)
    return inner if os.path.isfile(inner) else path


def program_in(source: Source, name: str, asked: str | None) -> Part:
    """Returns the portable artifact in a SavedModel.

    Args:
        source: The file ``saved_model.pb``.
        name: The name of the file in diagnostics.
        asked: The name of the function that has it. By default it is the only one, besides those of
            gradients.

    Raises:
        InputError: The file is damaged, has no program, or has several.
    """
    with viewed(source) as data:
        try:
            found = _named(list(_programs(data, _Span(0, len(data)))))
        except (ValueError, LookupError):
            raise damaged(SAVED_MODEL_KIND, name) from None
    if not found:
        raise InputError(
            "the SavedModel has no op XlaCallModule, and so no StableHLO",
            location=name,
            hint="export the JAX function with jax.export, or save it again with jax2tf",
        )
    forward = [each for each in found if _GRADIENT not in each] or list(found)
    if asked is None and len(forward) > 1:
        raise InputError(
            f"the SavedModel has {len(forward)} programs",
            location=name,
            hint="name one with --entry, or with entry= of scalify_hlo.rewrite: "
            f"{', '.join(forward)}",
        )
    chosen = asked or forward[0]
    if chosen not in found:
        raise InputError(
            f"the SavedModel has no program `{chosen}`{nearest(chosen, found)}",
            location=name,
            hint=f"its programs are: {', '.join(found)}",
        )
    return Part(source, *found[chosen])


def _named(programs: list[tuple[str, _Span]]) -> dict[str, _Span]:
    """Returns programs by the names of their functions, without what tracing adds to those."""
    short = [re.sub(r"^__inference_|_\d+$", "", name) for name, _ in programs]
    times = Counter(short)
    return {
        name if times[name] == 1 else full: place
        for name, (full, place) in zip(short, programs, strict=True)
    }


def _programs(data: Buffer, file: _Span) -> Iterator[tuple[str, _Span]]:
    """Yields the name of the function or node, and the artifact, of each ``XlaCallModule``."""
    for graph in _all(data, file, 2, 2):
        for node in _all(data, graph, 1):
            yield from ((_text(data, node, 1), place) for place in _modules(data, node))
        for function in _all(data, graph, 2, 1):
            signature = next(_all(data, function, 1), _Span(0, 0))
            for node in _all(data, function, 3):
                name = _text(data, signature, 1)
                yield from ((name, place) for place in _modules(data, node))


def _modules(data: Buffer, node: _Span) -> Iterator[_Span]:
    """Yields the artifact of a node that has one."""
    if _text(data, node, 2) == "XlaCallModule":
        for attribute in _all(data, node, 5):
            if _text(data, attribute, 1) == "module":
                yield from _all(data, attribute, 2, 2)


def _text(data: Buffer, message: _Span, number: int) -> str:
    span = next(_all(data, message, number), _Span(0, 0))
    return data[span.start : span.stop].decode(errors="replace")


def _all(data: Buffer, message: _Span, number: int, *inner: int) -> Iterator[_Span]:
    """Yields all values of a field of messages or strings, or of a field of those.

    Raises:
        ValueError: A value reaches beyond its message.
        LookupError: A value is of no known kind, or the file ends in a number.
    """
    at, stop = message
    while at < stop:
        tag, at = _number(data, at)
        kind = tag & 7
        size, at = _number(data, at) if kind in _COUNTED else (_SIZES[kind], at)
        end = at if kind == 0 else at + size
        if end > stop:
            raise ValueError
        if kind == _BYTES and tag >> 3 == number:
            yield from _all(data, _Span(at, end), *inner) if inner else [_Span(at, end)]
        at = end


_BYTES: Final = 2
_COUNTED: Final = (0, _BYTES)
"""The kinds of values that begin with a number, and that which has as many bytes."""
_SIZES: Final = {1: 8, 5: 4}
"""The bytes of values of the other kinds."""


def _number(data: Buffer, at: int) -> tuple[int, int]:
    """Returns a number, and the offset after it."""
    value = 0
    for i in range(_LONGEST):
        value |= (data[at + i] & 127) << 7 * i
        if data[at + i] < 128:
            return value, at + i + 1
    raise ValueError
