"""Sources of bytes. Files on disk are memory-mapped, so that no copy of them is held in memory."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, TypeAlias

from scalify_hlo.storage.files import STREAM, read_file

Buffer: TypeAlias = bytes | mmap.mmap
"""The bytes of a file. A slice is a copy, so slices have to be small."""


@dataclass(frozen=True, slots=True)
class OnDisk:
    """A file that is read from disk when it is needed.

    Attributes:
        path: The path of the file.
    """

    path: str

    def can_be_mapped(self) -> bool:
        """Whether the file is a readable, non-empty regular file whose path MLIR takes.

        MLIR takes paths in UTF-8 only.
        """
        try:
            self.path.encode()
            if not stat.S_ISREG(os.stat(self.path).st_mode):
                return False
            with self.mapped():
                return True
        except (OSError, ValueError):
            return False

    @contextmanager
    def mapped(self) -> Iterator[mmap.mmap]:
        """Maps the file into memory.

        The map is not closed here: an error may still hold a view of it. It is closed with its
        last reference.
        """
        with open(self.path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        yield data


Source: TypeAlias = bytes | OnDisk
"""A source of a program: its bytes, or a file."""


@contextmanager
def viewed(source: Source) -> Iterator[Buffer]:
    """Gives access to the bytes of a source, without a copy of a file."""
    if isinstance(source, OnDisk):
        with source.mapped() as data:
            yield data
    else:
        yield source


@dataclass(frozen=True, slots=True)
class Part:
    """A range of bytes of a source, which is not copied.

    Attributes:
        source: The source.
        start: Offset in bytes of the first byte of the range.
        stop: Offset in bytes of the end of the range, which is exclusive.
    """

    source: Source
    start: int
    stop: int


def whole(source: Source | Part) -> bytes:
    """Returns all bytes of a source or of a part."""
    if isinstance(source, Part):
        with viewed(source.source) as data:
            return data[source.start : source.stop]
    return Path(source.path).read_bytes() if isinstance(source, OnDisk) else source


def head(source: Source | Part, count: int) -> bytes:
    """Returns the first `count` bytes of a source or of a part, or fewer if it is shorter."""
    part = source if isinstance(source, Part) else Part(source, 0, count)
    with viewed(part.source) as data:
        return data[part.start : min(part.stop, part.start + count)]


def size_of(source: Source | Part) -> int:
    """The number of bytes of a source or of a part."""
    if isinstance(source, Part):
        return source.stop - source.start
    with viewed(source) as data:
        return len(data)


def source_of(path: str, require: Callable[[bytes, str], None] | None = None) -> Source:
    """Returns the source at a path: a regular file as `OnDisk`, anything else as bytes.

    Args:
        path: The path of the file, or ``-``.
        require: As for `read_file`; it is not called for a regular file.

    Raises:
        InputError: The file cannot be read; see `read_file`.
    """
    file = OnDisk(path)
    return file if path != STREAM and file.can_be_mapped() else read_file(path, require)


class Writable(Protocol):
    """An object to which bytes can be written."""

    def write(self, data: bytes, /) -> int:
        """Writes bytes."""
        ...


class Sink:
    """Forwards the output of an MLIR writer to a file.

    MLIR's writers do not support exceptions. An error is kept, and raised on exit of the context.

    Attributes:
        last: The last byte that was written; empty before the first.
    """

    def __init__(self, file: Writable) -> None:
        self._file = file
        self._error: BaseException | None = None
        self.last = b""

    def write(self, data: bytes) -> int:
        """Writes bytes to the file; does nothing after a failure."""
        if self._error is None:
            try:
                self._file.write(data)
                self.last = data[-1:]
            except BaseException as error:
                self._error = error
        return len(data)

    def __enter__(self) -> Sink:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._error is not None:
            raise self._error
