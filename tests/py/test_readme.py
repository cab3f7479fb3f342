"""The README shows what the tool does, not what it once did."""

from __future__ import annotations

from pathlib import Path

import scalify_hlo

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language."""
    parts = README.split(f"```{language}\n")[1:]
    return [part.split("```")[0] for part in parts]


def test_the_rewrite_shown_is_the_rewrite_done() -> None:
    before, after = blocks("mlir")
    assert before == (ROOT / "examples" / "layer.mlir").read_text()
    assert scalify_hlo.rewrite(before, signature="scaled").strip() == after.strip()
