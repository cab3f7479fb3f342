"""The target of a recipe: the consumers that can compile the rewritten program."""

from __future__ import annotations

from typing import get_args

import jax
import jax.export
import jax.numpy as jnp
import numpy as np
import pytest

from scalify_hlo import InputError, UsageError, rewrite
from scalify_hlo.program.artifact import write_artifact
from scalify_hlo.recipes.formats import DEVICES, PLATFORMS
from scalify_hlo.recipes.model import Target
from scalify_hlo.run.runner import compile_module
from tests.py.shared.judge import assert_same_bits, parse, propagated, shaped

TARGETS = get_args(Target)
RECIPES = ("fp8", "fp8-state", "unit", "fp8-current", "fp8-delayed")
X, W = (shaped(*shape) for shape in ((2, 32, 16), (2, 16, 32)))
OLD = "1.0.0"
"""A version of StableHLO that knows the OCP's f8 formats, and no algorithms."""


def loss(x: jax.Array, w: jax.Array) -> jax.Array:
    """Of one batched matmul."""
    return jnp.sum(jnp.tanh(jnp.einsum("bij,bjk->bik", x, w)))


def exported(*platforms: str) -> jax.export.Exported:
    """The gradient of `loss`."""
    return jax.export.export(jax.jit(jax.grad(loss, 1)), platforms=platforms)(X, W)


def settings_of(target: str) -> dict[str, str]:
    """The program is small, and no faster in FP8 on any device."""
    return {"target": target, **({"matmul.slower": "narrow"} if target in DEVICES else {})}


def emitted(recipe: str, target: str, **settings: str) -> str:
    """The program for a target, in an environment where algorithms can be read."""
    settings |= settings_of(target)
    text: str = rewrite(exported("cpu").mlir_module(), recipe=recipe, settings=settings)
    return text


@pytest.fixture(autouse=True)
def _algorithms_travel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newer versions of jaxlib leave them out of all programs with E4M3."""
    monkeypatch.setattr("scalify_hlo.ir.algorithms._travels", lambda *_: True)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("target", TARGETS)
def test_gpus_are_told_how_matmuls_are_computed_and_no_others(recipe: str, target: str) -> None:
    text = emitted(recipe, target)
    assert "f8E" in text
    assert ("algorithm =" in text) == PLATFORMS[target].algorithms


@pytest.mark.slow
@pytest.mark.parametrize("target", [t for t in TARGETS if t != "rocm"])
def test_the_values_are_the_same_on_cpus(target: str) -> None:
    """But for FNUZ formats, which round differently."""
    random = np.random.default_rng(0)
    arrays = [random.standard_normal(v.shape, np.float32) for v in (X, W)]
    both = [emitted("fp8-current", each, compute="keep") for each in (target, "gpu")]
    first, second = (compile_module(text)(arrays) for text in both)
    assert_same_bits(first[0], second[0])


def test_portable_programs_are_readable_by_old_versions() -> None:
    assert write_artifact(parse(emitted("fp8", "portable")), OLD)
    with pytest.raises(InputError, match="cannot be written as StableHLO") as caught:
        write_artifact(parse(emitted("fp8", "gpu")), OLD)
    assert "target=portable" in str(caught.value)


@pytest.mark.parametrize("platforms", [("tpu",), ("cpu", "cuda", "tpu")])
def test_programs_for_tpus_say_nothing_unless_asked(platforms: tuple[str, ...]) -> None:
    program = exported(*platforms)
    assert "algorithm =" not in rewrite(program, recipe="fp8").mlir_module()
    assert "algorithm =" in rewrite(exported("cuda"), recipe="fp8").mlir_module()


def test_the_gradient_of_a_program_for_tpus_says_nothing_either() -> None:
    forward = jax.export.export(jax.jit(loss), platforms=("tpu",))(X, W)
    text = rewrite(forward, recipe="fp8").vjp().mlir_module()
    assert "f8E5M2" in text
    assert "algorithm =" not in text


@pytest.mark.parametrize("target", ["gpu", "rocm"])
def test_a_program_for_tpus_is_not_for_gpus(target: str) -> None:
    with pytest.raises(UsageError, match=f"{target}.*was exported for tpu"):
        rewrite(exported("tpu"), recipe="fp8", settings={"target": target})
    propagated(exported("tpu"), settings={"target": target})
    rewrite(exported("cuda", "tpu"), recipe="fp8", settings={"target": target})
