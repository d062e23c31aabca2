"""Several runs side by side: numbers, curves, what only one of them found, settings that differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from tres.report import series
from tres.report.charts import lines
from tres.report.document import document, paragraphs, table
from tres.report.report_page import conclusion_paragraph, harvest_rate
from tres.report.run_reader import PageRow, RunReader
from tres.report.safe_html import Markup, breakable, element, joined
from tres.report.series import Points
from tres.settings.setting import toml
from tres.settings.topic_file import KEYS, TopicConfig

Runs = dict[str, RunReader]
"""Runs by the names they have in a comparison."""


def name_runs(readers: Sequence[RunReader]) -> Runs:
    """Return runs by directory name, with a number where two have the same name."""
    uses = Counter(reader.name for reader in readers)
    return {
        reader.name if uses[reader.name] == 1 else f"{reader.name} ({place})": reader
        for place, reader in enumerate(readers, start=1)
    }


def comparison_page(runs: Runs) -> str:
    """Return the whole page."""
    sections = {
        "Numbers": numbers_table(runs),
        "Over the steps": _curves(runs),
        "Relevant sites": _sites(runs),
        "Settings": _settings(runs),
    }
    return document(f"Comparison of {len(runs)} crawls", _summaries(runs), sections, None)


def _summaries(runs: Runs) -> Markup:
    """The harvest rate and the conclusion of every run."""
    summaries = [
        element("div", element("b", name), harvest_rate(reader), conclusion_paragraph(reader))
        for name, reader in runs.items()
    ]
    return element("div", *summaries, class_="rates")


def numbers(runs: Runs) -> list[list[str]]:
    """Return a row per number, a column per run."""
    columns = [series.headline(reader) for reader in runs.values()]
    names = max(columns, key=len)  # a run that nobody has judged has one less
    return [[name, *(column.get(name, "") for column in columns)] for name in names]


def numbers_table(runs: Runs) -> Markup:
    """Return the headline of every run as a table."""
    rows: list[list[str]] = [
        [name, *(value if value[:1].isdigit() else breakable(value) for value in values)]
        for name, *values in numbers(runs)
    ]
    return table("The crawls in numbers", ["", *runs], rows)


def _curves(runs: Runs) -> Markup:
    def drawn(title: str, curve: Callable[[list[PageRow]], Points]) -> Markup:
        curves = {name: curve(reader.pages) for name, reader in runs.items()}
        return Markup(lines(curves, "pages", title))

    return element(
        "div",
        drawn("Harvest rate", series.harvest),
        drawn(f"Harvest rate of the last {series.RECENT} pages", series.recent_harvest),
        drawn("Relevant sites", series.relevant_sites),
        drawn("Links waiting", lambda pages: series.over_steps(pages, lambda p: p.frontier)),
        drawn("Leaves of the tree", lambda pages: series.over_steps(pages, lambda p: p.leaves)),
        class_="charts",
    )


def unique_finds(runs: Runs) -> dict[str, tuple[int, int, int, int]]:
    """Count relevant sites and pages of every run: all, and those that no other run has."""
    sites = {name: {page.site for page in r.pages if page.relevant} for name, r in runs.items()}
    pages = {name: {page.url for page in r.pages if page.relevant} for name, r in runs.items()}
    return {
        name: (
            *(len(sites[name]), len(sites[name] - _others(sites, name))),
            *(len(pages[name]), len(pages[name] - _others(pages, name))),
        )
        for name in runs
    }


def _others(found: dict[str, set[str]], name: str) -> set[str]:
    return set().union(*(each for other, each in found.items() if other != name))


def _sites(runs: Runs) -> Markup:
    rows = [
        [name, *(f"{count:,}" for count in counts)] for name, counts in unique_finds(runs).items()
    ]
    head = ["run", "relevant sites", "found by no other", "relevant pages", "found by no other"]
    return table("What each crawl found, and what no other crawl found", head, rows)


def differences(configs: Sequence[TopicConfig]) -> dict[str, list[str]]:
    """Return the settings in which runs differ, with the value of each run."""
    found = {"name": [toml(config.name) for config in configs]}
    for key in KEYS:
        section, _, name = key.partition(".")
        found[key] = [_written(getattr(getattr(config, section), name)) for config in configs]
    return {key: values for key, values in found.items() if len(set(values)) > 1}


def _written(value: object) -> str:
    return "not set" if value is None else toml(value)


def _settings(runs: Runs) -> Markup:
    different = differences([reader.config for reader in runs.values()])
    if not different:
        return paragraphs("All settings are the same.")
    rows: list[list[str]] = [
        [key, *(joined(value) for value in values)] for key, values in different.items()
    ]
    return table("Only what differs", ["setting", *runs], rows)
