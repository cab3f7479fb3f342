"""Inputs that never end, inflate to gigabytes, or mean what the tool has not."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import Result

import scalify_hlo
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.storage import files
from tests.py.shared import samples
from tests.py.shared.commands import call

PROGRAM = """func.func @main(%x: tensor<4xf32> loc("x"), %n: tensor<4xi32> loc("n"),
    %w: tensor<4xf64> loc("w")) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""
SMALL = "func.func @main(%x: tensor<4xf32> loc('x')) -> tensor<4xf32> { return %x : tensor<4xf32> }"
SHORT = "tensor<4xf32>"
LIMITED = "import resource as r; r.setrlimit(r.RLIMIT_AS, (3 << 30, 3 << 30))"


def refused(folder: Path, line: str) -> list[str]:
    """The lines that a command of the shell ends with, in a folder with a program."""
    (folder / "tiny.mlir").write_text(samples.TEXT)
    command = ["bash", "-c", f"cd {folder}; {line}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stderr.splitlines()


def assert_refused(result: Result, code: int, place: str, sentence: str, cure: str) -> None:
    assert result.exit_code == code, result.output
    error, note = result.stderr.splitlines()
    assert (place in error, sentence in error, cure in note) == (True,) * 3, result.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        "rewrite /dev/zero",
        "rewrite /dev/urandom",
        "rewrite - < /dev/zero",
        "inspect /dev/zero",
        "opt /dev/zero --split-input-file --pass-pipeline=scalify-verify",
        "check tiny.mlir tiny.mlir --inputs /dev/zero",
        "calibrate tiny.mlir --inputs /dev/zero -o out",
        "calibrate tiny.mlir --inputs tiny.mlir --merge /dev/zero -o out",
        "rewrite tiny.mlir --input-values /dev/zero",
        "rewrite tiny.mlir --recipe /dev/zero",
        "rewrite tiny.mlir --recipe fp8-calibrated --profile /dev/zero",
    ],
)
def test_a_device_that_never_ends(tmp_path: Path, arguments: str) -> None:
    code = f"{LIMITED}; from scalify_hlo.__main__ import run; run()"
    error, note = refused(tmp_path, f'exec {sys.executable} -c "{code}" {arguments}')
    assert error.startswith(("/dev/zero: error: ", "/dev/urandom: error: ", "<stdin>: error: "))
    assert "this is n" in error
    assert " note: " in note


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ("rewrite -", "// a module"),
        ("inspect /dev/stdin", "// a module"),
        ("opt - --split-input-file --pass-pipeline=scalify-verify", "// a module"),
        ("rewrite tiny.mlir --recipe /dev/stdin", "# a recipe"),
        ("rewrite tiny.mlir --recipe fp8-calibrated --profile /dev/stdin", "[0,"),
        ("check tiny.mlir tiny.mlir --inputs -", "PK"),
    ],
)
def test_a_stream_that_begins_as_it_should_and_never_ends(
    tmp_path: Path, arguments: str, line: str
) -> None:
    """With a lower bound than it has, since gigabytes take seconds."""
    code = (
        "from scalify_hlo.storage import files; from scalify_hlo.__main__ import run; "
        "files.read_open.__kwdefaults__['most'] >>= 7; run()"
    )
    error, note = refused(tmp_path, f'yes "{line}" | {sys.executable} -c "{code}" {arguments}')
    assert f"the stream goes on after {1 << 24:,} bytes" in error
    assert error.startswith(("<stdin>: error: ", "/dev/stdin: error: "))
    assert " note: write it to a file" in note


def test_streams_and_files_that_end_are_read_whole(tmp_path: Path) -> None:
    data = b"// a line\n" * (1 << 18)
    path = tmp_path / "lines"
    path.write_bytes(data)
    assert files.read_open(io.BytesIO(data), "f") == data
    with path.open("rb") as file:
        assert files.read_open(file, "f", most=1) == data  # a file has an end
    with pytest.raises(InputError, match="the stream goes on after 2,097,152 bytes"):
        files.read_open(io.BytesIO(data), "f", most=2 << 20)


