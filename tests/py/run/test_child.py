"""Programs in a child process: crashes, endless programs, memory."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from scalify_hlo.errors import InputError
from scalify_hlo.run import child
from scalify_hlo.run.child import interpret, isolated
from scalify_hlo.run.runner import compile_module
from tests.py.shared.commands import call

ROOT = Path(__file__).parents[3]

_ENDLESS = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.while(%a = %x) : tensor<f32>
    cond {
      %b = stablehlo.abs %a : tensor<f32>
      %c = stablehlo.compare GE, %b, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %d = stablehlo.cosine %a : tensor<f32>
      stablehlo.return %d : tensor<f32>
    }
  return %0 : tensor<f32>
}
"""
_DOUBLE = "func.func @main(%x: tensor<2xTYPE>) -> tensor<2xTYPE> {\n" + (
    "  %0 = stablehlo.add %x, %x : tensor<2xTYPE>\n  return %0 : tensor<2xTYPE>\n}\n"
)


def double(type_: str = "f32") -> str:
    """A program that doubles its argument."""
    return _DOUBLE.replace("TYPE", type_)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
def test_arrays_cross_as_they_are(dtype: Any) -> None:
    name = {"float8_e4m3fn": "f8E4M3FN", "bfloat16": "bf16"}.get(np.dtype(dtype).name, "f32")
    x = np.array([1.5, -2.0], dtype)
    with isolated(60, None):
        (found,) = compile_module(double(name))([x])
    assert found.dtype == x.dtype
    np.testing.assert_array_equal(found.astype(np.float32), [3, -4])


def test_programs_are_kept_as_long_as_they_are_held() -> None:
    with isolated(60, None):
        first, second = compile_module(double()), compile_module(double())
        x = np.ones(2, np.float32)
        del first
        assert second([x])[0][0] == 2
        child._SERVER.stop()  # As after a crash on another program.
        assert second([x])[0][0] == 2


def test_a_crash_is_one_sentence() -> None:
    with isolated(60, None):
        program = compile_module(double(), "f.mlir")
        process = child._SERVER._process
        assert process is not None
        os.kill(process.pid, signal.SIGSEGV)
        process.wait()
        with pytest.raises(InputError, match=r"f.mlir: error: XLA cannot run .* by SIGSEGV\nnote"):
            program([np.ones(2, np.float32)])
        assert program([np.ones(2, np.float32)])[0][0] == 2


def test_what_the_interpreter_lacks_is_its_last_line() -> None:
    text = double().replace("stablehlo.add %x, %x", "stablehlo.custom_call @f(%x, %x)")
    text = text.replace(
        "%x) : tensor<2xf32>", "%x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>"
    )
    with pytest.raises(InputError, match=r"f.mlir: error: the reference interpreter cannot run"):
        interpret(text, [np.ones(2, np.float32)], "f.mlir")
    assert interpret(double(), [np.ones(2, np.float32)], "f.mlir")[0][0] == 2


def test_a_command_ends_in_time_and_within_memory(tmp_path: Path) -> None:
    path = tmp_path / "f.mlir"
    path.write_text(_ENDLESS)
    ended = call("check", path, path, "--timeout", "1")
    assert ended.exit_code == 1
    assert re.search(r"f.mlir: error: XLA did not \w+ the program in 1 s\n", ended.stderr)
    path.write_text(double().replace("2x", "1000000x"))
    ended = call("check", path, path, "--memory-limit", "0.001")
    assert "needs 0.0 GiB of memory, and the limit is 0.0 GiB" in ended.stderr
    ended = call("check", path, path, "--timeout", "0")
    assert (ended.exit_code, "--timeout takes a number of seconds above 0" in ended.stderr) == (
        2,
        True,
    )


@pytest.mark.slow
def test_the_child_ends_with_the_process_that_asks(tmp_path: Path) -> None:
    path = tmp_path / "f.mlir"
    path.write_text(_ENDLESS)
    code = (
        "from scalify_hlo.run import child; from scalify_hlo.run.runner import compile_module\n"
        "import numpy as np, sys\n"
        "with child.isolated(100, None):\n"
        "    run = compile_module(open(sys.argv[1]).read())\n"
        "    print(child._SERVER._process.pid, flush=True)\n"
        "    run([np.float32(1)])\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, str(path)]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        pid = int(process.stdout.readline())
        process.kill()
    for _ in range(100):
        if not Path(f"/proc/{pid}").exists():
            return
        time.sleep(0.1)
    pytest.fail("the child still runs")
