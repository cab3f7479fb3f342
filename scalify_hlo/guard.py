"""Native readers that may crash on malformed bytes do their work in a forked child.

MLIR's bytecode reader aborts the process, corrupts its memory, or never ends, on some damaged
inputs. A child reads them, and hands over clean bytecode of what it read: the bytes of a user
never meet the reader in this process.
"""

from __future__ import annotations

import faulthandler
import json
import os
import re
import select
import signal
import sys
import warnings
from collections.abc import Callable
from typing import BinaryIO, NoReturn

from scalify_hlo.diagnostics import InputError
from scalify_hlo.stored import Buffer

_SECONDS = 10
_BYTES_PER_SECOND = 1 << 20
_CHUNK = 1 << 20
_DONE, _CRASHED, _REFUSED = 0, 1, 2
"""How a child ends: its result is written, nothing can be made of it, or it wrote a complaint."""


def available() -> bool:
    """Whether this system can fork."""
    return hasattr(os, "fork")


def in_child(work: Callable[[BinaryIO], object], size: int) -> bytes | None:
    """What `work` writes in a child process.

    A stream and not a result, so that the child holds no copy of what it writes.

    Args:
        work: What to do; it raises before it writes, or not at all.
        size: Bytes that it reads, which sets how long it may take.

    Returns:
        None if the child crashed or ran out of time.

    Raises:
        InputError: The one that `work` raises.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # the process may have been started without one
            stream.flush()
    seconds = _SECONDS + size // _BYTES_PER_SECOND
    taking, giving = os.pipe()
    with warnings.catch_warnings():
        # The child only reads, and leaves without running anything else of the process.
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        os.close(taking)
        _run(work, seconds, giving)
    os.close(giving)
    with os.fdopen(taking, "rb") as stream:
        # A child that never reaches its own alarm gives nothing to read.
        if not select.select([stream], [], [], seconds + 1)[0]:
            os.kill(child, signal.SIGKILL)
        answer = stream.read()
    end = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if end == _REFUSED:
        raise InputError(**json.loads(answer))
    return answer if end == _DONE else None


def _run(work: Callable[[BinaryIO], object], seconds: int, giving: int) -> NoReturn:
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


def _answer(work: Callable[[BinaryIO], object], stream: BinaryIO) -> int:
    try:
        work(stream)
    except InputError as error:
        fields = {"message": error.message, "location": error.location, "hint": error.hint}
        stream.write(json.dumps(fields).encode())
        return _REFUSED
    return _DONE


def nesting(text: Buffer) -> int:
    """How deep brackets nest in MLIR text: the parser recurses, and crashes at thousands.

    It goes by chunks, since the counts of a whole text are many times its size.
    """
    import numpy as np

    steps = np.zeros(256, np.int8)
    steps[np.frombuffer(b"([{<", np.uint8)] = 1
    steps[np.frombuffer(b")]}>", np.uint8)] = -1
    level = lowest = deepest = 0
    for start in range(0, len(text), _CHUNK):
        before = max(start - 1, 0)  # an arrow may lie across the border
        codes = np.frombuffer(text[before : start + _CHUNK], np.uint8)
        step = steps[codes]
        step[1:][(codes[1:] == ord(">")) & (codes[:-1] == ord("-"))] = 0  # arrows close nothing
        depth = level + np.cumsum(step[start - before :], dtype=np.int64)
        lows = np.minimum(np.minimum.accumulate(depth), lowest)
        deepest = max(deepest, int((depth - lows).max()))
        level, lowest = int(depth[-1]), int(lows[-1])
    return deepest


_FAR = re.compile(rb"(?:dim_numbers|stablehlo\.conv<)[^\n]{0,200}?\d{6}")


def counts_far(text: Buffer) -> bool:
    """Whether a convolution may number its dimensions so high that the parser takes minutes."""
    return text.find(b"stablehlo.conv") >= 0 and _FAR.search(text) is not None
