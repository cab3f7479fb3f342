"""The examples run, and the code of docs/scaling.md and docs/state.md does what they say."""

from __future__ import annotations

import importlib.util
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import scalify_hlo
from examples import data, demo, gpt2, stats_page
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import Scaling
from scalify_hlo.recipes.toml import preset_names
from tests.py.shared.judge import program_of
from tools import pages

pytestmark = pytest.mark.slow

SCALING, STATE = ((pages.DOCS / name).read_text() for name in ("scaling.md", "state.md"))
CONFIG = gpt2.Config(layers=1, width=32, heads=2, sequence=16, vocab=32, batch=2)


def test_the_code_of_scaling_runs() -> None:
    params, opt_state = gpt2.state(CONFIG, gpt2.ADAMW)
    rng = np.random.default_rng(0)
    shape = (CONFIG.batch, CONFIG.sequence + 1)
    batches = [rng.integers(0, CONFIG.vocab, shape).astype(np.int32) for _ in range(3)]
    exported = program_of(gpt2.adamw_step, params, opt_state, batches[0])
    names: dict[str, Any] = {"scalify_hlo": scalify_hlo, "exported": exported, "batches": batches}
    names |= {"step": gpt2.adamw_step, "loss_of": gpt2.loss}
    for block in pages.blocks(SCALING, "python"):
        names |= {"params": params, "opt_state": opt_state}
        exec(block, names)
        if "evaluate" in block:
            assert 0 < len(names["evaluating"].tensors) < len(names["scaling_state"].tensors)
            continue
        if "scaling_state" in block:
            assert np.isfinite(float(names["loss"]))
            assert all(value > 0 for value in names["amax"].values())
        if "scalify_hlo.scalify" in block:
            continue
        carried = [names["scaling_state"]] if "scaling_state" in block else []
        given = names["state"] if "scaled_state" in block else (params, opt_state)
        results = names["program"].call(*given, batches[0], *carried)
        loss = float(scalify_hlo.asarray((results[0] if carried else results)[2]))
        exact = float(jax.jit(gpt2.adamw_step)(params, opt_state, batches[0])[2])
        assert abs(loss - exact) < 0.02


def test_the_recipe_of_scaling_is_one(tmp_path: Path) -> None:
    (text,) = pages.blocks(SCALING, "toml")
    path = tmp_path / "mine.toml"
    path.write_text(text)
    recipe = load_recipe(path)
    exact = Scaling("current", "E4M3", margin=1, power_2_scale=False)
    expected = replace(exact, weight_scales="channel", data_scales="row")
    assert recipe.scaling == expected
    assert recipe.matmul.gradient == "f8E4M3FN"
    assert tomllib.loads(text)["base"] in preset_names()


def arrays() -> Any:
    rng = np.random.default_rng(0)
    up, down, x, y = (
        jnp.asarray(rng.standard_normal(shape), jnp.float32)
        for shape in ((16, 32), (32, 16), (16, 16), (16, 16))
    )
    return {"up": up / 4, "down": down / 6}, x, y


def test_the_code_of_state_runs(tmp_path: Path) -> None:
    """All of it but that with orbax, if this is not there."""
    (params, x, y), blocks = arrays(), pages.blocks(STATE, "python")
    names: dict[str, Any] = {"params": params, "initial_params": params, "folder": tmp_path}
    names["batches"] = [(x, y)] * 3
    with_orbax = ["ocp." in block for block in blocks]
    assert set(with_orbax) == {True, False}
    for block, needs in zip(blocks, with_orbax, strict=True):
        if not needs or importlib.util.find_spec("orbax") is not None:
            exec(block, names)
    values = scalify_hlo.asarray(names["params"], jnp.float32)
    assert names["count"] == sum(leaf.size for leaf in jax.tree.leaves(values))
    np.testing.assert_allclose(names["norm"], optax.tree.norm(values), rtol=1e-6)
    assert names["largest"]["up"] == jnp.max(jnp.abs(values["up"]))
    mean = 0.9 * params["up"] + 0.1 * values["up"]
    np.testing.assert_allclose(names["average"]["up"], mean, rtol=1e-5)
    plain = jax.jit(names["step"])(*names["plain"], names["x"], names["y"])
    for ours, theirs in zip(
        jax.tree.leaves(names["wide"]), jax.tree.leaves(plain[:2]), strict=True
    ):
        assert ours.dtype == theirs.dtype
        distance = np.linalg.norm(np.asarray(ours - theirs, float))
        assert distance <= 0.3 * np.linalg.norm(np.asarray(theirs, float))
    assert np.isfinite(float(scalify_hlo.asarray(names["loss"])))


def test_the_recipes_of_state_are_its_settings(tmp_path: Path) -> None:
    rounded, rescaled = pages.blocks(STATE, "toml")
    check_recipe(rounded, {"state.weight": "bf16", "state.weight_rounding": "stochastic"}, tmp_path)
    rescaling = {
        "state_rescale.statistic": "l2",
        "state_rescale.every": 16,
        "inputs.step": "*.count",
    }
    check_recipe(rescaled, rescaling, tmp_path)


def check_recipe(text: str, settings: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(text)
    shown, set_ = (
        scalify_hlo.load_recipe(tmp_path / "mine.toml"),
        scalify_hlo.load_recipe("fp8-state", settings),
    )
    assert shown.state_rescale == set_.state_rescale
    assert shown.inputs == set_.inputs
    assert (shown.state, shown.matmul) == (set_.state, set_.matmul)


TINY = gpt2.Config(layers=2, width=32, heads=2, sequence=16, vocab=data.VOCAB, batch=2)


def test_demo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"CONFIG": TINY, "FOLDER": tmp_path, "STEPS": 3}.items():
        monkeypatch.setattr(demo, name, value)
    assert demo.main() == 0
    told = capsys.readouterr().out
    assert "The last losses are within 0.05 of those of f32" in told
    assert "36 of 39" in told.partition("matmuls in low precision")[2].partition("\n")[0]
    assert (tmp_path / "losses.svg").exists()


def test_stats_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stats_page, "CONFIG", TINY)
    monkeypatch.setattr(stats_page, "FOLDER", tmp_path)
    assert stats_page.main() == 0
    text = (tmp_path / "stats.html").read_text()
    assert "->bhqt/dot_general" in text
    assert "jvp(" not in text
    assert "examples/gpt2.py:" in text
