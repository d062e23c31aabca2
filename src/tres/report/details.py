"""The sections of a report after the pages: sites, curves, failures, politeness, tree, settings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tres.errors import RunError
from tres.frontier.leaf_rules import Node, TreeView
from tres.numbers import format_count, format_duration, format_percentage
from tres.relevance.model import THRESHOLD
from tres.report import series
from tres.report.charts import bars, lines, share_bar, strip
from tres.report.document import paragraphs, table
from tres.report.explain.fetched_page import leaf_of
from tres.report.feature_labels import format_condition
from tres.report.run_reader import FailureRow, RunReader
from tres.report.safe_html import Markup, breakable, element, joined, link
from tres.report.tree_svg import best_leaves, drawing, levels_shown
from tres.runs.resume_run import tree_of
from tres.web.page import FailureKind

TOP_SITES = 30


def details(reader: RunReader) -> Iterator[tuple[str, Markup]]:
    """Yield the sections by their headings, in the order in which people look for them."""
    if reader.pages:
        yield "Sites", _sites(reader)
        yield "How it went", _curves(reader)
        yield "Relevance", _relevance(reader)
    yield "Failures", _failures(reader)
    if busy := series.busiest_sites(reader):
        yield "Politeness", _politeness(reader, busy)
    if tree := tree_or_reason(reader):
        yield "Decision tree", paragraphs(tree) if isinstance(tree, str) else _tree(tree)
    yield "Run", _run(reader)


def tree_or_reason(reader: RunReader) -> TreeView | str:
    """Return the run's decision tree, or why it is missing; empty if the policy grows none.

    The tree of a crawl that has not ended is grown again from the journal, which another version
    of tres may be unable to do; the rest of the report is shown all the same.
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
    text = (
        f"A page is relevant from {THRESHOLD} on (the dashed line). Many pages near it mean that "
        "the model is unsure: 'tres label' asks about just those."
    )
    chart = bars(counts, 1.0, "probability of being relevant", "Pages by relevance", THRESHOLD)
    return joined(paragraphs(text), element("div", Markup(chart), class_="charts"))


def _sites(reader: RunReader) -> Markup:
    sites = series.sites_of(reader.pages)
    rows: list[list[str]] = [
        [
            link(f"http://{site.name}/", breakable(site.name)),
            f"{site.pages:,}",
            f"{site.relevant:,}",
            joined(Markup(share_bar(site.share)), format_percentage(site.share)),
        ]
        for site in sites[:TOP_SITES]
    ]
    some = f"{TOP_SITES} of " if len(sites) > TOP_SITES else ""
    order = ", those with most relevant pages first" if len(sites) > 1 else ""
    caption = f"{some}{format_count(len(sites), 'site')}{order}"
    return table(caption, ["site", "pages", "relevant", "share"], rows)


def _failures(reader: RunReader) -> Markup:
    kinds = series.failures_by_kind(reader.failures)
    kept_out = _kept_out(reader.summary or {})
    if not kinds:
        text = "Every requested URL gave a page." if reader.pages else "Nothing was requested yet."
        return joined(paragraphs(text), kept_out)
    rows: list[list[str]] = [
        [of.kind, f"{of.count:,}", joined(meaning(of.kind), _examples(of.examples))] for of in kinds
    ]
    urls = format_count(len(reader.failures), "URL")
    caption = f"{urls} gave no page; failures are not steps and cost no budget"
    failed = table(caption, ["kind", "URLs", "what it means, and examples"], rows)
    return joined(failed, kept_out)


def _kept_out(summary: dict[str, Any]) -> Markup:
    """Links dropped by a rule or limit, and sites that used up their share of the budget."""
    dropped, held = summary.get("dropped", {}), summary.get("held", [])
    parts: list[Markup] = []
    if dropped:
        rows: list[list[str]] = [[rule, f"{count:,}"] for rule, count in dropped.items()]
        links = format_count(sum(dropped.values()), "link was", "links were")
        caption = f"{links} not followed"
        parts.append(table(caption, ["rule or limit", "links"], rows))
    if held:
        more = f" and {len(held) - TOP_SITES:,} more" if len(held) > TOP_SITES else ""
        parts.append(
            paragraphs(
                "Few other sites link to these, so they got only a share of the budget "
                f"(live.self_cited): {', '.join(held[:TOP_SITES])}{more}."
            )
        )
    return joined(*parts)


def meaning(kind: str) -> str:
    """Return what a kind of failure means; empty for a kind of another version."""
    return FailureKind(kind).meaning if kind in set(FailureKind) else ""


def _examples(failures: tuple[FailureRow, ...]) -> Markup:
    noted = [(failure, f" ({failure.note})" if failure.note else "") for failure in failures]
    items = [element("li", link(failure.url), note) for failure, note in noted]
    return element("ul", *items, class_="examples")


def _politeness(reader: RunReader, busy: list[series.SiteRequests]) -> Markup:
    begin, end = series.time_span(reader)
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
        for each in busy
    ]
    settings = reader.config.live
    text = (
        f"The settings ask for at least {settings.delay:g} s between two requests to a site, with "
        f"at most {settings.per_site} open; robots.txt and the servers may have asked for more "
        "time. Redirects, retries and requests for robots.txt are not counted here."
    )
    head = ["site, and its requests over time", "requests", "smallest gap (s)", "median gap (s)"]
    sites = f"{len(busy)} sites" if len(busy) > 1 else "site"
    caption = f"The {sites} with most requests, over {format_duration(end - begin)}"
    return joined(paragraphs(text), table(caption, head, rows))


def _tree(tree: TreeView) -> Markup:
    levels = levels_shown(tree) + 1
    text = (
        f"The tree has {format_count(len(tree.leaves), 'leaf', 'leaves')}; its top "
        f"{'level is' if levels == 1 else f'{levels} levels are'} drawn. Every link waits in the "
        "leaf whose rule it meets. A fuller dot means that more of the pages fetched from there "
        "were relevant, a larger one that more were fetched."
    )
    leaves = [_leaf(tree, leaf) for leaf in best_leaves(tree)]
    heading = element("h3", "The best leaves" if len(leaves) > 1 else "The only leaf")
    listed = element("div", heading, element("ol", *leaves, class_="leaves"))
    return joined(paragraphs(text), element("div", drawing(tree), listed, class_="beside"))


def _leaf(tree: TreeView, leaf: Node) -> Markup:
    facts = (
        f"reward {leaf.mean_reward:.2f} over {leaf.experiences:,} fetched, {leaf.rows:,} waiting"
    )
    rule = "; ".join(map(format_condition, leaf_of(tree, leaf.id).conditions)) or "all links"
    return element("li", facts, element("small", rule))


def _run(reader: RunReader) -> Markup:
    """All numbers, and the settings with which to crawl again."""
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
