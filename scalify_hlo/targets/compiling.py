"""Compilation of a program for a target, in a process of its own and with a time limit."""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from scalify_hlo._compat import ir
from scalify_hlo.dialect import attributes
from scalify_hlo.errors import InputError
from scalify_hlo.ir.functions import entry
from scalify_hlo.ir.locations import without_large_locations
from scalify_hlo.results.kinds import Count, Seconds, Several
from scalify_hlo.results.shown import size_text
from scalify_hlo.storage import children
from scalify_hlo.storage.interrupts import undone_by_signals
from scalify_hlo.storage.server import REDUCE, last_words, told
from scalify_hlo.targets import worker
from scalify_hlo.targets.buffers import TOLD, Allocation, read_buffers
from scalify_hlo.targets.description import Target, plugin_versions
from scalify_hlo.targets.worker import OPTIMIZED, PROGRAM, REQUEST, RESULT

_PARTITIONS: Final = "mhlo.num_partitions"
_REPLICAS: Final = "mhlo.num_replicas"
_EVERY: Final = 0.2
"""The seconds between two looks at the process."""
_GRACE: Final = 5
"""The seconds after its time limit at which the process ends by itself."""
_LOG: Final = "log.txt"
_MESSAGE: Final = 400
_OPS: Final = (
    re.compile(r'op_name="([^"]+)"'),
    re.compile(r"(?:instruction|HLO|op):? (%[\w.\-]+)"),
)
"""Patterns of the op that a message of XLA names; that of the source comes first."""
_PLAIN: Final[Mapping[str, str]] = {
    "JAX_PLATFORMS": "cpu",
    "TF_CPP_MIN_LOG_LEVEL": "3",
    "OPENBLAS_NUM_THREADS": "1",
}
"""The environment of every process that compiles: no device but the CPU is looked for."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program that is compiled for a target.

    Attributes:
        hlo: The optimized HLO.
        devices: For how many devices it is.
        seconds: How long XLA compiled.
        arguments: The bytes of the arguments on a device.
        results: The bytes of the results.
        aliased: The bytes of results that are in the memory of arguments.
        temporaries: The bytes of all other values.
        code: The bytes of the machine code.
        compiler: The version of the compiler, as XLA gives it.
        plugins: The distributions of the compiler and their versions.
        buffers: Its memory, piece by piece; None if that was not asked for, or is not known.
    """

    hlo: str
    devices: Several
    seconds: Seconds
    arguments: Count
    results: Count
    aliased: Count
    temporaries: Count
    code: Count
    compiler: str
    plugins: Mapping[str, str]
    buffers: tuple[Allocation, ...] | None = None

    @property
    def peak(self) -> Count:
        """The bytes of memory that the program needs on each device."""
        return self.arguments + self.results - self.aliased + self.temporaries


