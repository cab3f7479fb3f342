"""No bytes whatever end in a traceback, and every error names its place and its cure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import scalify_hlo
from scalify_hlo._compat import ir
from scalify_hlo.errors import InputError
from scalify_hlo.program import artifact
from scalify_hlo.program import sandbox as guard
from scalify_hlo.program.program import read_program
from tests.py.shared import samples
from tests.py.shared.commands import call

CASES = {
    "empty": b"",
    "blank": b" \n\n",
    "not text": b"\xff\xfe not utf-8",
    "garbage": bytes(range(256)),
    "zeros": b"\0" * 100,
    "prose": b"Dear compiler, please make it faster.",
    "magic only": b"ML\xefR",
    "magic and producer": b"ML\xefR\x0dStableHLO_v1.0.0\0",
    "unknown op": b"module {\n  foo.bar\n}",
    "other dialect": b"func.func @main() {\n  %0 = ub.poison : i32\n  return\n}",
    "empty module": b"module {}",
    "no main": b"func.func @one() { return }\nfunc.func @other() { return }",
    "private main": b"func.func private @main() { return }",
    "no body": b"func.func private @main()",
    "quantized": b"func.func @main(%a: tensor<2x!quant.uniform<i8:f32, 1.0>>) { return }",
    "does not verify": b"func.func @main(%a: tensor<2xf32>) -> tensor<3xf32> {\n"
    b"  return %a : tensor<2xf32>\n}",
    "ends early": b"func.func @main(%a: tensor<2xf32>) {\n  %0 = stablehlo.add",
    "deep": b"module attributes {a = " + b"[" * 100_000,
    "deep regions": b"module {" * 30_000,
    "far dimension": b"""func.func @main(%a: tensor<1x8x8x1xf32>, %b: tensor<3x3x1x1xf32>) {
  %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 2147483647, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x8x8x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x6x6x1xf32>
  return
}""",
}


@pytest.fixture(autouse=True, scope="module")
def impatience() -> Iterator[None]:
    """Bytes on which the native reader never ends are given up early."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(guard, "_SECONDS", 2)
        yield


def rewrite(data: bytes, *options: str) -> tuple[int, str, bytes]:
    result = call("rewrite", "-", *options, text=data)
    return result.exit_code, result.stderr, result.stdout_bytes


def assert_one_located_sentence(stderr: str) -> None:
    error, note = stderr.splitlines()
    assert error.startswith("<stdin>:")
    assert " error: " in error
    assert " note: " in note
    assert "defect" not in error


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_one_located_sentence_with_a_cure(name: str) -> None:
    code, stderr, stdout = rewrite(CASES[name])
    assert code == 1
    assert stdout == b""
    assert_one_located_sentence(stderr)


def test_a_call_of_main_is_refused_where_its_arguments_change() -> None:
    program = b"""func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
  return %a : tensor<2xf32>
}
func.func @again(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = call @main(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}"""
    assert rewrite(program)[0] == 0
    code, stderr, _ = rewrite(program, "--signature", "scaled")
    assert code == 1
    assert_one_located_sentence(stderr)
    assert stderr.startswith("<stdin>:5:8: error: this calls @main")


def test_the_line_and_the_column_of_text_are_named() -> None:
    assert "<stdin>:2:3: error: " in rewrite(CASES["unknown op"])[1]
    assert "<stdin>:2:3: error: " in rewrite(CASES["does not verify"])[1]


@pytest.mark.parametrize("kind", samples.KINDS)
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.99])
def test_truncated_programs(kind: str, part: float) -> None:
    data = samples.stored()[kind]
    code, stderr, _ = rewrite(data[: int(len(data) * part)])
    assert code == 1
    assert_one_located_sentence(stderr)


@pytest.mark.parametrize(
    "arguments",
    [
        ["rewrite", "missing.mlir"],
        ["check", "missing.mlir", "also.mlir"],
        ["inspect", "missing.mlir"],
        ["opt", "missing.mlir"],
    ],
)
def test_a_missing_file_is_the_inputs_fault(arguments: list[str]) -> None:
    result = call(*arguments, code=1)
    assert result.stderr.startswith("missing.mlir: error: cannot read the file")


def test_an_unwritable_output_is_said_before_the_work(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "no" / "folder"):
        code, stderr, _ = rewrite(samples.TEXT.encode(), "-o", str(path))
        assert code == 1
        assert f"{path}: error: cannot write the output" in stderr


