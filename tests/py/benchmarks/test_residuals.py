"""The benchmark of temporaries: its steps export, and its figures are over the original."""

from __future__ import annotations

import sys

import jax.numpy as jnp
import pytest

from benchmarks import residuals
from benchmarks.residuals import BOUNDS, CPU, Sizes, exported, option

SMALL = Sizes(layers=2, width=32, batch=2, time=8, dtype=jnp.float32)


@pytest.mark.parametrize("kind", BOUNDS)
def test_each_kind_has_its_layers(kind: str) -> None:
    program = exported(kind, SMALL, CPU)
    text = str(program.mlir_module())
    assert ("stablehlo.while" in text) == ("unrolled" not in kind)
    assert ("stablehlo.optimization_barrier" in text) == ("remat" in kind)
    assert len(program.in_avals) == (5 if "mlp" in kind else 10)
    assert text.count("tf.aliasing_output") == len(program.out_avals)


def test_options_of_the_rewrite_are_json_or_words() -> None:
    texts = ("residuals=keep", "optimize=true", "settings={}")
    assert dict(map(option, texts)) == {"residuals": "keep", "optimize": True, "settings": {}}


def test_the_cpu_has_scanned_layers_in_f32(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rewrite without casts needs less than the original; the bound says what to print."""
    sizes = ["--layers", "4", "--width", "64", "--batch", "2", "--time", "64"]
    monkeypatch.setattr(sys, "argv", ["residuals", "--target", CPU, *sizes])
    monkeypatch.setattr(residuals, "CPU_BOUND", 0.75)
    assert residuals.main() == 0
    out, err = capsys.readouterr()
    assert "scan-mlp, propagate" in out
    assert "in float32" in err
    monkeypatch.setattr(residuals, "CPU_BOUND", 0.01)
    assert residuals.main() == 1
