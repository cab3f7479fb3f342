"""Runs programs in a child process, as XLA and the interpreter may crash, or never end.

One child is kept for all programs. What runs is told it by functions of this file.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from functools import partial
from itertools import count
from typing import Any, Final, NamedTuple

from scalify_hlo.errors import InputError
from scalify_hlo.program.tensors import Array
from scalify_hlo.run.interpreter import evaluate_text
from scalify_hlo.run.session import Run
from scalify_hlo.run.xla import Source, compile_here
from scalify_hlo.storage import memory
from scalify_hlo.storage.interrupts import undone_by_signals
from scalify_hlo.storage.server import REDUCE, Server, answer, told

_SERVER: Final = Server("scalify_hlo.run.child", "serve")


class Bounds(NamedTuple):
    """Bounds on the child.

    Attributes:
        seconds: The most seconds to compile a program, and to run it; None for no bound.
        memory: The most bytes of memory; None for all that the machine has.
    """

    seconds: float | None
    memory: int | None


_BOUNDS: Final[ContextVar[Bounds | None]] = ContextVar("bounds", default=None)


@contextlib.contextmanager
def isolated(seconds: float, most: int | None) -> Iterator[None]:
    """Has all programs run in the child inside of the context.

    A signal that ends this process ends the child, too.

    Args:
        seconds: As in `Bounds`.
        most: The most bytes of memory; None for all that the machine has.
    """
    with memory.bounded(most), undone_by_signals(_SERVER.stop):
        token = _BOUNDS.set(Bounds(seconds, most))
        try:
            yield
        finally:
            _BOUNDS.reset(token)


def is_isolated() -> bool:
    """Whether all programs are to run in the child."""
    return _BOUNDS.get() is not None


def interpret(text: str, arrays: Sequence[Array], name: str = "<program>") -> list[Array]:
    """Runs `main` of a module on the reference interpreter.

    Args:
        text: StableHLO text with static shapes.
        arrays: One array for each argument.
        name: The name of the module in diagnostics.

    Returns:
        The results.

    Raises:
        InputError: The interpreter does not support an op of the program, or reaches a bound.
    """
    work = partial(evaluate_text, text, list(arrays))
    found: list[Array] = _asked(work, "the reference interpreter", "run", name, "use --backend xla")
    return found


def compiled(source: Source, name: str, hint: str) -> Run:
    """Compiles a program in the child; see `compile_here`.

    Raises:
        InputError: XLA refuses the program, crashes on it, or reaches a bound.
    """
    key, before = next(_KEYS), 0

    def begin() -> None:
        nonlocal before
        before = _SERVER.ends
        _asked(partial(_compile, key, source, name, hint), "XLA", "compile", name, REDUCE)

    def run(arrays: Sequence[Array]) -> list[Array]:
        if before != _SERVER.ends:
            begin()
        found: list[Array] = _asked(partial(_call, key, [*arrays]), "XLA", "run", name, REDUCE)
        return found

    begin()
    return _Dropped(run, key)


_KEYS: Final = count(1)


class _Dropped:
    """A compiled program, which the child forgets with the next request if no one has it.

    Args:
        run: Runs it.
        key: Its number.
    """

    dropped: Final[list[int]] = []

    def __init__(self, run: Run, key: int) -> None:
        self._run, self._key = run, key

    def __call__(self, arrays: Sequence[Array]) -> list[Array]:
        return self._run(arrays)

    def __del__(self) -> None:
        self.dropped.append(self._key)


def _asked(work: Callable[[], object], who: str, does: str, name: str, hint: str) -> Any:
    """Returns the result of work in the child.

    Args:
        work: The work, which can be pickled.
        who: Who does it, and what it does to the program; for errors.
        does: See above.
        name: The name of the program in diagnostics.
        hint: What to do if the child crashes.
    """
    bounds = _BOUNDS.get() or Bounds(None, None)
    forgotten, _Dropped.dropped[:] = [*_Dropped.dropped], []
    try:
        found, refused = _SERVER.ask((bounds.memory, forgotten, work), bounds.seconds)
    except TimeoutError:
        raise InputError(
            f"{who} did not {does} the program in {bounds.seconds:g} s",
            location=name,
            hint="give --timeout a larger number",
        ) from None
    except ChildProcessError as error:
        code, said = error.args
        end = said if code > 0 and said else ": ".join(filter(None, [told(code), said]))
        raise InputError(
            f"{who} cannot {does} the program: {end}", location=name, hint=hint
        ) from None
    if refused is not None:
        raise InputError(refused[0], location=refused[1], hint=refused[2])
    return found


# What the child does.

_COMPILED: Final[dict[int, Run]] = {}


def serve() -> None:
    """Answers requests on standard input until it ends, or the process that asks is gone."""
    threading.Thread(target=_end_with_parent, args=(os.getppid(),), daemon=True).start()
    answer(_reply)


def _reply(request: tuple[int | None, list[int], Callable[[], object]]) -> tuple[object, object]:
    most, forgotten, work = request
    for key in forgotten:
        _COMPILED.pop(key, None)
    memory.bound_process(most)
    try:
        return work(), None
    except InputError as error:
        return None, (error.message, error.location, error.hint)


def _compile(key: int, source: Source, name: str, hint: str) -> None:
    _COMPILED[key] = compile_here(source, name, hint)


def _call(key: int, arrays: list[Array]) -> list[Array]:
    return _COMPILED[key](arrays)


def _end_with_parent(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1)
    os.kill(os.getpid(), signal.SIGKILL)
