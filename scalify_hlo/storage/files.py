"""Reading and writing files. `-` is a standard stream, and output files appear only when whole."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, TextIO, TypeVar

from scalify_hlo.errors import InputError, UsageError, nearest
from scalify_hlo.storage.interrupts import undone_by_signals

T = TypeVar("T")

STREAM = "-"
"""The path that stands for standard input or output."""

OPEN_FILES = "/proc/self/fd"
"""The folder with the paths of open files, on Linux."""

_HEAD = 1 << 16
"""The number of bytes that are read first, to decide whether to read the rest."""
_MOST = 2 << 30
"""The most bytes that are read from a stream, which may never end. Regular files have no limit."""
_CHUNK = 1 << 20
_NAMES = 1000
"""The most names of a folder that are compared with that of a missing file."""


def display_name(path: str) -> str:
    """The name of a path in diagnostics."""
    return "<stdin>" if path == STREAM else path


def read_file(path: str, require: Callable[[bytes, str], None] | None = None) -> bytes:
    """Returns all bytes of a file, or of standard input for ``-``.

    Args:
        path: The path of the file.
        require: Called with the first bytes and the name of the file. It raises an error if the
            file is not wanted; the rest is not read then, as a device may never end.

    Raises:
        InputError: The file is missing, a directory, or unreadable, or standard input is closed.
    """
    if path == STREAM:
        return _read_standard_input(require)
    try:
        with open(path, "rb") as file:
            return read_open(file, path, require)
    except OSError as error:
        like = _names_like(path) if error.errno == errno.ENOENT else ""
        raise InputError(
            f"cannot read the file: {_reason(error)}{like}",
            location=path,
            hint="give the path of an existing file, or - for standard input",
        ) from None


def _names_like(path: str) -> str:
    """Returns the names of files beside a missing one that are most like its own."""
    name = os.path.basename(path)
    try:
        return nearest(name, os.listdir(path.removesuffix(name) or ".")[:_NAMES])
    except OSError:
        return ""


def read_open(
    file: BinaryIO,
    name: str,
    require: Callable[[bytes, str], None] | None = None,
    *,
    most: int = _MOST,
) -> bytes:
    """Returns all bytes of an open file; see `read_file`.

    Args:
        file: The file.
        name: The name of the file in diagnostics.
        require: As for `read_file`. By default, files with zero bytes are refused.
        most: The most bytes that are read, unless the file is a regular file.

    Raises:
        InputError: The file is refused or too large.
    """
    head = file.read(_HEAD)
    if require is not None:
        require(head, name)
    elif b"\0" in head:
        raise InputError("this is not a text", location=name, hint="give a file in UTF-8")
    if len(head) < _HEAD:
        return head
    content = io.BytesIO()
    content.write(head)
    most = sys.maxsize if _is_regular(file) else most
    try:
        while piece := file.read(_CHUNK):
            content.write(piece)
            if content.tell() > most:
                raise InputError(
                    f"the stream goes on after {most:,} bytes",
                    location=name,
                    hint="write it to a file, which may be larger, and give the path of that",
                )
        return content.getvalue()
    except MemoryError:
        raise InputError(
            "there is not enough memory to read it",
            location=name,
            hint="give the path of a file, which need not be in memory whole",
        ) from None


def _is_regular(file: BinaryIO) -> bool:
    """Whether an open file is a regular file, which ends."""
    try:
        return stat.S_ISREG(os.fstat(file.fileno()).st_mode)
    except OSError:
        return False


def write_file(path: str, data: str | bytes) -> None:
    """Writes a whole file, or standard output for ``-``; on failure an existing file is kept.

    Raises:
        InputError: The output cannot be written.
    """
    content = data.encode() if isinstance(data, str) else data
    save_file(path, lambda file: file.write(content))


def save_file(path: str, save: Callable[[BinaryIO], object]) -> None:
    """Writes a file by a function that takes the open file; see `write_file`.

    Raises:
        InputError: The output cannot be written.
    """
    if path == STREAM:
        with standard_output() as stream:
            save(stream.buffer)
        return
    try:
        _write(Path(path), save)
    except OSError as error:
        raise _unwritable(path, _reason(error)) from None


def require_writable(path: str) -> None:
    """Checks before the work starts that an output can be written.

    Raises:
        InputError: The folder is missing or cannot be written, the path is a folder or a loop, or
            standard output is closed.
    """
    if path == STREAM:
        _require_output()
    if path == STREAM or _is_device(Path(path)):
        return
    try:
        _require_one_name(Path(path))
    except OSError as error:
        raise _unwritable(path, _reason(error)) from None
    folder = Path(path).parent
    if Path(path).is_dir():
        raise _unwritable(path, "is a directory")
    if not folder.is_dir():
        raise _unwritable(path, f"there is no folder {str(folder)!r}")
    if not os.access(folder, os.W_OK):
        raise _unwritable(path, f"no permission to write in {str(folder)!r}")


@contextlib.contextmanager
def standard_output() -> Iterator[TextIO]:
    """Gives standard output, and flushes it on exit.

    Raises:
        InputError: Standard output is closed, or a write to it fails.
    """
    stream = _require_output()
    try:
        yield stream
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise unwritable_output(error) from None


def unwritable_output(error: OSError) -> InputError:
    """Returns the error for a failed write to standard output, and discards the rest of it."""
    discard_output()
    return _unwritable("<stdout>", _reason(error))


def discard_output() -> None:
    """Discards the buffer of standard output; flushing it at exit would fail again."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def form_of(path: str | None, what: str, forms: Mapping[str, T]) -> T:
    """Returns the form in which a file is written, by the suffix of its name.

    Args:
        path: The path; standard output, and no file, have no suffix.
        what: The contents of the file, as the error names them.
        forms: The forms by suffix, the first of which is that of names without one.

    Raises:
        UsageError: The suffix is another.
    """
    suffix = Path(path).suffix.lower() if path not in (None, STREAM) else ""
    if suffix and suffix not in forms:
        raise UsageError(
            f"{what} cannot be written as {suffix}{nearest(suffix, forms)}",
            hint=f"the suffixes of the output are: {', '.join(forms)}",
        )
    return forms[suffix or next(iter(forms))]


