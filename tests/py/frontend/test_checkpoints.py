"""Checkpoints: state is restored to a bit, in other processes and for other programs."""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import scalify_hlo as jsa
from scalify_hlo.jax_api.scaled_array import is_scaled_array
from tests.py.shared import resumed
from tests.py.shared.commands import python
from tests.py.shared.judge import assert_all_close

ROOT = Path(__file__).resolve().parents[3]
FLOATS = ("float16", "bfloat16", "float32", "float8_e5m2", "float8_e4m3fn", "complex64")


@pytest.fixture(name="orbax")
def _orbax() -> Any:
    return pytest.importorskip("orbax.checkpoint", reason="orbax-checkpoint is not installed")


def assert_same_leaves(actual: Any, expected: Any) -> None:
    """The same pytree, dtypes and bits."""
    trees: list[Any] = [jax.tree.structure(tree) for tree in (actual, expected)]
    assert trees[0] == trees[1]
    for ours, theirs in zip(jax.tree.leaves(actual), jax.tree.leaves(expected), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(resumed.bits(ours), resumed.bits(theirs))


def save(orbax: ModuleType | None, folder: Path, tree: Any) -> None:
    """Writes a checkpoint with orbax, or with NumPy alone."""
    folder.mkdir(parents=True)
    if orbax is None:
        resumed.save_bits(folder / "leaves.npz", tree)
        return
    with orbax.StandardCheckpointer() as checkpointer:
        checkpointer.save(folder / "orbax", tree)


def all_formats() -> Any:
    """A ScaledArray of each dtype, in containers and beside other leaves."""
    values = np.array([0.0, 1.0, -1.5, 0.25, -0.0, 3.5])
    pairs = [
        jsa.ScaledArray(jnp.asarray(values).astype(name), jnp.float32(2.0 ** (5 * i - 40)))
        for i, name in enumerate(FLOATS)
    ]
    moments = [
        jsa.ScaledArray(
            jnp.asarray(np.resize(values, (2, 130))).astype(name),
            jnp.asarray([[2.0**-126, 0.5], [1.0, 2.0**100]]).astype(jnp.float8_e8m0fnu),
            np.dtype("float32"),
            power,
        ).check()
        for name, power in (("float8_e4m3fn", 1), ("float8_e5m2", 2))
    ]
    return {
        "pairs": pairs,
        "moments": moments,
        "scalar": jsa.as_scaled_array(jnp.float32(6)),
        "count": jnp.int32(3),
    }


def as_types(tree: Any) -> Any:
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), tree)


@pytest.fixture(params=["numpy", "orbax"])
def library(request: pytest.FixtureRequest) -> Any:
    """The library that writes checkpoints: orbax, or None for NumPy alone."""
    return request.getfixturevalue("orbax") if request.param == "orbax" else None


def test_every_format_is_restored_to_a_bit(library: Any, tmp_path: Path) -> None:
    tree = all_formats()
    save(library, tmp_path / "run", tree)
    assert_same_leaves(resumed.dequantize(tmp_path / "run", as_types(tree)), tree)


@pytest.mark.slow
def test_training_goes_on_in_a_new_process(library: Any, tmp_path: Path) -> None:
    """Runs of two steps are saved; a new process restores them and takes the third."""
    expected = {}
    for name, run in resumed.RUNS.items():
        step, state = run()
        for _ in range(2):
            state = step(state)
        save(library, tmp_path / name, state)
        formats = {leaf.dtype.name for leaf in jax.tree.leaves(state)}
        if "state8" in name:
            assert formats >= {"float16", "float8_e4m3fn", "float8_e8m0fnu"}
        expected[name] = state, step(state)
    python(
        "-m",
        "tests.py.shared.resumed",
        tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
    )
    for name, (state, after) in expected.items():
        found = resumed.load_bits(tmp_path / name / "found.npz", as_types(state))
        assert_same_leaves(found, state)
        following = resumed.load_bits(tmp_path / name / "next.npz", as_types(after))
        assert_same_leaves(following, after)


