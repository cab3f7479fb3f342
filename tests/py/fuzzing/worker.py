"""Runs cases in a process of its own, which may crash: one line in and one line out for each.

echo program 0 17 | python -m tests.py.fuzzing.worker
"""

from __future__ import annotations

import json
import os
import resource
import sys
from collections.abc import Callable
from functools import partial
from random import Random

_BYTES = 8 << 30
"""The memory that a case may take, so that no case can harm another process."""


def run(what: str, seed: str, number: int) -> dict[str, str]:
    """Runs a case.

    Args:
        what: ``program``, ``file``, ``array``, ``recipe``, ``profile``, ``command`` or ``model``.
        seed: Of all the cases.
        number: Of the case.

    Returns:
        Its ``outcome``; if something was found also ``kind`` and ``message``.
    """
    from tests.py.fuzzing import commands, files, programs, settings
    from tests.py.fuzzing.finding import FindingError

    checks: dict[str, Callable[[Random], str]] = {
        "program": lambda r: programs.check(r),
        "file": lambda r: files.check(r, number),
        **{kind: partial(settings.check, kind) for kind in settings.KINDS},
        "command": lambda r: commands.check(r),
        "model": lambda _: commands.check_model(number),
    }
    try:
        outcome = checks[what](Random(f"{seed} {what} {number}"))
    except FindingError as finding:
        return {"outcome": "found", "kind": finding.kind, "message": finding.message}
    return {"outcome": outcome}


def main() -> None:
    """Answers on a copy of standard output; what libraries print goes to standard error."""
    resource.setrlimit(resource.RLIMIT_DATA, (_BYTES, _BYTES))
    with os.fdopen(os.dup(1), "w") as answers:
        os.dup2(2, 1)
        for line in sys.stdin:
            what, seed, number = line.split()
            print(json.dumps(run(what, seed, int(number))), file=answers, flush=True)


if __name__ == "__main__":
    main()
