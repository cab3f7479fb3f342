"""`python -m scalify_hlo`, and the command `scalify-hlo`."""

from __future__ import annotations

import sys


def run() -> None:
    """Runs the command line, whose imports can be interrupted without a traceback."""
    try:
        from scalify_hlo.cli.main import main

        main()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
