"""`check --steps` judges losses and updates over steps of training."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tests.py.shared.commands import call
from tests.py.shared.judge import program_of

D = 32


def step(params: Any, x: jax.Array, *, rate: float = 0.1) -> Any:
    """A step of gradient descent, and its loss."""
    loss, gradient = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(x @ w) - x) ** 2))(params)
    return params - rate * D * gradient, loss


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The step, what is wrong with some, and the inputs of two steps."""
    made, rng = tmp_path_factory.mktemp("training"), np.random.default_rng(0)
    w, *rows = (rng.standard_normal((D, D)).astype(np.float32) for _ in range(3))
    steps: dict[str, Any] = {
        "step": step,
        "far": lambda w, x: step(w, x, rate=0.4),
        "still": lambda w, x: step(w, x, rate=0.0),
        "nan": lambda w, x: (step(w, x)[0], step(w, x)[1] * jnp.nan),
        "no loss": lambda w, x: step(w, x)[0],
    }
    for name, function in steps.items():
        (made / f"{name}.export").write_bytes(program_of(function, w, w).serialize())
    for number, x in enumerate(rows):
        np.savez(made / f"{number}.npz", w / 4, x)
    return made


def checked(folder: Path, name: str, *more: str, code: int, original: str = "step") -> Any:
    inputs = [f"--inputs={folder / each}.npz" for each in "01"]
    programs = (folder / f"{original}.export", folder / f"{name}.export")
    return call("check", *programs, "--steps", 6, *inputs, *more, code=code)


@pytest.mark.parametrize("signature", ["same", "scaled"])
@pytest.mark.parametrize("recipe", ["fp8-current", "fp8-state8", "fp8-delayed"])
def test_a_recipe_that_trains_passes(folder: Path, recipe: str, signature: str) -> None:
    how = ("--recipe", recipe, "--signature", signature)
    call("rewrite", folder / "step.export", *how, "-o", folder / "rewritten.export", code=0)
    found = json.loads(checked(folder, "rewritten", "--format=json", code=0).stdout)
    assert found["passed"]
    (loss,), (update,) = found["training"]["losses"], found["training"]["updates"]
    assert loss["last"][0] < 0.9 * loss["first"]
    assert 0 < update["error"] < 0.3


FAULTS = {
    "far": r"params +2\.\d+ .* DIFFERS",
    "still": r"params +0\.00 .* DIFFERS",
    "nan": r"\[1\] .* inf% +DIFFERS",
}


@pytest.mark.parametrize(("name", "fault"), FAULTS.items())
def test_what_trains_in_another_way_fails(folder: Path, name: str, fault: str) -> None:
    found = checked(folder, name, code=1)
    assert re.search(fault, found.stdout)
    assert "losses and updates are not within the bounds" in found.stderr


def test_options_of_one_step(folder: Path) -> None:
    assert "no loss" in checked(folder, "no loss", code=2, original="no loss").stderr
    assert "--seed has no effect with --steps" in checked(folder, "step", "--seed=1", code=2).stderr
    programs = [folder / "step.export"] * 2
    without = call("check", *programs, "--steps", 2, code=2).stderr
    assert "--steps has no effect without --inputs" in without
    profile = call("check", *programs, "--profile", "none.json", code=2).stderr
    assert "--profile has no effect without --per-value" in profile
    inputs = [f"--inputs={folder / each}.npz" for each in "01"]
    assert "one step takes one file" in call("check", *programs, *inputs, code=2).stderr