def compile_program(
    module: ir.Module,
    target: Target,
    *,
    name: str,
    devices: int | None = None,
    timeout: float = 600.0,
    free_layouts: bool = False,
    flags: Mapping[str, int | bool | str] | None = None,
    buffers: bool = False,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> Compiled:
    """Compiles a program for a target.

    Args:
        module: The program.
        target: The device.
        name: The name of the program in diagnostics.
        devices: The number of devices; None for as many as the program says.
        timeout: The time limit in seconds.
        free_layouts: Whether XLA chooses the layouts of arguments; see `with_free_layouts`.
        flags: Options of XLA besides those of the target.
        buffers: Whether XLA writes where it places values in memory.
        progress: Called with the seconds that have passed and the time limit.

    Raises:
        InputError: The compiler is not installed, cannot compile the program, or takes too long;
            or the program is for another number of devices.
    """
    plugins = plugin_versions(target)
    count, replicas = _devices(module, devices, name)
    request = {
        "platform": target.platform,
        "topology": target.described(count) if target.topology else {},
        "devices": count,
        "replicas": replicas,
        "flags": {**target.flags, **(flags or {}), **(TOLD if buffers else {})},
        "limit": math.ceil(timeout) + _GRACE,
    }
    temporary = tempfile.TemporaryDirectory(prefix="scalify-hlo-", ignore_cleanup_errors=True)
    with temporary as place, undone_by_signals(temporary.cleanup):
        folder = Path(place)
        with (folder / PROGRAM).open("wb") as file:
            _operation(module, free_layouts=free_layouts).write_bytecode(file)
        (folder / REQUEST).write_text(json.dumps(request), "utf-8")
        end = _run(folder, target, timeout, progress, name)
        facts = _facts(folder, target, end, name)
        hlo = (folder / OPTIMIZED).read_text("utf-8")
        placed = read_buffers(folder) if buffers else None
    return Compiled(hlo=hlo, devices=count, plugins=plugins, buffers=placed, **facts)


def _operation(module: ir.Module, *, free_layouts: bool) -> ir.Operation:
    with module.context, ir.Location.unknown():
        short = without_large_locations(module.operation)
        return with_free_layouts(short) if free_layouts else short


def require_fits(compiled: Compiled, target: Target, name: str) -> None:
    """Refuses a program that needs more memory than a device of the target has.

    Raises:
        InputError: It needs more.
    """
    if target.memory is None or compiled.peak <= target.memory:
        return
    excess = compiled.peak - target.memory
    raise InputError(
        f"the program needs {size_text(compiled.peak)} on each device, and {target.name} has "
        f"{size_text(target.memory)}: {size_text(excess)} too much",
        location=name,
        hint="divide it among more devices, donate its state, or make its batch smaller",
    )


def _devices(module: ir.Module, asked: int | None, name: str) -> tuple[int, int]:
    """Returns the number of devices of a program and the number of its replicas."""
    attributes = module.operation.attributes
    replicas = _count(attributes, _REPLICAS) or 1
    partitions = _count(attributes, _PARTITIONS)
    own = replicas * (partitions or 1)
    if asked is None:
        return own, replicas
    fits = asked % replicas == 0 if partitions is None else asked == own
    if not fits:
        raise InputError(
            f"the program is for {own} device{'s' * (own > 1)} and not for {asked}",
            location=name,
            hint="leave --devices out, or export the program for another number of devices",
        )
    return asked, replicas


def _count(attributes: ir.OpAttributeMap, key: str) -> int | None:
    return int(ir.IntegerAttr(attributes[key]).value) if key in attributes else None


def _run(
    folder: Path,
    target: Target,
    timeout: float,
    progress: Callable[[int, int], None],
    name: str,
) -> int:
    """Runs the process that compiles, and returns its exit code."""
    with (folder / _LOG).open("wb") as log, _started(folder, target, log.fileno()) as process:
        start = time.monotonic()
        while (end := process.poll()) is None:
            passed = time.monotonic() - start
            if passed > timeout:
                raise InputError(
                    f"XLA did not compile the program for {target.name} in {timeout:g} seconds",
                    location=name,
                    hint="give --timeout a larger number",
                )
            progress(int(passed), int(timeout))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(_EVERY)
        return end


@contextlib.contextmanager
def _started(folder: Path, target: Target, log: int) -> Iterator[subprocess.Popen[bytes]]:
    """Starts the process in a group of its own, and ends the group if anything fails."""
    process = subprocess.Popen(
        children.command(worker.__name__, worker.main.__name__, str(folder)),
        cwd=folder,  # XLA looks for programs of CUDA in the working folder.
        stdin=subprocess.PIPE,  # It is closed when this process ends, however it does.
        stdout=log,
        stderr=log,
        env={**os.environ, **_PLAIN, **target.environment},
        start_new_session=True,
    )

    def kill() -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)

    try:
        with undone_by_signals(kill):
            yield process
    finally:
        kill()
        process.communicate()


def _facts(folder: Path, target: Target, end: int, name: str) -> dict[str, Any]:
    """Returns the facts about a compiled program."""
    try:
        facts: dict[str, Any] = json.loads((folder / RESULT).read_text("utf-8"))
    except (OSError, ValueError):
        said = last_words((folder / _LOG).read_bytes())
        refused = _refused(target, said or told(end), name)
        refused.hint = refused.hint or REDUCE
        raise refused from None
    if "error" in facts:
        raise _refused(target, facts["error"], name)
    return facts


def _refused(target: Target, message: str, name: str) -> InputError:
    """Returns the error for a message of XLA, with the op that the message names."""
    first = " ".join(message.split())[:_MESSAGE].rstrip(".")
    named = (pattern.search(message) for pattern in _OPS)
    op = next((found[1] for found in named if found), "")
    return InputError(
        f"XLA cannot compile the program for {target.name}: {first}",
        location=name,
        hint=f"the op is {op}" if op else None,
    )


# Layouts of arguments that XLA chooses.
#
# By default, the last dimension of an argument is contiguous in memory. Hopper's FP8 matmuls read
# both operands along the contracted dimension, so that a weight ``[k, n]`` is transposed in each
# call. A caller that keeps weights on the device may keep them in the layout that XLA prefers:
# `jax.experimental.layout.Format(Layout.AUTO)` asks for it.


_MODE = "mhlo.layout_mode"


def with_free_layouts(module: ir.Operation) -> ir.Operation:
    """Returns a copy of a program in which XLA chooses the layouts of all arguments.

    Args:
        module: The program; its function ``main`` is what is compiled.
    """
    copy = module.clone().operation
    main = entry(copy)
    marks = attributes.argument_attributes(main)
    for mark, argument in zip(marks, main.regions[0].blocks[0].arguments, strict=True):
        ranked = isinstance(argument.type, ir.RankedTensorType) and argument.type.rank > 1
        mark[_MODE] = ir.StringAttr.get("auto" if ranked else "default")
    attributes.set_argument_attributes(main, marks)
    return copy
