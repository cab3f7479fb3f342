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
from scalify_hlo.program.artifact import ARTIFACT_KIND, MAGIC, damaged
from scalify_hlo.program.byte_source import Buffer, Part, Source, head, viewed
from scalify_hlo.program.entry import listed

SAVED_MODEL_KIND: Final = "TensorFlow SavedModel"
START: Final = b"\x08\x01\x12"
"""The first bytes: the version 1, and the tag of a graph."""
FILE: Final = "saved_model.pb"
_GRADIENT: Final = "internal_grad_fn", "__inference_internal_grad_fn"
"""The first letters of the names that TensorFlow gives to gradients."""
_OP: Final = b"XlaCallModule"
_LONGEST: Final = 10
"""The most bytes of a number."""
_FIELDS: Final = 1 << 21
"""The most fields that are read: those of half a million nodes."""


class _Span(NamedTuple):
    """A message or a string among the bytes of a file."""

    start: int
    stop: int


class _File:
    """The bytes of a file, of which a limited number of fields is read.

    Attributes:
        data: The bytes.
        left: The number of fields that may still be read.
    """

    def __init__(self, data: Buffer) -> None:
        self.data = data
        self.left = _FIELDS


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
        InputError: The file is damaged, has no program or several, or one that is no artifact.
    """
    with viewed(source) as data:
        found = _programs_of(data, name)
    chosen = _chosen(found, asked, name)
    part = Part(source, *found[chosen])
    if head(part, len(MAGIC)) != MAGIC:
        raise InputError(
            f"the attribute `module` of the op XlaCallModule in `{chosen}` is not a "
            f"{ARTIFACT_KIND}",
            location=name,
            hint="save the model again with the jax2tf of a newer JAX",
        )
    return part


def _programs_of(data: Buffer, name: str) -> dict[str, _Span]:
    """Returns the places of all programs, by name; see `program_in`."""
    try:
        found = _named(list(_programs(_File(data))))
    except (ValueError, LookupError):
        raise damaged(SAVED_MODEL_KIND, name) from None
    except OverflowError:
        raise InputError(
            f"the SavedModel has more than {_FIELDS} fields",
            location=name,
            hint="export the JAX function with jax.export",
        ) from None
    if not found:
        raise InputError(
            "the SavedModel has no op XlaCallModule, and so no StableHLO",
            location=name,
            hint="export the JAX function with jax.export, or save it again with jax2tf",
        )
    return found


def _chosen(found: dict[str, _Span], asked: str | None, name: str) -> str:
    """Returns the name of the program that is asked for, or that is the only one."""
    forward = [each for each in found if not each.startswith(_GRADIENT)] or list(found)
    if asked is None and len(forward) > 1:
        raise InputError(
            f"the SavedModel has {len(forward)} programs",
            location=name,
            hint=f"name one with --entry, or with entry= of scalify_hlo.rewrite: {listed(forward)}",
        )
    chosen = forward[0] if asked is None else asked
    if chosen not in found:
        raise InputError(
            f"the SavedModel has no program `{chosen}`{nearest(chosen, found)}",
            location=name,
            hint=f"its programs are: {listed(list(found))}",
        )
    return chosen


def _named(programs: list[tuple[str, _Span]]) -> dict[str, _Span]:
    """Returns programs by the names of their functions, without what tracing adds to those.

    A name that several programs have, or that has a ``#``, is followed by the program's number.
    """
    short = [re.sub(r"^__inference_|_\d+$", "", name) for name, _ in programs]
    times = Counter(short)
    names = [
        name if times[name] == 1 else full for name, (full, _) in zip(short, programs, strict=True)
    ]
    times = Counter(names)
    return {
        name if times[name] == 1 and "#" not in name else f"{name}#{number}": place
        for number, (name, (_, place)) in enumerate(zip(names, programs, strict=True), 1)
    }


def _programs(file: _File) -> Iterator[tuple[str, _Span]]:
    """Yields the name of the function or node, and the artifact, of each ``XlaCallModule``."""
    for part in _all(file, _Span(0, len(file.data)), 2):
        if file.data.find(_OP, *part) >= 0:  # Most graphs of TensorFlow need not be read.
            for graph in _all(file, part, 2):
                yield from _in_graph(file, graph)


def _in_graph(file: _File, graph: _Span) -> Iterator[tuple[str, _Span]]:
    """Yields the same for one graph, whose nodes may be in functions."""
    for node in _all(file, graph, 1):
        yield from ((_text(file, node, 1), place) for place in _modules(file, node))
    for function in _all(file, graph, 2, 1):
        signature = next(_all(file, function, 1), _Span(0, 0))
        name = _text(file, signature, 1)
        for node in _all(file, function, 3):
            yield from ((name, place) for place in _modules(file, node))


def _modules(file: _File, node: _Span) -> Iterator[_Span]:
    """Yields the artifact of a node that has one."""
    if _text(file, node, 2) == _OP.decode():
        for attribute in _all(file, node, 5):
            if _text(file, attribute, 1) == "module":
                yield from _all(file, attribute, 2, 2)


def _text(file: _File, message: _Span, number: int) -> str:
    span = next(_all(file, message, number), _Span(0, 0))
    return file.data[span.start : span.stop].decode(errors="replace")


def _all(file: _File, message: _Span, number: int, *inner: int) -> Iterator[_Span]:
    """Yields all values of a field of messages or strings, or of a field of those.

    Raises:
        ValueError: A value reaches beyond its message.
        LookupError: A value is of no known kind, or the file ends in a number.
        OverflowError: Too many fields of the file were read.
    """
    data = file.data
    at, stop = message
    while at < stop:
        file.left -= 1
        if file.left < 0:
            raise OverflowError
        tag, at = _number(data, at)
        kind = tag & 7
        size, at = _number(data, at) if kind in _COUNTED else (_SIZES[kind], at)
        end = at if kind == 0 else at + size
        if end > stop:
            raise ValueError
        if kind == _BYTES and tag >> 3 == number:
            yield from _all(file, _Span(at, end), *inner) if inner else [_Span(at, end)]
        at = end


_BYTES: Final = 2
_COUNTED: Final = (0, _BYTES)
"""The kinds of values that begin with a number, and that which has as many bytes."""
_SIZES: Final = {1: 8, 5: 4}
"""The bytes of values of the other kinds."""


def _number(data: Buffer, at: int) -> tuple[int, int]:
    """Returns a number, and the offset after it."""
    value = data[at]
    if value < 128:  # Most numbers are.
        return value, at + 1
    value = 0
    for i in range(_LONGEST):
        value |= (data[at + i] & 127) << 7 * i
        if data[at + i] < 128:
            return value, at + i + 1
    raise ValueError
