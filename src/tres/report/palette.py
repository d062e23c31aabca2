"""The colours of reports, comparisons and the dashboard.

Names say what a colour is for, and each has a value for light pages and one for dark pages. All
text colours, `s0` to `s9` and the signals among them, have a contrast of 4.5 to 1 or more on
`paper` and on `panel` (tests/report/test_palette.py measures it).
"""

from __future__ import annotations

from typing import NamedTuple


class Colour(NamedTuple):
    """One colour on light and on dark pages."""

    light: str
    dark: str


_SERIES = (
    Colour("#2860b4", "#79adf2"),
    Colour("#c2384b", "#f28b98"),
    Colour("#217a47", "#6fcf97"),
    Colour("#965900", "#eab04f"),
    Colour("#7b4fa3", "#c3a0e6"),
    Colour("#0b7080", "#56c3d2"),
    Colour("#8f5f27", "#d2a36b"),
    Colour("#b13f84", "#ee97c9"),
    Colour("#5d6875", "#a4b0bd"),
    Colour("#5f6f00", "#bdcf4e"),
)

PALETTE: dict[str, Colour] = {
    "ink": Colour("#1c2530", "#e4e8ed"),
    "quiet": Colour("#55606c", "#a3aeba"),
    "paper": Colour("#ffffff", "#14181d"),
    "panel": Colour("#f4f6f8", "#1c2229"),
    "grid": Colour("#d9dee4", "#333b45"),
    "rest": Colour("#818c99", "#74808d"),
    "mark": Colour("#fff0b3", "#4f4413"),
    "accent": _SERIES[0],
    "good": _SERIES[2],
    "warn": _SERIES[3],
    "bad": _SERIES[1],
    **{f"s{place}": colour for place, colour in enumerate(_SERIES)},
}
"""Text and its quieter form; the page and raised parts of it; lines; what is not in question; the
ground of marked words; links; relevant; doubtful; failed or irrelevant; series of a chart."""

TEXT = ("ink", "quiet", "accent", "good", "warn", "bad", *(f"s{i}" for i in range(len(_SERIES))))
"""Colours in which something may be written."""


def variables() -> str:
    """The palette as CSS variables (`--ink`, ...); they follow the reader's system."""
    light = "".join(f"--{name}:{colour.light};" for name, colour in PALETTE.items())
    dark = "".join(f"--{name}:{colour.dark};" for name, colour in PALETTE.items())
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
    )
