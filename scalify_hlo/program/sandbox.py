"""Runs native readers, which may crash on malformed bytes, in a child process.

On some damaged inputs, MLIR's bytecode reader aborts the process, corrupts its memory, or never
ends. A child process reads the input and returns clean bytecode, so that the reader in this process
never reads the bytes of a user.

The child is forked, which takes milliseconds. It is forked from a process with a single thread,
since a lock that another thread holds would never be released in the child. That is this process
or, if XLA or a linear algebra library has started threads here, a server that is started once.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import re
import select
import signal
import sys
import warnings
from collections.abc import Callable
from typing import BinaryIO, Final, NoReturn

from scalify_hlo.errors import InputError
from scalify_hlo.program.byte_source import Buffer
from scalify_hlo.storage.server import Server, answer

_SECONDS = 5
_BYTES_PER_SECOND = 1 << 20
_CHUNK = 1 << 20
_MEMORY, _MEMORY_OF_BYTE = 1 << 31, 16
"""The bytes of memory that a child may take, and how many more for each byte that it reads."""
_UNFOLDED, _UNFOLDED_OF_BYTE, _ALIASES = 1 << 20, 16, 512
"""The bytes of a text with its aliases replaced, and how deep they nest, that need no child."""
_DONE, _CRASHED, _REFUSED = 0, 1, 2
"""Exit codes of a child: it wrote its result, it crashed, or it wrote an InputError."""

Work = Callable[[BinaryIO], object]


def available() -> bool:
    """Whether this system can fork."""
    return hasattr(os, "fork")


def in_child(work: Work, size: int, name: str = "<program>") -> bytes | None:
    """Runs work in a child process, and returns the bytes that it writes.

    The work writes to a stream, so that the child holds no copy of its output.

    Args:
        work: The work. If it raises an error, it does so before it writes. It can be pickled: it is
            a function at the top level of a module, or a `functools.partial` of one.
        size: The number of bytes that the work reads, which determines the time limit.
        name: The name of what is read in diagnostics.

    Returns:
        The bytes; None if the child crashed or ran out of memory.

    Raises:
        InputError: The work raised it, or the child ran out of time.
    """
    seconds = _SECONDS + size // _BYTES_PER_SECOND
    end, answer = fork(work, seconds) if _is_single_threaded() else _ask_server(work, seconds)
    if end in (-signal.SIGALRM, -signal.SIGKILL):
        raise InputError(
            f"the program cannot be read and printed in {seconds} s: its attributes, types or "
            "locations may share parts, and be far larger when all are written out",
            location=name,
            hint="remove attributes and types that no op of StableHLO reads, or export it again",
        )
    if end == _REFUSED:
        raise InputError(**json.loads(answer))
    return answer if end == _DONE else None


def fork(work: Work, seconds: int) -> tuple[int, bytes]:
    """Runs work in a child of this process, which should have no other threads.

    Args:
        work: As for `in_child`.
        seconds: The time limit.

    Returns:
        The exit code of the child, and the bytes that it wrote.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # It is None if the process was started without it.
            stream.flush()
    taking, giving = os.pipe()
    with warnings.catch_warnings():
        # JAX warns if it is imported, but it has no threads before it runs a program.
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
        child = os.fork()
    if child == 0:
        os.close(taking)
        _run(work, seconds, giving)
    os.close(giving)
    with os.fdopen(taking, "rb") as pipe:
        # A child may hang before it sets its alarm; then there is nothing to read.
        if not select.select([pipe], [], [], seconds + 1)[0]:
            os.kill(child, signal.SIGKILL)
        answer = pipe.read()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), answer


def _is_single_threaded() -> bool:
    """Whether this process is known to have one thread, those of native libraries included."""
    try:
        return len(os.listdir("/proc/self/task")) == 1
    except OSError:
        return False


def _run(work: Work, seconds: int, giving: int) -> NoReturn:
    """Runs work in the child without output to the terminal, and ends the child."""
    try:
        faulthandler.disable()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        _bound_memory(_MEMORY + _MEMORY_OF_BYTE * (seconds - _SECONDS) * _BYTES_PER_SECOND)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        with os.fdopen(giving, "wb") as stream:
            end = _answer(work, stream)
        os._exit(end)
    except BaseException:
        os._exit(_CRASHED)


