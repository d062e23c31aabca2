"""The parts of a report behind the pages: sites, curves, failures, politeness, tree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tres.errors import RunError
from tres.frontier.leaf_rules import Node, TreeView
from tres.relevance.model import THRESHOLD
from tres.report import series
from tres.report.charts import bars, lines, share_bar, strip
from tres.report.document import paragraphs, table
from tres.report.explain.fetched_page import leaf_of
from tres.report.feature_labels import format_condition
from tres.report.requests import Asked, busiest, stretch
from tres.report.run_reader import FailureRow, RunReader
from tres.report.safe_html import Markup, breakable, element, joined, link
from tres.report.tree_svg import best_leaves, drawing, levels_shown
from tres.runs.restored_session import tree_of
from tres.web.page import FailureKind

TOP_SITES = 30


def details(reader: RunReader) -> Iterator[tuple[str, Markup]]:
    """Sections by their headings, what most people look for first."""
    if reader.pages:
        yield "Sites", _sites(reader)
        yield "How it went", _curves(reader)
        yield "Relevance", _relevance(reader)
    yield "Failures", _failures(reader)
    if asked := busiest(reader):
        yield "Politeness", _politeness(reader, asked)
    if tree := tree_or_reason(reader):
        yield "Decision tree", paragraphs(tree) if isinstance(tree, str) else _tree(tree)
    yield "Run", _run(reader)


def tree_or_reason(reader: RunReader) -> TreeView | str:
    """The run's decision tree, or why there is none; nothing to say if its policy grows none.

    The tree of a crawl without an end is grown again from the journal, which another version
    of tres may be unable to do; all the rest can be shown nevertheless.
    """
    if not any(page.leaves for page in reader.pages):
        return ""
    try:
        return tree_of(reader.run)
    except RunError as error:
        return error.message


def _curves(reader: RunReader) -> Markup:
    pages = reader.pages
    charts = [
        lines({"relevant sites": series.relevant_sites(pages)}, "pages", "Relevant sites"),
        lines({"links": series.over_steps(pages, lambda p: p.frontier)}, "pages", "Links waiting"),
    ]
    if any(page.leaves > 1 for page in pages):
        leaves = series.over_steps(pages, lambda page: page.leaves)
        charts.append(lines({"leaves": leaves}, "pages", "Leaves of the tree"))
    return element("div", *map(Markup, charts), class_="charts")


def _relevance(reader: RunReader) -> Markup:
    counts = series.histogram(reader.pages)
    told = (
        f"A page is relevant from {THRESHOLD} on (the dashed line). Many pages near it mean that "
        "the model is unsure: 'tres label' asks about just those."
    )
    chart = bars(counts, 1.0, "probability of being relevant", "Pages by relevance", THRESHOLD)
    return joined(paragraphs(told), element("div", Markup(chart), class_="charts"))


def _sites(reader: RunReader) -> Markup:
    sites = series.sites_of(reader.pages)
    rows: list[list[str]] = [
        [
            link(f"http://{site.name}/", breakable(site.name)),
            f"{site.pages:,}",
            f"{site.relevant:,}",
            joined(Markup(share_bar(site.share)), f"{site.share:.0%}"),
        ]
        for site in sites[:TOP_SITES]
    ]
    caption = f"{min(TOP_SITES, len(sites)):,} of {len(sites):,} sites, most relevant pages first"
    return table(caption, ["site", "pages", "relevant", "share"], rows)


def _failures(reader: RunReader) -> Markup:
    kinds = series.failures_by_kind(reader.failures)
    kept_out = _kept_out(reader.summary or {})
    if not kinds:
        return joined(paragraphs("Every URL that was asked for gave a page."), kept_out)
    rows: list[list[str]] = [
        [of.kind, f"{of.count:,}", joined(meaning(of.kind), _examples(of.examples))] for of in kinds
    ]
    caption = f"{len(reader.failures):,} URLs gave no page; they are no steps and cost no budget"
    failed = table(caption, ["kind", "URLs", "what it means, and examples"], rows)
    return joined(failed, kept_out)


def _kept_out(summary: dict[str, Any]) -> Markup:
    """Links that were dropped, by rule or limit, and sites that had their share of the budget."""
    dropped, held = summary.get("dropped", {}), summary.get("held", [])
    parts: list[Markup] = []
    if dropped:
        rows: list[list[str]] = [[rule, f"{count:,}"] for rule, count in dropped.items()]
        caption = f"{sum(dropped.values()):,} links were not followed"
        parts.append(table(caption, ["rule or limit", "links"], rows))
    if held:
        more = f" and {len(held) - TOP_SITES:,} more" if len(held) > TOP_SITES else ""
        told = "Few other sites link to these, so they had a share of the budget (live.self_cited)"
        parts.append(paragraphs(f"{told}: {', '.join(held[:TOP_SITES])}{more}."))
    return joined(*parts)


def meaning(kind: str) -> str:
    """What a kind of failure means; nothing is known of a kind of another version."""
    return FailureKind(kind).meaning if kind in set(FailureKind) else ""


def _examples(failures: tuple[FailureRow, ...]) -> Markup:
    noted = [(failure, f" ({failure.note})" if failure.note else "") for failure in failures]
    items = [element("li", link(failure.url), note) for failure, note in noted]
    return element("ul", *items, class_="examples")


def _politeness(reader: RunReader, asked: list[Asked]) -> Markup:
    begin, end = stretch(reader)
    rows: list[list[str]] = [
        [
            joined(
                breakable(each.site),
                Markup(strip(each.over_time(begin, end), "Requests over time")),
            ),
            f"{len(each.times):,}",
            f"{each.smallest_gap:.2f}",
            f"{each.median_gap:.2f}",
        ]
        for each in asked
    ]
    settings = reader.config.live
    told = (
        f"Set were {settings.delay:g} seconds or more between two requests to a site and "
        f"{settings.per_site} at a time; robots.txt and the servers may have asked for more. Times "
        "are when a page was asked for; redirects, repeats and robots.txt are not among them."
    )
    head = ["site, and when it was asked", "times", "smallest gap (s)", "median gap (s)"]
    caption = f"The {len(asked)} sites that were asked most, over {end - begin:,.0f} seconds"
    return joined(paragraphs(told), table(caption, head, rows))


def _tree(tree: TreeView) -> Markup:
    told = (
        f"The tree has {len(tree.leaves):,} leaves; its top {levels_shown(tree) + 1} levels are "
        "drawn. Every link waits in the leaf whose rule it meets. The fuller a dot, the more of "
        "the pages fetched from there were relevant; the larger, the more were fetched."
    )
    leaves = [_leaf(tree, leaf) for leaf in best_leaves(tree)]
    heading = element("h3", "The best leaves" if len(leaves) > 1 else "The only leaf")
    listed = element("div", heading, element("ol", *leaves, class_="leaves"))
    return joined(paragraphs(told), element("div", drawing(tree), listed, class_="beside"))


def _leaf(tree: TreeView, leaf: Node) -> Markup:
    facts = (
        f"reward {leaf.mean_reward:.2f} from {leaf.experiences:,} fetched, {leaf.rows:,} waiting"
    )
    rule = "; ".join(map(format_condition, leaf_of(tree, leaf.id).conditions)) or "all links"
    return element("li", facts, element("small", rule))


def _run(reader: RunReader) -> Markup:
    """All numbers once more, and the settings, to crawl again."""
    rows = [
        element("div", element("dt", name), element("dd", breakable(value)))
        for name, value in {"run": reader.name, **series.headline(reader)}.items()
    ]
    toml = element("pre", element("code", reader.config.to_toml()), tabindex="0")
    summary = element("summary", "The topic file, with every setting")
    return joined(
        element("dl", *rows, class_="facts"),
        element("details", summary, toml),
    )
