"""`scalify-hlo state`: a checkpoint of the original becomes arguments of the rewritten program."""

from __future__ import annotations

import functools
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import optax
import pytest

import scalify_hlo as jsa
from scalify_hlo.frontend import checkpoint
from scalify_hlo.run.differences import compare
from tests.py.shared.commands import call
from tests.py.shared.judge import program_of, propagated, shaped
from tests.py.shared.stored_weights import batch, parameters, predict

OPTIMIZER = optax.adam(1e-2)
E4M3 = np.dtype(ml_dtypes.float8_e4m3fn)
WEIGHTS = ("--set", "state.weight=e4m3")
_OF_E5M2 = ("state.weight=e5m2", "matmul.weight=e5m2", "matmul.gradient=e4m3")
E5M2 = [word for setting in _OF_E5M2 for word in ("--set", setting)]
TRAINING = ["fp8", "fp8-state", "fp8-state8"]


def step(params: Any, opt_state: Any, x: Any) -> Any:
    gradients = jax.grad(lambda p: jnp.mean(predict(p, x) ** 2))(params)
    updates, opt_state = OPTIMIZER.update(gradients, opt_state, params)
    return optax.apply_updates(params, updates), opt_state


@functools.cache
def exported(kind: str) -> jax.export.Exported:
    state = parameters(), OPTIMIZER.init(parameters())
    arguments = (*state, batch()) if kind == "step" else (parameters(), batch())
    return program_of(step if kind == "step" else predict, *arguments)


def named(params: Any) -> dict[str, Any]:
    return {f"params['{name}']": np.asarray(array) for name, array in params.items()}


def rewrite(name: str, output: str, *options: str) -> None:
    call("rewrite", name, "-o", output, "--signature", "scaled", "-q", *options, code=0)


