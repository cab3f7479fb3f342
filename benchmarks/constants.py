"""Bytes and memory of a model that is exported with its weights inside, rewritten for FP8.

    python -m benchmarks.constants --width 1024 --layers 56

The model is a chain of linear layers closed over their f32 weights, as an inference program in a
file is. Bytes are those of the narrow constants, and of all that is written, over the f32 bytes of
the weights that feed FP8 matmuls. Memory is the peak of a process of its own and of its children,
as the command line reads, rewrites and writes, beyond that for the same model of width 16, which
has no large constants. Pages of a file that is mapped are not counted, since they need no memory;
pages are small ones, so that allocations are not rounded up to 2 MiB. MLIR's readers and writers
hold the one constant that they are at twice more, which is taken off.
"bare" is what the bindings alone take for the same, in as few copies as they can. Linux only.
"""

import ctypes
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from benchmarks.common import Row, arguments, report
from scalify_hlo._compat import ir, new_context, stablehlo
from scalify_hlo.api import make_options
from scalify_hlo.cli.options import read
from scalify_hlo.program.program import Kind, read_program, save_program
from scalify_hlo.program.rewriting import rewrite_program
from scalify_hlo.storage.files import save_file

T = TypeVar("T")

BYTES = 0.27
"""Bytes of constants that feed FP8 matmuls, over those in f32."""

MEMORY = 2.0
"""Peak memory, over the f32 bytes of the constants: they are held twice at most."""

LEAST = 0.01
"""What the measurement cannot tell from it: pages that allocators keep."""

FOLDER = Path("build/bench/constants")
KINDS = ("artifact", "bytecode", "text", "exported")
STAGES = ("read", "rewrite", "write")
_SECONDS = 0.002
_SMALL_PAGES = 41
"""PR_SET_THP_DISABLE."""
_SMALL = 16
"""The least width of a matmul that becomes FP8."""
_OWN = ("Pss_Anon:", "Pss_Shmem:")
"""Memory that nothing on disk stands for; what processes share counts once in all."""


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
    path("exported", width).write_bytes(exported.serialize())
    path("artifact", width).write_bytes(exported.mlir_module_serialized)
    module = read_program(exported.mlir_module_serialized).module
    with path("bytecode", width).open("wb") as file:
        module.operation.write_bytecode(file)
    with path("text", width).open("w") as text:
        module.operation.print(file=text)


def path(kind: str, width: int, suffix: str = "") -> Path:
    """Where a file of a kind lies."""
    return FOLDER / f"{kind}-{width}{suffix}"


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


def rewrite_file(kind: str, width: int) -> Iterator[None]:
    """Reads, rewrites and writes one file as the command line does; stops after each stage."""
    options = make_options("fp8")
    yield
    program = read(str(path(kind, width)))
    yield
    rewrite_program(program, options)
    yield
    # Older versions lack FP8 matmuls.
    newest = "current" if program.kind in (Kind.ARTIFACT, Kind.EXPORTED) else None
    save_file(str(path(kind, width, ".fp8")), lambda file: save_program(program, file, newest))
    yield


def bare(kind: str, width: int) -> Iterator[None]:
    """The readers and writers alone: reads a file, does nothing, and writes what was rewritten."""
    context = new_context()
    yield
    held = bare_read(kind, path(kind, width), context)
    yield
    del held, context
    context = new_context()
    held = bare_read(kind, path(kind, width, ".fp8"), context)
    yield
    if kind in ("artifact", "exported"):
        stablehlo.serialize_portable_artifact(held, stablehlo.get_current_version())
    else:
        with Path(os.devnull).open("wb") as file:
            if kind == "bytecode":
                held.operation.write_bytecode(file)
            else:
                held.operation.print(file=file, binary=True, assume_verified=True)
    yield


