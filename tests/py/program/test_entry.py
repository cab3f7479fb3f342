"""Programs whose entry function has another name than `main`."""

from __future__ import annotations

from pathlib import Path

import pytest

import scalify_hlo
from scalify_hlo import InputError
from scalify_hlo.program.program import read_text
from tests.py.shared.commands import call
from tests.py.shared.judge import parse, program_of, shaped, unrecorded

TYPE = "tensor<32x32xf32>"


def function(name: str, body: str = "", visibility: str = "") -> str:
    """A function that multiplies a matrix by itself."""
    body = body or f"stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : ({TYPE}, {TYPE})"
    return (
        f"func.func {visibility} @{name}(%x: {TYPE}) -> {TYPE} {{\n"
        f"  %y = {body} -> {TYPE}\n  return %y : {TYPE}\n}}\n"
    )


def functions(text: str) -> dict[str, str]:
    """The text of each public function by its name."""
    ops = parse(text).body.operations
    return {op.sym_name.value: str(op) for op in ops if "private" not in str(op).split("(")[0]}


def test_the_only_public_function_is_the_entry() -> None:
    text = function("step", f"func.call @inner(%x) : ({TYPE})")
    text += function("inner", visibility="private")
    written = scalify_hlo.rewrite(text, recipe="fp8-current")
    assert list(functions(written)) == ["step"]
    assert "f8E4M3FN" in written
    other = scalify_hlo.rewrite(text.replace("@step", "@main"), recipe="fp8-current")
    assert unrecorded(written).replace("@step", "@main") == unrecorded(other)
    with pytest.raises(InputError, match="was rewritten"):
        scalify_hlo.rewrite(written)


def test_a_function_is_chosen_by_name() -> None:
    text = "".join(map(function, ("one", "main", "two")))
    for name in ("one", "main", "two"):
        found = functions(scalify_hlo.rewrite(text, recipe="fp8-current", entry=name))
        assert list(found) == ["one", "main", "two"]
        assert [each for each in found if "f8E4M3FN" in found[each]] == [name]
    assert "f8" in functions(scalify_hlo.rewrite(text, recipe="fp8-current"))["main"]


def test_calls_of_another_main_are_kept() -> None:
    text = function("main") + function("step", f"func.call @main(%x) : ({TYPE})")
    written = scalify_hlo.rewrite(text, signature="scaled", entry="step")
    assert functions(written)["main"] == functions(text)["main"]


def test_modules_and_bytes() -> None:
    module = parse(function("step"))
    before = str(module)
    assert list(functions(str(scalify_hlo.rewrite(module, recipe="fp8-current")))) == ["step"]
    assert str(module) == before


@pytest.mark.parametrize(
    ("text", "entry", "message", "hint"),
    [
        (function("a") + function("b"), None, "2 public functions, and none is named", "a, b"),
        (function("a"), "b", "no function `b`", "its functions are: a"),
        (function("a", visibility="private"), None, "no public function", "public"),
        (
            function("a", visibility="private") + function("b"),
            "a",
            "the function `a` is private",
            "make @a a public",
        ),
        (f"func.func private @e({TYPE})\n", None, "no public function", "starts"),
    ],
)
def test_no_such_entry(text: str, entry: str | None, message: str, hint: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read_text(text, "it.mlir", entry=entry)
    assert hint in (caught.value.hint or "")
    assert (caught.value.location or "").startswith("it.mlir")


def test_a_file_of_jax_has_its_entry() -> None:
    exported = program_of(lambda x: x * 2, shaped(4))
    with pytest.raises(InputError, match="starts at its function `main`"):
        scalify_hlo.rewrite(exported, entry="inner")


def test_commands_take_an_entry(tmp_path: Path) -> None:
    path = tmp_path / "two.mlir"
    path.write_text(function("a") + function("b"))
    told = call("inspect", path, code=1)
    assert "--entry" in told.stderr
    assert "matmuls" in call("inspect", path, "--entry", "b", code=0).stdout
    out = call("rewrite", path, "--entry", "b", code=0).stdout
    assert "f8E4M3FN" in functions(out)["b"]
    how = ("check", path, tmp_path / "out.mlir")
    call("rewrite", path, "--entry", "b", "-o", how[2], code=0)
    assert "--entry" in call(*how, code=1).stderr
    assert "1 of 1" in call(*how, "--entry", "b", "--min-snr", "10", code=0).output
