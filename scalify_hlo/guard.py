"""Native readers that may crash on malformed bytes do their work in another process.

MLIR's bytecode reader aborts the process, corrupts its memory, or never ends, on some damaged
inputs. A child reads them, and hands over clean bytecode of what it read: the bytes of a user
never meet the reader in this process.

The child is forked, which takes milliseconds, from a process that has a single thread, so that no
lock can be held in it for ever: from this one, or else, where XLA or a library of linear algebra
has threads, from a server that is started once. It reads, and has no threads either.
"""

from __future__ import annotations

import atexit
import contextlib
import faulthandler
import json
import os
import pickle
import re
import select
import signal
import struct
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from typing import BinaryIO, Final, NoReturn

from scalify_hlo.diagnostics import InputError
from scalify_hlo.stored import Buffer

_SECONDS = 10
_BYTES_PER_SECOND = 1 << 20
_CHUNK = 1 << 20
_DONE, _CRASHED, _REFUSED = 0, 1, 2
"""How a child ends: its result is written, nothing can be made of it, or it wrote a complaint."""

Work = Callable[[BinaryIO], object]


def available() -> bool:
    """Whether this system can fork."""
    return hasattr(os, "fork")


def in_child(work: Work, size: int) -> bytes | None:
    """What `work` writes in a child process.

    A stream and not a result, so that the child holds no copy of what it writes.

    Args:
        work: What to do; it raises before it writes, or not at all. It can be pickled: it is a
            function of a module, or a `functools.partial` of one.
        size: Bytes that it reads, which sets how long it may take.

    Returns:
        None if the child crashed or ran out of time.

    Raises:
        InputError: The one that `work` raises.
    """
    seconds = _SECONDS + size // _BYTES_PER_SECOND
    end, answer = fork(work, seconds) if _is_single_threaded() else _SERVER.ask(work, seconds)
    if end == _REFUSED:
        raise InputError(**json.loads(answer))
    return answer if end == _DONE else None


def fork(work: Work, seconds: int) -> tuple[int, bytes]:
    """Does work in a child of this process, which should have no other threads.

    Returns:
        How the child ended, and what it wrote.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # the process may have been started without one
            stream.flush()
    taking, giving = os.pipe()
    with warnings.catch_warnings():
        # Of the threads of JAX, which may have been imported and has none before it runs something.
        warnings.filterwarnings("ignore", r"os\.fork\(\) was called", RuntimeWarning)
        child = os.fork()
    if child == 0:
        os.close(taking)
        _run(work, seconds, giving)
    os.close(giving)
    with os.fdopen(taking, "rb") as pipe:
        # A child that never reaches its own alarm gives nothing to read.
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
    """Runs in the child, silently, and ends it."""
    try:
        faulthandler.disable()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        with os.fdopen(giving, "wb") as stream:
            end = _answer(work, stream)
        os._exit(end)
    except BaseException:
        os._exit(_CRASHED)


def _answer(work: Work, stream: BinaryIO) -> int:
    try:
        work(stream)
    except InputError as error:
        fields = {"message": error.message, "location": error.location, "hint": error.hint}
        stream.write(json.dumps(fields).encode())
        return _REFUSED
    return _DONE


_HEADER: Final = struct.Struct("<qq")
"""Of a request: its seconds and its length; of an answer: how the child ended, and its length."""
_START: Final = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    f"from {__name__} import serve; serve()"
)


class _Server:
    """A process without threads that forks a child for each request; started when first asked."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0

    def ask(self, work: Work, seconds: int) -> tuple[int, bytes]:
        """As `fork`, in a child of the server; a server that has ended counts as a crash."""
        request = pickle.dumps((os.getcwd(), work))
        with self._lock:
            try:
                return self._exchange(self._running(), request, seconds)
            except (OSError, struct.error):
                self.stop()
                return _CRASHED, b""
            except BaseException:
                self.stop()  # it would answer the next request with what this one asked
                raise

    def stop(self) -> None:
        """Ends the server, if there is one and it is not the one of a parent process."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        with contextlib.suppress(OSError):
            process.kill()
            process.communicate()

    def _exchange(
        self, process: subprocess.Popen[bytes], request: bytes, seconds: int
    ) -> tuple[int, bytes]:
        if process.stdin is None or process.stdout is None:
            raise OSError("the server has no pipes")
        process.stdin.write(_HEADER.pack(seconds, len(request)) + request)
        process.stdin.flush()
        end, length = _HEADER.unpack(process.stdout.read(_HEADER.size))
        return end, process.stdout.read(length)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid():
            self._process, self._owner = _start(), os.getpid()
        return self._process


def _start() -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-I", "-c", _START],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # The library of linear algebra below numpy would have threads.
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
    )
    if process.stdin is not None:
        pickle.dump(sys.path, process.stdin)
    return process


_SERVER: Final = _Server()
atexit.register(_SERVER.stop)


def serve() -> None:
    """Answers requests on standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal, for the process that asks
    requests = sys.stdin.buffer
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        while header := requests.read(_HEADER.size):
            seconds, length = _HEADER.unpack(header)
            folder, work = pickle.loads(requests.read(length))
            with contextlib.suppress(OSError):
                os.chdir(folder)
            end, answer = fork(work, seconds)
            answers.write(_HEADER.pack(end, len(answer)) + answer)
            answers.flush()


_OPENING, _CLOSING = b"([{<", b")]}>"
_NO_BRACKETS: Final = bytes(c for c in range(256) if c not in _OPENING + _CLOSING)
_STEPS: Final = bytes.maketrans(_OPENING + _CLOSING, b"\x01" * 4 + b"\xff" * 4)
"""Brackets as what they add to the depth, as signed bytes."""


def nesting(text: Buffer) -> int:
    """How deep brackets nest in MLIR text: the parser recurses, and crashes at thousands.

    It goes by chunks, since the counts of a whole text are many times its size.
    """
    import numpy as np

    level = lowest = deepest = 0
    for start in range(0, len(text), _CHUNK):
        before = max(start - 1, 0)  # an arrow, which closes nothing, may lie across the border
        piece = text[before : start + _CHUNK].replace(b"->", b"  ")[start - before :]
        steps = np.frombuffer(piece.translate(_STEPS, _NO_BRACKETS), np.int8)
        if not steps.size:
            continue  # in the middle of a constant
        depth = level + np.cumsum(steps, dtype=np.int64)
        lows = np.minimum(np.minimum.accumulate(depth), lowest)
        deepest = max(deepest, int((depth - lows).max()))
        level, lowest = int(depth[-1]), int(lows[-1])
    return deepest


_FAR = re.compile(rb"(?:dim_numbers|stablehlo\.conv<)[^\n]{0,200}?\d{6}")


def counts_far(text: Buffer) -> bool:
    """Whether a convolution may number its dimensions so high that the parser takes minutes."""
    return text.find(b"stablehlo.conv") >= 0 and _FAR.search(text) is not None