def bare_read(kind: str, file: Path, context: ir.Context) -> ir.Module:
    """Reads a file with as few copies as the bindings allow."""
    if kind == "exported":
        data = jax.export.deserialize(bytearray(file.read_bytes())).mlir_module_serialized
        return stablehlo.deserialize_portable_artifact(context, data)
    if kind != "artifact":
        return ir.Module.parseFile(str(file), context)
    return stablehlo.deserialize_portable_artifact(context, file.read_bytes())


Stages = Callable[[str, int], Iterator[None]]


def of_constants(stages: Stages, kind: str, width: int) -> list[int]:
    """The peak of each stage in bytes, beyond that of small constants and of one in hand."""
    in_hand = 2 * 4 * width**2
    pairs = zip(peaks(stages, kind, width), peaks(stages, kind, _SMALL), strict=True)
    return [most - least - in_hand for most, least in pairs]


def peaks(stages: Stages, kind: str, width: int) -> list[int]:
    """The peak of each stage in bytes, beyond what a process held before the first."""
    spawn = multiprocessing.get_context("spawn")
    ours, theirs = spawn.Pipe()
    process = spawn.Process(target=perform, args=(stages, kind, width, theirs))
    process.start()
    ours.recv()
    idle = held_by(process.pid)
    found = [peak(ours, process.pid) - idle for _ in STAGES]
    ours.send(None)
    process.join()
    return found


def perform(stages: Stages, kind: str, width: int, connection: Connection) -> None:
    """Does each stage when it is told to, and says when it is done."""
    ctypes.CDLL(None).prctl(_SMALL_PAGES, 1, 0, 0, 0)
    for _ in stages(kind, width):
        connection.send(None)
        connection.recv()


def peak(connection: Connection, process: int | None) -> int:
    """The most that a process and its children hold from one stage to the next."""
    connection.send(None)
    most = 0
    while not connection.poll():
        most = max(most, held_by(process))
        time.sleep(_SECONDS)
    connection.recv()
    return max(most, held_by(process))


def held_by(process: int | None) -> int:
    """Memory in bytes of a process and of its children, at this moment."""
    total = 0
    for folder in Path("/proc").iterdir():
        with suppress(OSError):  # it may end at any time
            if folder.name.isdigit() and (int(folder.name) == process or parent(folder) == process):
                total += own(folder)
    return total


def parent(folder: Path) -> int:
    """The parent of the process that a folder is of."""
    return int((folder / "stat").read_text().rpartition(")")[2].split()[1])


def own(folder: Path) -> int:
    """Memory in bytes of the process that a folder is of."""
    lines = (folder / "smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(_OWN))


def alone(function: Callable[..., T], *values: object) -> T:
    """Calls a function in a process of its own: its memory is none of this one's."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(function, values)


def main() -> int:
    """Rewrites each kind of file, and compares bytes and memory."""
    options = arguments(__doc__ or "", width=1024, layers=56)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for width in (_SMALL, options.width):
        alone(write_files, width, options.layers)
    held = {
        kind: [of_constants(stages, kind, options.width) for stages in (rewrite_file, bare)]
        for kind in KINDS
    }
    full = 4 * options.width**2 * options.layers
    rows = [Row("weights in f32: MB", full / 1e6, form=".1f")]
    for kind, (memory, floor) in held.items():
        size = path(kind, options.width).stat().st_size
        target = path(kind, options.width, ".fp8")
        found = constant_bytes(target.read_bytes())
        rows += [
            Row(f"{kind}: constants of FP8 matmuls, over f32", sum(found.values()) / full, BYTES),
            Row(f"{kind}: file, over the original", target.stat().st_size / size, BYTES),
        ]
        for stage, most, least in zip(STAGES, memory, floor, strict=True):
            label = f"{kind}: memory to {stage}, over f32"
            rows.append(Row(label, most / full, MEMORY + LEAST, ".2f"))
            if stage != "rewrite":
                rows.append(Row(f"{label}: bare", least / full, form=".2f"))
    return report(f"{options.layers} layers of width {options.width}, weights as constants", rows)


if __name__ == "__main__":
    sys.exit(main())
