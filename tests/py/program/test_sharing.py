"""Files of a few kilobytes that are endless when all that they share is written out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import scalify_hlo
from scalify_hlo._compat import ir, new_context
from scalify_hlo.errors import InputError
from scalify_hlo.ir.locations import source_location, without_large_locations
from scalify_hlo.program import sandbox as guard
from scalify_hlo.program.wellformed import place
from tests.py.fuzzing import sharing
from tests.py.shared.commands import PROGRAM, REWRITTEN, RUNS, SCALED, call

SMALL = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"


@pytest.fixture(autouse=True)
def impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs that never end are given up early."""
    monkeypatch.setattr(guard, "_SECONDS", 1)


def refused(data: bytes | str, *command: str) -> str:
    """The sentence by which a command refuses a program."""
    result = call(*(command or ("rewrite",)), "-", text=data)
    assert (result.exit_code, result.stdout_bytes) == (1, b""), result.output
    error, note = result.stderr.splitlines()
    assert error.startswith("<stdin>")
    assert "defect" not in error
    assert ": note: " in note
    return error


ENDLESS = [
    *(sharing.with_attribute(kind) for kind in ("array", "encoding", "LLVM")),
    sharing.with_metadata(),
]


@pytest.mark.slow
@pytest.mark.parametrize("text", ENDLESS)
def test_attributes_and_types_that_share_their_parts(text: str) -> None:
    assert "cannot be read and printed in 1 s" in refused(text)
    with pytest.raises(InputError, match="may share parts"):
        scalify_hlo.rewrite(text)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["bytecode", "artifact"])
def test_binary_forms_that_share_parts(form: str) -> None:
    bytecode = sharing.bytecode(sharing.with_attribute("dictionary"))
    data = sharing.artifact() if form == "artifact" else bytecode
    assert "cannot be read and printed in 1 s" in refused(data, "inspect")


@pytest.mark.parametrize("kind", sharing.ATTRIBUTES)
def test_text_is_read_in_a_child_if_its_aliases_may_unfold(kind: str) -> None:
    assert guard.unfolds(sharing.with_attribute(kind).encode())
    assert not guard.unfolds(sharing.with_attribute(kind, 8).encode())
    assert not guard.unfolds(SMALL.encode())


def test_text_is_read_in_a_child_if_its_aliases_nest_deep() -> None:
    assert guard.unfolds(sharing.with_chain("tuple", 5000).encode())
    assert not guard.unfolds(sharing.with_chain("tuple", 50).encode())


def test_a_string_that_many_ops_share_counts_each_time() -> None:
    uses = ", ".join(["#s"] * 10_000)
    assert guard.unfolds(f'#s = "{"s" * 10_000}"\nmodule attributes {{m.n = [{uses}]}}'.encode())


def test_aliases_that_nest_too_deep_end_in_a_sentence() -> None:
    assert "is damaged" in refused(sharing.with_chain("array", 60_000))


