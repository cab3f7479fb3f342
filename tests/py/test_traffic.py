"""The bytes that the kernels of a compiled program read."""

from __future__ import annotations

import pytest

from scalify_hlo.targets.hlo import read_hlo
from scalify_hlo.targets.kernels import kernels_of

GATHER = (
    "gather({of}, %i), offset_dims={{1}}, collapsed_slice_dims={{0}}, start_index_map={{0}}, "
    "index_vector_dim=1, slice_sizes={{1,1}}"
)


def bytes_read(body: str, result: str = "f32[8,1]") -> int:
    """The bytes that a fusion reads of bf16[64,256], of indices s32[8,1] and of f32[64,256]."""
    text = f"""HloModule m, is_scheduled=true

%fused (x: bf16[64,256], i: s32[8,1], y: f32[64,256]) -> {result} {{
  %x = bf16[64,256]{{1,0}} parameter(0)
  %i = s32[8,1]{{1,0}} parameter(1)
  %y = f32[64,256]{{1,0}} parameter(2)
{body}
}}

ENTRY %main (x: bf16[64,256], i: s32[8,1], y: f32[64,256]) -> {result} {{
  %x = bf16[64,256]{{1,0}} parameter(0)
  %i = s32[8,1]{{1,0}} parameter(1)
  %y = f32[64,256]{{1,0}} parameter(2)
  ROOT %f = {result} fusion(%x, %i, %y), kind=kLoop, calls=%fused
}}
"""
    (kernel,) = kernels_of(read_hlo(text))
    return kernel.read


WHOLE, INDICES = 64 * 256, 8 * 4
CONVERTED = "  %c = f32[64,256]{1,0} convert(%x)\n"
ADDED = CONVERTED + "  %a = f32[64,256]{1,0} add(%c, %y)\n"


def picked(of: str) -> str:
    return f"  ROOT %g = f32[8,1]{{1,0}} {GATHER.format(of=of)}"


@pytest.mark.parametrize(
    ("body", "read"),
    [
        # The logits of labels, in f32: what is not picked is not converted.
        (CONVERTED + picked("%c"), 8 * 2 + INDICES),
        (ADDED + picked("%a"), 8 * 2 + 8 * 4 + INDICES),
        # Two ways to the same pick are counted once.
        (
            ADDED + "  %d = f32[64,256]{1,0} multiply(%a, %c)\n" + picked("%d"),
            8 * 2 + 8 * 4 + INDICES,
        ),
    ],
)
def test_what_is_picked_of_a_computed_value_is_read(body: str, read: int) -> None:
    assert bytes_read(body) == read


def test_a_value_that_is_also_returned_is_read_as_a_whole() -> None:
    body = CONVERTED + picked("%c").replace("ROOT ", "")
    body += "\n  ROOT %t = (f32[8,1]{1,0}, f32[64,256]{1,0}) tuple(%g, %c)"
    assert bytes_read(body, "(f32[8,1], f32[64,256])") == 2 * WHOLE + INDICES


def test_a_value_that_is_the_result_is_read_as_a_whole() -> None:
    body = "  ROOT %c = f32[64,256]{1,0} convert(%x)"
    assert bytes_read(body, "f32[64,256]") == 2 * WHOLE


def test_a_reduction_reads_the_whole() -> None:
    body = CONVERTED + "  ROOT %r = f32[64,1]{1,0} reduce-window(%c, %y), window={size=1x256}"
    assert bytes_read(body, "f32[64,1]") == 2 * WHOLE + 4 * WHOLE