def test_a_stream_that_memory_cannot_hold() -> None:
    class Endless(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if size == 1 << 16:
                return b" " * size
            raise MemoryError

    with pytest.raises(InputError, match="not enough memory"):
        files.read_open(Endless(), "f")


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return str(path)


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.mlir"
    path.write_text(SMALL.replace("'", '"'))
    return str(path)


def bomb(path: Path, shape: tuple[int, ...], dtype: str) -> str:
    """An archive with an array that says it is large, and is never to be inflated."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.npy", "w", force_zip64=True) as file,
    ):
        header = {"descr": dtype, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(4):
            file.write(bytes(1 << 20))
    return str(path)


@pytest.mark.parametrize(("shape", "dtype"), [((1 << 30,), "<f4"), ((4,), "<U99999999")])
def test_an_archive_that_inflates_to_gigabytes(
    tmp_path: Path, small: str, shape: tuple[int, ...], dtype: str
) -> None:
    path = bomb(tmp_path / "bomb.npz", shape, dtype)
    for command in (
        ["check", small, small, "--inputs", path],
        ["rewrite", small, "--input-values", path],
    ):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(np.lib.format, "read_array", None)
            result = call(*command)
        assert_refused(result, 2, "", "and the argument float32[4]", "shape and dtype")


def test_an_array_that_memory_cannot_hold(tmp_path: Path) -> None:
    large = tmp_path / "large.mlir"
    large.write_text(SMALL.replace("'", '"').replace("4xf32", f"{1 << 40}xf32"))
    path = bomb(tmp_path / "bomb.npz", (1 << 40,), "<f4")
    for command in (["bisect-nan", "--inputs", path], ["rewrite", "--input-values", path]):
        result = call(command[0], large, *command[1:])
        assert_refused(result, 1, path, "this needs 4,096.0 GiB of memory", "smaller arrays")


@pytest.mark.parametrize("dtype", ["S4", "U1", "M8[s]", "i4,f4", "V8"])
def test_arrays_of_no_numbers_are_refused(tmp_path: Path, program: str, dtype: str) -> None:
    x, w = np.zeros(4, np.float32), np.zeros(4)
    np.savez(tmp_path / "a.npz", x=x, n=np.zeros(4, dtype), w=w)
    result = call("check", program, program, "--inputs", tmp_path / "a.npz")
    assert_refused(result, 2, "", "the array for 'n' is ", "shape and dtype")


@pytest.mark.parametrize("start", [0, 48, 168])
def test_damaged_arrays_are_no_archive(tmp_path: Path, small: str, start: int) -> None:
    path = str(tmp_path / "a.npz")
    np.savez(path, x=np.zeros(4, np.float32))
    data = bytearray(Path(path).read_bytes())
    data[start : start + 16] = b"\xff" * 16
    Path(path).write_bytes(data)
    result = call("check", small, small, "--inputs", path)
    assert_refused(result, 1, path, "this is not an .npz file", "numpy.savez")


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_a_byte_order_mark_is_named(mark: bytes) -> None:
    encoding = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}[mark]
    result = call("rewrite", "-", text=mark + PROGRAM.encode(encoding))
    assert_refused(result, 1, "<stdin>", "begins with a byte order mark", "save it as UTF-8")


@pytest.mark.parametrize("type_", ["memref<4xf32>", "memref<*xf32>", "vector<4xf32>"])
def test_a_main_of_buffers_is_refused(type_: str) -> None:
    result = call("rewrite", "-", text=f"func.func @main(%x: {type_}) {{ return }}")
    assert_refused(result, 1, "<stdin>:1:1", f"{type_}, which is no tensor", "jax.export")


OF_F32 = "is out of range for 'x' (tensor<4xf32>)", "2^-126 to 2^126"
OF_F64 = "is out of range", "2^-1022 to 2^1022"
NO_NUMBER = "is not PATTERN=2^k", "a power of two"
TOO_LARGE = ("2^1024", "2^99999999999999999999", "inf", "1e400", "9" * 5000)
TOO_SMALL = ("2^-1023", "2^-1074", "5e-324")
SCALES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("*=2^200", "x=2^-127", "arg0=2^127"), OF_F32),
    **dict.fromkeys(["w=2^1023", *(f"*={s}" for s in ("2^1023", *TOO_LARGE, *TOO_SMALL))], OF_F64),
    **dict.fromkeys([f"*={s}" for s in ("nan", "0", "-2", "", "2^", "-" * 5000)], NO_NUMBER),
    **{
        f"{pattern}=2^4": (
            f"input scale {pattern!r} matches only arguments that are not floats",
            "only float arguments have a scale",
        )
        for pattern in ("n", "arg1")
    },
}
"""Scales that are refused, with parts of the sentence and of the cure."""


@pytest.mark.parametrize("scale", SCALES)
def test_a_scale_that_is_refused(program: str, scale: str) -> None:
    result = call("rewrite", program, "--input-scale", scale)
    assert_refused(result, 2, "", *SCALES[scale])
    assert len(result.stderr) < 300
    assert "'n'?" not in result.stderr


def test_scales_of_f64_arguments_are_f64(program: str) -> None:
    call("rewrite", program, "--input-scale", "w=2^200", code=0)


@pytest.mark.parametrize("scale", ["2^3", None, 1 << 1024, float("inf"), 2.0**1023, 5e-324])
def test_a_scale_in_python_is_refused_alike(scale: Any) -> None:
    with pytest.raises(UsageError):
        scalify_hlo.rewrite(PROGRAM, input_scale={"*": scale})


def test_a_recipe_with_a_number_of_many_digits(tmp_path: Path, program: str) -> None:
    recipe = tmp_path / "r.toml"
    recipe.write_text(f"[matmul]\nsmallest = {'9' * 5000}")
    result = call("rewrite", program, "--recipe", recipe)
    assert_refused(result, 1, str(recipe), "a number of thousands of digits", "shows a recipe")


@pytest.mark.parametrize(
    "attributes", ['{"\\00.donor" = true}', '{tf.a, "tf.\\00b" = 1}', '{"tf.a\\00b", "tf.a\\00c"}']
)
@pytest.mark.parametrize("of_result", [False, True])
def test_names_with_a_nul_character(attributes: str, of_result: bool) -> None:
    """The bindings cut such names, so that another attribute would be written."""
    given, made = ("", f"({SHORT} {attributes})") if of_result else (attributes, SHORT)
    text = f"func.func @main(%x: {SHORT} {given}) -> {made} {{ return %x : {SHORT} }}"
    with pytest.raises(InputError, match="or has a NUL character"):
        scalify_hlo.rewrite(text, recipe="fp8-state")