@pytest.fixture(scope="module", name="folder")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program as two kinds of files, rewritten ones, and a checkpoint."""
    folder = tmp_path_factory.mktemp("state")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("in.export").write_bytes(jsa.serialize(exported("predict")))
        Path("in.mlir").write_text(str(exported("predict").mlir_module()))
        for kind in ("export", "mlir"):
            rewrite(f"in.{kind}", f"out.{kind}", "--recipe", "fp8-current", *WEIGHTS)
        np.savez("weights.npz", **named(parameters()))
    return folder


@pytest.fixture(name="here", autouse=True)
def _here(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    Path("new.npz").unlink(missing_ok=True)
    return folder


def state(program: str, arrays: Mapping[str, Any], *options: str) -> str:
    """Converts a checkpoint to new.npz, and returns the line on standard error."""
    np.savez("given.npz", **arrays)
    done = call("state", program, "given.npz", "-o", "new.npz", *options, code=0)
    assert not done.stdout
    return done.stderr.strip()


def refused(program: str, arrays: Mapping[str, Any], *options: str) -> tuple[int, str]:
    """Returns the status and the text of an error; nothing is written."""
    np.savez("given.npz", **arrays)
    Path("new.npz").unlink(missing_ok=True)
    done = call("state", program, "given.npz", "-o", "new.npz", *options)
    assert not Path("new.npz").exists()
    assert "defect" not in done.stderr
    assert [line.split(": ")[1] for line in done.stderr.splitlines()] == ["error", "note"]
    return done.exit_code, done.stderr


def read(program: jax.export.Exported, path: str = "new.npz") -> list[Any]:
    """The first flat arguments of a program, as the documentation loads them."""
    with np.load(path) as file:
        return [
            a.view(aval.dtype) for a, aval in zip(file.values(), program.in_avals, strict=False)
        ]


def assert_same(ours: Any, theirs: Any) -> None:
    assert len(ours) == len(theirs)
    for one, other in zip(ours, map(np.asarray, theirs), strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes()


def test_arrays_are_those_of_scaled_state() -> None:
    program = jsa.deserialize(Path("out.export").read_bytes())
    line = state("out.export", named(parameters()))
    (weights,) = jsa.scaled_state(program, (parameters(),))
    assert_same(read(program), jax.tree.leaves(weights))
    stored = {name: leaf for name, leaf in weights.items() if leaf.dtype == E4M3}
    errors = {
        name: compare("", *map(np.asarray, (parameters()[name], leaf))).relative_error
        for name, leaf in stored.items()
    }
    worst = max(errors, key=errors.__getitem__)
    before = sum(array.nbytes for array in parameters().values())
    after = sum(leaf.nbytes for leaf in jax.tree.leaves(weights))
    assert 0.01 < errors[worst] < 0.07
    assert line == (
        f"4 of 5 arguments: 3 in float8_e4m3fn, 1 in float32; {after:,} bytes, from {before:,}; "
        f"largest relative error {errors[worst]:.2g}, of params['{worst}']"
    )


@pytest.mark.slow
@pytest.mark.parametrize("recipe", TRAINING)
def test_state_of_a_training_is_converted_by_position(recipe: str) -> None:
    """Weights and moments in f16, and moments in blocks, which are stored as square roots too."""
    program = jsa.rewrite(exported("step"), recipe=recipe, signature="scaled")
    Path("step.export").write_bytes(jsa.serialize(program))
    params = parameters()
    plain = params, OPTIMIZER.update(params, OPTIMIZER.init(params), params)[1]
    arrays = {f"arr_{i}": leaf for i, leaf in enumerate(jax.tree.leaves(plain))}
    state("step.export", arrays)
    assert_same(read(program), jax.tree.leaves(jsa.scaled_state(program, plain)))
    call("state", "step.export", "new.npz", "--inverse", "-o", "back.npz", code=0)
    expected = jax.tree.leaves(jsa.asarray(jsa.scaled_state(program, plain)))
    with np.load("back.npz") as back:
        assert len(back.files) == len(expected)
        for found, leaf in zip(back.values(), expected, strict=True):
            assert found.dtype in (np.float32, np.int32)
            np.testing.assert_allclose(found, leaf, rtol=1e-6)


def test_kinds_of_programs_give_the_same_file() -> None:
    lines, files = [], []
    for kind in ("export", "mlir"):
        lines.append(state(f"out.{kind}", named(parameters())))
        files.append(Path("new.npz").read_bytes())
    assert lines[0] == lines[1]
    assert files[0] == files[1]


def test_other_commands_take_the_file() -> None:
    """Commands that run the program need all arguments, so the input is converted too."""
    state("out.export", {**named(parameters()), "x": batch()})
    for command in (
        ("check", "out.export", "out.mlir", "--inputs", "new.npz", "--rtol", "0"),
        ("stats", "out.export", "--inputs", "new.npz", "-o", "stats.json"),
    ):
        call(*command, code=0)


def test_formats_that_numpy_cannot_name_are_raw_bytes() -> None:
    """NumPy writes E5M2 under a name that it cannot read."""
    rewrite("in.export", "e5m2.export", "--recipe", "fp8-current", *E5M2)
    assert "3 in float8_e5m2" in state("e5m2.export", named(parameters()))
    program = jsa.deserialize(Path("e5m2.export").read_bytes())
    with np.load("new.npz") as file:
        assert list(file)[:2] == ["params['bias']", "params['bias'].scale"]
        assert file["params['up']"].dtype == "V1"
        assert file["params['bias']"].dtype == np.float32
    assert_same(read(program), jax.tree.leaves(jsa.scaled_state(program, (parameters(),))))


@pytest.mark.parametrize("kind", ["export", "mlir"])
def test_bf16_is_read_from_raw_bytes(kind: str) -> None:
    params, x = parameters(jnp.bfloat16), batch(jnp.bfloat16)
    original = program_of(predict, params, x)
    text = str(original.mlir_module())
    Path("b.in").write_bytes(jsa.serialize(original) if kind == "export" else text.encode())
    rewrite("b.in", "b.out", "--recipe", "fp8-current", *WEIGHTS)
    line = state("b.out", named(params))
    assert "3 in float8_e4m3fn, 1 in bfloat16" in line
    wanted = jsa.rewrite(
        original, recipe="fp8-current", signature="scaled", settings={"state.weight": "e4m3"}
    )
    assert_same(read(wanted), jax.tree.leaves(jsa.scaled_state(wanted, (params,))))
    error = refused("b.out", named(params) | {"params['up']": params["up"].T})[1]
    stored = "a wider float, stored as float8_e4m3fn" if kind == "mlir" else "bfloat16"
    assert f"is |V2[128, 64], and the argument of the original is {stored}[64, 128]" in error


def test_raw_bytes_of_two_are_bf16_where_f16_is_stored() -> None:
    """NumPy knows f16, so no file has raw bytes of it."""
    params = parameters(jnp.bfloat16)
    arguments = params, OPTIMIZER.init(params), batch(jnp.bfloat16)
    original = program_of(step, *arguments)
    Path("half.mlir").write_text(str(original.mlir_module()))
    rewrite("half.mlir", "half.out", "--recipe", "fp8-state")
    assert "4 in float16" in state("half.out", named(params))
    wanted = jsa.rewrite(original, recipe="fp8-state", signature="scaled")
    assert_same(read(wanted), jax.tree.leaves(jsa.scaled_state(wanted, (params,))))


def test_state_of_delayed_scales_is_no_argument_of_the_original() -> None:
    rewrite("in.export", "delayed.export", "--recipe", "fp8-delayed", *WEIGHTS)
    assert state("delayed.export", named(parameters())).startswith("4 of 5 arguments: ")
    history: dict[str, Any] = {"scaling_state['step']": np.int32(0)}
    with np.load("new.npz") as file:
        np.savez("returned.npz", **file, **history)
    dropped = "note: the scaling state (1 array) is left out: the original has none"
    for name in ("new", "returned"):
        inverse = ("state", "delayed.export", f"{name}.npz", "--inverse", "-o", "back.npz")
        assert (dropped in call(*inverse, code=0).stderr) == (name == "returned")
        assert not call(*inverse, "-q", code=0).stderr
    assert "is no argument" in refused("delayed.export", named(parameters()) | history)[1]


def test_f64_keeps_its_bits() -> None:
    with jax.enable_x64(True):
        w = np.random.default_rng(0).standard_normal((32, 32))
        original = program_of(lambda w, n: (w @ w, n), w, np.arange(3))
        program = propagated(original, signature="scaled")
        Path("f64.export").write_bytes(jsa.serialize(program))
        leaves = jax.tree.leaves(jsa.scaled_state(program, (w,)))
    assert state("f64.export", {"w": w}).endswith("; all are exact")
    assert_same(read(program), leaves)


def test_sizes_that_vary_may_have_any_value() -> None:
    (size,) = jax.export.symbolic_shape("b")
    x = shaped(size, 64)
    w = np.random.default_rng(0).standard_normal((64, 64), np.float32)
    original = program_of(lambda p, x: x @ p["w"], {"w": w}, x)
    Path("any.in").write_bytes(jsa.serialize(original))
    rewrite("any.in", "any.out", "--recipe", "fp8-current", *WEIGHTS)
    line = state("any.out", {"p['w']": w, "x": w[:7]})
    assert line.startswith("2 of 2 arguments: 1 in float8_e4m3fn, 1 in float32")
    with np.load("new.npz") as file:
        assert list(file) == ["p['w']", "p['w'].scale", "x", "x.scale"]


TEXT = """
func.func public @main(%arg0: tensor<8x8xf32>, %arg1: tensor<2xi32>, %arg2: tensor<f32>)
    -> (tensor<8x8xf32>, tensor<2xi32>, tensor<f32>) {
  return %arg0, %arg1, %arg2 : tensor<8x8xf32>, tensor<2xi32>, tensor<f32>
}
"""


@pytest.mark.parametrize("prefix", ["arg", "arr_"])
def test_arguments_without_names_have_the_numbers_of_the_original(prefix: str) -> None:
    """The third one is the fourth of the rewritten program. NumPy's integers have 64 bits."""
    Path("tiny.mlir").write_text(TEXT)
    rewrite("tiny.mlir", "tiny.out")
    state("tiny.out", {f"{prefix}1": np.array([3, 4]), f"{prefix}2": np.float32(6)})
    with np.load("new.npz") as file:
        assert list(file) == ["arg2", "arg3", "arg4"]
        values = list(file.values())
    assert_same(values, [np.array([3, 4], np.int32), np.float32(1.5), np.float32(4)])


