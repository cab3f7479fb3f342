"""Programs are recognized by content and come out as they came in, also as text."""

from __future__ import annotations

import errno
import os
import signal
import stat
import threading
import time
import warnings
from pathlib import Path
from typing import BinaryIO

import jax
import jax.export
import pytest

from scalify_hlo._compat import ir, new_context, stablehlo
from scalify_hlo.errors import InputError, UsageError
from scalify_hlo.program import printing
from scalify_hlo.program import sandbox as guard
from scalify_hlo.program.artifact import copy_module, write_artifact
from scalify_hlo.program.flatbuffer import looks_like_flatbuffer, with_vector_behind
from scalify_hlo.program.program import Kind, read_program, read_text, recognize, write_program
from scalify_hlo.program.sandbox import nesting
from scalify_hlo.storage import files
from scalify_hlo.storage.files import read_file, require_writable, write_file, write_folder
from scalify_hlo.storage.server import Server
from tests.py.shared import samples
from tests.py.shared.commands import python
from tests.py.shared.judge import body_of

SHARDED = """\
module {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(
      %arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<8xf32> {
    %0 = stablehlo.negate %arg0 : tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
"""


FILES = (Kind.TEXT, Kind.BYTECODE, Kind.ARTIFACT, Kind.EXPORTED)
"""The kinds of files, in the order of `samples.KINDS`."""


def written(data: bytes, target_version: str | None = None) -> bytes:
    out = write_program(read_program(data), target_version)
    return out.encode() if isinstance(out, str) else out


@pytest.mark.parametrize(("name", "kind"), list(zip(samples.KINDS, FILES, strict=True)))
def test_kind_is_recognized_by_content(name: str, kind: Kind) -> None:
    assert recognize(samples.stored()[name], "f") is kind


@pytest.mark.parametrize("name", samples.KINDS)
def test_writing_what_was_read_gives_the_same_kind_and_program(name: str) -> None:
    data = samples.stored()[name]
    out = written(data)
    assert recognize(out, "f") is recognize(data, "f")
    texts = [read_program(d).module.operation.get_asm(enable_debug_info=True) for d in (data, out)]
    assert texts[0] == texts[1]
    assert written(out) == out


def test_an_artifact_comes_back_byte_for_byte() -> None:
    data = samples.stored()["artifact"]
    assert written(data) == data


def test_text_keeps_locations_only_if_it_had_them() -> None:
    assert b'loc("params' in written(samples.stored()["text"])
    assert "loc(" not in str(write_program(read_text(samples.TEXT)))
    on_argument = samples.TEXT.replace("%arg0: tensor<4x3xf32>", '%arg0: tensor<4x3xf32> loc("a")')
    assert 'loc("a")' in str(write_program(read_text(on_argument)))


def test_an_artifact_keeps_its_version_unless_another_is_asked_for() -> None:
    program = read_program(samples.stored()["artifact"])
    old = write_artifact(program.module, "1.0.0")
    again = read_program(old)
    assert again.version == "1.0.0"
    assert read_program(written(old)).version == "1.0.0"
    current = stablehlo.get_current_version()
    assert read_program(written(old, "current")).version == current
    assert read_program(written(old, current)).version == current


@pytest.mark.parametrize("name", ["text", "bytecode"])
def test_a_target_version_makes_a_portable_artifact(name: str) -> None:
    out = written(samples.stored()[name], "minimum")
    program = read_program(out)
    assert program.kind is Kind.ARTIFACT
    assert program.version == stablehlo.get_minimum_version()


def test_a_target_version_of_a_jax_export_file_is_that_of_its_module() -> None:
    out = written(samples.stored()["exported"], "1.0.0")
    program = read_program(out)
    assert (program.version, program.vjp_order) == ("1.0.0", 1)
    assert b"StableHLO_v1.0.0" in jax.export.deserialize(bytearray(out)).mlir_module_serialized[:32]


def test_a_jax_export_file_ends_with_the_module_and_jax_reads_it() -> None:
    before = jax.export.deserialize(bytearray(samples.stored()["exported"]))
    out = written(samples.stored()["exported"])
    after = jax.export.deserialize(bytearray(out))
    assert after.mlir_module_serialized == before.mlir_module_serialized
    assert out.endswith(before.mlir_module_serialized)
    assert after.vjp().mlir_module_serialized == before.vjp().mlir_module_serialized
    assert (after.in_tree, after.out_avals) == (before.in_tree, before.out_avals)


