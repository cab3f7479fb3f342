"""The options of the pass that casts constants."""

from __future__ import annotations

from scalify_hlo.passes.quantize_constants import QuantizePass


def test_casts_of_constants_saturate_unless_they_are_told_not_to() -> None:
    assert QuantizePass() == QuantizePass(saturate=True)
    assert str(QuantizePass(saturate=False)) == "scalify-quantize-constants{saturate=false}"