def test_standard_streams_carry_a_program_and_arrays() -> None:
    program = Path("out.mlir").read_bytes()
    done = call("state", "-", "weights.npz", "-q", text=program)
    assert (done.exit_code, done.stderr) == (0, "")
    with np.load(io.BytesIO(done.stdout_bytes)) as file:
        assert len(file) == 8
    given = Path("weights.npz").read_bytes()
    other = call("state", "out.mlir", "-", "-q", text=given)
    assert other.stdout_bytes == done.stdout_bytes


def test_errors_are_counted_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = state("out.export", named(parameters()))
    monkeypatch.setattr(checkpoint, "ENCODED_CHUNK", 3 * 128)
    assert state("out.export", named(parameters())) == whole


def changed(name: str, array: Any) -> dict[str, Any]:
    return named(parameters()) | {f"params['{name}']": array}


def with_number(number: float) -> Any:
    return np.asarray(parameters()["up"].at[5, 7].set(number))


def without(name: str) -> dict[str, Any]:
    return {key: array for key, array in named(parameters()).items() if name not in key}


@pytest.mark.parametrize(
    ("arrays", "status", "words"),
    [
        (
            without("up") | {"params['upp']": np.ones((64, 128), np.float32)},
            2,
            ("has an array \"params['upp']\", which is no argument (did you mean", "params['up']"),
        ),
        (without("up"), 2, ("and no array for \"params['up']\"", "--partial")),
        ({}, 2, ("has no arrays", "inspect --arguments")),
        (
            changed("up", np.ones((128, 64), np.float32)),
            2,
            ("\"params['up']\" is float32[128, 64]", "of the original is float32[64, 128]"),
        ),
        (changed("up", np.ones((64, 128))), 2, ("is float64[64, 128]", "float32[64, 128]")),
        (changed("up", np.ones((64, 128), np.int8)), 2, ("is int8[64, 128]",)),
        (changed("bias", np.array(["a"] * 128)), 2, ("is <U1[128]",)),
        (
            changed("bias.scale", 1) | {"params['up'].scale": np.float32(1)},
            2,
            ("as if it was converted before",),
        ),
        (changed("up", with_number(np.inf)), 1, ("params['up'] has 1 of 8,192 numbers",)),
    ],
)
def test_an_array_that_does_not_fit_is_refused(
    arrays: dict[str, Any], status: int, words: tuple[str, ...]
) -> None:
    arrays.pop("params['bias.scale']", None)
    code, text = refused("out.export", arrays)
    assert code == status, text
    assert text.startswith("given.npz: error: ")
    for each in words:
        assert each in text


