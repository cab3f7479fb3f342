"""Line plots as SVG, written by hand: no more is needed than axes, lines and a legend."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

COLOURS = ("#1b6ca8", "#c8553d", "#3a7d44", "#7b4b94")
WIDTH, HEIGHT = 420, 300
LEFT, RIGHT, TOP, BOTTOM = 56, 12, 32, 96
STEP = 10


@dataclass(frozen=True)
class Curve:
    """One line.

    Attributes:
        name: what the legend calls it.
        x: where it is.
        y: how high; negative values and infinities are drawn on the axis.
        color: index of its color.
        dashed: whether the line is.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    color: int
    dashed: bool = False


def draw(panels: Mapping[str, Sequence[Curve]], axes: tuple[str, str]) -> str:
    """An SVG picture of plots side by side, over the same axes.

    Args:
        panels: the curves of each plot, by its title.
        axes: what x and y are.
    """
    width = WIDTH * len(panels)
    every = [curve for curves in panels.values() for curve in curves]
    frame = Frame(
        min(min(curve.x) for curve in every),
        max(max(curve.x) for curve in every),
        STEP * (1 + int(max(max(curve.y) for curve in every) // STEP)),
    )
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{width}" height="{HEIGHT}" fill="white"/>',
    ]
    for index, (title, curves) in enumerate(panels.items()):
        lines.append(f'<g transform="translate({index * WIDTH} 0)">')
        lines.append(_text(WIDTH / 2, 18, title, "middle"))
        lines += [*frame.axes(axes), *(frame.line(curve) for curve in curves), *_legend(curves)]
        lines.append("</g>")
    return "\n".join([*lines, "</svg>", ""])


@dataclass(frozen=True)
class Frame:
    """Where values are in a plot; y begins at 0."""

    low: float
    high: float
    top: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The point of a pair of values."""
        along = (x - self.low) / (self.high - self.low)
        up = min(max(y / self.top, 0.0), 1.0)
        return LEFT + along * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    def line(self, curve: Curve) -> str:
        """A curve."""
        points = " ".join(
            "{:.1f},{:.1f}".format(*self.at(*p)) for p in zip(curve.x, curve.y, strict=True)
        )
        return f'<polyline points="{points}" {_stroke(curve)}/>'

    def axes(self, names: tuple[str, str]) -> Iterator[str]:
        """Both axes, their numbers and their names."""
        for y in range(0, int(self.top) + 1, STEP):
            start, end = self.at(self.low, y), self.at(self.high, y)
            yield f'<path d="M{start[0]:.1f} {start[1]:.1f}H{end[0]:.1f}" stroke="#ddd"/>'
            yield _text(start[0] - 6, start[1] + 4, str(y), "end")
        for x in range(int(self.low), int(self.high) + 1, STEP):
            point = self.at(x, 0)
            yield _text(point[0], point[1] + 14, str(x), "middle")
        yield _text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM + 30, names[0], "middle")
        middle = (TOP + HEIGHT - BOTTOM) / 2
        yield f'<g transform="rotate(-90 16 {middle})">{_text(16, middle, names[1], "middle")}</g>'


def _legend(curves: Sequence[Curve]) -> Iterator[str]:
    for index, curve in enumerate(curves):
        column, row = index % 2, index // 2
        x, y = LEFT + column * 170, HEIGHT - BOTTOM + 48 + 16 * row
        yield f'<path d="M{x} {y - 4}h22" {_stroke(curve)}/>'
        yield _text(x + 28, y, curve.name, "start")


def _stroke(curve: Curve) -> str:
    dash = ' stroke-dasharray="5 3"' if curve.dashed else ""
    return f'fill="none" stroke="{COLOURS[curve.color % len(COLOURS)]}" stroke-width="1.6"{dash}'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
