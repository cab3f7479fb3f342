"""Child processes that answer requests, and how a process ended."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import IO, Any, Final

from scalify_hlo.storage.children import command


class Server:
    """A child process that answers requests, one after the other; it starts on the first.

    Args:
        module: The name of the module of its function.
        function: The name of the function, which calls `answer`.
        environment: Variables of its environment besides those of this process.

    Attributes:
        ends: How many times it has ended.
    """

    def __init__(self, module: str, function: str, **environment: str) -> None:
        self._called = module, function
        self._environment = environment
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._log = -1
        self.ends = 0
        atexit.register(self.stop)

    def ask(self, request: object, seconds: float | None = None) -> Any:
        """Returns the answer to a request.

        Args:
            request: What `answer` hands to the function of the child; it can be pickled.
            seconds: The most seconds that the answer may take.

        Raises:
            TimeoutError: It took longer. The child is ended.
            ChildProcessError: The child ended; the arguments are its exit code, as `subprocess` has
                it, and its last words.
        """
        with self._lock:
            try:
                return self._exchange(self._running(), request, seconds)
            except (BrokenPipeError, EOFError):
                raise ChildProcessError(*self._ended()) from None
            except BaseException:
                self.stop()  # It would send the answer of this request for the next one.
                raise

    def stop(self) -> None:
        """Ends the child, if this process has started one."""
        process, self._process = self._process, None
        self.ends += 1
        if process is not None and self._owner == os.getpid():
            os.close(self._log)
            with contextlib.suppress(OSError):
                process.kill()
                process.communicate()

    def _exchange(
        self, process: subprocess.Popen[bytes], request: object, seconds: float | None
    ) -> Any:
        if process.stdin is None or process.stdout is None:
            raise BrokenPipeError
        send(process.stdin, (seconds, request))
        if not select.select([process.stdout], [], [], seconds)[0]:
            raise TimeoutError
        return receive(process.stdout)

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._owner != os.getpid():
            self._owner, self._log = os.getpid(), _log()
            self._process = subprocess.Popen(
                command(*self._called),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._log,
                env={**os.environ, **self._environment},
            )
        return self._process

    def _ended(self) -> tuple[int, str]:
        """Returns the exit code of a child that has ended, and the last line that it wrote."""
        process, self._process = self._process, None
        self.ends += 1
        code = 0
        if process is not None and process.stdin is not None:
            code = process.wait()
            with contextlib.suppress(OSError):  # It may have a part of a request.
                process.stdin.close()
        with os.fdopen(self._log, "rb") as log:
            log.seek(0)
            return code, last_words(log.read())


def _log() -> int:
    """Opens a file in memory, where there are such, for what a child writes to standard error."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("log")
    return os.open(os.devnull, os.O_RDWR)


def last_words(log: bytes) -> str:
    """Returns the last line of a log that is not empty."""
    lines = log.decode("utf-8", "replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "")


REDUCE: Final = (
    "look for the op by leaving results and ops out of the program as long as it still ends so, "
    "and report it to XLA"
)
"""The hint of an error on a program that ends XLA."""


def told(code: int) -> str:
    """Returns how a process ended in words, such as ``it was ended by SIGSEGV``.

    Args:
        code: Its exit code, as `subprocess` has it.
    """
    if code >= 0:
        return f"it ended with exit code {code}"
    known = {each.value: each.name for each in signal.Signals}
    return f"it was ended by {known.get(-code, f'signal {-code}')}"


def answer(reply: Callable[[Any], object]) -> None:
    """Answers requests on standard input until it ends.

    A request that takes longer than it may ends the process, as do requests if the process that
    asks is gone.

    Args:
        reply: Returns the answer to a request.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # An interrupt is for the process that asks.
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)  # What native code prints is no answer.
        while True:
            try:
                seconds, request = receive(sys.stdin.buffer)
            except EOFError:
                return
            if seconds is not None:
                signal.alarm(int(seconds) + _GRACE)
            found = reply(request)
            signal.alarm(0)
            send(answers, found)


_GRACE: Final = 2
"""The seconds after which a child ends itself, later than the process that asks would."""

_COUNT: Final = struct.Struct("<Q")


def send(stream: IO[bytes], message: object) -> None:
    """Writes a message, whose arrays are not copied.

    Args:
        stream: The stream.
        message: The message, which can be pickled.
    """
    parts: list[pickle.PickleBuffer] = []
    head = pickle.dumps(message, protocol=5, buffer_callback=parts.append)
    views = [memoryview(_COUNT.pack(len(parts))), memoryview(head)]
    for view in (*views, *(each.raw() for each in parts)):
        stream.write(_COUNT.pack(len(view)))
        stream.write(view)
    stream.flush()


def receive(stream: IO[bytes]) -> Any:
    """Returns a message that `send` wrote.

    Raises:
        EOFError: The stream ends before the message.
    """
    (count,) = _COUNT.unpack(_part(stream))
    head, *parts = (_part(stream) for _ in range(count + 1))
    return pickle.loads(head, buffers=parts)  # This package wrote it.


def _part(stream: IO[bytes]) -> bytearray:
    (size,) = _COUNT.unpack(_filled(stream, _COUNT.size))
    return _filled(stream, size)


def _filled(stream: IO[bytes], size: int) -> bytearray:
    part = bytearray(size)
    if stream.readinto(part) < size:  # type: ignore[attr-defined]
        raise EOFError
    return part
