"""Matmuls that an algorithm may be asked for."""

from __future__ import annotations

import pytest

from scalify_hlo.casts.propagated import _has_kernel
from scalify_hlo.dataflow.sizes import Extent, Size


@pytest.mark.parametrize(
    ("formats", "m", "n", "asked"),
    [
        (("f8E4M3FN", "f8E5M2"), 16, 16, True),
        (("f8E4M3FN", "f8E5M2"), 2, 2, True),
        (("f8E4M3FN", "f16"), 16, 16, False),
        (("f16", "f16"), 16, 16, False),
    ],
)
def test_only_matmuls_of_8_bits(formats: tuple[str, str], m: int, n: int, asked: bool) -> None:
    assert _has_kernel(formats, Extent(Size(m), Size(n), Size(16))) is asked
    assert _has_kernel(formats, Extent(Size(m, known=False), Size(n), Size(1))) is asked
