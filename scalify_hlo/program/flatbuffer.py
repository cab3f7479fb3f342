"""The parts of the flatbuffer format that are needed to recognize one and to move a vector."""

from __future__ import annotations

import struct

from scalify_hlo.program.byte_source import Buffer

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
    """Returns a flatbuffer in which a vector of bytes of the root is moved to the end.

    A field holds the distance to its vector, and a vector starts with its size, so any vector can
    be moved to the end.

    Args:
        data: A flatbuffer.
        vector: The offset of the bytes of the vector, to which a field of the root refers.
        size: The number of bytes of the new vector.

    Returns:
        The flatbuffer, to which the bytes of the new vector have to be appended.

    Raises:
        ValueError: No field of the root refers to the vector.
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
