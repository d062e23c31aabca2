"""Charts as plain SVG, for pages that load nothing: lines, scatter plots, bars, strips.

Colours come from `STYLE` by class (`.s0`, `.s1`, ...), so that a chart follows light and dark mode.
Every label is escaped: names of policies and sites come from outside. Every chart has a text that
describes it, for those who cannot see it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from tres.report.palette import variables

Points = Sequence[tuple[float, float]]

WIDTH, HEIGHT = 480, 270
LEFT, RIGHT, TOP, BOTTOM = 62, 12, 12, 44
COLOURS = 10
"""Colours of the page's style; from the eleventh series on lines are dashed and dots hollow."""
TICKS = 5
STRIP_WIDTH, STRIP_HEIGHT = 240, 14


@dataclass(frozen=True, slots=True)
class Axes:
    """Axes from 0 to a round number."""

    x_most: float
    y_most: float
    x_label: str

    @classmethod
    def around(cls, series: Mapping[str, Points], x_label: str) -> Axes:
        """Return axes that hold all points."""
        points = [point for values in series.values() for point in values]
        x_most = max((x for x, _ in points), default=1.0)
        y_most = max((y for _, y in points), default=1.0)
        return cls(round_up(x_most), round_up(y_most), x_label)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is drawn."""
        across = LEFT + (WIDTH - LEFT - RIGHT) * x / self.x_most
        up = HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / self.y_most
        return round(across, 1), round(up, 1)

    def path(self, points: Points) -> str:
        """Return the points of a line in SVG's notation."""
        return " ".join(f"{x},{y}" for x, y in (self.place(*point) for point in points))

    def svg(self) -> str:
        """Draw grid, numbers and the label of the x axis; the title names the y axis."""
        parts = []
        for share in np.linspace(0, 1, TICKS).tolist():
            x, bottom = self.place(share * self.x_most, 0)
            left, y = self.place(0, share * self.y_most)
            end = WIDTH - RIGHT
            parts.append(f'<line class="grid" x1="{left}" y1="{y}" x2="{end}" y2="{y}"/>')
            parts.append(_text(left - 6, y + 4, format_tick(share * self.y_most), "end"))
            place, anchor = (end, "end") if share == 1 else (x, "middle")
            parts.append(_text(place, bottom + 17, format_tick(share * self.x_most), anchor))
        parts.append(_text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, self.x_label, "middle"))
        return "".join(parts)


def lines(series: Mapping[str, Points], x_label: str, title: str) -> str:
    """Draw one line per series."""
    axes = Axes.around(series, x_label)
    drawn = "".join(
        f'<polyline class="line {_colour(place)}" points="{axes.path(points)}">'
        f"<title>{escape(name)}</title></polyline>"
        for place, (name, points) in enumerate(series.items())
    )
    described = "; ".join(_describe_line(name, points) for name, points in series.items())
    return _figure(axes.svg() + drawn, title, f"{title} over {x_label}. {described}", series)


def plane(series: Mapping[str, Points], front: Points, x_label: str, title: str) -> str:
    """Draw a scatter plot, one colour per series, with its Pareto front."""
    axes = Axes.around(series, x_label)
    drawn = [f'<polyline class="front" points="{axes.path(front)}"/>']
    for place, (name, points) in enumerate(series.items()):
        for x, y in points:
            left, up = axes.place(x, y)
            drawn.append(
                f'<circle class="dot {_colour(place)}" cx="{left}" cy="{up}" r="5">'
                f"<title>{escape(name)}: {format_tick(x)}, {format_tick(y)}</title></circle>"
            )
    described = "; ".join(
        f"{name}: {', '.join(f'{format_tick(y)} at {format_tick(x)}' for x, y in points)}"
        for name, points in series.items()
    )
    return _figure(axes.svg() + "".join(drawn), title, f"{title} by {x_label}. {described}", series)


def bars(counts: Sequence[int], most: float, x_label: str, title: str, mark: float) -> str:
    """Draw a histogram of values from 0 to `most` in equal bins, with a line at `mark`."""
    axes = Axes(most, round_up(max(counts, default=1)), x_label)
    width = most / max(1, len(counts))
    drawn = []
    for place, count in enumerate(counts):
        left, up = axes.place(place * width, count)
        right, bottom = axes.place((place + 1) * width, 0)
        colour = "s0" if (place + 0.5) * width >= mark else "rest"
        drawn.append(
            f'<rect class="bar {colour}" x="{left + 0.5:.1f}" y="{up}" '
            f'width="{right - left - 1:.1f}" height="{bottom - up:.1f}">'
            f"<title>from {format_tick(place * width)}: {count:,}</title></rect>"
        )
    described = ", ".join(
        f"{format_tick(i * width)} and more: {count:,}" for i, count in enumerate(counts)
    )
    x, top = axes.place(mark, axes.y_most)
    drawn.append(f'<line class="front" x1="{x}" y1="{top}" x2="{x}" y2="{HEIGHT - BOTTOM}"/>')
    return _figure(axes.svg() + "".join(drawn), title, f"{title} by {x_label}. {described}")


