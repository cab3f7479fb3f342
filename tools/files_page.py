"""Writes FILES.md, which has each file of the package in a line, from their docstrings.

python -m tools.files_page
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "scalify_hlo"
PAGE = ROOT / "FILES.md"
_HEAD = """# Files

Each file of `scalify_hlo/` by its room; [ARCHITECTURE.md](ARCHITECTURE.md) says what rooms are.
`make docs` writes this page.
"""


def page() -> str:
    """Returns the page in Markdown."""
    rooms = sorted({file.parent for file in PACKAGE.rglob("*.py")})
    return _HEAD + "".join(line for room in rooms for line in _room(room))


def _room(folder: Path) -> Iterator[str]:
    """Yields the lines of a folder: what is in it, and each of its files."""
    yield f"\n## {folder.relative_to(PACKAGE.parent)}/\n\n{_about(folder / '__init__.py')}\n\n"
    for file in sorted(folder.glob("*.py")):
        if file.name != "__init__.py":
            yield f"* `{file.name}`: {_about(file)}\n"


def _about(file: Path) -> str:
    """Returns the first paragraph of the docstring of a file."""
    text = ast.get_docstring(ast.parse(file.read_text())) or ""
    return " ".join(text.partition("\n\n")[0].split())


if __name__ == "__main__":
    PAGE.write_text(page())
