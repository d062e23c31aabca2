"""The colours of all pages: readable, and defined in one place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tres
from tres.report.palette import PALETTE, TEXT, variables

SOURCES = Path(tres.__file__).parent


def contrasts(theme: str) -> Iterator[tuple[str, str, float]]:
    """Every colour of text on every ground, and how well it can be read there (WCAG 2)."""
    for ground in ("paper", "panel"):
        for name in TEXT:
            lights = [luminance(getattr(PALETTE[each], theme)) for each in (name, ground)]
            yield name, ground, (max(lights) + 0.05) / (min(lights) + 0.05)


def luminance(colour: str) -> float:
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (
        share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_everything_that_is_written_can_be_read(theme: str) -> None:
    assert [each for each in contrasts(theme) if each[2] < 4.5] == []


def test_both_themes_have_every_colour() -> None:
    light, dark = variables().split("@media")
    for name, colour in PALETTE.items():
        assert f"--{name}:{colour.light};" in light
        assert f"--{name}:{colour.dark};" in dark


def test_reports_take_their_colours_from_nowhere_else() -> None:
    colour = re.compile(r"#[0-9a-fA-F]{3,8}\b")
    files = [*SOURCES.glob("report/*.css"), SOURCES / "report" / "charts.py"]
    assert {file.name: colour.findall(file.read_text()) for file in files} == {
        "page.css": [],
        "charts.py": [],
    }