def _bound_memory(more: int) -> None:
    """Limits the memory of this process to that it has, and some bytes more."""
    import resource

    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm") as file:
        most = int(file.read().split()[0]) * resource.getpagesize() + more
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _answer(work: Work, stream: BinaryIO) -> int:
    try:
        work(stream)
    except InputError as error:
        fields = {"message": error.message, "location": error.location, "hint": error.hint}
        stream.write(json.dumps(fields).encode())
        return _REFUSED
    return _DONE


# The linear algebra library of NumPy would start threads.
_SERVER: Final = Server(__name__, "serve", OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")


def _ask_server(work: Work, seconds: int) -> tuple[int, bytes]:
    """Runs `fork` in a process without threads; if that has ended, the result is a crash."""
    try:
        end, written = _SERVER.ask((os.getcwd(), work, seconds))
    except OSError:
        return _CRASHED, b""
    return end, written


def serve() -> None:
    """Forks a child for each request on standard input."""
    answer(_forked)


def _forked(request: tuple[str, Work, int]) -> tuple[int, bytes]:
    folder, work, seconds = request
    with contextlib.suppress(OSError):
        os.chdir(folder)
    return fork(work, seconds)


_OPENING, _CLOSING = b"([{<", b")]}>"
_NO_BRACKETS: Final = bytes(c for c in range(256) if c not in _OPENING + _CLOSING)
_STEPS: Final = bytes.maketrans(_OPENING + _CLOSING, b"\x01" * 4 + b"\xff" * 4)
"""A translation table from brackets to the change of depth, as signed bytes."""


def nesting(text: Buffer) -> int:
    """Returns the depth to which brackets nest in MLIR text.

    MLIR's parser recurses, and crashes at depths of thousands. The text is read in chunks, since
    the depths at all brackets take many times its memory.
    """
    import numpy as np

    level = lowest = deepest = 0
    for start in range(0, len(text), _CHUNK):
        before = max(start - 1, 0)  # An arrow, which is not a bracket, may cross the boundary.
        piece = text[before : start + _CHUNK].replace(b"->", b"  ")[start - before :]
        steps = np.frombuffer(piece.translate(_STEPS, _NO_BRACKETS), np.int8)
        if not steps.size:
            continue  # The chunk is inside a constant.
        depth = level + np.cumsum(steps, dtype=np.int64)
        lows = np.minimum(np.minimum.accumulate(depth), lowest)
        deepest = max(deepest, int((depth - lows).max()))
        level, lowest = int(depth[-1]), int(lows[-1])
    return deepest


_ALIAS: Final = re.compile(rb"[#!][\w$.-]+(?=(?:\s|//[^\n]*)*=)")
"""The name of an alias where it is defined, for a location, an attribute or a type."""
_USE: Final = re.compile(rb"[#!][\w$.-]+")


def unfolds(text: Buffer) -> bool:
    """Whether aliases may make MLIR text far larger, or nest far deeper, than it looks.

    MLIR prints an attribute or a type anew wherever it is used, and recurses. Each definition is
    taken to reach up to the next one, so that the last one has all uses in the program.
    """
    found = list(_ALIAS.finditer(text))
    ends = [*(each.start() for each in found), len(text)][1:]
    known: dict[bytes, tuple[int, int]] = {}
    most = _UNFOLDED + _UNFOLDED_OF_BYTE * len(text)
    for each, end in zip(found, ends, strict=True):
        line = text.find(b"\n", each.end(), end)
        known[each[0]] = (end if line < 0 else line) - each.start(), 0
        used = [known[name] for name in _USE.findall(text, each.end(), end) if name in known]
        size = end - each.start() + sum(size for size, _ in used)
        depth = 1 + max((depth for _, depth in used), default=0)
        if size > most or depth > _ALIASES:
            return True
        known[each[0]] = size, depth
    return False


_FAR = re.compile(rb"(?:dim_numbers|stablehlo\.conv<)[^\n]{0,200}?\d{6}")


def counts_far(text: Buffer) -> bool:
    """Whether a convolution may have dimension numbers so high that parsing takes minutes."""
    return text.find(b"stablehlo.conv") >= 0 and _FAR.search(text) is not None