def _read_standard_input(require: Callable[[bytes, str], None] | None) -> bytes:
    # `sys.stdin` is None if the process was started without standard input.
    stream: TextIO | None = sys.stdin
    name, hint = (
        display_name(STREAM),
        "give the path of a file, or open standard input with < or a pipe",
    )
    if stream is None:
        raise InputError("standard input is closed", location=name, hint=hint)
    try:
        return read_open(stream.buffer, name, require)
    except OSError as error:
        message = f"cannot read standard input: {_reason(error)}"
        raise InputError(message, location=name, hint=hint) from None


def _require_output() -> TextIO:
    stream: TextIO | None = sys.stdout
    if stream is None:
        raise _unwritable("<stdout>", "standard output is closed")
    return stream


def _write(path: Path, save: Callable[[BinaryIO], object]) -> None:
    """Replaces a regular file in one step; writes through to anything else, such as a pipe."""
    if _is_device(path):
        with path.open("wb") as device:
            save(device)
        return
    _require_one_name(path)
    target = path.resolve()  # A link is kept, and the file that it names is replaced.
    name = target.with_name(f".scalify-hlo.{os.urandom(8).hex()}")
    # The handlers of signals are set before the file exists, so that no signal leaves it there.
    with undone_by_signals(lambda: os.unlink(name)):
        try:
            with open(name, "xb", opener=_open_private) as file:
                save(file)
                file.flush()
                _give_name(file.fileno(), name)
            os.chmod(name, _mode(target))
            os.replace(name, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise


def _open_private(name: str, flags: int) -> int:
    """Opens a file without a name, which a kill does not leave, or with one on other systems."""
    with contextlib.suppress(OSError, AttributeError):
        os.stat(OPEN_FILES)
        return os.open(os.path.dirname(name), os.O_TMPFILE | os.O_WRONLY, 0o600)
    return os.open(name, flags, 0o600)


def _give_name(file: int, name: Path) -> None:
    """Gives an open file a name, unless it has one."""
    if not os.fstat(file).st_nlink:
        # With a folder, Python asks the system to follow the link to the file.
        os.link(f"{OPEN_FILES}/{file}", name, src_dir_fd=file)


def _require_one_name(path: Path) -> None:
    """Raises the system's error for a loop of links or a long name, and one for hard links.

    Hard links would keep the old file, as it is replaced.
    """
    try:
        found = path.stat()
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENAMETOOLONG):
            raise
        return
    if stat.S_ISREG(found.st_mode) and found.st_nlink > 1:
        raise OSError(errno.EMLINK, "it has other hard links, which would keep the old file")


