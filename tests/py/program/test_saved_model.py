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
from scalify_hlo.program import saved_model
from scalify_hlo.program.artifact import write_artifact
from scalify_hlo.program.program import Kind, read_program, read_text, recognize
from tests.py.shared.commands import call
from tests.py.shared.judge import unrecorded

FILE = Path(__file__).with_name("saved_model.pb")
DATA = FILE.read_bytes()
TWO = DATA + DATA.replace(b"predict", b"forward")
"""The file of two graphs, since the fields of concatenated messages are merged."""


def field(number: int, content: bytes) -> bytes:
    """A field of a protocol buffer: a message, or a string."""
    size, digits = len(content), []
    while size > 127:
        digits.append(size & 127 | 128)
        size >>= 7
    return bytes([number << 3 | 2, *digits, size]) + content


def function(name: str, *modules: bytes, signature: bytes = b"") -> bytes:
    """A function of a graph, with an op for each module."""
    modules = tuple(field(5, field(1, b"module") + field(2, field(2, each))) for each in modules)
    nodes = (field(3, field(1, b"n") + field(2, b"XlaCallModule") + each) for each in modules)
    return field(1, field(1, signature + field(1, name.encode())) + b"".join(nodes))


def saved(*functions: bytes) -> bytes:
    """A SavedModel of one graph."""
    return b"\x08\x01" + field(2, field(2, field(2, b"".join(functions))))


def artifact(op: str) -> bytes:
    main = f"""func.func @main(%x: tensor<f32>) -> tensor<f32> {{
      %y = stablehlo.{op} %x : tensor<f32>
      return %y : tensor<f32>
    }}"""
    return write_artifact(read_text(main).module, "current")


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


@pytest.mark.parametrize(
    "file",
    [
        saved(function("f", artifact("sine"), artifact("cosine"))),
        saved(function("f", artifact("sine")), function("f", artifact("cosine"))),
        saved(function("f", artifact("sine"))) + saved(function("f", artifact("cosine"))),
    ],
    ids=["one function", "two functions", "two graphs"],
)
def test_programs_of_one_name_are_numbered(file: bytes) -> None:
    with pytest.raises(InputError, match="has 2 programs") as error:
        read_program(file)
    assert str(error.value.hint).endswith(": f#1, f#2")
    assert "sine" in str(read_program(file, entry="f#1").module)
    assert "cosine" in str(read_program(file, entry="f#2").module)


def test_no_number_makes_two_names_one() -> None:
    module = artifact("sine")
    names = "f_1", "f_2", "__inference_f_1_2", "f_1#1", "f_1#3"
    with pytest.raises(InputError, match="has 5 programs") as error:
        read_program(saved(*(function(name, module) for name in names)))
    assert str(error.value.hint).endswith(": f_1#1, f_2, f_1#3, f_1#1#4, f_1#3#5")


def test_an_error_names_some_of_many_programs() -> None:
    file = saved(*(function(f"f{each}", b"") for each in range(3000)))
    for entry in (None, "nothing"):
        with pytest.raises(InputError) as error:
            read_program(file, entry=entry)
        assert str(error.value.hint).endswith("f8, f9 and 2990 more")


@pytest.mark.parametrize("module", [b"", b"module { }"], ids=["nothing", "text"])
def test_a_module_that_is_no_artifact_is_refused(module: bytes) -> None:
    with pytest.raises(InputError, match="of the op XlaCallModule in `f` is not a") as error:
        read_program(saved(function("f", module)), "model")
    assert error.value.location == "model"
    assert "jax2tf" in str(error.value.hint)


def test_a_function_with_the_name_of_gradients_in_its_own_is_listed() -> None:
    names = "__inference_my_internal_grad_fn_1", "__inference_f_2", "__inference_internal_grad_fn_3"
    with pytest.raises(InputError) as error:
        read_program(saved(*(function(name, b"") for name in names)))
    assert str(error.value.hint).endswith(": my_internal_grad_fn, f")


SMALL = b"\x08\x01"
"""A field of two bytes, a number."""


def test_few_fields_of_a_file_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_model, "_FIELDS", 3000)
    with pytest.raises(InputError, match="has no op XlaCallModule"):
        read_program(saved(SMALL * 3000))
    program = function("f", artifact("sine"))
    with pytest.raises(InputError, match="more than 3000 fields") as error:
        read_program(saved(SMALL * 3000, program))
    assert "jax.export" in str(error.value.hint)
    # A signature is read once, and not for each of the nodes.
    with pytest.raises(InputError, match="has 100 programs"):
        read_program(saved(function("f", *[b""] * 100, signature=SMALL * 100)))


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
