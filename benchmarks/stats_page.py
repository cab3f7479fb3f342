"""Size of a page of statistics, and the time in which Chromium opens it.

    python -m benchmarks.stats_page                  # 10,000 values, original and rewritten

The time is that from the start of the navigation to the first frame with rows, the least of a few
times. Exit code 1 if a bound is missed, or if the browser writes to its console.
"""

import re
import sys
import tempfile
from pathlib import Path

from benchmarks.common import Row, arguments, report
from scalify_hlo.commands.stats.page import stats_page
from tests.py.shared.stats_page import BROWSER, large, opened

MEGABYTES, SECONDS = 15.0, 3.0
"""The most of each."""


def main() -> int:
    """Prints the figures."""
    options = arguments(__doc__ or "", values=10_000, rounds=3)
    if not BROWSER:
        print("error: no Chromium on this machine; set BROWSER_FOR_TESTS", file=sys.stderr)
        return 2
    text = stats_page(large(options.values))
    times, lines = [], 0
    for _ in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            document, console = opened(text, Path(folder))
        found = re.search(r'data-ready="(\d+)"', document)
        times.append(int(found[1]) / 1000 if found else float("inf"))
        lines += len(console.splitlines())
    return report(
        f"Page of {options.values} values in two programs",
        [
            Row("size, MB", len(text.encode()) / 1e6, MEGABYTES),
            Row("opened, s", min(times), SECONDS),
            Row("lines on the console", lines, 0, form=".0f"),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
