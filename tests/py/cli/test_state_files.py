"""`scalify-hlo state` converts back, and takes and writes the files of other packages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import scalify_hlo as jsa
from scalify_hlo.program.checkpoint_files import parts_of, read_checkpoint, save_checkpoint
from tests.py.shared.commands import call
from tests.py.shared.judge import program_of

SUFFIXES = [".npz", ".safetensors", ".orbax"]
PARAMS = {
    "up": np.random.default_rng(0).standard_normal((32, 64)).astype(np.float32),
    "down": np.random.default_rng(1).standard_normal((64, 32)).astype(np.float32),
}
STATE = {"params": PARAMS, "count": np.int32(3), "mu": [np.zeros(3, np.float32)]}
X = np.ones((32, 32), np.float32)


def step(state: Any, x: Any) -> Any:
    p = state["params"]
    kept = {"count": state["count"] + 1, "mu": state["mu"]}
    return kept, jnp.tanh(x @ p["up"]) @ p["down"]


def stepped() -> tuple[Any, Any]:
    """Returns the rewritten program, and its state after a step."""
    program = jsa.deserialize(Path("out.export").read_bytes())
    scaled = jsa.scaled_state(program, (STATE, X))
    return program, {**scaled[0], **program.call(*scaled)[0]}


def named(state: Any, root: str = "state") -> dict[str, Any]:
    leaves = jax.tree_util.tree_leaves_with_path(state)
    return {root + jax.tree_util.keystr(path): np.asarray(leaf) for path, leaf in leaves}


def needed(suffix: str) -> None:
    if suffix == ".orbax":
        pytest.importorskip("orbax.checkpoint", reason="orbax-checkpoint is not installed")


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    exported = program_of(step, STATE, X)
    (folder / "in.export").write_bytes(exported.serialize())
    (folder / "in.mlir").write_text(exported.mlir_module())
    for kind in ("export", "mlir"):
        options = ("--signature", "scaled", "--set", "state.weight=e4m3", "-q")
        out = folder / f"out.{kind}"
        call("rewrite", folder / f"in.{kind}", "-o", out, *options, code=0)
    return folder


@pytest.fixture(name="here", autouse=True)
def _here(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for path in folder.iterdir():
        Path(path.name).symlink_to(path)
    np.savez("given.npz", **named(STATE))
    return tmp_path


def arrays_of(path: str, known: Any) -> dict[str, np.ndarray[Any, Any]]:
    return {name: each.load() for name, each in read_checkpoint(path, known).items()}


class TestInverse:
    @pytest.mark.parametrize("kind", ["export", "mlir"])
    def test_returns_data_times_scale_in_f32(self, kind: str) -> None:
        call("state", f"out.{kind}", "given.npz", "-o", "state.npz", code=0)
        done = call("state", f"out.{kind}", "state.npz", "--inverse", "-o", "back.npz", code=0)
        assert "in float32" in done.stderr
        assert "all are exact" in done.stderr
        with np.load("back.npz") as back:
            assert set(back) == set(named(STATE))
            for name in back:
                expected = named(STATE)[name]
                assert back[name].dtype == expected.dtype
                np.testing.assert_allclose(back[name], expected, rtol=2**-4, atol=2**-8)
        call("state", f"out.{kind}", "back.npz", "-o", "again.npz", code=0)
        assert Path("again.npz").read_bytes() == Path("state.npz").read_bytes()

    def test_takes_what_a_step_returned(self) -> None:
        program, state = stepped()
        jsa.save_inputs("state.npz", program, state, jsa.scaled_state(program, (STATE, X))[1])
        call("state", "out.export", "state.npz", "--inverse", "-o", "back.npz", code=0)
        with np.load("back.npz") as back:
            assert back["state['count']"] == 4
            expected = np.asarray(jsa.asarray(state["params"]["up"]))
            np.testing.assert_array_equal(back["state['params']['up']"], expected)

    def test_takes_arrays_by_position(self) -> None:
        call("state", "out.export", "given.npz", "-o", "state.npz", code=0)
        names = [line.split()[1] for line in _argument_lines("out.export")]
        with np.load("state.npz") as state:
            np.savez("p.npz", **{f"arr_{names.index(name)}": state[name] for name in state})
        call("state", "out.export", "p.npz", "--inverse", "-o", "back.npz", code=0)
        call("state", "out.export", "state.npz", "--inverse", "-o", "same.npz", code=0)
        assert Path("back.npz").read_bytes() == Path("same.npz").read_bytes()

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"state['params']['up'].scale": None}, "has a part of \"state['params']['up']\""),
            ({"state['params']['up']": np.ones((2, 2), np.uint8)}, "['up']\" is uint8[2, 2]"),
            ({"state['params']['up']": PARAMS["up"]}, "['up']\" is float32[32, 64]"),
            ({"z": X}, "an array 'z', which is no argument"),
            (
                {"state['params']['up'].scale": None, "state['params']['up']": None},
                "and no array for \"state['params']['up']\"",
            ),
            ({"state['params']['up'].scale": np.float32(2.0**127)}, "beyond the range of float32"),
        ],
    )
    def test_says_why_there_is_none(self, change: dict[str, Any], told: str) -> None:
        call("state", "out.export", "given.npz", "-o", "state.npz", code=0)
        with np.load("state.npz") as state:
            arrays = {**state, **change}
        np.savez("bad.npz", **{name: a for name, a in arrays.items() if a is not None})
        done = call("state", "out.export", "bad.npz", "--inverse", "-o", "back.npz")
        assert done.exit_code
        assert told in done.stderr
        assert not Path("back.npz").exists()

    def test_of_no_arrays_is_refused(self) -> None:
        np.savez("none.npz")
        done = call("state", "out.export", "none.npz", "--inverse", "-o", "back.npz", code=2)
        assert "the state has no arrays" in done.stderr


def _argument_lines(path: str) -> list[str]:
    text = call("inspect", path, "--arguments", code=0).stdout
    table = text.partition("\n#")[2].partition("\n\n")[0]
    return table.splitlines()[1:]


class TestFiles:
    @pytest.mark.parametrize("suffix", SUFFIXES)
    def test_of_each_kind_are_written_and_read(self, suffix: str) -> None:
        needed(suffix)
        state, back = f"state{suffix}", f"back{suffix}"
        call("state", "out.export", "given.npz", "-o", state, code=0)
        call("state", "out.export", state, "--inverse", "-o", back, code=0)
        call("state", "out.export", state, "--inverse", "-o", "back.npz", code=0)
        call("state", "out.export", back, "-o", "again.npz", code=0)
        call("state", "out.export", "given.npz", "-o", "first.npz", code=0)
        assert Path("again.npz").read_bytes() == Path("first.npz").read_bytes()

    def test_of_orbax_are_those_of_pytrees(self) -> None:
        orbax = pytest.importorskip("orbax.checkpoint", reason="orbax-checkpoint is not installed")
        _, state = stepped()
        with orbax.StandardCheckpointer() as checkpointer:
            checkpointer.save(Path("plain").absolute(), {"state": STATE})
            checkpointer.save(Path("inner").absolute(), STATE)
            checkpointer.save(Path("pairs").absolute(), {"state": state})
        call("state", "out.export", "given.npz", "-o", "first.npz", code=0)
        for name in ("plain", "inner"):
            call("state", "out.export", name, "-o", f"{name}.npz", code=0)
            assert Path(f"{name}.npz").read_bytes() == Path("first.npz").read_bytes()
        call("state", "out.export", "pairs", "--inverse", "-o", "back.npz", code=0)
        with np.load("back.npz") as back:
            assert back["state['count']"] == 4

    def test_of_safetensors_are_those_of_the_package(self) -> None:
        safetensors = pytest.importorskip("safetensors", reason="safetensors is not installed")
        numpy = pytest.importorskip("safetensors.numpy")
        arrays = {"a.w": X, "b": np.ones(3, ml_dtypes.bfloat16), "n": np.arange(3)}
        save_checkpoint("a.safetensors", arrays.items())
        with safetensors.safe_open("a.safetensors", "numpy") as file:
            assert {name: file.get_tensor(name).tolist() for name in arrays} == {
                name: array.tolist() for name, array in arrays.items()
            }
        numpy.save_file(arrays, "b.safetensors")
        found = arrays_of("b.safetensors", ["p['a'].w"])
        assert found["p['a'].w"].tolist() == X.tolist()
        assert found["b"].dtype == ml_dtypes.bfloat16

    def test_of_safetensors_have_all_formats(self) -> None:
        formats = ("float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "bfloat16")
        arrays = {name: np.ones((2, 3), getattr(ml_dtypes, name)) for name in formats}
        arrays |= {"bool": np.ones(2, bool), "f64": np.float64(3) * np.ones(())}
        save_checkpoint("a.safetensors", arrays.items())
        found = arrays_of("a.safetensors", ())
        for name, array in arrays.items():
            assert found[name].dtype == array.dtype
            np.testing.assert_array_equal(found[name], array)
        with pytest.raises(jsa.InputError, match="no arrays of float4_e2m1fn, such as x"):
            save_checkpoint("b.safetensors", [("x", np.ones(2, ml_dtypes.float4_e2m1fn))])
        assert not Path("b.safetensors").exists()

    def test_names_of_one_meaning_are_one(self) -> None:
        assert parts_of("params['layer.0'].w") == parts_of("params.layer.0.w")
        save_checkpoint("a.safetensors", [("w", X), ("mu.w", 2 * X), ("v", X)])
        known = ["params['w']", "opt.mu['w']", "a.v", "b.v"]
        assert set(arrays_of("a.safetensors", known)) == {"params['w']", "opt.mu['w']", "v"}

    @pytest.mark.parametrize(
        "header",
        [
            {"x": {"dtype": "F32", "shape": [4], "data_offsets": [0, 8]}},
            {"x": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}},
            {"x": {"dtype": "F3", "shape": [4], "data_offsets": [0, 16]}},
            {"x": [1]},
        ],
    )
    def test_that_are_damaged_are_refused(self, header: Any) -> None:
        text = json.dumps(header).encode()
        Path("a.safetensors").write_bytes(len(text).to_bytes(8, "little") + text + bytes(8))
        done = call("state", "out.export", "a.safetensors", "-o", "b.npz", code=1)
        assert "not a safetensors file of arrays" in done.stderr

    def test_of_no_kind_are_refused(self) -> None:
        Path("a.safetensors").write_text("no")
        done = call("state", "out.export", "a.safetensors", "-o", "b.npz", code=1)
        assert "not an .npz file" in done.stderr
        needed(".orbax")
        Path("folder").mkdir()
        done = call("state", "out.export", "folder", "-o", "b.npz", code=1)
        assert "folder: error: orbax does not take this checkpoint" in done.stderr

    def test_of_orbax_need_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(__import__("sys").modules, "orbax.checkpoint", None)
        done = call("state", "out.export", "given.npz", "-o", "b.orbax", code=2)
        assert "orbax, which is not installed" in done.stderr


def test_a_checkpoint_may_have_what_the_program_does_not_read() -> None:
    program = program_of(lambda st, x: x @ st["w"], {"average": X[0], "w": X}, X)
    Path("u.export").write_bytes(program.serialize())
    call("rewrite", "u.export", "-o", "u8.export", "--signature", "scaled", "-q", code=0)
    np.savez("u.npz", **named({"average": X[0], "w": X}, "st"))
    done = call("state", "u8.export", "u.npz", "-o", "s.npz", code=0)
    assert "note: the program does not read st['average']" in done.stderr
    assert "note" not in call("state", "u8.export", "u.npz", "-o", "s.npz", "-q", code=0).stderr