def strip(counts: Sequence[int], label: str) -> str:
    """Draw counts over time as a strip of small bars."""
    most, width = max(max(counts, default=1), 1), STRIP_WIDTH / max(1, len(counts))
    drawn = "".join(
        f'<rect class="bar s0" x="{place * width:.1f}" y="{STRIP_HEIGHT * (1 - count / most):.1f}" '
        f'width="{max(width - 0.4, 0.6):.1f}" height="{STRIP_HEIGHT * count / most:.1f}"/>'
        for place, count in enumerate(counts)
        if count
    )
    return (
        f'<svg class="strip" viewBox="0 0 {STRIP_WIDTH} {STRIP_HEIGHT}" preserveAspectRatio="none" '
        f'role="img" aria-label="{escape(label)}">{drawn}</svg>'
    )


def share_bar(share: float, colour: str = "s0") -> str:
    """Draw a share as a short bar; the number stands beside it."""
    return (
        '<svg class="share" viewBox="0 0 60 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect class="rest" width="60" height="8"/>'
        f'<rect class="bar {colour}" width="{60 * share:.1f}" height="8"/></svg>'
    )


def pareto(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the points that no other point beats in both, from left to right.

    >>> pareto([(1, 5), (2, 4), (2, 6), (3, 1)])
    [(2, 6), (3, 1)]
    """
    front: list[tuple[float, float]] = []
    for x, y in sorted(points, key=lambda point: (-point[0], -point[1])):
        if not front or y > front[-1][1]:
            front.append((x, y))
    return front[::-1]


def round_up(value: float) -> float:
    """Return the next round number."""
    if value <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    steps = (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10)
    return float(next(step * power for step in steps if step * power >= value * (1 - 1e-9)))


def format_tick(value: float) -> str:
    """Return a number for an axis: whole if it is large, else two digits."""
    return f"{value:,.0f}" if abs(value) >= 10 or value == int(value) else f"{value:.2g}"


def _figure(
    inside: str, title: str, label: str, names: Sequence[str] | Mapping[str, object] = ()
) -> str:
    legend = "".join(
        f'<li><span class="key {_colour(place)}"></span>{escape(name)}</li>'
        for place, name in enumerate(names)
    )
    key = f'<ul class="legend">{legend}</ul>' if len(names) > 1 else ""
    return (
        f'<figure class="chart"><figcaption>{escape(title)}</figcaption>'
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(label)}">'
        f"{inside}</svg>{key}</figure>"
    )


def _describe_line(name: str, points: Points) -> str:
    """The range of a line, in words."""
    if not points:
        return f"{name}: no points"
    values = [y for _, y in points]
    return (
        f"{name}: {format_tick(values[0])} at first, {format_tick(values[-1])} at last, "
        f"between {format_tick(min(values))} and {format_tick(max(values))}"
    )


def _colour(place: int) -> str:
    return f"s{place % COLOURS}" + (" more" if place >= COLOURS else "")


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}">{escape(text)}</text>'


_SERIES = "".join(
    f".line.s{i}{{stroke:var(--s{i})}}.dot.s{i}{{fill:var(--s{i});stroke:var(--s{i})}}"
    f".bar.s{i}{{fill:var(--s{i})}}.key.s{i}{{background:var(--s{i});border-color:var(--s{i})}}"
    for i in range(COLOURS)
)
STYLE = f"""
{variables()}figure{{margin:0;max-width:36rem}}figcaption{{font-weight:600}}svg{{width:100%;height:auto}}
svg text{{font-size:12px;fill:var(--ink)}}.grid{{stroke:var(--grid)}}.rest{{fill:var(--rest)}}
@media(max-width:560px){{.chart svg text{{font-size:15px}}}}
.line{{fill:none;stroke-width:2}}.front{{fill:none;stroke:var(--ink);stroke-dasharray:4 4}}
.legend{{list-style:none;display:flex;flex-wrap:wrap;gap:.2rem 1rem;padding:0;margin:.3rem 0;
font-size:.85rem}}
.key{{display:inline-block;width:.8em;height:.8em;border-radius:50%;margin-right:.4em;
border:2px solid}}
{_SERIES}
.bar.good{{fill:var(--good)}}.bar.bad{{fill:var(--bad)}}
.line.more{{stroke-dasharray:6 3}}.dot.more{{fill:var(--paper);stroke-width:2}}
.key.more{{background:var(--paper)}}
"""
"""The palette, and how charts use it."""
