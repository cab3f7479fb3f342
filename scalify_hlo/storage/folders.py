"""Writing folders of files, which appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from scalify_hlo.errors import InputError
from scalify_hlo.storage.files import STREAM
from scalify_hlo.storage.interrupts import undone_by_signals


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
        raise _unwritable(path, "it is not a folder")
    parent = folder.resolve().parent
    if not parent.is_dir():
        raise _unwritable(path, f"there is no folder {str(folder.parent)!r}")
    if not os.access(parent, os.W_OK):
        raise _unwritable(path, f"no permission to write in {str(folder.parent)!r}")
    others = sorted({entry.name for entry in folder.iterdir()} - names) if folder.is_dir() else []
    if others:
        raise _unwritable(path, f"the folder has other files, such as {others[0]!r}")


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
        _replace(Path(path).resolve(), files)
    except OSError as error:
        raise _unwritable(path, (error.strerror or str(error)).lower()) from None


def _replace(folder: Path, files: Mapping[str, str]) -> None:
    mark = os.urandom(8).hex()
    new, old = (folder.with_name(f".scalify-hlo.{mark}.{kind}") for kind in ("new", "old"))

    def clean() -> None:
        """Puts the old folder back unless the new one is in its place."""
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


def _unwritable(path: str, reason: str) -> InputError:
    return InputError(
        f"cannot write the output: {reason}",
        location=path,
        hint="give the path of a new folder, or of one that this command has written",
    )
