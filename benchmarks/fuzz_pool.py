"""Processes that run fuzzing cases: one that crashes or never ends is a finding, and replaced."""

from __future__ import annotations

import json
import os
import queue
import select
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS = 300
"""How long a case may take, with the reduction of what it finds."""
_CASES = 1000
"""After so many cases a process is replaced, so that what it has piled up goes."""
_TAIL = 4000
"""How many characters of what a process said last are shown."""


@dataclass(frozen=True)
class Case:
    """A case: a `program`, a `file`, a `command` or a `model`, the seed of all, and its number."""

    what: str
    seed: int
    number: int

    def __str__(self) -> str:
        return f"--seed {self.seed} --only {self.what}:{self.number}"


@dataclass(frozen=True)
class Answer:
    """What became of a case; `kind` and `message` are empty if nothing was found."""

    case: Case
    outcome: str
    kind: str = ""
    message: str = ""


class Worker:
    """A process that runs one case after the other.

    Args:
        seconds: How long a case may take.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._process: subprocess.Popen[str] | None = None
        self._folder = tempfile.TemporaryDirectory()
        self._said = Path(self._folder.name) / "said"
        self._count = 0

    def ask(self, case: Case) -> Answer:
        """Runs a case."""
        if self._count % _CASES == 0:
            self.stop()
        self._count += 1
        process = self._process = self._process or self._start()
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the process has no pipes")
        print(case.what, case.seed, case.number, file=process.stdin, flush=True)
        ready = select.select([process.stdout], [], [], self._seconds)[0]
        line = process.stdout.readline() if ready else ""
        if line:
            return Answer(case, **json.loads(line))
        self.stop()
        kind = f"crash: exit code {process.returncode}" if ready else f"no end in {self._seconds} s"
        return Answer(case, "found", kind, self._said.read_text(errors="replace")[-_TAIL:])

    def stop(self) -> None:
        """Ends the process, if there is one."""
        if self._process is not None:
            try:
                self._process.communicate(timeout=5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.communicate()
        self._process = None

    def close(self) -> None:
        """Ends the process and takes its folder away."""
        self.stop()
        self._folder.cleanup()

    def _start(self) -> subprocess.Popen[str]:
        temporary = Path(self._folder.name) / "temporary"
        temporary.mkdir(exist_ok=True)
        quiet = {"JAX_PLATFORMS": "cpu", "TF_CPP_MIN_LOG_LEVEL": "2", "TMPDIR": str(temporary)}
        with self._said.open("w") as said:
            return subprocess.Popen(
                [sys.executable, "-m", "tests.py.fuzzing.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                cwd=ROOT,
                env={**os.environ, **quiet},
            )


def answers(cases: Iterable[Case], jobs: int) -> Iterator[Answer]:
    """Runs cases, in so many processes, and gives answers as they come."""
    waiting: queue.SimpleQueue[Case | None] = queue.SimpleQueue()
    done: queue.SimpleQueue[Answer | None] = queue.SimpleQueue()
    for case in cases:
        waiting.put(case)
    for _ in range(jobs):
        waiting.put(None)
        threading.Thread(target=_serve, args=(waiting, done), daemon=True).start()
    while jobs:
        answer = done.get()
        if answer is None:
            jobs -= 1
        else:
            yield answer


def _serve(waiting: queue.SimpleQueue[Case | None], done: queue.SimpleQueue[Answer | None]) -> None:
    worker = Worker()
    try:
        while (case := waiting.get()) is not None:
            done.put(worker.ask(case))
    finally:
        worker.close()
        done.put(None)
