"""Points 13 to 17: crashes and bad input."""

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import jax.numpy as jnp
import numpy as np

import scalify_hlo
from benchmarks.found_by_trying.checks import Check, command, expect, folder, require, text_of
from scalify_hlo.program.artifact import write_bytecode
from scalify_hlo.program.program import read_text

_TEXT = """func.func @main(%x: tensor<4xf32>{place}) -> tensor<4xf32> {{
  return %x : tensor<4xf32>{returned}
}}"""


def _not_utf8() -> None:
    name, file = 'loc("\\FF")', 'loc("\\FF":1:2)'
    for places in ({"place": f" {name}", "returned": ""}, {"place": "", "returned": f" {file}"}):
        expect(command("rewrite", "-", text=_TEXT.format(**places)), 1, "is not UTF-8")


def _fork() -> None:
    """No process with other threads is forked: Python would warn of it."""
    code = (
        "import jax, jax.numpy as jnp, scalify_hlo, sys, warnings; warnings.simplefilter('error');"
        "jnp.ones(4).block_until_ready();"
        "from scalify_hlo.program.program import read_program;"
        "read_program(sys.stdin.buffer.read(), guarded=True)"
    )
    data = write_bytecode(read_text(text_of(jnp.sin, jnp.ones(4))).module)
    done = subprocess.run(
        [sys.executable, "-c", code], input=data, capture_output=True, check=False
    )
    require(not done.returncode, done.stderr.decode()[-300:])


def _nested(depth: int) -> str:
    lines = ["func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {", "  %0 = func.call @f0(%x) : "]
    lines[1] += "(tensor<4xf32>) -> tensor<4xf32>"
    lines += ["  return %0 : tensor<4xf32>", "}"]
    for i in range(depth):
        inner = f"%0 = func.call @f{i + 1}(%x)" if i + 1 < depth else "%0 = stablehlo.negate %x"
        types = "(tensor<4xf32>) -> tensor<4xf32>" if i + 1 < depth else "tensor<4xf32>"
        lines += [
            f"func.func private @f{i}(%x: tensor<4xf32>) -> tensor<4xf32> {{",
            f"  {inner} : {types}",
            "  return %0 : tensor<4xf32>",
            "}",
        ]
    return "\n".join(lines)


def _deep() -> None:
    for signature in ("same", "scaled"):
        done = command("rewrite", "-", "--signature", signature, text=_nested(1000))
        expect(done, 0)


def _streams() -> None:
    text = _TEXT.format(place="", returned="")
    with open("/dev/full", "wb") as full:
        expect(command("rewrite", "-", text=text, stdout=full), 1, "no space left")
    with folder() as path:
        loop = path / "loop"
        loop.symlink_to(loop)
        expect(command("rewrite", "-", "-o", str(loop), text=text), 1, "too many levels")
    closed = f"{sys.executable} -m scalify_hlo rewrite - <&-"
    expect(subprocess.run(["sh", "-c", closed], capture_output=True, check=False), 1)


def _numbers() -> None:
    with folder() as path:
        file = path / "p.json"
        file.write_text(json.dumps({"version": 0}).replace("0", "1" + "0" * 5000))
        text = _TEXT.format(place="", returned="")
        given = ("--recipe", "fp8-calibrated", "--profile", str(file))
        done = command("rewrite", "-", *given, text=text)
        expect(done, 1, "p.json")
        require(b"not a JSON file" not in done.stderr, "it is one")


def _many_arguments() -> None:
    def seconds(count: int) -> float:
        types = ", ".join(f"%{i}: tensor<f32>" for i in range(count))
        text = f"func.func @main({types}) -> tensor<f32> {{ return %0 : tensor<f32> }}"
        start = time.perf_counter()
        scalify_hlo.rewrite(text.replace("%", "%a"), recipe="propagate", signature="scaled")
        return time.perf_counter() - start

    ratio = seconds(40_000) / seconds(5_000)
    require(ratio < 16, f"8 times as many arguments take {ratio:.0f} times as long")


def _terminated() -> None:
    """Wherever the signal meets a command, no half of a file is left."""
    text = text_of(lambda x: [jnp.sin(x + i) for i in range(300)], jnp.ones(4))
    with folder() as path:
        (path / "in.mlir").write_text(text)
        for tenth in range(1, 12, 2):
            started = subprocess.Popen(
                [sys.executable, "-m", "scalify_hlo", "rewrite", "in.mlir", "-o", "out.mlir"],
                cwd=path,
                stderr=subprocess.PIPE,
            )
            time.sleep(tenth / 10)
            started.send_signal(signal.SIGTERM if tenth % 4 == 1 else signal.SIGINT)
            _, said = started.communicate()
            require(b"Traceback" not in said, "it prints a traceback")
            left = set(os.listdir(path)) - {"in.mlir", "out.mlir"}
            require(not left, f"it leaves {left}")


def _bomb(path: Path) -> None:
    """A small file that would inflate to 256 MiB of another shape."""
    header = {"descr": "<f4", "fortran_order": False, "shape": (1 << 26,)}
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("x.npy", "w", force_zip64=True) as file,
    ):
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(256):
            file.write(bytes(1 << 20))


def _odd_files() -> None:
    text = _TEXT.format(place=' loc("x")', returned="")
    expect(command("rewrite", "/dev/zero"), 1, "/dev/zero")
    expect(command("rewrite", "-", text=b"\xff\xfe" + text.encode("utf-16-le")), 1)
    expect(command("rewrite", "-", text=b"\xef\xbb\xbf" + text.encode()), 1, "byte order mark")
    memref = "func.func @main(%x: memref<4xf32>) { return }"
    expect(command("rewrite", "-", text=memref), 1, "memref")
    with folder() as path:
        _bomb(path / "bomb.npz")
        given = ("--recipe", "unit", "--input-values", str(path / "bomb.npz"))
        expect(command("rewrite", "-", *given, text=text), 2, "x")


def _odd_scales() -> None:
    text = text_of(lambda x, n: x + n, jnp.ones(4), 3)
    expect(command("rewrite", "-", "--input-scale", "*=2^200", text=text), 2, "out of range")
    expect(command("rewrite", "-", "--input-scale", "n=2^2", text=text), 2, "not floats")


CHECKS = {
    13: [
        Check("strings that are not UTF-8 are refused", _not_utf8),
        Check("processes with threads are not forked", _fork),
    ],
    14: [
        Check("1,000 calls deep", _deep),
        Check("streams that are full, closed or a loop of links", _streams),
        Check("a number of 5,000 digits", _numbers),
    ],
    15: [Check("the time for arguments is linear", _many_arguments)],
    16: [Check("signals leave nothing behind", _terminated)],
    17: [
        Check("endless, inflated and foreign files", _odd_files),
        Check("scales that fit no argument", _odd_scales),
    ],
}
