"""The code of docs/scaling.md runs."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import jax
import jax.export
import numpy as np
import pytest

import scalify_hlo
from examples import gpt2
from scalify_hlo.recipes.loading import load_recipe
from scalify_hlo.recipes.model import Scaling
from scalify_hlo.recipes.toml import preset_names
from tests.py.shared.judge import program_of

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "scaling.md").read_text()
CONFIG = gpt2.Config(layers=1, width=32, heads=2, sequence=16, vocab=32, batch=2)


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_python_shown_runs() -> None:
    params, opt_state = gpt2.state(CONFIG, gpt2.ADAMW)
    rng = np.random.default_rng(0)
    shape = (CONFIG.batch, CONFIG.sequence + 1)
    batches = [rng.integers(0, CONFIG.vocab, shape).astype(np.int32) for _ in range(3)]
    exported = program_of(gpt2.adamw_step, params, opt_state, batches[0])
    names: dict[str, Any] = {"scalify_hlo": scalify_hlo, "exported": exported, "batches": batches}
    for block in blocks("python"):
        names |= {"params": params, "opt_state": opt_state}
        exec(block, names)
        if "scaling_state" in block:
            assert np.isfinite(float(names["loss"]))
            assert all(value > 0 for value in names["amax"].values())
        carried = [names["scaling_state"]] if "scaling_state" in block else []
        given = names["state"] if "scaled_state" in block else (params, opt_state)
        results = names["program"].call(*given, batches[0], *carried)
        loss = float(scalify_hlo.asarray((results[0] if carried else results)[2]))
        exact = float(jax.jit(gpt2.adamw_step)(params, opt_state, batches[0])[2])
        assert abs(loss - exact) < 0.02


def test_the_recipe_shown_is_one(tmp_path: Path) -> None:
    (text,) = blocks("toml")
    path = tmp_path / "mine.toml"
    path.write_text(text)
    recipe = load_recipe(path)
    expected = Scaling("current", "E4M3", margin=1, power_2_scale=False, weight_scales="channel")
    assert recipe.scaling == expected
    assert recipe.matmul.gradient == "f8E4M3FN"
    assert tomllib.loads(text)["base"] in preset_names()
