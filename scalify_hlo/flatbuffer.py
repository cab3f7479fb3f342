"""Enough of the flatbuffer format to tell one from garbage, and to put a vector behind one."""

from __future__ import annotations

import struct

from scalify_hlo.stored import Buffer

_SMALLEST_TABLE = 4
_SIZE = 4
_ALIGNMENT = 8


def looks_like_flatbuffer(data: Buffer) -> bool:
    """Whether the root table of a flatbuffer, and the table of its fields, lie within `data`."""
    try:
        (root,) = struct.unpack_from("<I", data)
        (back,) = struct.unpack_from("<i", data, root)
        fields = root - back
        if not 0 <= fields < len(data):
            return False
        size, inline = struct.unpack_from("<HH", data, fields)
    except struct.error:
        return False
    return bool(
        size >= _SMALLEST_TABLE
        and size % 2 == 0
        and fields + size <= len(data)
        and inline >= _SMALLEST_TABLE
        and root + inline <= len(data)
    )


def with_vector_behind(data: bytes, vector: int, size: int) -> bytes:
    """A flatbuffer whose root has a vector of bytes that follows after it.

    A field holds how far ahead of it its vector starts, and vectors start with their size, so any
    vector can be moved behind all the rest.

    Args:
        data: A flatbuffer.
        vector: Where the bytes of a vector are in it, which a field of its root refers to.
        size: How many bytes will follow.

    Returns:
        The flatbuffer up to where the first of them has to stand.
    """
    padding = -len(data) % _ALIGNMENT
    behind = len(data) + padding
    (root,) = struct.unpack_from("<I", data)
    (back,) = struct.unpack_from("<i", data, root)
    (fields,) = struct.unpack_from("<H", data, root - back)
    changed = bytearray(data)
    for entry in range(root - back + 4, root - back + fields, 2):
        field = root + struct.unpack_from("<H", data, entry)[0]
        if field != root and field + struct.unpack_from("<I", data, field)[0] == vector - _SIZE:
            struct.pack_into("<I", changed, field, behind - field)
            return bytes(changed) + bytes(padding) + struct.pack("<I", size)
    raise ValueError("no field of the root refers to that vector")
