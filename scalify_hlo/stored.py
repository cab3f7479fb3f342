"""Programs on disk, which readers map, so that their bytes take no memory of their own."""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, TypeAlias

Buffer: TypeAlias = bytes | mmap.mmap
"""The bytes of a file. Slices of them are copies, and so have to be small."""


@dataclass(frozen=True, slots=True)
class OnDisk:
    """A file that stays where it is.

    Attributes:
        path: Where.
    """

    path: str

    def can_be_mapped(self) -> bool:
        """Whether this is a regular file with something in it, and can be read.

        MLIR takes paths as UTF-8 only.
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
        """The bytes of the file.

        The map ends with its last user: an error may still hold a view of it.
        """
        with open(self.path, "rb") as file:
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        yield data


Source: TypeAlias = bytes | OnDisk
"""What a program is read from."""


@contextmanager
def viewed(source: Source) -> Iterator[Buffer]:
    """The bytes of a source, to look at."""
    if isinstance(source, OnDisk):
        with source.mapped() as data:
            yield data
    else:
        yield source


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a source, which is not copied.

    Attributes:
        source: What it is a part of.
        start: Where in it the part starts.
        stop: Where it ends.
    """

    source: Source
    start: int
    stop: int


def whole(source: Source | Part) -> bytes:
    """The bytes of a source or of a part, in memory."""
    if isinstance(source, Part):
        with viewed(source.source) as data:
            return data[source.start : source.stop]
    return Path(source.path).read_bytes() if isinstance(source, OnDisk) else source


def head(source: Source | Part, count: int) -> bytes:
    """The first bytes of a source or of a part."""
    part = source if isinstance(source, Part) else Part(source, 0, count)
    with viewed(part.source) as data:
        return data[part.start : min(part.stop, part.start + count)]


def size_of(source: Source | Part) -> int:
    """How many bytes a source or a part has."""
    if isinstance(source, Part):
        return source.stop - source.start
    with viewed(source) as data:
        return len(data)


class Writable(Protocol):
    """What bytes can be written to."""

    def write(self, data: bytes, /) -> int:
        """Writes bytes."""
        ...


class Sink:
    """Takes what MLIR writes on to a file, in order.

    Nothing is raised inside MLIR's writers, which are not made for it, but when they are done.

    Attributes:
        last: The last byte that was written.
    """

    def __init__(self, file: Writable) -> None:
        self._file = file
        self._error: BaseException | None = None
        self.last = b""

    def write(self, data: bytes) -> int:
        """Writes; after a failure, nothing any more."""
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
