"""Arrays of .npz files, which are inflated only when their shapes and dtypes fit."""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from scalify_hlo.diagnostics import InputError
from scalify_hlo.stored import OnDisk, Source

_SUFFIX = ".npy"
_LONGEST_HEADER = 1 << 16
"""How much of an array is inflated for its shape and dtype."""
_READERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


@dataclass(frozen=True, slots=True)
class StoredArray:
    """An array in an .npz file.

    Attributes:
        shape: Its shape, as its header says.
        dtype: Its dtype, likewise.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    _archive: zipfile.ZipFile
    _member: str
    _path: str

    def load(self) -> npt.NDArray[Any]:
        """The array, inflated.

        Raises:
            InputError: It is damaged.
        """
        try:
            with self._archive.open(self._member) as file:
                array: npt.NDArray[Any] = np.lib.format.read_array(file, allow_pickle=False)
                return array
        except Exception:
            raise _no_archive(self._path) from None


def arrays_of(source: Source, path: str) -> dict[str, StoredArray]:
    """The arrays of an .npz file by name, of which only the headers are read.

    Args:
        source: The file, or its bytes.
        path: How diagnostics call it.

    Raises:
        InputError: It is no such file.
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
    return StoredArray(shape, dtype, archive, name, path)


def _no_archive(path: str) -> InputError:
    return InputError(
        "this is no .npz file of arrays",
        location=path,
        hint="write one with numpy.savez(path, *arrays)",
    )
