"""The remarks on matmuls that stay wide."""

from __future__ import annotations

from scalify_hlo.casts.selection import EXCLUDED, NEITHER, fall_backs
from scalify_hlo.dataflow.sizes import Extent, Size
from scalify_hlo.errors import Remark
from scalify_hlo.report.model import MatmulReport, Wide
from tests.py.shared.judge import parse

SIZES = Extent(Size(32), Size(32), Size(32))


def matmul(wide: Wide | None) -> MatmulReport:
    formats = ("f32", "f32", "f32") if wide else ("f8E4M3FN", "f8E4M3FN", "f32")
    roles = ("activation", "weight")
    return MatmulReport(
        "",
        "stablehlo.dot_general",
        "?",
        "forward",
        roles,
        "data flow",
        False,
        SIZES,
        1,
        formats,
        wide,
    )


def remarks(*matmuls: MatmulReport) -> list[str]:
    module = parse("func.func @main() { return }")
    found: list[Remark] = fall_backs(module.body.operations[0], "fp8", matmuls)
    return [remark.message for remark in found]


STAYS = f"stays wide: {NEITHER.reason}"
NONE = "the recipe fp8 quantizes no matmul: "


def test_only_what_falls_back_is_told() -> None:
    assert remarks(matmul(None), matmul(NEITHER), matmul(EXCLUDED)) == [STAYS]
    assert remarks(matmul(None), matmul(EXCLUDED)) == []
    assert remarks(matmul(None)) == []


def test_a_recipe_that_narrows_nothing() -> None:
    assert remarks() == [f"{NONE}the program has none"]
    assert remarks(matmul(NEITHER)) == [f"{NONE}its only matmul stays wide", STAYS]
    assert remarks(matmul(NEITHER), matmul(EXCLUDED)) == [f"{NONE}all 2 matmuls stay wide", STAYS]


def test_a_recipe_that_leaves_all_out_on_purpose() -> None:
    assert remarks(matmul(EXCLUDED), matmul(EXCLUDED)) == []
