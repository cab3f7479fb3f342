"""Curves as pictures, drawn with Matplotlib, which the extra `plot` installs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from scalify_hlo.commands.stats.figures import require_matplotlib

DPI = 200


def draw_curves(
    path: Path,
    curves: Mapping[str, Sequence[float]],
    x: Sequence[float],
    axes: tuple[str, str],
    *,
    dashed: str = "",
) -> None:
    """Draws curves over the same numbers, with a legend.

    Args:
        path: Where to write; the suffix says in which format, such as ``.png``.
        curves: The heights of each curve, by its name.
        x: Where they are.
        axes: The labels of both axes.
        dashed: The name of a curve that is dashed.

    Raises:
        UsageError: Matplotlib is not installed.
    """
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    panel = figure.subplots()
    for name, values in curves.items():
        panel.plot(x, values, "--" if name == dashed else "-", label=name, linewidth=1.4)
    panel.set(xlabel=axes[0], ylabel=axes[1])
    panel.grid(visible=True, alpha=0.3)
    panel.legend()
    figure.savefig(path, dpi=DPI)
