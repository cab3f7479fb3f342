"""Commands that are ended at random moments: outputs are whole or absent, and nothing is left.

    python -m benchmarks.kills --runs 600

Commands that write a file are ended by SIGKILL, SIGTERM or SIGINT at a random moment of their time,
or write to a folder that is read-only or full. The output is then as before or as a whole command
writes it, and no process is left. After all, each command runs once more, and the folder for
temporary files and that of the outputs have nothing else in them.

Exit code 1 if anything is found.
"""

from __future__ import annotations

import argparse
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from benchmarks.common import Row, report
from tests.py.shared.commands import OUTPUTS, write, writing

ROOT: Final = Path(__file__).resolve().parents[1]
SIGNALS: Final = ("SIGKILL", "SIGTERM", "SIGINT")
CASES: Final = tuple(case for case in OUTPUTS if case != "rewrite --report")
FOLDERS: Final = {"read-only folder": "/proc", "full disk": "/dev/full"}
OLD: Final = b"before"
_SENTENCE: Final = re.compile(r"^(.*: )?error: .*\n(.*: )?note: .*\n\Z", re.MULTILINE)
GONE: Final = 5
"""The seconds after which no process of a command that was ended is left."""


class Commands:
    """Commands in a folder, with a folder of their own for temporary files.

    Args:
        folder: The folder.
    """

    def __init__(self, folder: Path) -> None:
        self.here, self.temporary = folder / "here", folder / "temporary"
        self.here.mkdir()
        self.temporary.mkdir()
        write(self.here)
        self.inputs = set(os.listdir(self.here))
        self.seconds: dict[str, float] = {}
        self.whole: dict[str, bytes] = {}
        for case in CASES:
            self.run(case)

    def run(self, case: str) -> None:
        """Runs a command to its end, and notes its time and its output."""
        start = time.monotonic()
        process = self.started(writing(case))
        errors = process.communicate()[1]
        if process.returncode:
            raise RuntimeError(f"{case}: {errors.decode()}")
        self.seconds[case] = time.monotonic() - start
        self.whole[case] = self.output(case).read_bytes()
        self.output(case).unlink()

    def output(self, case: str) -> Path:
        """Returns the path of the output of a command."""
        return self.here / writing(case)[-1]

    def started(self, arguments: tuple[str, ...]) -> subprocess.Popen[bytes]:
        """Starts a command in a session of its own."""
        code = (  # What runs in the background may ignore interrupts.
            "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
            "from scalify_hlo.__main__ import run; run()"
        )
        return subprocess.Popen(
            [sys.executable, "-c", code, *arguments],
            cwd=self.here,
            env={**os.environ, "TMPDIR": str(self.temporary), "PYTHONPATH": str(ROOT)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def ended(self, case: str, number: signal.Signals, moment: float) -> Iterator[str]:
        """Ends a command by a signal, and yields what is wrong.

        Args:
            case: The command.
            number: The signal.
            moment: When it is sent, as a share of the time that the command takes.
        """
        output, before = self.output(case), OLD if moment < 0.5 else None
        if before is not None:
            output.write_bytes(before)
        process = self.started(writing(case))
        time.sleep(moment * self.seconds[case])
        process.send_signal(number)
        errors = process.communicate()[1]
        found = output.read_bytes() if output.exists() else None
        if found not in (before, self.whole[case]):
            yield f"{case}: an output of {len(found or b'')} bytes"
        faults = (b"Traceback", b"error", b"Exception")
        if process.returncode not in (0, 130, -number) or any(f in errors for f in faults):
            yield f"{case}: ended with {process.returncode}: {errors.decode()}"
        if _has_processes(process.pid):
            yield f"{case}: a process is left"
        output.unlink(missing_ok=True)

    def refused(self, case: str, place: str) -> Iterator[str]:
        """Has a command write where it cannot, and yields what is wrong."""
        path = place if place == FOLDERS["full disk"] else f"{place}/{writing(case)[-1]}"
        process = self.started((*writing(case)[:-1], path))
        errors = process.communicate()[1].decode()
        if process.returncode not in (1, 2) or not _SENTENCE.search(errors):
            yield f"{case} to {path}: ended with {process.returncode}: {errors}"

    def left(self) -> list[str]:
        """Returns the files that are left when each command has run once more."""
        for case in CASES:
            self.run(case)
        return [*os.listdir(self.temporary), *sorted(set(os.listdir(self.here)) - self.inputs)]


def _has_processes(session: int) -> bool:
    """Whether a session has processes some seconds after its first has ended."""
    end = time.monotonic() + GONE
    while session in _sessions():
        if time.monotonic() > end:
            return True
        time.sleep(0.05)
    return False


def _sessions() -> set[int]:
    sessions = set()
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        sessions.add(int(fields[3]) if fields[0] != "Z" else 0)
    return sessions


def main() -> int:
    """Ends as many commands as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=60, help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    given = parser.parse_args()
    random, counts, wrong = Random(given.seed), Counter[str](), list[str]()
    with tempfile.TemporaryDirectory() as folder:
        commands = Commands(Path(folder))
        for _ in range(given.runs):
            case, how = random.choice(CASES), random.choice((*SIGNALS, *FOLDERS))
            if how in FOLDERS:
                found = commands.refused(case, FOLDERS[how])
            else:
                found = commands.ended(case, signal.Signals[how], random.random() * 1.1)
            counts[how] += 1
            for each in found:
                wrong.append(each)
                print(f"{each}\n", flush=True)
        left = commands.left()
    print(*left, sep="\n")
    rows = [Row(f"runs: {how}", count, form=".0f") for how, count in sorted(counts.items())]
    rows.append(Row("found", len(wrong), 0, ".0f"))
    return report("Kills", [*rows, Row("files left", len(left), 0, ".0f")])


if __name__ == "__main__":
    sys.exit(main())
