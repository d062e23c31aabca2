"""The report of one run as a page: first what it found, then how it went.

The harvest rate is at the top, with a conclusion in two sentences. The pages follow, the most
relevant first, each with an extract of its text and the reason why it was fetched; then the words
that the model has learnt. `tres.report.details` has the rest. Everything is read from the run's
store, so a crawl that is running, was killed or has ended looks the same.
"""

from __future__ import annotations

from tres.errors import TresError
from tres.numbers import format_count, format_rate
from tres.relevance.word_attribution import Strengths, strongest_words
from tres.report import pages_table, series
from tres.report.charts import lines, share_bar
from tres.report.conclusion import conclusion
from tres.report.details import details
from tres.report.document import document, paragraphs
from tres.report.reasons import reasons_of
from tres.report.run_reader import RunReader
from tres.report.safe_html import Markup, element, joined
from tres.settings.sections import TopicSection
from tres.store.model_versions import newest_model


def report_page(reader: RunReader, web: str | None = None) -> str:
    """Return the whole page; `web` is where the run's archive is now, if it has moved."""
    extracts = pages_table.extracts_of(reader, web)
    listed = pages_table.PageList(reader.pages, reasons_of(reader), extracts)
    sections = {
        "Pages": _pages(listed),
        "What the model has learnt": learnt(reader),
        **dict(details(reader)),
    }
    return document(reader.config.name, summary(reader), sections, pages_table.compact(listed))


def summary(reader: RunReader) -> Markup:
    """Return the top of the page: harvest rate, conclusion, totals, topic."""
    words = element(
        "div",
        harvest_rate(reader),
        conclusion_paragraph(reader),
        element("p", totals) if (totals := format_totals(reader)) else None,
        element("p", _looked_for(reader.config.topic), class_="quiet"),
    )
    return element("div", words, _harvest(reader), class_="lead")


def _looked_for(topic: TopicSection) -> str:
    """What the crawl looked for, as its file says it."""
    words = f"Looking for {', '.join(topic.keywords)}." if topic.keywords else ""
    return f"{topic.description} {words}".strip()


def harvest_rate(reader: RunReader) -> Markup:
    """Return the harvest rate, the largest text on the page."""
    label = " harvest rate: relevant pages per fetched page"
    return element("p", element("strong", format_rate(reader.harvest_rate)), label, class_="rate")


def conclusion_paragraph(reader: RunReader) -> Markup:
    """Return the conclusion, with commands marked as code."""
    parts = conclusion(reader).split("'")  # every second one is a command
    marked = [element("code", part) if place % 2 else part for place, part in enumerate(parts)]
    return element("p", *marked, class_="verdict")


def format_totals(reader: RunReader) -> str:
    """Return the crawl in one line of numbers."""
    pages = format_count(len(reader.pages), "fetched page")
    sites = sum(site.relevant > 0 for site in series.sites_of(reader.pages))
    found = f"{format_count(reader.relevant, 'relevant page')} on {format_count(sites, 'site')}"
    found = f"{found}, of {pages}" if reader.relevant else f"{pages}, none relevant"
    parts = [found] if reader.pages else []
    if reader.failures:
        parts.append(f"{format_count(len(reader.failures), 'URL')} gave no page")
    return f"{'; '.join(parts)}." if parts else ""


def _harvest(reader: RunReader) -> Markup | None:
    if not reader.pages:
        return None
    rates = {"all pages so far": series.harvest(reader.pages)}
    if recent := series.recent_harvest(reader.pages):
        rates[f"the last {series.RECENT} pages"] = recent
    return Markup(lines(rates, "pages", "Harvest rate"))


def _pages(listed: pages_table.PageList) -> Markup:
    controls = element(
        "div",
        element("label", "Search ", element("input", type="search", id="search")),
        element("label", element("input", type="checkbox", id="only"), " only relevant"),
        element("button", "Previous", type="button"),
        element("button", "Next", type="button"),
        id="controls",
        hidden=True,
    )
    note = listed.extracts.note
    missing = element("p", f"Some extracts are missing: {note}.", class_="quiet") if note else None
    return joined(missing, controls, pages_table.table(listed))


def learnt(reader: RunReader) -> Markup:
    """Return the words that weigh most in the newest model."""
    kind = reader.config.training.model
    if reader.config.training.own_judge:
        return paragraphs(f"{kind} is a judge of your own: what it looks at is in its code.")
    try:
        words = strongest_words(newest_model(reader.run))
    except TresError as problem:
        return paragraphs(f"The words of the model are not available: {problem.message}.")
    if words is None:
        return paragraphs(
            f"The model {kind} reads words in their order, so no list says what it has learnt. "
            "'tres explain' names the words that decided on a page."
        )
    if not words.positive and not words.negative:
        return paragraphs(
            "The model has learnt no words yet: it judges a page by how near its words are to "
            "those of the topic."
        )
    what = "word stems" if words.are_stems else "words"
    return joined(
        paragraphs(f"These {what} weigh most in its judgement: the longer the bar, the more."),
        element(
            "div",
            _strengths("For the topic", words.positive, "good"),
            _strengths("Against it", words.negative, "bad"),
            class_="sides",
        ),
    )


def _strengths(heading: str, words: Strengths, colour: str) -> Markup:
    items = [
        element("li", element("span", word), Markup(share_bar(strength, colour)))
        for word, strength in words
    ]
    return element("div", element("h3", heading), element("ol", *items, class_="words"))
