"""Checks what was found by trying the tool, each point as a user would.

    python -m benchmarks.found_by_trying           # all points
    python -m benchmarks.found_by_trying 13 14     # some of them

Prints a line for each check. Exit code 1 if one is wrong.
"""

import argparse
import sys
import warnings

from benchmarks.found_by_trying import fall_backs, inputs, interfaces, values
from benchmarks.found_by_trying.checks import Check

CHECKS = values.CHECKS | fall_backs.CHECKS | inputs.CHECKS | interfaces.CHECKS


def wrong(check: Check) -> str:
    """What is wrong, in a line; nothing if all is right."""
    try:
        check.run()
    except Exception as error:
        return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
    return ""


def main() -> int:
    """Runs the checks of some points, or of all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("points", nargs="*", type=int, metavar="POINT", help="1 to 22")
    points = parser.parse_args().points or list(CHECKS)
    if unknown := [point for point in points if point not in CHECKS]:
        parser.error(f"there is no point {unknown[0]}; they are 1 to {max(CHECKS)}")
    warnings.filterwarnings("ignore")
    failed = 0
    for point in points:
        for check in CHECKS[point]:
            reason = wrong(check)
            failed += bool(reason)
            print(f"{point:>3}  {'WRONG' if reason else 'ok':5}  {check.name}", flush=True)
            if reason:
                print(f"            {reason}", flush=True)
    print(f"{failed} wrong" if failed else "all right")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
