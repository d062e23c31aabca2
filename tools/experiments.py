"""Fill the tables of docs/experiments.md from the results of the committed experiments.

    tres bench experiments/sound.toml --out out/sound        # and so on, for every file
    python -m tools.experiments out

Everything between `<!-- results: WHAT -->` and `<!-- end -->` is generated, nothing is copied by
hand. A table without results in the given directory stays as it is, and is named. The text around
the tables, which says what the figures mean, is written by a person.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from tres.bench.comparison import CURVES, RESULTS
from tres.bench.paper_tables import (
    SIGNIFICANCE,
    Cell,
    Comparison,
    Rows,
    difference,
    markdown,
    table_3,
)

PAGE = Path(__file__).resolve().parents[1] / "docs" / "experiments.md"
CEILING = "oracle"
OURS = "tres"
TOPICS = ("biology", "geography", "history", "sound", "mathematics", "databases")
CHOICES = ("sound-choices",)
SPOT = re.compile(r"(<!-- results: (.+?) -->\n).*?(<!-- end -->)", re.DOTALL)


def main(arguments: list[str]) -> None:
    """Fill the tables that have results."""
    if len(arguments) != 1:
        sys.exit("usage: python -m tools.experiments DIRECTORY  (that of the results)")
    page, missing = filled(PAGE.read_text(encoding="utf-8"), Path(arguments[0]))
    PAGE.write_text(page, encoding="utf-8")
    for name in missing:
        print(f"no results in {name}: its tables are as they were")


def filled(page: str, results: Path) -> tuple[str, list[str]]:
    """Return the page with new tables, and the experiments without results."""
    missing: list[str] = []

    def fill(spot: re.Match[str]) -> str:
        try:
            made = _made(spot[2], results)
        except FileNotFoundError as error:
            missing.append(str(Path(error.filename).parent))
            return spot[0]
        return f"{spot[1]}\n{made}\n{spot[3]}"

    return SPOT.sub(fill, page), list(dict.fromkeys(missing))


def _made(what: str, results: Path) -> str:
    kind, _, name = what.partition(" of ")
    makers: dict[str, Callable[[], Rows]] = {
        "policies": lambda: policies(_results(results, name)),
        "new sites": lambda: new_sites(results / name),
        "oracle": lambda: beside_oracle(_all(results)),
        "variants without a cap": lambda: variants(_all(results), ["inf"]),
        "variants with caps": lambda: variants(_all(results), ["10", "5..2"]),
    }
    return markdown(makers[kind]())


def policies(comparison: Comparison) -> Rows:
    """Table 3 of one topic; the variants of our own policy are in Table 4."""
    cells = {
        cap: {name: cell for name, cell in row.items() if not name.startswith(f"{OURS}:")}
        for cap, row in comparison.cells.items()
    }
    header, *rows = table_3(Comparison(cells))
    if all(cell.mean("relevant_sites") <= 1 for cell in cells["inf"].values()):
        return [row[:2] for row in [header, *rows]]  # a web of one site: nothing to count
    return [header, *rows]


def variants(comparisons: dict[str, Comparison], caps: list[str]) -> Rows:
    """Table 4: differences from the default harvest rate, paired by seed; bold if significant."""
    columns = [
        (topic, cap) for cap in caps for topic, found in comparisons.items() if cap in found.cells
    ]
    named = [topic if cap == "inf" else f"{topic}, {cap}" for topic, cap in columns]
    names = dict.fromkeys(name for found in comparisons.values() for name in _variants(found, caps))
    rows = [["variant", *named]]
    for name in names:
        row = [_difference(comparisons[topic].cells[cap], name) for topic, cap in columns]
        if any(row):
            rows.append([f"`{name.removeprefix(f'{OURS}:')}`", *row])
    return rows


def beside_oracle(comparisons: dict[str, Comparison]) -> Rows:
    """Our harvest rate as a share of the oracle's, and the mean over the topics of a cap."""
    caps = list(dict.fromkeys(cap for found in comparisons.values() for cap in found.caps))
    rows = [["cap", *comparisons, "mean"]]
    for cap in caps:
        shares = {
            topic: found.cells[cap][OURS].rate / found.cells[cap][CEILING].rate
            for topic, found in comparisons.items()
            if cap in found.cells
        }
        shown = [f"{shares[topic]:.3f}" if topic in shares else "" for topic in comparisons]
        rows.append([cap, *shown, f"**{np.mean(list(shares.values())):.4f}**"])
    return rows


def new_sites(results: Path) -> Rows:
    """Pages and sites after a quarter of the crawl and at its end, by `new_sites`."""
    points: dict[tuple[str, int], list[tuple[float, float]]] = defaultdict(list)
    with (results / CURVES).open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["max_per_site"] == "inf":
                found = float(row["relevant"]), float(row["sites"])
                points[row["policy"], int(row["step"])].append(found)
    last = max(step for _, step in points)
    quarter = min((step for _, step in points), key=lambda step: abs(step - last / 4))
    header = [
        f"{what}, {step:,}" for step in (quarter, last) for what in ("relevant pages", "sites")
    ]
    rows = [["new_sites", *header]]
    for name in (OURS, f"{OURS}:new_sites=0.5", f"{OURS}:new_sites=1"):
        means = [np.mean(points[name, step], axis=0) for step in (quarter, last)]
        share = name.partition("=")[2] or "0 (default)"
        rows.append([share, *(f"{value:,.0f}" for mean in means for value in mean)])
    return rows


def _variants(comparison: Comparison, caps: list[str]) -> Iterator[str]:
    for cap in caps:
        for name in comparison.cells.get(cap, {}):
            if name.startswith((f"{OURS}:", f"{OURS}-")):
                yield name


def _difference(cells: dict[str, Cell], name: str) -> str:
    """An empty cell for what was not run, and for what is the default under this cap."""
    if name not in cells or cells[name].values("rates") == cells[OURS].values("rates"):
        return ""
    mean, chance = difference(cells[name], cells[OURS], "rates")
    return f"**{mean:+.3f}**" if chance < SIGNIFICANCE else f"{mean:+.3f}"


def _all(results: Path) -> dict[str, Comparison]:
    """The topics, each with the choices that were tried on it only."""
    return {
        topic: _results(results, topic, *(name for name in CHOICES if name.startswith(topic)))
        for topic in TOPICS
    }


def _results(results: Path, *names: str) -> Comparison:
    files = [results / name / RESULTS for name in names]
    held = [json.loads(file.read_text(encoding="utf-8"))["runs"] for file in files]
    return Comparison.of(chain.from_iterable(held))


if __name__ == "__main__":
    main(sys.argv[1:])