@pytest.mark.parametrize("kind", sharing.LOCATIONS)
def test_locations_that_share_their_parts(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "large.mlir"
    text = sharing.with_location(kind)
    path.write_text(text)
    np.savez(tmp_path / "x.npz", np.ones((4, 4), np.float32))
    call("check", path, path, code=0)
    call("bisect-nan", path, "--inputs", tmp_path / "x.npz", code=0)
    for command in ("rewrite", "inspect"):
        result = call(command, "-", "--recipe", "fp8-current", text=text, code=0)
        assert len(result.output) < 50_000
    module = ir.Module.parse(text, new_context())
    with module.context:
        short = without_large_locations(module.operation)
        places = {str(each.location) for each in _matmul(short)}
        assert places == {'loc("f":1:2)'}
        for large in (each.location for each in _matmul(module.operation)):
            assert source_location(large) == 'loc("f":1:2)'
            assert place(large, "f.mlir") == "f.mlir"
        assert without_large_locations(short) is short


def test_a_large_location_keeps_the_name_of_its_op() -> None:
    text = sharing.with_location("call site")
    text = text.replace(f"loc(#x{sharing.LEVELS})", f'loc("matmul"(#x{sharing.LEVELS}))')
    module = ir.Module.parse(text, new_context())
    with module.context:
        short = without_large_locations(module.operation)
        assert str(_matmul(short)[0].location) == 'loc("matmul"("f":1:2))'


def _matmul(module: ir.Operation) -> tuple[ir.Operation, ir.BlockArgument]:
    """The first op of `main`, and its argument."""
    block = module.regions[0].blocks[0].operations[0].regions[0].blocks[0]
    return block.operations[0].operation, block.arguments[0]


COMMANDS = [("rewrite",), ("inspect",), ("opt", "--pass-pipeline=scalify-verify")]


@pytest.mark.parametrize("kind", sharing.REFERENCES)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_calls_that_double_at_each_level(kind: str, command: tuple[str, ...]) -> None:
    error = refused(sharing.with_calls(kind), *command)
    assert error.startswith("<stdin>:1:1: error: the function @f0 has 1,000,000,000,000,000,000 ")
    assert "and 1,048,576 are the most" in error


@pytest.mark.parametrize("command", RUNS)
def test_every_command_refuses_them(tmp_path: Path, command: str) -> None:
    path = tmp_path / "endless.mlir"
    path.write_text(sharing.with_calls("call"))
    np.savez(tmp_path / "x.npz", x=np.ones((4, 4), np.float32))
    names = {PROGRAM: path, REWRITTEN: path, SCALED: path, "x.npz": tmp_path / "x.npz"}
    output = ("-o", tmp_path / "out") if command in ("compile", "calibrate", "stats") else ()
    result = call(command, *(names.get(each, each) for each in RUNS[command]), *output, code=1)
    assert "when its calls are inlined" in result.stderr


def test_few_calls_are_no_fault() -> None:
    call("rewrite", "-", text=sharing.with_calls("call", 6), code=0)


@pytest.mark.parametrize("kind", sharing.REFERENCES)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_recursion_has_one_sentence(kind: str, command: tuple[str, ...]) -> None:
    error = refused(sharing.with_calls(kind, 2, first="f1"), *command)
    assert ": error: the function @f1 calls itself" in error


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_call_of_a_function_without_a_body(command: tuple[str, ...]) -> None:
    error = refused(
        """func.func private @other(tensor<4xf32>) -> tensor<4xf32>
        func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
          return %0 : tensor<4xf32>
        }""",
        *command,
    )
    assert ":3:16: error: the function @other has no body" in error


def test_check_refuses_what_xla_would_crash_on(tmp_path: Path) -> None:
    path = tmp_path / "deep.mlir"
    lines = sharing.with_calls("call", 300).replace("return %1", "return %0").splitlines()
    path.write_text("\n".join(line for line in lines if "%1 =" not in line))
    result = call("check", path, path, code=1)
    assert "calls and regions nest 301 deep, and XLA compiles 128 levels at most" in result.stderr


def test_pytrees_that_share_their_nodes() -> None:
    data = sharing.with_tree()
    assert "its pytrees share nodes" in refused(data, "inspect")
    with pytest.raises(InputError, match="its pytrees share nodes"):
        scalify_hlo.deserialize(data)
    call("inspect", "-", text=sharing.with_tree(60, times=1), code=0)
    assert "is damaged" in refused(sharing.with_tree(3000, times=1), "inspect")


@pytest.mark.parametrize("results", ["", "tensor<4xf32>"])
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_a_function_that_ends_as_a_region(command: tuple[str, ...], results: str) -> None:
    error = refused(
        f"""func.func @main(%x: tensor<4xf32>) -> ({results}) {{
          "stablehlo.return"(%x) : (tensor<4xf32>) -> ()
        }}""",
        *command,
    )
    assert ": error: the function @main ends with stablehlo.return" in error
