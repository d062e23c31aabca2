"""A run, or several side by side, on a terminal: a short report."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console, RenderableType
from rich.table import Table

from tres.errors import printable
from tres.numbers import format_rate
from tres.report import series
from tres.report.compare import Runs, differences, numbers, unique_finds
from tres.report.conclusion import conclusion
from tres.report.details import meaning
from tres.report.run_reader import RunReader
from tres.report.series import Points

BLOCKS = "▁▂▃▄▅▆▇█"
SPARKS = 40
SITES = 5
LONGEST = 60
"""Characters of a setting that are shown; a list of seeds has many more."""


def print_run(console: Console, reader: RunReader) -> None:
    """Print one run: conclusion, numbers, curves, best sites, failures."""
    for part in _of_run(reader):
        console.print(part)


def print_comparison(console: Console, runs: Runs) -> None:
    """Print several runs, a column each."""
    table = _table("", *runs)
    for row in numbers(runs):
        table.add_row(*map(printable, row))
    for place, name in (
        (1, "relevant sites found by no other"),
        (3, "relevant pages found by no other"),
    ):
        table.add_row(name, *(f"{counts[place]:,}" for counts in unique_finds(runs).values()))
    table.add_section()
    for key, values in differences([reader.config for reader in runs.values()]).items():
        table.add_row(key, *(printable(_short(value)) for value in values))
    console.print(table)


def _of_run(reader: RunReader) -> Iterator[RenderableType]:
    yield printable(
        f"{reader.name}: {format_rate(reader.harvest_rate)} harvest rate. {conclusion(reader)}"
    )
    table = _table()
    for name, value in series.headline(reader).items():
        table.add_row(name, printable(value))
    yield table
    if reader.pages:
        rate = series.recent_harvest(reader.pages) or series.harvest(reader.pages)
        yield f"harvest rate    {sparks(rate, 1.0)}"
        yield f"relevant sites  {sparks(series.relevant_sites(reader.pages))}"
        yield _sites(reader)
    if reader.failures:
        yield _failures(reader)


def _short(value: str) -> str:
    return value if len(value) <= LONGEST else f"{value[: LONGEST - 3]}..."


def _sites(reader: RunReader) -> Table:
    table = _table("best sites", "pages", "relevant")
    for site in series.sites_of(reader.pages)[:SITES]:
        table.add_row(printable(site.name), f"{site.pages:,}", f"{site.relevant:,}")
    return table


def _failures(reader: RunReader) -> Table:
    table = _table("failures", "URLs")
    table.add_column("", justify="left")
    for of in series.failures_by_kind(reader.failures):
        table.add_row(printable(of.kind), f"{of.count:,}", meaning(of.kind))
    return table


def sparks(points: Points, most: float | None = None, width: int = SPARKS) -> str:
    """Draw a curve as a line of blocks.

    >>> sparks([(1, 0.0), (2, 0.5), (3, 1.0)], width=3)
    '▁▅█'
    """
    if not points:
        return ""
    top = most or max(y for _, y in points) or 1.0
    places = [round(i * (len(points) - 1) / max(1, width - 1)) for i in range(width)]
    shares = [points[place][1] / top for place in sorted(set(places))]
    return "".join(BLOCKS[min(len(BLOCKS) - 1, int(share * len(BLOCKS)))] for share in shares)


def _table(*names: str) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_header=bool(names))
    for place, name in enumerate(names or ("", "")):
        table.add_column(printable(name), justify="right" if place else "left", overflow="fold")
    return table
