"""Enough of the flatbuffer format to tell one from garbage without importing jax."""

from __future__ import annotations

import struct

from scalify_hlo.stored import Buffer

_SMALLEST_TABLE = 4


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
