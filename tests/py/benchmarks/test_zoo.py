"""The models of the zoo can be made, exported and trained."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import Counter
from pathlib import Path

import jax
import numpy as np
import optax
import pytest

from benchmarks import zoo
from benchmarks.models.model import ADAMW, Training, normals, trained, training_of
from benchmarks.zoo.measure import Trainer, exported_of, lines, trainer
from benchmarks.zoo.tasks import learned, vectors

FOLDER = Path(zoo.__file__).parent
INSTALLED = ("flax", "optax", "flax.nnx")
"""The packages of the development environment."""


def linear(seed: int) -> Training:
    """A linear model of 16 inputs, which learns within a few steps."""
    target = normals(32, 16, seed=9)

    def loss(params: dict[str, jax.Array], x: jax.Array, _: jax.Array) -> jax.Array:
        return ((x @ params["w"] - x @ target) ** 2).mean()

    return learned(loss, {"w": normals(32, 16, seed=seed)}, vectors(32), optax.adam(0.1))


def test_each_name_is_of_a_function_that_takes_a_seed() -> None:
    for name, (_, place) in zoo.ZOO.items():
        module, _, function = place.partition(":")
        tree = ast.parse((FOLDER / f"{module}.py").read_text())
        made = [f for f in tree.body if isinstance(f, ast.FunctionDef) and f.name == function]
        assert [[a.arg for a in f.args.args] for f in made] == [["seed"]], name


def test_the_models_are_of_many_packages() -> None:
    packages = Counter(package for package, _ in zoo.ZOO.values())
    assert sum(packages.values()) >= 40
    assert len(packages) >= 8


def test_the_table_imports_no_package_of_models() -> None:
    code = (
        "import sys, benchmarks.zoo.__main__\n"
        "print(sorted({'flax', 'keras', 'haiku', 'equinox', 'numpyro'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "[]\n"


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n, (p, _) in zoo.ZOO.items() if p in INSTALLED])
def test_models_of_installed_packages_train(name: str) -> None:
    training = zoo.make(name)
    run = Trainer(jax.jit(exported_of(training).call))
    found = run.losses(training, 2)
    assert np.isfinite(found).all()
    assert found[0] != found[1]


def test_seeds_give_other_weights() -> None:
    one, two = (jax.tree.leaves(zoo.make("focal", seed).state)[1] for seed in range(2))
    assert (one != two).any()


@pytest.mark.parametrize("recipe", ["fp8", "unit"])
def test_losses_under_a_recipe_are_compared_with_those_of_f32(recipe: str) -> None:
    (line,) = lines(linear, (recipe,), seeds=2, steps=12)
    assert abs(line.gap) < 0.02
    assert line.spread < 0.002
    assert line.fell < 0.9
    assert line.narrow == 1


def test_losses_that_are_wrong_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    training = linear(0)
    run = trainer(exported_of(training), training, "fp8")
    monkeypatch.setattr(
        "benchmarks.zoo.measure.trainer",
        lambda *_: Trainer(
            lambda state, *batch: (state, run.run(state, *batch)[1]), run.given, run.batch
        ),
    )
    (line,) = lines(linear, ("fp8",), seeds=1, steps=12)
    assert line.gap > 0.02


def test_a_recipe_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def failed(*_: object) -> Trainer:
        raise ValueError("a cause")

    monkeypatch.setattr("benchmarks.zoo.measure.trainer", failed)
    (line,) = lines(linear, ("fp8",), seeds=1, steps=12)
    assert line.failure == "ValueError: a cause"
    assert np.isnan(line.gap)


def test_a_step_of_benchmarks_models_trains_too() -> None:
    def loss(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
        return ((x @ params["w"] - 1) ** 2).mean()

    case = trained(loss, ADAMW, {"w": normals(16, 16)}, normals(4, 16))
    one, two = (training_of(case, seed) for seed in range(2))
    weights = [np.asarray(each.state[0]["w"]) for each in (one, two)]
    assert (weights[0] != weights[1]).any()
    assert (np.sort(weights[0], None) == np.sort(weights[1], None)).all()
    found = Trainer(jax.jit(exported_of(two).call)).losses(two, 12)
    assert found[-1] < found[0]