def test_numbers_that_are_not_finite_are_kept_where_the_format_has_them() -> None:
    bias = np.full(128, 0.5, np.float32)
    bias[:2] = np.nan, -np.inf
    state("out.export", changed("up", with_number(np.nan)) | {"params['bias']": bias})
    with np.load("new.npz") as file:
        np.testing.assert_array_equal(file["params['bias']"], bias)
        found = file["params['up']"].view(E4M3).astype(np.float32)
    assert np.argwhere(np.isnan(found)).tolist() == [[5, 7]]


def test_a_pytree_may_be_partial_if_asked() -> None:
    line = state("out.export", without("up"), "--partial")
    assert line.startswith("3 of 5 arguments: 2 in float8_e4m3fn, 1 in float32")


def test_integers_that_do_not_fit_are_refused() -> None:
    Path("tiny.mlir").write_text(TEXT)
    rewrite("tiny.mlir", "tiny.out")
    assert refused("tiny.out", {"arg1": np.array([1, 2**40])})[0] == 1
    assert "argument of the original is int32[2]" in refused("tiny.out", {"arg1": np.ones(2)})[1]


def test_an_array_for_an_integer_has_no_raw_bytes_of_another_size() -> None:
    rewrite("in.mlir", "plain.mlir")
    raw = np.zeros((64, 128), "V2")
    assert refused("plain.mlir", changed("up", raw))[0] == 2


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (None, ("was not rewritten", "scalify-hlo rewrite --signature scaled")),
        (("--signature", "same"), ("takes its arguments as the original does", "as it is")),
    ],
)
def test_a_program_without_pairs_is_refused(
    options: tuple[str, ...] | None, words: tuple[str, ...]
) -> None:
    program = "in.export"
    if options is not None:
        call("rewrite", program, "-o", "same.export", "--recipe", "fp8-current", *options, code=0)
        program = "same.export"
    code, text = refused(program, named(parameters()))
    assert code == 1
    assert text.startswith(f"{program}: error: ")
    assert all(each in text for each in words)


