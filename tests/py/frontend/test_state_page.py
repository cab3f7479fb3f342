"""The code of docs/state.md runs, and does what the page says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as jsa

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "state.md").read_text()
BLOCKS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
ORBAX = "ocp."


def arrays() -> Any:
    rng = np.random.default_rng(0)
    up, down, x, y = (
        jnp.asarray(rng.standard_normal(shape), jnp.float32)
        for shape in ((16, 32), (32, 16), (16, 16), (16, 16))
    )
    return {"up": up / 4, "down": down / 6}, x, y


def run(folder: Path, *, orbax: bool) -> dict[str, Any]:
    """Runs the blocks one after the other, without those on orbax if it is not there."""
    params, x, y = arrays()
    names = {"params": params, "initial_params": params, "folder": folder}
    names["batches"] = [(x, y)] * 3
    for block in BLOCKS:
        if orbax or ORBAX not in block:
            exec(block, names)
    return names


def check(names: dict[str, Any]) -> None:
    plain = jax.jit(names["step"])(*names["plain"], names["x"], names["y"])
    for ours, theirs in zip(
        jax.tree.leaves(names["wide"]), jax.tree.leaves(plain[:2]), strict=True
    ):
        assert ours.dtype == theirs.dtype
        distance = np.linalg.norm(np.asarray(ours - theirs, float))
        assert distance <= 0.3 * np.linalg.norm(np.asarray(theirs, float))
    assert np.isfinite(float(jsa.asarray(names["loss"])))


def test_every_block_runs(tmp_path: Path) -> None:
    pytest.importorskip("orbax.checkpoint", reason="orbax-checkpoint is not installed")
    check(run(tmp_path, orbax=True))


@pytest.mark.skipif(
    importlib.util.find_spec("orbax") is not None, reason="runs with the other blocks"
)
def test_blocks_without_orbax_run(tmp_path: Path) -> None:
    check(run(tmp_path, orbax=False))


def test_the_recipes_shown_are_the_settings_shown(tmp_path: Path) -> None:
    rounded, rescaled = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    check_recipe(rounded, {"state.weight": "bf16", "state.weight_rounding": "stochastic"}, tmp_path)
    rescaling = {
        "state_rescale.statistic": "l2",
        "state_rescale.every": 16,
        "inputs.step": "*.count",
    }
    check_recipe(rescaled, rescaling, tmp_path)


def check_recipe(text: str, settings: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(text)
    shown, set_ = jsa.load_recipe(tmp_path / "mine.toml"), jsa.load_recipe("fp8-state", settings)
    assert shown.state_rescale == set_.state_rescale
    assert shown.inputs == set_.inputs
    assert (shown.state, shown.matmul) == (set_.state, set_.matmul)


def test_there_are_blocks_of_both_kinds() -> None:
    assert {ORBAX in block for block in BLOCKS} == {True, False}
