"""Bytes and memory of a model that is exported with its weights inside, rewritten for FP8.

    python -m benchmarks.constants --width 2048 --layers 14

The model is a chain of linear layers closed over their f32 weights, as an inference program in a
file is. Bytes are those of the narrow constants, and of all that is written, over the f32 bytes of
the weights that feed FP8 matmuls. Memory is the peak, in a process of its own, beyond what it held
before; MLIR's readers and writers, which have no bounds here, hold copies of their own. Linux only.
"""

import multiprocessing
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.common import Row, arguments, report
from scalify_hlo._compat import ir
from scalify_hlo.api import make_options, rewrite_program
from scalify_hlo.program import Kind, read_program, write_program

T = TypeVar("T")

BYTES = 0.27
"""Bytes of constants that feed FP8 matmuls, over those in f32."""

MEMORY = 2.0
"""Peak memory of the rewrite, over the f32 bytes of the constants."""

FOLDER = Path("build/bench/constants")
KINDS = ("artifact", "bytecode", "text")


def model(width: int, layers: int) -> Any:
    """The Exported of a model with its weights inside."""
    rng = np.random.default_rng(0)
    weights = [
        rng.standard_normal((width, width), np.float32) * np.float32(width**-0.5)
        for _ in range(layers)
    ]

    def infer(x: jax.Array) -> jax.Array:
        for weight in weights:
            x = jnp.tanh(x @ weight)
        return x

    return jax.export.export(jax.jit(infer))(jax.ShapeDtypeStruct((128, width), jnp.float32))


def write_files(width: int, layers: int) -> None:
    """The model in each form in which a file can be."""
    exported = model(width, layers)
    path("artifact").write_bytes(exported.mlir_module_serialized)
    module = read_program(exported.mlir_module_serialized).module
    with path("bytecode").open("wb") as file:
        module.operation.write_bytecode(file)
    with path("text").open("w") as text:
        module.operation.print(file=text)


def path(kind: str, suffix: str = "") -> Path:
    """Where a file of a kind lies."""
    return FOLDER / f"{kind}{suffix}"


def constant_bytes(data: bytes) -> dict[str, int]:
    """Bytes of the elements of the constants in a program, by their format."""
    found: dict[str, int] = {}
    program = read_program(data)

    def visit(op: ir.Operation) -> ir.WalkResult:
        if op.name == "stablehlo.constant" and not op.attributes["value"].is_splat:
            type_ = op.results[0].type
            element, count = type_.element_type, int(np.prod(list(type_.shape)))
            found[str(element)] = found.get(str(element), 0) + count * element.width // 8
        return ir.WalkResult.ADVANCE

    program.module.operation.walk(visit)
    return found


class Memory(NamedTuple):
    """Peaks of memory in bytes, beyond what the process held before it read the file.

    Attributes:
        reading: While the file is read, its bytes too.
        rewriting: While the module is rewritten, without the bytes of the file.
        writing: While it is written, without them as well.
    """

    reading: int
    rewriting: int
    writing: int


def rewrite_file(source: Path, target: Path) -> Memory:
    """Reads, rewrites and writes one file."""
    options = make_options("fp8")
    idle = status("VmRSS")
    data = source.read_bytes()
    program = read_program(data)
    reading = peak() - idle
    idle += len(data)
    rewrite_program(program, options)
    rewriting = peak() - idle
    newest = "current" if program.kind is Kind.ARTIFACT else None  # older ones lack FP8 matmuls
    written = write_program(program, newest)
    writing = peak() - idle
    target.write_bytes(written.encode() if isinstance(written, str) else written)
    return Memory(reading, rewriting, writing)


def peak() -> int:
    """The peak of this process's memory in bytes since the last call."""
    held = status("VmHWM")
    Path("/proc/self/clear_refs").write_text("5")
    return held


def status(key: str) -> int:
    """A figure of this process in bytes, as Linux gives it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (kilobytes,) = [line.split()[1] for line in lines if line.startswith(f"{key}:")]
    return int(kilobytes) * 1024


def alone(function: Callable[..., T], *values: object) -> T:
    """Calls a function in a process of its own: its memory is none of this one's."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, values)


def main() -> int:
    """Rewrites each kind of file, and compares bytes and memory."""
    options = arguments(__doc__ or "", width=2048, layers=14)
    FOLDER.mkdir(parents=True, exist_ok=True)
    alone(write_files, options.width, options.layers)
    held = {kind: alone(rewrite_file, path(kind), path(kind, ".fp8")) for kind in KINDS}
    full = 4 * options.width**2 * options.layers
    rows = [Row("weights in f32: MB", full / 1e6, form=".1f")]
    for kind, memory in held.items():
        target, size = path(kind, ".fp8"), path(kind).stat().st_size
        found = constant_bytes(target.read_bytes())
        rows += [
            Row(f"{kind}: constants of FP8 matmuls, over f32", sum(found.values()) / full, BYTES),
            Row(f"{kind}: file, over the original", target.stat().st_size / size, BYTES),
            Row(f"{kind}: memory to read, over f32", memory.reading / full, form=".2f"),
            Row(f"{kind}: memory to rewrite, over f32", memory.rewriting / full, MEMORY, ".2f"),
            Row(f"{kind}: memory to write, over f32", memory.writing / full, form=".2f"),
        ]
    return report(f"{options.layers} layers of width {options.width}, weights as constants", rows)


if __name__ == "__main__":
    sys.exit(main())
