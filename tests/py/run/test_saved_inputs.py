"""Arguments of an Exported go to .npz files and back, under the names that commands take."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import jax
import jax.export
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import scalify_hlo
from scalify_hlo import ScalifyWarning, UsageError, load_inputs, save_inputs
from scalify_hlo.program.given import readable
from scalify_hlo.run.made_up import made_up
from tests.py.shared.commands import OUTPUTS, PROGRAM, RUNS, call
from tests.py.shared.judge import program_of, shaped

STATE = {"average": np.ones(3, np.float32), "w": np.ones((32, 32), np.float32)}
X = np.ones((16, 32), np.float32)


def applied(st: Any, x: Any) -> Any:
    return x @ st["w"], st["w"]


def saved(path: Path, arrays: dict[str, Any]) -> None:
    np.savez(path, **arrays)


def equal(one: Any, other: Any) -> bool:
    same = jax.tree.map(lambda a, b: np.array_equal(a, b) and a.dtype == b.dtype, one, other)
    return all(jax.tree.leaves(same))


def _made_of_nothing() -> Any:
    x = jax.lax.iota(jnp.float32, 1024).reshape(32, 32)
    return jnp.sin(x) @ jnp.cos(x)


def step(key: Any, st: Any, *rest: Any, rate: Any) -> Any:
    noise = jax.random.normal(key, rest[0].shape)
    return rest[0] @ st["w"] + noise * rate, rest[1].astype(jnp.float32)


class TestSavedInputs:
    def test_come_back_as_they_were(self, tmp_path: Path) -> None:
        small = np.ones((2, 32), ml_dtypes.float8_e5m2)
        args = (jax.random.key(3), STATE, X, small, np.zeros(4, np.int32))
        exported = program_of(lambda *a, rate: step(*a, rate=rate), *args, rate=np.float32(2))
        save_inputs(tmp_path / "x.npz", exported, *args, rate=np.float32(2))
        found, kwargs = load_inputs(tmp_path / "x.npz", exported)
        assert found[0].dtype == args[0].dtype
        assert np.array_equal(jax.random.key_data(found[0]), jax.random.key_data(args[0]))
        assert equal((found[1:], kwargs), (args[1:], {"rate": np.float32(2)}))
        assert equal(exported.call(*found, **kwargs), exported.call(*args, rate=np.float32(2)))

    def test_have_the_names_of_arguments_also_of_unused_ones(self, tmp_path: Path) -> None:
        exported = program_of(lambda st, _, x: applied(st, x), STATE, X, X)
        save_inputs(tmp_path / "x.npz", exported, STATE, 2 * X, X)
        with np.load(tmp_path / "x.npz") as stored:
            assert set(stored) == {"st['average']", "st['w']", "unused[1]", "x"}
        assert equal(load_inputs(tmp_path / "x.npz", exported)[0], (STATE, 2 * X, X))

    def test_of_pairs_are_arguments_of_commands(self, tmp_path: Path) -> None:
        exported = program_of(applied, STATE, X)
        rewritten = scalify_hlo.rewrite(exported, recipe="fp8-current", signature="scaled")
        scaled = scalify_hlo.scaled_state(rewritten, (STATE, X))
        save_inputs(tmp_path / "x.npz", rewritten, *scaled)
        assert equal(load_inputs(tmp_path / "x.npz", rewritten)[0], tuple(scaled))
        (tmp_path / "p.export").write_bytes(scalify_hlo.serialize(rewritten))
        call("bisect-nan", tmp_path / "p.export", "--inputs", tmp_path / "x.npz", code=0)

    def test_of_several_platforms_and_of_equal_names(self, tmp_path: Path) -> None:
        both = jax.export.export(jax.jit(applied), platforms=["cuda", "cpu"])(STATE, X)
        save_inputs(tmp_path / "x.npz", both, STATE, X)
        assert equal(load_inputs(tmp_path / "x.npz", both)[0], (STATE, X))
        (tmp_path / "p.export").write_bytes(both.serialize())
        call("bisect-nan", tmp_path / "p.export", "--inputs", tmp_path / "x.npz", code=0)

    @pytest.mark.parametrize(
        ("args", "told"),
        [
            ((STATE, X[:, :3]), r"the array for 'x' is float32\[16, 3\], and the argument float32"),
            ((STATE, X.astype(np.int32)), r"the array for 'x' is int32\[16, 32\]"),
            (({**STATE, "average": X}, X), r"the array for \"st\['average'\]\" is float32\[16"),
            ((STATE,), "the arguments are nested as"),
        ],
    )
    def test_that_do_not_fit_are_refused(self, tmp_path: Path, args: Any, told: str) -> None:
        exported = program_of(applied, STATE, X)
        with pytest.raises(UsageError, match=told):
            save_inputs(tmp_path / "x.npz", exported, *args)
        assert not list(tmp_path.iterdir())

    def test_that_are_no_values_are_refused(self, tmp_path: Path) -> None:
        exported = program_of(lambda x: x, X)
        with pytest.raises(UsageError, match="the value for 'x' is traced"):
            jax.jit(lambda x: save_inputs(tmp_path / "x.npz", exported, x))(X)
        with pytest.raises(UsageError, match="have no pytrees"):
            save_inputs(tmp_path / "x.npz", exported.mlir_module(), X)

    def test_of_symbolic_sizes_agree(self, tmp_path: Path) -> None:
        b, c = jax.export.symbolic_shape("b, 2*b")
        shapes = [jax.ShapeDtypeStruct((size, 32), np.float32) for size in (b, c)]
        exported = program_of(lambda x, y: (x.T, y.T), *shapes)
        save_inputs(tmp_path / "x.npz", exported, X, np.concatenate([X, X]))
        assert load_inputs(tmp_path / "x.npz", exported)[0][1].shape == (32, 32)
        with pytest.raises(UsageError, match="does not take arrays of these shapes"):
            save_inputs(tmp_path / "y.npz", exported, X, X)


class TestLoadedInputs:
    def test_by_position_are_those_of_all_arguments(self, tmp_path: Path) -> None:
        exported = program_of(applied, STATE, X)
        np.savez(tmp_path / "x.npz", *jax.tree.leaves((STATE, 2 * X)))
        assert equal(load_inputs(tmp_path / "x.npz", exported)[0], (STATE, 2 * X))

    def test_are_zeros_where_the_program_reads_nothing(self, tmp_path: Path) -> None:
        exported = program_of(applied, STATE, X)
        saved(tmp_path / "x.npz", {"st['w']": STATE["w"], "x": X})
        found, _ = load_inputs(tmp_path / "x.npz", exported)
        assert equal(found, ({**STATE, "average": np.zeros(3, np.float32)}, X))

    def test_that_are_missing_or_no_file_are_refused(self, tmp_path: Path) -> None:
        exported = program_of(applied, STATE, X)
        np.savez(tmp_path / "x.npz", x=X)
        with pytest.raises(UsageError, match=r"no array for the argument \"st\['w'\]\""):
            load_inputs(tmp_path / "x.npz", exported)
        (tmp_path / "y.npz").write_text("no")
        with pytest.raises(scalify_hlo.InputError, match=r"not an \.npz file"):
            load_inputs(tmp_path / "y.npz", exported)


class TestUnreadArguments:
    @pytest.fixture
    def folder(self, tmp_path: Path) -> Path:
        exported = program_of(applied, STATE, X)
        (tmp_path / "p.export").write_bytes(exported.serialize())
        saved(tmp_path / "n.npz", {f"st['{k}']": v for k, v in STATE.items()} | {"x": X})
        np.savez(tmp_path / "a.npz", *jax.tree.leaves((STATE, X)))
        save_inputs(tmp_path / "s.npz", exported, STATE, X)
        return tmp_path

    @pytest.mark.parametrize(("name", "told"), [("n", "st['average']"), ("a", "arr_0"), ("s", "")])
    def test_are_ignored_with_a_note(self, folder: Path, name: str, told: str) -> None:
        program, inputs = folder / "p.export", ("--inputs", folder / f"{name}.npz")
        for line in (
            ("calibrate", program, *inputs, "-o", folder / "o.json"),
            ("check", program, program, *inputs),
            ("check", program, program, *inputs, "--steps", 2),
            ("rewrite", program, "-o", "-", "--recipe", "unit", "--input-values", inputs[1]),
        ):
            done = call(*line)
            assert f"note: the program does not read {told}" in done.stderr, line
        assert "note" not in call("calibrate", *line[1:2], *inputs, "-q", code=0).stderr

    def test_are_ignored_by_functions_with_a_warning(self) -> None:
        exported = program_of(applied, STATE, X)
        sample = {"st['average']": STATE["average"], "st['w']": STATE["w"], "x": X}
        with pytest.warns(ScalifyWarning, match=r"does not read st\['average'\]"):
            scalify_hlo.calibrate(exported, [sample])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            scalify_hlo.calibrate(exported, [(STATE, X)])

    def test_have_the_type_of_an_argument(self, folder: Path) -> None:
        saved(folder / "n.npz", {"st['average']": X, "st['w']": STATE["w"], "x": X})
        line = ("calibrate", folder / "p.export", "--inputs", folder / "n.npz")
        assert "which is no argument" in call(*line, code=2).stderr


class TestMadeUpInputs:
    @pytest.mark.parametrize("name", ["stats", "calibrate", "compare", "blame", "search", "check"])
    def test_are_those_of_every_command(self, tmp_path: Path, name: str) -> None:
        more = RUNS[name][RUNS[name].index("x.npz") + 1 :] if "x.npz" in RUNS[name] else ()
        out = OUTPUTS.get(name, ())
        for function, taken in ((lambda x: x @ x, (X.T @ X,)), (_made_of_nothing, ())):
            path = tmp_path / PROGRAM
            path.write_bytes(program_of(function, *taken).serialize())
            files = [path] * (1 + (name == "check"))
            done = call(name, *files, *more, *out[:1], *(tmp_path / o for o in out[1:]), code=0)
            told = "inputs are made up: " in done.stderr
            assert told == (bool(taken) and name != "check")

    def test_are_not_negative_where_the_root_is_taken(self, tmp_path: Path) -> None:
        program = program_of(lambda x, y: jnp.sqrt(x) + y, X, X)
        (tmp_path / "p.export").write_bytes(program.serialize())
        done = call("bisect-nan", tmp_path / "p.export", code=0)
        assert done.stderr.startswith("note: inputs are made up: ")

    def test_are_those_at_the_start_of_training(self) -> None:
        def step(w: Any, m: Any, x: Any) -> Any:
            g = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
            m = 0.9 * m + 0.1 * g
            return w - 0.1 * m, m

        w = shaped(1024, 16)
        program = readable(program_of(step, w, w, shaped(64, 1024)))
        found = made_up(program, {}, np.random.default_rng(0), trained=True)
        sizes = {name: float(np.std(array)) for name, array in found.items()}
        assert sizes == {"w": pytest.approx(1 / 32, rel=0.02), "m": 0, "x": pytest.approx(1, 0.02)}
        plain = made_up(program, {}, np.random.default_rng(0))
        np.testing.assert_allclose(plain["w"], 32 * found["w"], rtol=1e-6)
        assert np.std(plain["m"]) > 0.9

    def test_of_rewrites_have_scales_and_state(self, tmp_path: Path) -> None:
        exported = program_of(applied, STATE, X)
        for recipe, signature in (("fp8-delayed", "same"), ("fp8", "scaled")):
            rewritten = scalify_hlo.rewrite(exported, recipe=recipe, signature=signature)
            (tmp_path / "p.export").write_bytes(scalify_hlo.serialize(rewritten))
            assert "finite" in call("bisect-nan", tmp_path / "p.export", code=0).stdout

    @pytest.mark.parametrize("kind", ["export", "mlir"])
    def test_have_the_sizes_that_are_given(self, tmp_path: Path, kind: str) -> None:
        rows = shaped(*jax.export.symbolic_shape("2*b + 1, 32"))
        exported = program_of(lambda w, x: x @ w, shaped(32, 32), rows)
        path = tmp_path / f"p.{kind}"
        if kind == "mlir":
            path.write_text(exported.mlir_module())
        else:
            path.write_bytes(exported.serialize())
        name, size = ("b", 3) if kind == "export" else ("x.0", 7)
        assert "float32[7, 32]" in call("check", path, path, "--dim", f"{name}={size}").stdout
        assert f"without a value: {name}" in call("check", path, path, code=2).stderr
        call("explain", path, "--target", "cpu", "--dim", f"{name}={size}", code=0)

    @pytest.mark.parametrize(
        ("dims", "told"),
        [
            (("b",), "has no size"),
            (("b=0",), "has no size"),
            (("b=-1",), "has no size"),
            (("b=4", "b=5"), "gives b the sizes 4 and 5"),
            (("b=4", "c=5"), "has no symbolic size 'c'"),
            (("b=1",), "x would be of shape [-2, 32]"),
        ],
    )
    def test_of_bad_sizes_are_refused(self, tmp_path: Path, dims: Any, told: str) -> None:
        rows = shaped(*jax.export.symbolic_shape("b - 3, 32", constraints=["b >= 4"]))
        exported = program_of(lambda w, x: x @ w, shaped(32, 32), rows)
        (tmp_path / "p.export").write_bytes(exported.serialize())
        given = [part for each in dims for part in ("--dim", each)]
        assert told in call("calibrate", tmp_path / "p.export", *given, code=2).stderr
