"""The entry point of `python -m scalify_hlo` and of the command `scalify-hlo`."""

from __future__ import annotations

import sys


def run() -> None:
    """Runs the command line; an interrupt during its imports exits without a traceback."""
    try:
        from scalify_hlo.cli.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
