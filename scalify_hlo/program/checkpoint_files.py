"""Checkpoints as files: .npz and safetensors, and folders of orbax if that is installed.

The kind of a file is recognized by content, and that of an output by its suffix.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path, PurePath
from typing import Any, BinaryIO, Final, TypeAlias

import ml_dtypes
import numpy as np

from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.program.arrays import StoredArray, arrays_of, require_archive, save_arrays
from scalify_hlo.program.byte_source import Source, head, source_of, viewed
from scalify_hlo.program.tensors import Array
from scalify_hlo.storage.files import STREAM, display_name, save_file

Arrays: TypeAlias = Iterable[tuple[str, Array]]
"""Names and arrays, in the order in which they are written."""


def read_checkpoint(path: str, known: Collection[str]) -> dict[str, StoredArray]:
    """Returns the arrays of a checkpoint by name; they are loaded on demand.

    Arrays of .npz files keep their names. Those of others get names of arguments: ``params.w`` is
    ``params['w']``, and so is ``w`` if only one argument ends so.

    Args:
        path: The path of the file, of the folder, or ``-``.
        known: The names of the arguments.

    Raises:
        InputError: It cannot be read, or is no checkpoint.
        UsageError: It is a folder, and orbax is not installed.
    """
    if Path(path).is_dir():
        return _renamed(_of_orbax(path), known)
    source = source_of(path, _require_known)
    if _is_safetensors(head(source, _LENGTH + 1)):
        return _renamed(_of_safetensors(source, display_name(path)), known)
    return arrays_of(source, display_name(path))


def save_checkpoint(path: str, arrays: Arrays) -> None:
    """Writes a checkpoint of the kind of its suffix, whole or not at all.

    Args:
        path: The path: ``.safetensors``, ``.orbax`` for a folder, else an .npz file.
        arrays: Names and arrays.

    Raises:
        InputError: It cannot be written.
        UsageError: It is for orbax, which is not installed.
    """
    kind = PurePath(path).suffix.lower()
    if kind == ".orbax":
        _save_orbax(path, dict(arrays))
    elif kind == ".safetensors":
        whole = dict(arrays)
        save_file(path, lambda file: _save_safetensors(file, whole))
    else:
        # A stream would have a part of the arrays if a later one overflows.
        each = list(arrays) if path == STREAM else arrays
        save_file(path, lambda file: save_arrays(file, each))


def parts_of(name: str) -> tuple[str, ...]:
    """Returns the keys in the name of an argument, whatever stands between them.

    Example:
        >>> parts_of("opt_state[0].mu['w']")
        ('opt_state', '0', 'mu', 'w')
    """
    return tuple(re.findall(r"[^.\[\]'\"]+", name))


def _renamed(arrays: Mapping[str, StoredArray], known: Collection[str]) -> dict[str, StoredArray]:
    """Gives arrays the names of the arguments with the same keys, or with one more before them."""
    names: dict[tuple[str, ...], list[str]] = {}
    for name in known:
        for keys in {parts_of(name), parts_of(name)[1:]}:
            names.setdefault(keys, []).append(name)
    found: dict[str, StoredArray] = {}
    for name, array in arrays.items():
        keys = parts_of(name)
        whole = [each for each in names.get(keys, ()) if parts_of(each) == keys]
        of_keys = whole or names.get(keys, [])
        found[of_keys[0] if name not in known and len(of_keys) == 1 else name] = array
    return found


_LENGTH: Final = 8
"""The bytes at the start of a safetensors file that say how long its header is."""

_DTYPES: Final[dict[str, Any]] = {
    "BOOL": np.bool_,
    **{f"{s}{n}": f"{s.lower()}{n // 8}" for s in "IU" for n in (8, 16, 32, 64)},
    **{f"F{n}": f"f{n // 8}" for n in (16, 32, 64)},
    "C64": np.complex64,
    "BF16": ml_dtypes.bfloat16,
    "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2,
    "F8_E8M0": ml_dtypes.float8_e8m0fnu,
}


def _is_safetensors(start: bytes) -> bool:
    return start[_LENGTH : _LENGTH + 1] == b"{"


def _require_known(start: bytes, name: str) -> None:
    """Refuses a stream, which may never end, if it is no checkpoint."""
    if not _is_safetensors(start):
        require_archive(start, name)


def _of_safetensors(source: Source, name: str) -> dict[str, StoredArray]:
    try:
        with viewed(source) as data:
            start = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
            header: dict[str, Any] = json.loads(bytes(data[_LENGTH:start]))
            size = len(data)
        found: dict[str, StoredArray] = {}
        for key, each in header.items():
            if key != "__metadata__":
                shape, dtype = tuple(each["shape"]), np.dtype(_DTYPES[each["dtype"]])
                first, last = (start + int(offset) for offset in each["data_offsets"])
                if not first <= last <= size or last - first != math.prod(shape) * dtype.itemsize:
                    raise ValueError(key)
                read = partial(_piece, source, first, last, shape, dtype)
                found[key] = StoredArray(shape, dtype, read, name)
    except Exception as error:
        raise InputError(
            f"this is not a safetensors file of arrays: {error}",
            location=name,
            hint="write it again with safetensors, with formats that NumPy or ml_dtypes have",
        ) from None
    return found


def _piece(source: Source, first: int, last: int, shape: Any, dtype: Any) -> Array:
    with viewed(source) as data:
        return np.frombuffer(bytes(data[first:last]), dtype).reshape(shape)


def _save_safetensors(file: BinaryIO, arrays: Mapping[str, Array]) -> None:
    header, end = dict[str, Any](), 0
    names = {np.dtype(dtype): name for name, dtype in _DTYPES.items()}
    for key, array in arrays.items():
        if array.dtype not in names:
            raise InputError(
                f"safetensors files have no arrays of {array.dtype}, such as {key}",
                hint="name the output .npz",
            )
        start, end = end, end + array.nbytes
        offsets = [start, end]
        each = {"dtype": names[array.dtype], "shape": list(array.shape), "data_offsets": offsets}
        header[".".join(parts_of(key))] = each
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % _LENGTH)
    file.write(len(text).to_bytes(_LENGTH, "little") + text)
    for array in arrays.values():
        file.write(array.tobytes())


def _orbax(do: Callable[[Any], Any], path: str) -> Any:
    """Calls a function with a checkpointer of orbax.

    Raises:
        UsageError: orbax is not installed.
        InputError: It fails.
    """
    try:
        checkpoint = import_module("orbax.checkpoint")
    except ImportError:
        raise UsageError(
            "folders are checkpoints of orbax, which is not installed",
            location=path,
            hint="install it with: pip install orbax-checkpoint",
        ) from None
    try:
        with checkpoint.StandardCheckpointer() as checkpointer:
            return do(checkpointer)
    except Exception as error:
        sentence = str(error).strip().partition("\n")[0]
        raise InputError(
            f"orbax does not take this checkpoint: {sentence}",
            location=path,
            hint="give a folder that StandardCheckpointer writes",
        ) from None


def _of_orbax(path: str) -> dict[str, StoredArray]:
    import jax

    tree = _orbax(lambda checkpointer: checkpointer.restore(os.path.abspath(path)), path)
    found: dict[str, StoredArray] = {}
    for keys, leaf in jax.tree_util.tree_leaves_with_path(tree):
        array = np.asarray(leaf)
        name = ".".join(parts_of(jax.tree_util.keystr(keys)))
        found[name] = StoredArray(array.shape, array.dtype, partial(np.asarray, array), path)
    return found


def _save_orbax(path: str, arrays: Mapping[str, Array]) -> None:
    """Writes a folder: dicts by the keys of names. Data of pairs are ``data`` beside ``scale``."""
    tree: dict[str, Any] = {}
    inner = {parts_of(name)[:-1] for name in arrays}
    for name, array in arrays.items():
        keys = parts_of(name)
        *outer, last = (*keys, "data") if keys in inner else keys
        node = tree
        for key in outer:
            node = node.setdefault(key, {})
        node[last] = array
    _orbax(lambda checkpointer: checkpointer.save(os.path.abspath(path), tree), path)