class TestWithOrbax:
    def test_a_manager_takes_them_too(self, orbax: Any, tmp_path: Path) -> None:
        tree = all_formats()
        with orbax.CheckpointManager(tmp_path / "managed") as manager:
            manager.save(7, args=orbax.args.StandardSave(tree))
            manager.wait_until_finished()
            found = manager.restore(7, args=orbax.args.StandardRestore(as_types(tree)))
        assert_same_leaves(found, tree)

    def test_without_a_target_pairs_are_dicts_of_their_parts(
        self, orbax: Any, tmp_path: Path
    ) -> None:
        tree = all_formats()
        save(orbax, tmp_path / "run", tree)
        with orbax.StandardCheckpointer() as checkpointer:
            found = checkpointer.restore(tmp_path / "run" / "orbax")
        assert sorted(found["scalar"]) == ["data", "scale"]
        again = jsa.ScaledArray(**found["scalar"]).check()
        assert_same_leaves(again, tree["scalar"])


class TestBetweenPrograms:
    def test_plain_state_becomes_scaled_and_plain_again(self, library: Any, tmp_path: Path) -> None:
        """A checkpoint of plain f32 state is scaled, without a change of value, and plain again."""
        state = jax.jit(resumed.plain_step)(*resumed.plain_state(), resumed.batch())[:2]
        save(library, tmp_path / "plain", state)
        plain = resumed.dequantize(tmp_path / "plain", as_types(state))
        scaled = jsa.as_scaled_array(plain)
        assert_same_leaves(jsa.asarray(scaled), plain)
        step, _ = resumed.scaled("propagate")
        expected = jax.jit(resumed.plain_step)(*plain, resumed.batch())[:2]
        after = jsa.asarray(step(scaled))
        assert_all_close(after, expected, rtol=1e-5, atol=1e-7)

    @pytest.mark.slow
    def test_narrow_state_is_stored_as_the_recipe_says_and_read_wide(self) -> None:
        """Rounded once, to f16 near unit; back in f32 no small moment is lost."""
        plain = jax.jit(resumed.plain_step)(*resumed.plain_state(), resumed.batch())[:2]
        small = jax.tree.map(lambda x: x * 2.0**-30 if x.dtype == jnp.float32 else x, plain)
        step, _ = resumed.scaled("fp8-state")
        scaled = jsa.as_scaled_array(small)
        like = resumed.abstract(step, scaled)
        leaves = zip(jax.tree.leaves(scaled), jax.tree.leaves(like), strict=True)
        stored = jax.tree.unflatten(
            jax.tree.structure(like), [leaf.astype(type_.dtype) for leaf, type_ in leaves]
        )
        pairs = [leaf for leaf in jax.tree.leaves(stored) if leaf.dtype == jnp.float16]
        assert len(pairs) == 9
        back = jsa.asarray(stored, jnp.float32)
        for found, expected in zip(jax.tree.leaves(back), jax.tree.leaves(small), strict=True):
            assert found.dtype == expected.dtype
            largest = float(jnp.max(jnp.abs(expected)))
            np.testing.assert_allclose(found, expected, rtol=2**-11, atol=largest * 2**-20)
        np.testing.assert_array_equal(
            jax.tree.leaves(step(stored))[0], jax.tree.leaves(step(scaled))[0]
        )

    def test_f16_state_in_f32_and_back_is_the_same_to_a_bit(self) -> None:
        step, state = resumed.scaled("fp8-state")
        state = step(state)
        wide = jsa.asarray(state, jnp.float32)
        scales = jax.tree.leaves(state, is_leaf=is_scaled_array)
        for pair, array in zip(scales, jax.tree.leaves(wide), strict=True):
            if isinstance(pair, jsa.ScaledArray):
                again = jsa.as_scaled_array(array, scale=pair.scale)
                np.testing.assert_array_equal(again.data.astype(jnp.float16), pair.data)
