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
from typing import NoReturn

from scalify_hlo.diagnostics import InputError

_SECONDS = 10
_BYTES_PER_SECOND = 1 << 20
_RESULT, _ERROR = b"R", b"E"


def available() -> bool:
    """Whether this system can fork."""
    return hasattr(os, "fork")


def in_child(work: Callable[[], bytes], size: int) -> bytes | None:
    """What `work` gives in a child process.

    Args:
        work: What to do.
        size: Bytes that it reads, which sets how long it may take.

    Returns:
        None if the child crashed or ran out of time.

    Raises:
        InputError: The one that `work` raises.
    """
    sys.stdout.flush()
    sys.stderr.flush()
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
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0:
        return None
    if answer.startswith(_ERROR):
        raise InputError(**json.loads(answer[1:]))
    return answer[1:]


def _run(work: Callable[[], bytes], seconds: int, giving: int) -> NoReturn:
    """Runs in the child, silently, and ends it."""
    try:
        faulthandler.disable()
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        answer = _answer(work)
        with os.fdopen(giving, "wb") as stream:
            stream.write(answer)
        os._exit(0)
    except BaseException:
        os._exit(1)


def _answer(work: Callable[[], bytes]) -> bytes:
    try:
        return _RESULT + work()
    except InputError as error:
        fields = {"message": error.message, "location": error.location, "hint": error.hint}
        return _ERROR + json.dumps(fields).encode()


def nesting(text: bytes) -> int:
    """How deep brackets nest in MLIR text: the parser recurses, and crashes at thousands."""
    import numpy as np

    steps = np.zeros(256, np.int8)
    steps[np.frombuffer(b"([{<", np.uint8)] = 1
    steps[np.frombuffer(b")]}>", np.uint8)] = -1
    codes = np.frombuffer(text, np.uint8)
    step = steps[codes]
    step[1:][(codes[1:] == ord(">")) & (codes[:-1] == ord("-"))] = 0  # arrows close nothing
    depth = np.cumsum(step, dtype=np.int32)
    return int((depth - np.minimum.accumulate(depth)).max(initial=0))


_FAR = re.compile(rb"(?:dim_numbers|stablehlo\.conv<)[^\n]{0,200}?\d{6}")


def counts_far(text: bytes) -> bool:
    """Whether a convolution may number its dimensions so high that the parser takes minutes."""
    return b"stablehlo.conv" in text and _FAR.search(text) is not None