def test_only_a_vector_of_the_root_can_be_moved_behind() -> None:
    with pytest.raises(ValueError, match="no field"):
        with_vector_behind(samples.stored()["exported"], 3, 8)


@pytest.mark.parametrize("version", ["99.0.0", "0.0.1", "1.2", "x.y.z", "", "1.2.-3"])
def test_a_version_that_cannot_be_written_is_the_users_mistake(version: str) -> None:
    with pytest.raises(UsageError, match="not a StableHLO version"):
        write_artifact(read_text(samples.TEXT).module, version)


def test_an_op_that_the_version_lacks_is_an_input_error() -> None:
    text = """func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> {
      %0 = stablehlo.tan %a : tensor<2xf32>
      return %0 : tensor<2xf32>
    }"""
    with pytest.raises(InputError, match=r"cannot be written as StableHLO 0\.9\.0"):
        write_artifact(read_text(text).module, "minimum")


def test_an_artifact_of_a_newer_stablehlo_says_so() -> None:
    data = write_artifact(read_text(samples.TEXT).module, "1.0.0")
    with pytest.raises(InputError, match=r"is of StableHLO 9\.0\.0, and this jaxlib reads up to"):
        read_program(data.replace(b"StableHLO_v1.0.0", b"StableHLO_v9.0.0"))


def test_shardings_travel_in_every_kind() -> None:
    program = read_text(SHARDED)
    artifact = write_artifact(program.module, "compatible")
    assert 'sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>' in str(read_program(artifact).module)


def test_writing_an_artifact_leaves_the_module_as_it_is() -> None:
    module = read_text(samples.TEXT).module
    before = str(module)
    write_artifact(module, "current")
    assert str(module) == before


def test_a_copy_is_in_the_same_context() -> None:
    module = read_text(samples.TEXT).module
    copy = copy_module(module)
    assert copy.context == module.context
    assert str(copy) == str(module)


