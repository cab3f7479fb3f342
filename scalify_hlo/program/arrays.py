"""Arrays of .npz files, which are read on demand and written one by one."""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from scalify_hlo.errors import InputError
from scalify_hlo.program.byte_source import OnDisk, Source, source_of
from scalify_hlo.storage.files import display_name
from scalify_hlo.storage.memory import require_memory

_SUFFIX = ".npy"
_LONGEST_HEADER = 1 << 16
"""Bytes of an array that are inflated to read its shape and dtype."""
_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


@dataclass(frozen=True, slots=True)
class StoredArray:
    """An array in a file, such as an .npz file.

    Attributes:
        shape: The shape, as the header of the array gives it.
        dtype: The dtype, as the header of the array gives it.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    _read: Callable[[], npt.NDArray[Any]]
    _path: str

    def load(self) -> npt.NDArray[Any]:
        """Returns the inflated array.

        Raises:
            InputError: The array is damaged, or larger than memory.
        """
        require_memory(math.prod(self.shape) * self.dtype.itemsize, self._path)
        try:
            return self._read()
        except Exception:
            raise _no_archive(self._path) from None


def read_arrays(path: str) -> dict[str, StoredArray]:
    """Returns the arrays of an .npz file by name; they are inflated on demand.

    Args:
        path: The path of the file, or ``-``.

    Raises:
        InputError: The file cannot be read, or is not an .npz file.
    """
    return arrays_of(source_of(path, require_archive), display_name(path))


def require_archive(head: bytes, name: str) -> None:
    """Refuses a stream whose first bytes are not those of an .npz file.

    Raises:
        InputError: They are others.
    """
    if not head.startswith(b"PK"):
        raise _no_archive(name)


def arrays_of(source: Source, path: str) -> dict[str, StoredArray]:
    """Returns the arrays of an .npz file by name; only their headers are read.

    Args:
        source: The file, or its bytes.
        path: The name of the file in diagnostics.

    Raises:
        InputError: The source is not an .npz file of arrays.
    """
    try:
        file = source.path if isinstance(source, OnDisk) else io.BytesIO(source)
        archive = zipfile.ZipFile(file)
        return {
            name.removesuffix(_SUFFIX): _stored(archive, name, path) for name in archive.namelist()
        }
    except Exception:
        raise _no_archive(path) from None


def _stored(archive: zipfile.ZipFile, name: str, path: str) -> StoredArray:
    with archive.open(name) as member:
        header = io.BytesIO(member.read(_LONGEST_HEADER))
    shape, _, dtype = _READERS[np.lib.format.read_magic(header)](header)
    return StoredArray(shape, dtype, partial(_member, archive, name), path)


def _member(archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    with archive.open(name) as file:
        array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
        return array


def save_arrays(file: BinaryIO, arrays: Iterable[tuple[str, npt.NDArray[Any]]]) -> None:
    """Writes an .npz file, with one array in memory at a time.

    Formats that NumPy does not know, such as bf16 and f8, are written as raw bytes: `numpy.load`
    reads none of them by name, and refuses files with E5M2. ``array.view(dtype)`` reads the bytes.

    Args:
        file: The open file.
        arrays: Names and arrays of any dtype but objects, in the order in which they are written.
    """
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays:
            known = array.dtype.isbuiltin == 1
            plain = array if known else array.view(f"V{array.dtype.itemsize}")
            # The size of a member is not known before it is written, and may be above 2 GiB.
            with archive.open(name + _SUFFIX, "w", force_zip64=True) as member:
                np.lib.format.write_array(member, plain, allow_pickle=False)


def _no_archive(path: str) -> InputError:
    return InputError(
        "this is not an .npz file of arrays",
        location=path,
        hint="write one with numpy.savez(path, *arrays)",
    )
