"""The process that compiles a program: XLA may run long, use much memory, or end its process.

It takes its work from a folder and leaves its results there; `targets/compiling.py` starts it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import threading
import time
from dataclasses import asdict
from pathlib import Path
from typing import Final

from scalify_hlo import _compat

PROGRAM: Final = "program.mlirbc"
REQUEST: Final = "request.json"
OPTIMIZED: Final = "optimized.hlo"
RESULT: Final = "result.json"


def work(folder: Path) -> dict[str, object]:
    """Compiles the program of a folder, and writes its optimized HLO beside it.

    Args:
        folder: A folder with `PROGRAM` and `REQUEST`.

    Returns:
        The facts about the compiled program, or the error of XLA.
    """
    request = json.loads((folder / REQUEST).read_text("utf-8"))
    program = (folder / PROGRAM).read_bytes()
    try:
        devices = _compat.described_devices(
            request["platform"], request["topology"], request["devices"]
        )
        start = time.perf_counter()
        made = _compat.compile_module(program, devices, request["replicas"], request["flags"])
        seconds = time.perf_counter() - start
    except Exception as error:  # XLA's errors have many types.
        return {"error": str(error) or type(error).__name__}
    (folder / OPTIMIZED).write_text(made.text, "utf-8")
    facts = asdict(made)
    del facts["text"]
    return {"seconds": seconds, **facts}


def main() -> None:
    """Does the work of the folder that is the last argument.

    If the process that started it is gone, it removes the folder and ends, or ends at its time
    limit at the latest.
    """
    folder = Path(sys.argv[-1])
    threading.Thread(target=_end_with_parent, args=(folder,), daemon=True).start()
    signal.alarm(json.loads((folder / REQUEST).read_text("utf-8"))["limit"])
    (folder / RESULT).write_text(json.dumps(work(folder)), "utf-8")


def _end_with_parent(folder: Path) -> None:
    sys.stdin.buffer.read()  # It ends when no process has the other end of the pipe.
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