def test_a_file_is_replaced_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "out.mlir"
    path.write_text("old")
    path.chmod(0o640)
    write_file(str(path), "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert os.listdir(tmp_path) == ["out.mlir"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_file(str(link), b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_a_failed_write_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out"
    path.write_text("old")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InputError, match="no space left on device"):
        write_file(str(path), "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_devices_are_written_through() -> None:
    require_writable("/dev/null")
    write_file("/dev/null", "anything")


def test_a_file_that_cannot_be_read_is_an_input_error(tmp_path: Path) -> None:
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(InputError, match="cannot read the file"):
            read_file(str(path))


def test_flatbuffers_are_told_from_garbage() -> None:
    assert looks_like_flatbuffer(samples.stored()["exported"])
    for data in (b"", b"\0", b"\0" * 64, b"\xff" * 64, b"\x08\0\0\0" + b"\xff" * 60):
        assert not looks_like_flatbuffer(data)


def test_nesting_counts_brackets_and_not_arrows() -> None:
    assert nesting(b"") == 0
    assert nesting(b"(a) -> (b) -> (c)") == 1
    assert nesting(b")))[[{<>}]]") == 4
    assert nesting(b"([" + b" " * (3 << 20) + b"{}])") == 3


def complain(_: BinaryIO) -> None:
    raise InputError("wrong", location="f:1:2", hint="mend it")


def abort(_: BinaryIO) -> None:
    os.abort()


def fail(_: BinaryIO) -> None:
    raise ZeroDivisionError


def sleep(_: BinaryIO) -> None:
    time.sleep(60)


def answer(stream: BinaryIO) -> None:
    stream.write(b"answer" * 100_000)


@pytest.mark.slow
@pytest.mark.parametrize("alone", [True, False])
def test_a_child_answers_fails_or_crashes(alone: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_is_single_threaded", lambda: alone)
    monkeypatch.setattr(guard, "_SECONDS", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # these tests do have threads
        for _ in range(2):
            assert guard.in_child(answer, 0) == b"answer" * 100_000
            assert guard.in_child(abort, 0) is None
            assert guard.in_child(fail, 0) is None
            with pytest.raises(InputError, match="f:1:2: error: wrong\nnote: mend it"):
                guard.in_child(complain, 0)
        with pytest.raises(InputError, match=r"f: error: the program cannot be read .* in 2 s"):
            guard.in_child(sleep, 0, "f")


def test_a_process_with_threads_is_not_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    ready = threading.Event()
    thread = threading.Thread(target=ready.wait)
    thread.start()
    monkeypatch.setattr(os, "fork", None)
    try:
        assert guard.in_child(answer, 0) == b"answer" * 100_000
    finally:
        ready.set()
        thread.join()


@pytest.mark.slow
def test_the_command_has_one_thread_where_it_forks(tmp_path: Path) -> None:
    """Else it would start a server for each file, which takes as long as all else."""
    code = (
        "import sys; from scalify_hlo.program import sandbox; "
        "from scalify_hlo.__main__ import run; "
        "sandbox._SERVER = None; sys.argv[0] = 'scalify-hlo'; run()"
    )
    for kind in samples.KINDS[1:]:
        (tmp_path / kind).write_bytes(samples.stored()[kind])
        assert "arning" not in python("-c", code, "inspect", tmp_path / kind).stderr


def test_a_server_that_is_gone_is_a_crash_once(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(guard.__name__, "serve")
    monkeypatch.setattr(guard, "_SERVER", server)
    assert guard._ask_server(answer, 2) == (0, b"answer" * 100_000)
    process = server._process
    assert process is not None
    process.kill()
    process.wait()
    assert guard._ask_server(answer, 2)[0] != 0
    assert guard._ask_server(answer, 2)[0] == 0
    server.stop()
    assert server._process is None


def test_a_module_of_any_context_can_be_written() -> None:
    with new_context():
        module = ir.Module.parse(samples.TEXT)
    assert write_artifact(module, "current").startswith(b"ML\xefR")


_WRITER = """
import os, signal, sys
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # `nohup` has it ignored.
from scalify_hlo.storage import files

def save(file):
    file.write(b"half")
    file.flush()
    os.kill(os.getpid(), int(sys.argv[2]))
    for _ in range(1000):
        pass
    file.write(b"rest")

files.save_file(sys.argv[1], save)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_terminated_write_leaves_the_folder_as_it_was(tmp_path: Path, number: int) -> None:
    output = tmp_path / "out.mlir"
    output.write_text("before")
    python("-c", _WRITER, output, int(number), code=-number)
    assert os.listdir(tmp_path) == ["out.mlir"]
    assert output.read_text() == "before"


def test_a_system_without_files_that_have_no_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    files.write_file(str(tmp_path / "out"), "text")
    assert (tmp_path / "out").read_text() == "text"
    assert os.listdir(tmp_path) == ["out"]


def test_a_write_restores_the_handler(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    files.write_file(str(tmp_path / "out"), "text")
    assert signal.getsignal(signal.SIGTERM) is before


def test_names_as_long_as_the_system_allows(tmp_path: Path) -> None:
    files.write_file(str(tmp_path / f"{'n' * 250}.mlir"), "text")
    write_folder(str(tmp_path / ("f" * 255)), {"file": "text"})
    with pytest.raises(InputError, match="file name too long"):
        require_writable(str(tmp_path / ("n" * 256)))


def test_a_file_with_hard_links_is_no_output(tmp_path: Path) -> None:
    output, link = tmp_path / "out", tmp_path / "link"
    output.write_text("before")
    link.hardlink_to(output)
    for use in (files.require_writable, lambda path: files.write_file(path, "after")):
        with pytest.raises(InputError, match="it has other hard links"):
            use(str(link))
    assert output.read_text() == link.read_text() == "before"


def test_a_loop_of_links_is_no_output(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(InputError, match="cannot write the output: too many levels"):
        files.require_writable(str(loop))
    with pytest.raises(InputError, match="cannot write the output: too many levels"):
        files.write_file(str(loop), "text")
    assert loop.is_symlink()


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
    monkeypatch.setattr(printing, "OPEN_FILES", str(tmp_path / "none"))


def wrong_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr(printing, "OPEN_FILES", str(tmp_path / "file"))


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
