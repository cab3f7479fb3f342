"""Prints lines of code and tokens by room, and figures of the structure.

python -m tools.size                # each room of the package, and the tests
python -m tools.size --files        # and the files that each figure counts
"""

from __future__ import annotations

import argparse
from pathlib import Path

from tools.size.lines import Size, size_under
from tools.size.structure import figures

ROOT = Path(__file__).resolve().parents[2]
TREES = ("scalify_hlo", "tests", "tools", "benchmarks")


def row(name: str, size: Size) -> str:
    """Returns a line of the table."""
    return f"{name:32}{size.lines:8,}{size.tokens:10,}{size.files:7,}{size.others:12,}"


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", action="store_true", help="the files that a figure counts")
    options = parser.parse_args()
    print(f"{'folder':32}{'lines':>8}{'tokens':>10}{'files':>7}{'other bytes':>12}")
    for tree in TREES:
        print(row(tree, size_under(ROOT / tree)))
    for room in sorted((ROOT / "scalify_hlo").glob("*/")):
        if room.name != "__pycache__":
            print(row(f"  {room.name}/", size_under(room)))
    for name, (count, files) in figures(ROOT / "scalify_hlo").items():
        print(f"{count:5} {name}")
        for file in files if options.files else ():
            print(f"        {file}")


if __name__ == "__main__":
    main()
