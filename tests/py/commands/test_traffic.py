"""The bytes that the kernels of a compiled program read, and their speeds."""

from __future__ import annotations

import pytest

from scalify_hlo.targets.description import load_target
from scalify_hlo.targets.hlo import read_hlo, shapes_of
from scalify_hlo.targets.kernels import kernels_of
from scalify_hlo.targets.roofline import kernel_seconds

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


TRANSPOSED = """HloModule m, is_scheduled=true

%fused (x: bf16[64,8,64]) -> bf16[64,64,8] {
  %x = bf16[64,8,64]{2,1,0} parameter(0)
  ROOT %t = bf16[64,64,8]{LAYOUT} transpose(%x), dimensions={0,2,1}
}

ENTRY %main (x: bf16[64,8,64]) -> bf16[64,64,8] {
  %x = bf16[64,8,64]{2,1,0} parameter(0)
  ROOT %f = bf16[64,64,8]{LAYOUT} fusion(%x), kind=kLoop, calls=%fused
}
"""


def test_a_transpose_to_few_adjacent_numbers_is_slow() -> None:
    """It is the order in memory that counts."""
    few, many = (
        kernels_of(read_hlo(TRANSPOSED.replace("LAYOUT", layout)))[0]
        for layout in ("2,1,0", "1,2,0")
    )
    assert few.few
    assert not many.few
    target = load_target("h200")
    slow, fast = (kernel_seconds(kernel, target, reached=True) or 0 for kernel in (few, many))
    assert slow / fast == pytest.approx(target.share("transpose") / target.share("transpose_few"))
    assert kernel_seconds(few, target) == kernel_seconds(many, target)


@pytest.mark.parametrize(
    ("shape", "adjacent"),
    [
        ("bf16[2,3,5]{2,1,0}", 5),
        ("bf16[2,3,5]{0,1,2}", 2),
        ("bf16[2,3,1]{2,1,0:T(8,128)}", 3),
        ("f32[]", 1),
        ("f32[1,1]{1,0}", 1),
    ],
)
def test_the_adjacent_numbers_of_a_shape(shape: str, adjacent: int) -> None:
    (found,) = shapes_of(shape)
    assert found.adjacent == adjacent
