"""The colors that all HTML pages share, light and dark."""

from __future__ import annotations

from importlib.resources import files


def with_colors(style: str) -> str:
    """Returns the style of a page after the shared colors, as CSS.

    Args:
        style: What only this page has.
    """
    return files("scalify_hlo.report").joinpath("colors.css").read_text("utf-8") + style
