"""The README shows what the tool does, not what it once did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import flax.linen
import jax
import jax.export
import numpy as np
import pytest

import scalify_hlo
from examples import gpt2

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    parts = README.split(f"```{language}\n")[1:]
    return [part.split("```")[0] for part in parts]


def test_the_rewrite_shown_is_the_rewrite_done() -> None:
    before, after = blocks("mlir")
    assert before == (ROOT / "examples" / "layer.mlir").read_text()
    assert scalify_hlo.rewrite(before, signature="scaled").strip() == after.strip()


def test_the_python_shown_runs() -> None:
    config = gpt2.Config(layers=1, width=16, heads=2, sequence=8, vocab=11, batch=2)
    params, opt_state = gpt2.state(config, gpt2.ADAMW)
    tokens = np.zeros((config.batch, config.sequence + 1), np.int32)
    names = {"step": gpt2.adamw_step, "params": params, "opt_state": opt_state, "tokens": tokens}
    _, code = blocks("python")
    exec(code, names)
    loss = float(scalify_hlo.asarray(names["loss"]))
    expected = jax.jit(gpt2.adamw_step)(params, opt_state, tokens)[2]
    np.testing.assert_allclose(loss, expected, rtol=1e-6)


def test_the_marked_layer_shown_runs() -> None:
    names = {"flax": flax}
    exec(blocks("python")[0], names)
    layer: Any = names["CustomLayerNorm"]
    norm, x = layer(), np.arange(8.0, dtype=np.float32).reshape(2, 4)
    variables = norm.init(jax.random.key(0), x)
    plain = flax.linen.LayerNorm().apply(variables, x)
    np.testing.assert_array_equal(norm.apply(variables, x), plain)
    gradient = jax.export.export(jax.jit(jax.grad(lambda x: norm.apply(variables, x)[0, 0])))(x)
    assert "dynamic_rescale" in gradient.mlir_module()
