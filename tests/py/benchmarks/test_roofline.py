"""The benchmark of estimated times: its models export, and its ratios are those of its figures."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import jax
import pytest

from benchmarks import roofline
from benchmarks.roofline_models import MODELS
from scalify_hlo.errors import InputError
from tests.py.shared import compiling


def entry(us: float, gemm: float, **changes: Any) -> dict[str, Any]:
    same = {
        "estimate": {
            "us": us,
            "us_with_launches": us + 20,
            "us_of_a_launch": 2.0,
            "us_reached": 2 * us,
        },
        "causes": {"gemm": {"us": gemm}},
        "memory": {"temporaries": 100, "peak": 200},
        "launches": 10,
        "compile_s": 4.0,
        "f8_share": 0.0,
        "vocabulary_us": 0.0,
    }
    return {**same, **changes}


def test_ratios_are_to_the_original_in_bf16() -> None:
    other = entry(50.0, 30.0, launches=15, compile_s=6.0, f8_share=0.5)
    other["memory"] = {"temporaries": 50, "peak": 300}
    cells = roofline.ratios(other, entry(100.0, 80.0))
    assert cells == ["50", "2.00", "1.71", "2.00", "0.50", "1.50", "1.50", "1.50", "50"]


def test_a_program_that_is_refused_shows_why() -> None:
    assert roofline.ratios({"error": "no memory"}, entry(1.0, 1.0))[0] == "no memory"


def test_the_ideal_halves_the_time_of_matmuls() -> None:
    assert roofline.ideal(entry(100.0, 80.0)) == "1.67"
    assert roofline.ideal(entry(100.0, 80.0, vocabulary_us=20.0)) == "1.43 (1.67)"


def test_figures_are_kept_as_they_are_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program that is refused does not end the benchmark, and originals are not made twice."""
    made: list[str] = []

    def program(model: str, dtype: str, recipe: str, signature: str, _: str) -> jax.export.Exported:
        made.append(f"{model} {dtype} {recipe} {signature}")
        if recipe == "unit":
            raise InputError("refused")
        return compiling.loops()

    monkeypatch.setattr(roofline, "program", program)
    monkeypatch.setattr(roofline, "RESULTS", tmp_path / "roofline.json")
    options = argparse.Namespace(
        target="cpu",
        model=["stack"],
        dtype=["bf16"],
        recipe=["unit", "fp8-current"],
        signature="same",
        optimize=False,
        chosen=False,
        bf16=False,
        keep=False,
        weights=False,
        vocabulary=False,
        timeout=300.0,
        again=False,
    )
    results: dict[str, Any] = {}
    assert roofline.measure(options, results) == 1
    kept = json.loads((tmp_path / "roofline.json").read_text())
    assert kept == results
    assert "refused" in kept["cpu stack bf16 unit"]["error"]
    assert kept["cpu stack bf16 fp8-current"]["flops"]["f32"] > 0
    assert len(made) == 3
    roofline.measure(options, results)
    assert len(made) == 5


@pytest.mark.parametrize("name", MODELS)
def test_models_export_without_arrays(name: str) -> None:
    exported = MODELS[name].export(roofline.DTYPES["bf16"])
    text = exported.mlir_module()
    assert "stablehlo.dot_general" in text or "stablehlo.convolution" in text
    assert ("tf.aliasing_output" in text) == bool(MODELS[name].donated)
