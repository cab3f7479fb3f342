"""The entry point of `python -m scalify_hlo` and of the command `scalify-hlo`."""

from __future__ import annotations

import gc
import sys


def run() -> None:
    """Runs the command line; an interrupt ends it without a traceback."""
    gc.disable()  # Imports leave no garbage; `scalify_hlo.cli.options.read` enables it.
    try:
        from scalify_hlo.storage.children import trusted

        sys.path[:] = trusted(sys.path)  # `python -m` puts the working folder there.
        from scalify_hlo.storage.interrupts import end_on_interrupt, ignore_interrupts

        end_on_interrupt()
        from scalify_hlo.cli.main import main

        try:
            main()
        finally:
            ignore_interrupts()
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    run()
