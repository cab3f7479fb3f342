"""SavedModels of TensorFlow: the program in one is read, and rewritten as a portable artifact.

`saved_model.pb` is of TensorFlow 2.21 and jax 0.10.2, written by this script:

    converted = jax2tf.convert(lambda w, x: jnp.tanh(x @ w))
    def predict(x):
        return converted(model.weights, x)
    model = tf.Module()
    model.weights = tf.Variable(np.ones((32, 64), np.float32))
    model.predict = tf.function(predict, input_signature=[tf.TensorSpec((16, 32))])
    tf.saved_model.save(model, "model")
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import scalify_hlo
from scalify_hlo import InputError
from scalify_hlo._compat import ir
from scalify_hlo.program.program import Kind, read_program, recognize
from tests.py.shared.commands import call
from tests.py.shared.judge import unrecorded

FILE = Path(__file__).with_name("saved_model.pb")
DATA = FILE.read_bytes()
TWO = DATA + DATA.replace(b"predict", b"forward")
"""The file of two graphs, since the fields of concatenated messages are merged."""


def text(program: bytes) -> str:
    return str(read_program(program).module)


def test_the_program_is_rewritten() -> None:
    assert recognize(DATA, "f") is Kind.SAVED_MODEL
    program = read_program(DATA)
    assert program.kind is Kind.ARTIFACT
    assert "tensor<32x64xf32>" in str(program.module).partition("->")[0]
    written = scalify_hlo.rewrite(DATA, recipe="fp8-current")
    assert isinstance(written, bytes)
    assert "f8E4M3FN" in text(written)


def test_commands_take_the_folder_and_the_file(tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / FILE.name).write_bytes(DATA)
    for path in (tmp_path / "model", FILE):
        out = tmp_path / "out.mlir"
        call("rewrite", path, "-o", out, "--recipe", "fp8-current", code=0)
        expected = text(scalify_hlo.rewrite(DATA, recipe="fp8-current"))
        assert unrecorded(out.read_text()) == unrecorded(expected)
    read = call("rewrite", "-", "-o", "-", text=DATA, code=0).stdout_bytes
    assert "f8E4M3FN" in text(read)
    (tmp_path / "model" / FILE.name).unlink()
    assert "directory" in call("rewrite", tmp_path / "model", "-o", out, code=1).stderr


def test_one_of_several_is_named() -> None:
    with pytest.raises(InputError, match="has 2 programs") as error:
        scalify_hlo.rewrite(TWO)
    assert error.value.hint is not None
    assert error.value.hint.endswith(": predict, forward")
    assert text(scalify_hlo.rewrite(TWO, entry="forward")).count("@main") == 1
    with pytest.raises(InputError, match=r"no program `forwar` \(did you mean 'forward'\?\)"):
        scalify_hlo.rewrite(TWO, entry="forwar")


def test_functions_of_one_name_have_their_full_names() -> None:
    with pytest.raises(InputError) as error:
        scalify_hlo.rewrite(DATA + DATA.replace(b"_predict_18", b"_predict_19"))
    assert error.value.hint is not None
    assert error.value.hint.endswith(": __inference_predict_18, __inference_predict_19")


def test_a_gradient_is_read_if_it_is_named() -> None:
    assert "tanh" in text(DATA)
    gradient = read_program(DATA, entry="internal_grad_fn").module
    assert len(ir.FunctionType(gradient.body.operations[0].function_type.value).results) == 2


def test_a_model_of_other_ops_is_refused() -> None:
    with pytest.raises(InputError, match="has no op XlaCallModule") as error:
        scalify_hlo.rewrite(DATA.replace(b"XlaCallModule", b"XlaCallMatmul"))
    assert "jax.export" in str(error.value.hint)


def test_a_damaged_file_is_refused() -> None:
    for size in range(3, len(DATA), 97):
        with pytest.raises(InputError, match="damaged"):
            scalify_hlo.rewrite(DATA[:size])
    spoiled = random.Random(0)
    for _ in range(50):
        data = bytearray(DATA)
        for _ in range(8):
            data[spoiled.randrange(3, 4000)] = spoiled.randrange(256)
        try:
            read_program(bytes(data), guarded=True)
        except InputError:
            continue