def _is_device(path: Path) -> bool:
    """Whether a path exists and is neither a regular file nor a folder."""
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _mode(target: Path) -> int:
    """The permissions of the file to be replaced, or those of a new file."""
    with contextlib.suppress(OSError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _unwritable(path: str, reason: str) -> InputError:
    return InputError(
        f"cannot write the output: {reason}",
        location=path,
        hint="give a path in an existing folder that you may write, or - for standard output",
    )


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


# Folders of files, which appear whole or not at all.


def require_folder(path: str, names: frozenset[str]) -> None:
    """Checks before the work starts that a folder can be written.

    Args:
        path: The path of the folder. It is made, or it is there and has no other files.
        names: The names of the files that will be written.

    Raises:
        InputError: The path is a file or a folder with other files, or cannot be written.
    """
    folder = Path(path)
    if path == STREAM or (folder.exists() and not folder.is_dir()):
        raise _unwritable_folder(path, "it is not a folder")
    parent = folder.resolve().parent
    if not parent.is_dir():
        raise _unwritable_folder(path, f"there is no folder {str(folder.parent)!r}")
    if not os.access(parent, os.W_OK):
        raise _unwritable_folder(path, f"no permission to write in {str(folder.parent)!r}")
    others = sorted({entry.name for entry in folder.iterdir()} - names) if folder.is_dir() else []
    if others:
        raise _unwritable_folder(path, f"the folder has other files, such as {others[0]!r}")


def write_folder(path: str, files: Mapping[str, str]) -> None:
    """Writes a folder of texts; on failure, an existing folder is kept.

    Args:
        path: The path of the folder; see `require_folder`.
        files: The texts by the names of their files.

    Raises:
        InputError: The folder cannot be written.
    """
    require_folder(path, frozenset(files))
    try:
        _replace_folder(Path(path).resolve(), files)
    except OSError as error:
        raise _unwritable_folder(path, (error.strerror or str(error)).lower()) from None


def _replace_folder(folder: Path, files: Mapping[str, str]) -> None:
    mark = os.urandom(8).hex()
    new, old = (folder.with_name(f".scalify-hlo.{mark}.{kind}") for kind in ("new", "old"))

    def clean() -> None:
        """Puts the old folder back unless the new one is in its place."""
        import shutil  # It imports all compressions, and most commands write no folder.

        if not folder.exists():
            with contextlib.suppress(OSError):
                os.replace(old, folder)
        for each in (new, old):
            shutil.rmtree(each, ignore_errors=True)

    try:
        with undone_by_signals(clean):
            new.mkdir()
            for name, text in files.items():
                (new / name).write_text(text, "utf-8")
            if folder.is_dir():
                os.replace(folder, old)
            os.replace(new, folder)
    finally:
        clean()


def _unwritable_folder(path: str, reason: str) -> InputError:
    return InputError(
        f"cannot write the output: {reason}",
        location=path,
        hint="give the path of a new folder, or of one that this command has written",
    )
