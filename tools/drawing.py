"""Shapes and text for the drawings of the documentation.

A drawing brings its own white paper, so it can be read on light and on dark pages.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

INK, PALE, GREEN, PAPER = "#1c2530", "#6b7785", "#2e8b57", "#ffffff"
WIDTH = 760


def picture(height: int, parts: Iterable[str], width: int = WIDTH) -> str:
    """Return a whole SVG file."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" font-family="system-ui, sans-serif" font-size="13">'
        f'<rect width="{width}" height="{height}" rx="8" fill="{PAPER}"/>\n'
        + "\n".join(parts)
        + "\n</svg>"
    )


def text(
    x: float, y: float, words: str, fill: str = INK, anchor: str = "start", weight: str = "normal"
) -> str:
    """Return one line of text."""
    return (
        f'<text x="{x:.1f}" y="{y}" fill="{fill}" text-anchor="{anchor}" '
        f'font-weight="{weight}">{escape(words)}</text>'
    )


def shorten(words: str, longest: int) -> str:
    """Cut a text that is too long for its place."""
    return words if len(words) <= longest else f"{words[: longest - 3]}..."