def test_pairs_of_pairs_are_refused() -> None:
    rewrite("in.mlir", "once.mlir")
    rewrite("once.mlir", "twice.mlir", "--again")
    assert "has pairs of pairs" in refused("twice.mlir", named(parameters()))[1]


def test_a_damaged_array_leaves_the_old_file() -> None:
    """The array is the last one: others are written by then, to a file that is removed."""
    data = bytearray(Path("weights.npz").read_bytes())
    place = data.index(np.asarray(parameters()["up"]).tobytes())
    data[place] ^= 1
    Path("damaged.npz").write_bytes(data)
    Path("old.npz").write_text("before")
    before = sorted(path.name for path in Path().iterdir())
    done = call("state", "out.export", "damaged.npz", "-o", "old.npz", code=1)
    assert "not an .npz file" in done.stderr
    assert Path("old.npz").read_text() == "before"
    assert sorted(path.name for path in Path().iterdir()) == before


def sparse() -> dict[str, Any]:
    """Weights of which one is far above the rms of its array, by more than E4M3 has range."""
    last = np.zeros((512, 512), np.float32)
    last[3, 4] = 1e3
    return {"first": np.ones((512, 512), np.float32), "last": last}


def test_a_number_that_overflows_is_refused() -> None:
    x = np.ones((32, 512), np.float32)
    program = jax.export.export(jax.jit(lambda params, x: x @ params["first"] @ params["last"]))
    Path("sparse.export").write_bytes(jsa.serialize(program(sparse(), x)))
    rewrite("sparse.export", "sparse.fp8", "--recipe", "fp8-current", *WEIGHTS)
    code, text = refused("sparse.fp8", named(sparse()))
    assert code == 1
    assert "params['last'] has 1 of 262,144 numbers that float8_e4m3fn cannot hold" in text
    assert "at the scale 2^0" in text
    cure = text[text.index("--set") :].partition(" leaves")[0].split()
    cure = [word.strip('"').replace('="', "=") for word in cure]
    rewrite("sparse.export", "sparse.fp8", "--recipe", "fp8-current", *WEIGHTS, *cure)
    assert "1 in float8_e4m3fn, 1 in float32" in state("sparse.fp8", named(sparse()))
    rewrite("sparse.export", "sparse.fp8", "--recipe", "fp8-current", *E5M2)
    assert "largest relative error 0.024" in state("sparse.fp8", named(sparse()))


def test_a_stream_has_all_arrays_or_none() -> None:
    np.savez("given.npz", **changed("up", with_number(np.inf)))
    done = call("state", "out.export", "given.npz")
    assert (done.exit_code, done.stdout_bytes) == (1, b"")


def test_only_one_input_is_standard_input() -> None:
    call("state", "-", "-", "-o", "new.npz", code=2)
