"""The text of a program is what MLIR prints, wherever it prints it to."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from scalify_hlo._compat import ir, new_context
from scalify_hlo.program import printing
from tests.py.shared.judge import body_of

SOURCE = """
module @"größer" {
  func.func public @main(%x: tensor<4xf32> loc("x\\C3\\A9")) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %x {note = "tab\\09 é"} : tensor<4xf32> loc("a/b"("f.py":3:4))
    return %0 : tensor<4xf32>
  }
}
"""


@pytest.fixture
def module() -> ir.Module:
    """A program with names and texts that are no ASCII."""
    return ir.Module.parse(SOURCE, new_context())


def asm(module: ir.Module, *, debug_info: bool) -> str:
    with module.context:
        return str(module.operation.get_asm(enable_debug_info=debug_info))


def no_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")


def no_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(printing, "_OPEN_FILES", str(tmp_path / "none"))


def wrong_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(printing, "_OPEN_FILES", str(tmp_path / "file"))


def refused(*_: object) -> int:
    raise OSError(errno.EPERM, "not in this sandbox")


@pytest.mark.parametrize("debug_info", [False, True])
def test_it_is_what_mlir_prints(module: ir.Module, debug_info: bool) -> None:
    assert printing.text_of(module, debug_info=debug_info) == asm(module, debug_info=debug_info)


@pytest.mark.parametrize("debug_info", [False, True])
def test_it_is_the_same_without_files_in_memory(
    module: ir.Module, debug_info: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    expected = printing.text_of(module, debug_info=debug_info)
    with monkeypatch.context() as patch:
        no_files(patch)
        assert printing.text_of(module, debug_info=debug_info) == expected
    with monkeypatch.context() as patch:
        no_paths(patch, tmp_path)
        assert printing.text_of(module, debug_info=debug_info) == expected
    with monkeypatch.context() as patch:
        wrong_paths(patch, tmp_path)
        assert printing.text_of(module, debug_info=debug_info) == expected
    with monkeypatch.context() as patch:
        patch.setattr(os, "memfd_create", refused, raising=False)
        assert printing.text_of(module, debug_info=debug_info) == expected


def test_it_reads_back_as_the_same_program(module: ir.Module) -> None:
    text = printing.text_of(module, debug_info=True)
    again = ir.Module.parse(text, new_context())
    assert printing.text_of(again, debug_info=True) == text


def test_what_is_not_valid_is_printed_in_generic_form(module: ir.Module) -> None:
    with module.context, ir.Location.unknown():
        add = body_of(module).operations[0]
        ir.Operation.create(
            "stablehlo.add",
            results=[ir.RankedTensorType.get([5], ir.F32Type.get())],
            operands=list(add.operands),
            ip=ir.InsertionPoint(add),
        )
    assert '"stablehlo.add"' in printing.text_of(module, verified=False)


def test_no_files_stay_open(module: ir.Module) -> None:
    files = Path("/proc/self/fd")
    if not files.exists():
        pytest.skip("this system does not say which files are open")
    printing.text_of(module)
    before = len(list(files.iterdir()))
    for _ in range(50):
        printing.text_of(module)
    assert len(list(files.iterdir())) == before


def test_a_large_text_is_whole() -> None:
    """Larger than what MLIR and the system keep in buffers."""
    functions = "\n".join(f"  func.func private @f{i}(tensor<4xf32>)" for i in range(20_000))
    module = ir.Module.parse(f"module {{\n{functions}\n}}", new_context())
    assert printing.text_of(module) == asm(module, debug_info=False)
