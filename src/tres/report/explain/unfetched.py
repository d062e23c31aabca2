"""The story of a URL that is no page of the run: it failed, is on its way, waits, or never will."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from tres.errors import printable
from tres.report.explain.facts import Citation, Failed, Never, Underway, Waiting
from tres.report.explain.feature_labels import REMEDIES, RULES, how_many
from tres.report.explain.layout import (
    citing_pages,
    counted,
    features_seen,
    filled,
    kind_of_link,
    other_links,
)
from tres.report.explain.summary import standing
from tres.web.page import FailureKind


def failed(page: Failed) -> Iterator[str]:
    """A URL that gave no page."""
    kind = FailureKind(page.kind)
    note = f": {printable(page.note)}" if page.note else ""
    when = f" on {_date(page.at)}" if page.at is not None else ""
    after = f", after {counted(page.after, 'page')}," if page.after else ""
    yield filled(
        f"tres asked for it{when}{after} and got no page ({kind}{note}). "
        f"{kind.meaning} {_again(page, REMEDIES.get(kind, ''))}"
    )
    yield from _where_found(page.citations, page.is_seed)


def _again(page: Failed, remedy: str) -> str:
    told = []
    if page.attempts > 1:
        told.append(f"It was tried {how_many(page.attempts)} times at most.")
    told.append("What has failed is not tried again in this run.")
    if page.retryable:
        told.append("It may work later: a new crawl could have it as a seed (--seed-url).")
    if remedy:
        told.append(f"To have it otherwise next time, {remedy}.")
    return " ".join(told)


def underway(page: Underway) -> Iterator[str]:
    """A URL that has been asked for."""
    if page.postponed:
        yield filled(
            f"tres has asked for it, and its site gave no answer ({printable(page.postponed)}). It "
            "waits, and is asked for again when the site may be; `tres resume` goes on with it."
        )
    else:
        yield filled(
            "tres has asked for it, and no answer has come. If the crawl is running, it is on its "
            "way; if not, `tres resume` asks for it first."
        )
    yield from _where_found(page.citations, page.is_seed)


def waiting(link: Waiting) -> Iterator[str]:
    """A URL that may still be chosen."""
    if link.is_seed:
        yield "tres has not fetched it yet: it is a seed, and its turn has not come."
        return
    yield filled(standing(link))
    yield from _where_found(link.citations, False)
    seen = "What tres sees of it now, what sets it apart first:"
    yield f"{seen}\n{features_seen(link.features)}"
    yield kind_of_link(link.leaf, "waits")
    yield filled(_site(link))
    if link.best:
        yield f"The best of all that waits:\n{other_links(link.best)}"
    yield filled(_turn(link))


def _site(link: Waiting) -> str:
    given = counted(link.site_pages, "page")
    limit = "" if link.site_cap is None else f"; a site may give {link.site_cap:,}"
    told = f"Its site {printable(link.site)} has given {given} so far{limit}."
    if not link.held:
        return told
    return (
        f"{told} That is its share of the budget, as few other sites link to it "
        "(live.self_cited): links of other sites come first."
    )


def _turn(link: Waiting) -> str:
    if link.crawl.pages >= link.crawl.budget:
        return (
            "The crawl has spent its budget; `tres resume` with more --pages would go on. Then, as "
            "ever, each choice is made among a sample of what waits, and a site that was asked a "
            "moment ago has to wait."
        )
    return (
        "Here all that waits was compared. A choice is made among a sample of it, and a site that "
        "was asked a moment ago has to wait; so its turn may come sooner or later than its place."
    )


def never(link: Never) -> Iterator[str]:
    """A URL that is neither fetched nor waits."""
    yield filled(_why_never(link))
    if link.reason == "unseen" and link.detail:
        kind, _, limit = link.detail.partition(": ")
        yield filled(
            f"Or links to it were left out: it looks like part of an endless space ({kind}), of "
            f"which no more than {limit} are let in (live.traps)."
        )
    if link.citations:
        yield from _where_found(link.citations, False)
    elif link.near:
        near = "\n".join(f"  {printable(url)}" for url in link.near)
        yield f"The nearest addresses that it knows:\n{near}"
    elif link.reason == "unseen":
        yield "It knows no address of that site."


def _why_never(link: Never) -> str:
    match link.reason:
        case "site-full":
            given = counted(link.site_pages, "page")
            why = f"its site has given {given}, and may give {link.detail} (crawl.max_per_site)"
        case "too-deep":
            why = f"it lies more than {link.detail} clicks from a seed (live.max_clicks)"
        case "thrown-away":
            why = f"{link.detail} throws links of pages that are not relevant away (crawl.focus)"
        case "blocked":
            why = f"somebody has said that nothing more is wanted of the site {link.detail}"
        case "rule":
            rule = RULES.get(link.detail, f"the rule {link.detail!r} forbids it")
            why = f"links to it are not followed, as {rule}"
        case "limited":
            return (
                f"tres has not fetched it: there were too many links, and this one was among the "
                f"worst, which are dropped ({link.detail}). Another link to it may bring it back."
            )
        case "unseen":
            return "tres does not know it: no page that it has fetched links there."
        case "unknown":
            why = "links lead to it, and yet it does not wait; this version cannot tell why"
    return f"tres has not fetched it, and will not: {why}."


def _where_found(cited: Sequence[Citation], is_seed: bool) -> Iterator[str]:
    if is_seed:
        yield "It is a seed."
    elif cited:
        pages = "page links" if len(cited) == 1 else "pages link"
        yield f"{how_many(len(cited)).capitalize()} fetched {pages} to it:\n{citing_pages(cited)}"


def _date(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d at %H:%M:%S} UTC"
