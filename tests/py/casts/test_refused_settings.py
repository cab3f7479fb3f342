"""Settings of casts and scales that a recipe refuses."""

from __future__ import annotations

from typing import Any

import pytest

from scalify_hlo import UsageError, load_recipe
from scalify_hlo.recipes.loading import load_calibrated

RANDOM = {"state.weight": "bf16", "state.weight_rounding": "stochastic"}
LEAST_0, LEAST_1 = "takes a whole number, at least 0", "takes a whole number, at least 1"


@pytest.mark.parametrize(
    ("recipe", "settings", "message"),
    [
        ("fp8-current", {"matmul.activation": "e2m1"}, "operands of 4 bits need block scales"),
        ("mxfp8", {"matmul.weight": "bf16"}, "block scales are for f8 and f4 operands"),
        ("mxfp8", {"matmul.weight": "e2m1"}, "two f4 operands or none"),
        ("mxfp8", {"blocks.rounding": "up"}, "'up' is not a value of 'blocks.rounding'"),
        ("mxfp8", {"blocks.scale": "bf16"}, "'bf16' is not a value of 'blocks.scale'"),
        ("mxfp8", {"blocks.size": 0}, "blocks.size"),
        ("fp8-current", {"blocks.size": 16}, "blocks.size has no effect"),
        ("fp8-block", {"blocks.rounding": "floor"}, "blocks.rounding has no effect"),
        ("mxfp8", {"compute": "f16"}, "too little range for block scales"),
        ("mxfp4", {"target": "iree"}, "a format that the target 'iree' lacks"),
        ("mxfp8", {"blocks.gradient_rounding": "random"}, "is not a value of"),
        ("fp8-current", {"blocks.hadamard": "wgrad"}, "blocks.hadamard has no effect"),
        ("mxfp8", {"blocks.hadamard": "wgrad", "blocks.size": 40}, "transforms 16 terms"),
        ("mxfp8", {"blocks.hadamard": "wgrad", "blocks.size": "40"}, "transforms 16 terms"),
        ("fp8-state8", {"state.moment_scales": "blocks"}, "not a value of 'state.moment_scales'"),
        ("fp8-state8", {"state.first_moment": "e4m3-block"}, "a format for 'state.first_moment'"),
        ("fp8-state8", {"target": "portable"}, "lacks the format of these scales, f8E8M0FNU"),
        (
            "fp8-current",
            {"activations.saved": "f8", "target": "portable"},
            "lacks the format of these scales, f8E8M0FNU",
        ),
        ("fp8-state", {"state.moment_scales": "block"}, "no effect: .* no moments in f8"),
        ("propagate", {"state.weight_rounding": "stochastic"}, "no effect: state.weight is keep"),
        ("propagate", RANDOM | {"state.weight": "f32"}, "has no effect: state.weight is f32"),
        ("propagate", RANDOM | {"state.weight_rounding": "random"}, "'random' is not a value of"),
        ("propagate", {"matmul.last_wide": 0.5}, r"matmul\.last_wide has no effect"),
        ("fp8", {"untrusted": "measured"}, "untrusted"),
        *(
            (recipe, {"inputs.verify": "x"}, r"inputs\.verify has no effect")
            for recipe in ("propagate", "fp8-current", "fp8-delayed")
        ),
        ("fp8-delayed", {"scaling.amax_history_len": 0}, LEAST_1),
        ("fp8-delayed", {"scaling.interval": 0}, LEAST_1),
        ("fp8-delayed", {"scaling.fp8_format": "E3M4"}, "is not a value of 'scaling.fp8_format'"),
        ("fp8-delayed", {"scaling.amax_compute_algo": "mean"}, "'scaling.amax_compute_algo'"),
        ("fp8-delayed", {"scaling.margin": -1}, LEAST_0),
        ("fp8-calibrated", {"scaling.method": "median"}, "not a value of 'scaling.method'"),
        ("fp8-calibrated", {"scaling.weight_scales": "block"}, "of 'scaling.weight_scales'"),
        ("fp8-calibrated", {"scaling.margin": -1}, LEAST_0),
        *(
            (
                "fp8-calibrated",
                {"scaling.method": "percentile", "scaling.percentile": percent},
                "percent",
            )
            for percent in (0.0, -3.0, 101.0, float("nan"))
        ),
    ],
)
def test_what_is_refused(recipe: str, settings: dict[str, Any], message: str) -> None:
    load = load_calibrated if recipe == "fp8-calibrated" else load_recipe
    with pytest.raises(UsageError, match=message) as caught:
        load(recipe, settings)
    assert caught.value.hint
