"""The paper's tables and figures from the results of a comparison.

`report.md` and the CSV files hold the tables; `report.html` is one page that loads nothing and
shows them with the figures: the Pareto front, harvest rate and sites over time, and frontier and
leaves over time with their ratio (the paper's Figure 4).
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Callable
from html import escape
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from tres.bench.comparison import CURVES, RESULTS
from tres.bench.paper_tables import (
    Comparison,
    Rows,
    effort_table,
    knows_answers,
    markdown,
    policy_of,
    table_3,
    table_4,
)
from tres.errors import RunError
from tres.policies.registry import policy_info
from tres.report.charts import STYLE as CHART_STYLE
from tres.report.charts import lines, pareto, plane

SIMULATED = (
    "asks a simulated search engine: BM25 over the archive's titles and texts, never its labels; "
    "every hit that it fetches is a page of its budget."
)
LEGEND = (
    "Mean ± standard deviation over single-seed runs; harvest rate is relevant pages per page of "
    "the budget; †: crawls that ran out of links after so many pages. Bold: best of the column, "
    "the oracle apart; a star: its lead over the second is more than chance (paired t-test, "
    "p < 0.05)."
)

Series = dict[str, list[tuple[float, float]]]


def write_report(directory: Path) -> list[Path]:
    """Write all files of a report and return their paths."""
    comparison = Comparison.of(_records(directory))
    tables = {
        "table3": ("Harvest rate and relevant sites (Table 3)", table_3(comparison)),
        "table4": ("Ablations (Table 4)", table_4(comparison)),
        "effort": ("Q evaluations and the gap to the greedy choice", effort_table(comparison)),
    }
    written = [_write_csv(directory / f"{name}.csv", rows) for name, (_, rows) in tables.items()]
    text = f"{LEGEND}\n" + "".join(f"\n{note}\n" for note in _notes(comparison))
    for title, rows in tables.values():
        text += f"\n## {title}\n\n{markdown(rows)}"
    written.append(_write(directory / "report.md", f"# {directory.name}\n\n{text}"))
    page = _page(directory.name, comparison, tables, _figures(comparison, directory / CURVES))
    written.append(_write(directory / "report.html", page))
    return written


def _notes(comparison: Comparison) -> list[str]:
    """A remark on each policy that asks a search engine."""
    policies = dict.fromkeys(policy_of(name) for name in comparison.policies)
    searching = [name for name in policies if "search engine" in policy_info(name).needs]
    return [f"{name} {SIMULATED}" for name in searching]


def _records(directory: Path) -> list[dict[str, Any]]:
    try:
        runs = json.loads((directory / RESULTS).read_text(encoding="utf-8"))["runs"]
    except FileNotFoundError:
        raise RunError(
            f"{directory}: there is no {RESULTS}; run 'tres bench FILE --out {directory}' first"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise RunError(f"{directory / RESULTS}: damaged ({error}); run the bench again") from None
    if not runs:
        raise RunError(f"{directory / RESULTS}: has no runs; run the bench again")
    return list(runs)


def _figures(comparison: Comparison, path: Path) -> str:
    """Return all charts, cap by cap."""
    curves = _curves(path)
    parts = ["<h2>Pareto front</h2>", _pareto(comparison)]
    for cap in comparison.caps:
        of_cap = {policy: points for (policy, c), points in curves.items() if c == cap}
        parts.append(f"<h2>Over time, cap {escape(cap)}</h2><div class='charts'>")
        rate = _over_time(of_cap, lambda point: point["relevant"] / point["step"])
        parts.append(lines(rate, "pages", "harvest rate"))
        parts.append(lines(_over_time(of_cap, itemgetter("sites")), "pages", "relevant sites"))
        trees = {
            name: curve for name, curve in of_cap.items() if any(p["leaves"] > 1 for p in curve)
        }
        if trees:
            parts.append(lines(_over_time(trees, itemgetter("leaves")), "pages", "leaves"))
            parts.append(lines(_over_time(trees, itemgetter("frontier")), "pages", "links waiting"))
            ratio = _over_time(trees, lambda p: p["frontier"] / max(1.0, p["leaves"]))
            parts.append(lines(ratio, "pages", "links per leaf"))
        parts.append("</div>")
    return "".join(parts)


def _pareto(comparison: Comparison) -> str:
    series: Series = defaultdict(list)
    for cells in comparison.cells.values():
        for name, cell in cells.items():
            series[name].append((cell.mean("relevant_sites"), cell.rate))
    contest = [p for name, points in series.items() if not knows_answers(name) for p in points]
    return plane(series, pareto(contest), "relevant sites", "harvest rate")


Point = dict[str, float]


def _curves(path: Path) -> dict[tuple[str, str], list[Point]]:
    """Return the points of all runs by policy and cap."""
    found: dict[tuple[str, str], list[Point]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            numbers = ("step", "relevant", "sites", "frontier", "leaves")
            point = {name: float(row[name]) for name in numbers}
            found[row["policy"], row["max_per_site"]].append(point)
    return found


def _over_time(curves: dict[str, list[Point]], value: Callable[[Point], float]) -> Series:
    """Return the mean over runs at every step."""
    series: Series = {}
    for name, points in curves.items():
        by_step: dict[float, list[float]] = defaultdict(list)
        for point in points:
            by_step[point["step"]].append(value(point))
        series[name] = [(step, float(np.mean(by_step[step]))) for step in sorted(by_step)]
    return series


def _page(
    name: str, comparison: Comparison, tables: dict[str, tuple[str, Rows]], figures: str
) -> str:
    shown = "".join(f"<h2>{escape(title)}</h2>{_html(rows)}" for title, rows in tables.values())
    note = "".join(f"<p>{escape(each)}</p>" for each in _notes(comparison))
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(name)}: comparison</title><style>{STYLE}</style></head><body>"
        f"<h1>{escape(name)}</h1><p>{escape(LEGEND)}</p>{note}{shown}{figures}</body></html>"
    )


def _html(rows: Rows) -> str:
    def cell(text: str, tag: str) -> str:
        bold = text.startswith("**")
        plain = escape(text.replace("**", ""))
        return f"<{tag}>{f'<b>{plain}</b>' if bold else plain}</{tag}>"

    head = "".join(cell(text, "th") for text in rows[0])
    body = "".join(f"<tr>{''.join(cell(text, 'td') for text in row)}</tr>" for row in rows[1:])
    return f"<div class='wide'><table><tr>{head}</tr>{body}</table></div>"


def _write_csv(path: Path, rows: Rows) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [text.replace("**", "") for text in row] for row in rows
        )
    return path


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


STYLE = f"""{CHART_STYLE}
body{{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);
max-width:1180px;margin:2rem auto;padding:0 1rem}}
table{{border-collapse:collapse;font-variant-numeric:tabular-nums}}
th,td{{padding:.25rem .7rem;border-bottom:1px solid var(--grid);text-align:left;white-space:nowrap}}
.wide{{overflow-x:auto}}.charts{{display:flex;flex-wrap:wrap;gap:1rem}}
figure{{max-width:560px;flex:1 1 300px}}
"""
