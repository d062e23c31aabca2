"""Charts as plain SVG: lines over time and points in a plane, for pages that load nothing.

Colours come from the page's style (`.s0`, `.s1`, ...), so a chart follows light and dark. Every
label passes through `escape`: names of policies come from files.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 560, 320
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 12, 44
COLOURS = 10
"""Colours of the page's style; from the eleventh series on lines are dashed and dots hollow."""
TICKS = 5


@dataclass(frozen=True, slots=True)
class Axes:
    """A window onto the plane, from 0 to a round number on both axes."""

    x_most: float
    y_most: float
    x_label: str
    y_label: str

    @classmethod
    def around(cls, series: Mapping[str, Points], x_label: str, y_label: str) -> Axes:
        """Axes that hold all points."""
        points = [point for values in series.values() for point in values]
        x_most = max((x for x, _ in points), default=1.0)
        y_most = max((y for _, y in points), default=1.0)
        return cls(_round_up(x_most), _round_up(y_most), x_label, y_label)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Where a point is drawn."""
        across = LEFT + (WIDTH - LEFT - RIGHT) * x / self.x_most
        up = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / self.y_most
        return round(across, 1), round(up, 1)

    def svg(self) -> str:
        """Grid, numbers and labels."""
        parts = []
        for share in np.linspace(0, 1, TICKS).tolist():
            x, bottom = self.place(share * self.x_most, 0)
            left, y = self.place(0, share * self.y_most)
            end = WIDTH - RIGHT
            parts.append(f'<line class="grid" x1="{left}" y1="{y}" x2="{end}" y2="{y}"/>')
            parts.append(_text(left - 6, y + 4, _number(share * self.y_most), "end"))
            parts.append(_text(x, bottom + 16, _number(share * self.x_most), "middle"))
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(_text(middle, HEIGHT - 6, self.x_label, "middle"))
        half = (HEIGHT - BOTTOM + TOP) / 2
        turn = f' transform="rotate(-90 14 {half})"'
        parts.append(_text(14, half, self.y_label, "middle", turn))
        return "".join(parts)


def lines(series: Mapping[str, Points], x_label: str, y_label: str) -> str:
    """One line per series."""
    axes = Axes.around(series, x_label, y_label)
    drawn = []
    for number, (name, points) in enumerate(series.items()):
        path = " ".join(f"{x},{y}" for x, y in (axes.place(*point) for point in points))
        drawn.append(
            f'<polyline class="line {_colour(number)}" points="{path}">'
            f"<title>{escape(name)}</title></polyline>"
        )
    return _figure(axes.svg() + "".join(drawn), series, y_label)


def plane(series: Mapping[str, Points], front: Points, x_label: str, y_label: str) -> str:
    """One colour per series, and the line that no point lies beyond."""
    axes = Axes.around(series, x_label, y_label)
    path = " ".join(f"{x},{y}" for x, y in (axes.place(*point) for point in front))
    drawn = [f'<polyline class="front" points="{path}"/>']
    for number, (name, points) in enumerate(series.items()):
        for x, y in points:
            left, up = axes.place(x, y)
            drawn.append(
                f'<circle class="dot {_colour(number)}" cx="{left}" cy="{up}" r="5">'
                f"<title>{escape(name)}: {_number(x)}, {_number(y)}</title></circle>"
            )
    return _figure(axes.svg() + "".join(drawn), series, y_label)


def pareto(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points that no other one beats in both, from left to right.

    >>> pareto([(1, 5), (2, 4), (2, 6), (3, 1)])
    [(2, 6), (3, 1)]
    """
    front: list[tuple[float, float]] = []
    for x, y in sorted(points, key=lambda point: (-point[0], -point[1])):
        if not front or y > front[-1][1]:
            front.append((x, y))
    return front[::-1]


def _figure(inside: str, names: Mapping[str, object], label: str) -> str:
    legend = "".join(
        f'<li><span class="key {_colour(number)}"></span>{escape(name)}</li>'
        for number, name in enumerate(names)
    )
    return (
        f'<figure><svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">'
        f'{inside}</svg><ul class="legend">{legend}</ul></figure>'
    )


def _colour(number: int) -> str:
    return f"s{number % COLOURS}" + (" more" if number >= COLOURS else "")


def _text(x: float, y: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}"{more}>{escape(text)}</text>'


def _round_up(value: float) -> float:
    """The next round number: a few tenths of a power of ten."""
    if value <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    steps = (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10)
    return float(next(step * power for step in steps if step * power >= value * (1 - 1e-9)))


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 10 or value == int(value) else f"{value:.2g}"
