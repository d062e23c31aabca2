"""The paper's tables from the records of a comparison.

Table 3 has harvest rate and relevant sites of every policy under every cap, as mean and standard
deviation over the seeds. A crawl may run out of links before it has spent its budget, above all
one that discards links; a few good pages would then look better than many. So here, unlike in the
records, harvest rate is relevant pages per page of the *budget*, and a dagger with the pages
fetched marks crawls that ended early. The best mean of a column (the oracle's apart) is marked; a
star says that its lead over the second is more than chance: a paired t-test over the common seeds,
p < 0.05.
Table 4 compares every variant of a policy with the plain policy, seed by seed.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tres.bench.experiment_file import Variant
from tres.policies.registry import policy_info

SIGNIFICANCE = 0.05

Record = dict[str, Any]


@dataclass(slots=True)
class Cell:
    """All runs of one policy under one cap."""

    records: list[Record] = field(default_factory=list)

    def values(self, figure: str) -> dict[str, float]:
        """Return the harvest rates or the relevant sites of the runs, by seed."""
        if figure == "sites":
            return {record["seed_url"]: record["relevant_sites"] for record in self.records}
        return {each["seed_url"]: each["relevant"] / each["budget"] for each in self.records}

    @property
    def rate(self) -> float:
        """The mean harvest rate."""
        return _mean(self, "rates")

    @property
    def ended_early(self) -> bool:
        """Did a run have nothing left to fetch before its budget was spent?"""
        return any(record["pages"] < record["budget"] for record in self.records)

    def mean(self, key: str) -> float:
        """The mean of a figure over the runs that have it."""
        values = [record[key] for record in self.records if record.get(key) is not None]
        return float(np.mean(values)) if values else float("nan")


def variant_name(record: Record) -> str:
    """Return a policy with its options, as in the experiment file."""
    options = ",".join(f"{key}={_format_option(value)}" for key, value in record["options"].items())
    return f"{record['policy']}:{options}" if options else str(record["policy"])


def policy_of(name: str) -> str:
    """Return the policy without its options."""
    return Variant.parse(name).policy


def knows_answers(name: str) -> bool:
    """Does the policy know the whole web beforehand? Then it does not compete."""
    return "web graph" in policy_info(policy_of(name)).needs


def _format_option(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Records by cap and policy, both in the order of the experiment."""

    cells: dict[str, dict[str, Cell]]

    @classmethod
    def of(cls, records: Iterable[Record]) -> Comparison:
        """Return the comparison of these records."""
        cells: dict[str, dict[str, Cell]] = defaultdict(dict)
        for record in records:
            by_policy = cells[str(record["max_per_site"])]
            by_policy.setdefault(variant_name(record), Cell()).records.append(record)
        return cls(dict(cells))

    @property
    def caps(self) -> list[str]:
        return list(self.cells)

    @property
    def policies(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.cells.values() for name in row))

    def winner(self, cap: str, figure: str) -> tuple[str, bool]:
        """Return the policy with the best mean, and whether its lead is significant."""
        contest = {name: cell for name, cell in self.cells[cap].items() if not knows_answers(name)}
        ranked = sorted(contest, key=lambda name: -_mean(contest[name], figure))
        if len(ranked) < 2:
            return ranked[0] if ranked else "", False
        _, p = difference(contest[ranked[0]], contest[ranked[1]], figure)
        return ranked[0], p < SIGNIFICANCE


def difference(one: Cell, other: Cell, figure: str) -> tuple[float, float]:
    """Return the mean difference over common seeds, and the p-value of a paired t-test.

    Two seeds prove nothing (p = 1); a difference that is the same for every seed has p = 0.
    """
    from scipy.stats import ttest_rel

    ours, theirs = one.values(figure), other.values(figure)
    common = sorted(ours.keys() & theirs.keys())
    a = np.array([ours[seed] for seed in common])
    b = np.array([theirs[seed] for seed in common])
    mean = float(np.mean(a - b)) if common else 0.0
    if len(common) < 3:
        return mean, 1.0
    if np.ptp(a - b) < 1e-9:
        return mean, 1.0 if abs(mean) < 1e-9 else 0.0
    return mean, float(ttest_rel(a, b).pvalue)


Rows = list[list[str]]


def table_3(comparison: Comparison) -> Rows:
    """Return harvest rates and relevant sites; the first row is the header."""
    header = ["policy"]
    for cap in comparison.caps:
        header += [f"harvest rate, cap {cap}", f"sites, cap {cap}"]
    rows = [header]
    for name in comparison.policies:
        row = [name]
        for cap in comparison.caps:
            cell = comparison.cells[cap].get(name)
            row += [
                _cell_text(comparison, cap, name, cell, figure) for figure in ("rates", "sites")
            ]
        rows.append(row)
    return rows


def table_4(comparison: Comparison) -> Rows:
    """Return the differences of every variant from its plain policy."""
    rows = [["variant", "beside", "cap", "harvest rate", "p", "sites", "p"]]
    for cap, cells in comparison.cells.items():
        for name, cell in cells.items():
            plain = name.partition(":")[0]
            for base in dict.fromkeys((plain, "tres")):
                if name != base and base in cells and _is_variant(name, base):
                    rate, rate_p = difference(cell, cells[base], "rates")
                    sites, sites_p = difference(cell, cells[base], "sites")
                    figures = [f"{rate:+.3f}", f"{rate_p:.2g}", f"{sites:+.1f}", f"{sites_p:.2g}"]
                    rows.append([name, base, cap, *figures])
    return rows


def effort_table(comparison: Comparison) -> Rows:
    """Return Q evaluations, the bounds of Theorems 1 and 2, and gaps to the greedy choice."""
    header = ["policy", "cap", "steps", "evaluations", "Theorem 1 (mean growth)", "Theorem 2"]
    rows = [[*header, "gap a step, J* - J", "decision, ms"]]
    for cap, cells in comparison.cells.items():
        for name, cell in cells.items():
            steps, evaluations = cell.mean("pages"), cell.mean("evaluations")
            if not evaluations:
                continue
            growth = cell.mean("frontier") / steps
            first = (growth + growth / 2) * steps + growth / 2 * steps**2
            second = 1 + 1.5 * steps + 0.5 * steps**2
            counts = [f"{value:,.0f}" for value in (steps, evaluations, first, second)]
            gap = cell.mean("gap")
            shown = "" if np.isnan(gap) else f"{gap:.4f}"
            rows.append([name, cap, *counts, shown, f"{cell.mean('decision_ms'):.2f}"])
    return rows


def _is_variant(name: str, base: str) -> bool:
    return name.partition(":")[0] == base or (base == "tres" and name.startswith("tres-"))


def _cell_text(comparison: Comparison, cap: str, name: str, cell: Cell | None, figure: str) -> str:
    if cell is None:
        return ""
    values = list(cell.values(figure).values())
    digits = 3 if figure == "rates" else 0
    text = f"{np.mean(values):.{digits}f} ± {np.std(values):.{digits}f}"
    if figure == "rates" and cell.ended_early:
        text += f" †{cell.mean('pages'):.0f}"
    best, sure = comparison.winner(cap, figure)
    return f"**{text}**{'*' if sure else ''}" if name == best else text


def _mean(cell: Cell, figure: str) -> float:
    return float(np.mean(list(cell.values(figure).values())))


def markdown(rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    header, *body = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([header, "|" + "---|" * len(rows[0]), *body]) + "\n"