@pytest.mark.parametrize("name", ["garbage", "does not verify", "no main"])
def test_an_existing_output_is_left_as_it_was(tmp_path: Path, name: str) -> None:
    path = tmp_path / "out.mlir"
    path.write_text("precious")
    code, _, _ = rewrite(CASES[name], "-o", str(path))
    assert code == 1
    assert path.read_text() == "precious"
    assert [p.name for p in tmp_path.iterdir()] == ["out.mlir"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rewrit"], "no command is named 'rewrit' (did you mean 'rewrite'?)"),
        (["rewrite", "-", "--signatur", "same"], "--signature"),
        (["rewrite", "-", "--signature", "paired"], "'paired' is not a value of --signature"),
        (["rewrite", "-", "--set", "met=max"], "did you mean 'meet'"),
        (["rewrite", "-", "--set", "meet"], "sets no option of the recipe"),
        (["rewrite", "-", "--input-scale", "nothing=2^2"], "matches no float argument"),
        (["rewrite", "-", "--target-version", "7"], "is not a StableHLO version"),
        (["rewrite"], "missing argument 'IN'"),
        (["opt", "-", "--pass-pipeline=scalify-propagat"], "did you mean 'scalify-propagate'"),
        (["opt", "-", "--pass-pipeline=scalify-propagate{recip=fp8}"], "did you mean 'recipe'"),
        (["opt", "-", "--pass-pipeline=builtin.module(cse"], "brackets"),
        (["rules", "stablehlo.ad"], "did you mean 'stablehlo.pad' or"),
        (["check", "-", "-"], "only one of the inputs can be standard input"),
        (["check", "-", "x", "--scale", "3"], "is not a power of two"),
    ],
)
def test_misuse_exits_with_2_and_names_what_was_meant(arguments: list[str], message: str) -> None:
    result = call(*arguments, text=samples.TEXT, code=2)
    assert message in result.stderr
    assert "note: " in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize("alias", ["3 : i32", "-1 : i32", '"first"'])
@pytest.mark.parametrize("signature", ["same", "scaled"])
def test_a_donated_argument_names_a_result_that_is_there(alias: str, signature: str) -> None:
    program = f"""func.func @main(
  %x: tensor<3xf32> {{tf.aliasing_output = {alias}}}, %y: tensor<3xf32>
) -> tensor<3xf32> {{
  %0 = stablehlo.exponential %y : tensor<3xf32>
  return %0 : tensor<3xf32>
}}"""
    code, error, output = rewrite(program.encode(), "--signature", signature)
    assert (code, output) == (1, b"")
    assert "tf.aliasing_output of arg0 is" in error
    assert "has 1 result(s)" in error
    assert "Traceback" not in error


def test_bytes_that_only_the_native_reader_takes_are_damaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It accepts types, such as tensors of negative sizes, that bytecode cannot hold."""
    monkeypatch.setattr(guard, "in_child", lambda *_: b"ML\xefR\x0dMLIR\x00\xff")
    with pytest.raises(InputError, match="this artifact is damaged: ") as caught:
        artifact.read_guarded(ir.Module, b"", "artifact", "file", guarded=True)
    assert caught.value.hint


@pytest.mark.parametrize("kind", samples.KINDS[1:])
def test_bytes_that_end_a_native_reader_end_no_process(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(guard, "in_child", lambda *_: None)  # As if it had crashed.
    with pytest.raises(InputError, match="damaged"):
        scalify_hlo.rewrite(samples.stored()[kind])


def test_an_attribute_that_is_a_location_is_told(tmp_path: Path) -> None:
    """The bindings cannot read it; a damaged file had one."""
    text = """module attributes {MODULE} {
func.func @main(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] {MATMUL}
    : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}}"""
    text = text.replace("MATMUL", "a.b = loc(unknown)")
    module = read_program(text.replace("MODULE", "a.b = loc(unknown)").encode(), "<program>").module
    with pytest.raises(InputError, match=r"attribute of builtin\.module is a location"):
        artifact.copy_module(module)
    file = tmp_path / "model.mlir"
    file.write_text(text.replace("MODULE", "a.b"))
    result = call("rewrite", file, "-o", tmp_path / "o.mlir", code=1)
    assert "attribute of stablehlo.dot_general is a location" in result.stderr
