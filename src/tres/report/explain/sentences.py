"""The sentences of an explanation: why a page was fetched, how a link ranks, with what result.

No number appears here that the facts do not hold.
"""

from __future__ import annotations

from datetime import UTC, datetime

from tres.errors import printable
from tres.numbers import format_count, spell_count, spell_number
from tres.relevance.model import THRESHOLD
from tres.relevance.word_attribution import Attribution
from tres.report.explain import facts
from tres.report.feature_labels import REMEDIES, RULES, format_condition
from tres.report.reasons import LOW, join_words, reasons, shorten, why_chosen
from tres.store.judgements import PERSON
from tres.store.verdicts import MODEL
from tres.web.page import FailureKind


def summarize_page(page: facts.Fetched) -> str:
    """Why a page was fetched, and what it turned out to be."""
    crawl = page.crawl
    of = f"{crawl.budget:,}" if crawl.finished else f"{crawl.pages:,} so far"
    known = reasons({each.name: each.amount for each in page.features}, page.citations)
    why = why_chosen(page.decision, crawl, known)
    return f"tres fetched it as page {page.step:,} of {of}, {why}{_result(page)}"


def _result(page: facts.Fetched) -> str:
    """What the page turned out to be, as the end of the sentence about its choice."""
    q, relevant = page.decision.q, "relevant" if page.relevant else "not relevant"
    got = f"got a {'relevant page' if page.relevant else 'page that is not relevant'}"
    got = f"{got} ({page.relevance:.2f})."
    match page.decision.how:
        case "guess":
            return f". It guessed {q:.2f} and {got}"
        case "value" if page.crawl.gamma is None:
            return f". It {got}"
        case "value" if q is not None and q < LOW:
            return f": it valued the link at {q:.2f} and {got}"
        case "value":
            return f". It valued the link at {q:.2f} and {got}"
        case _:
            return f"; the page is {relevant} ({page.relevance:.2f})."


def explain_value(page: facts.Fetched) -> str:
    """What a value means, in brackets; empty where nothing needs explaining."""
    gamma, scarcity, parts = page.crawl.gamma, page.crawl.scarcity, []
    if page.decision.how == "value" and gamma is not None:
        parts.append(
            "A value is the expected reward: 1 for a relevant page, "
            f"plus {gamma:g} of the best value that follows."
        )
    if scarcity:
        parts.append(
            f"Up to {scarcity:g} is taken off as the places of a site run out "
            "while more of its links wait."
        )
    return f"({' '.join(parts)}) " if parts else ""


def describe_leaf(leaf: facts.Leaf | None, waited: str) -> str:
    """The rule of a leaf and its experience; `waited` is the verb."""
    if leaf is None or not leaf.conditions:
        return ""
    links = "only such link" if leaf.fetched == 1 else format_count(leaf.fetched, "such link")
    average = "" if leaf.fetched == 1 else " on average"
    earned = (
        f"The {links} fetched so far earned {leaf.mean_reward:.2f}{average}; "
        "a relevant page earns up to 1."
        if leaf.fetched
        else "No such link has been fetched yet."
    )
    return (
        f"It {waited} in leaf {leaf.id} of the decision tree, among links of one kind: "
        f"{'; '.join(map(format_condition, leaf.conditions))}. {earned}"
    )


def describe_outcome(page: facts.Fetched) -> str:
    """What the page led to."""
    came = page.consequences
    links = f"The page has {format_count(came.links, 'link')}"
    if not came.descendants:
        return f"{links}; nothing has been fetched through it."
    if came.descendants == 1:
        good = "relevant" if came.relevant_descendants else "not relevant"
        return f"{links}. One page was fetched through it; it is {good}."
    own = "" if came.children == came.descendants else f", {came.children:,} by its own links"
    relevant = came.relevant_descendants
    some = f"{spell_number(relevant)} of them {'is' if relevant == 1 else 'are'} relevant"
    return (
        f"{links}. {came.descendants:,} pages were fetched through it{own}; "
        f"{some if relevant else 'none of them is relevant'}."
    )


def describe_verdict(verdict: facts.Verdict, relevant: bool) -> str:
    """Who judged, which words decided, and which model."""
    parts = [_judge(verdict, relevant), _decisive_words(verdict, relevant)]
    if verdict.models > 1:
        parts.append(f"Model {verdict.number} of the run's {verdict.models} judged it.")
    if verdict.note:
        parts.append(f"{verdict.note[0].upper()}{verdict.note[1:]}.")
    return " ".join(part for part in parts if part)


def _judge(verdict: facts.Verdict, relevant: bool) -> str:
    """Who judged a page since it was fetched; empty if nobody has."""
    if verdict.first is None:
        return ""
    then = f"the model gave it {verdict.first:.2f} when it was fetched"
    if verdict.judged_by == MODEL:
        return f"It was judged again by a newer model; {then}."
    who = "You" if verdict.judged_by == PERSON else "A language model that was asked"
    return f"{who} judged it {'' if relevant else 'not '}relevant; {then}."


def _decisive_words(verdict: facts.Verdict, relevant: bool) -> str:
    """The words that decided for the model, even where somebody else has decided."""
    if verdict.telling is None:
        return ""
    if verdict.judged_by == MODEL:
        return _words(verdict.telling, relevant)
    text = _words(verdict.telling, verdict.telling.probability >= THRESHOLD)
    return f"To the model: {text[0].lower()}{text[1:]}"


def _words(attribution: Attribution, relevant: bool) -> str:
    decisive = attribution.spoke_for if relevant else attribution.spoke_against
    if not decisive:
        return "No single word decided."
    named = join_words([f'"{shorten(word)}"' for word, _ in decisive])
    if not relevant:
        return f"The words that spoke most against it are {named}."
    even = "even " if attribution.without >= THRESHOLD else ""
    return (
        f"The words that made it relevant are {named}; {even}without them it would have got "
        f"{attribution.without:.2f}."
    )


def describe_failure(page: facts.Failed) -> str:
    """Why a URL gave no page, and what to do about it."""
    kind = FailureKind(page.kind)
    note = f": {printable(page.note)}" if page.note else ""
    when = ""
    if page.at is not None:
        when = f" on {datetime.fromtimestamp(page.at, UTC):%Y-%m-%d at %H:%M:%S} UTC"
    after = f", after {format_count(page.after, 'page')}," if page.after else ""
    parts = [f"tres requested it{when}{after} and got no page ({kind}{note}). {kind.meaning}"]
    if page.attempts > 1:
        parts.append(f"It was tried up to {spell_count(page.attempts, 'time')}.")
    parts.append("What has failed is not tried again in this run.")
    if page.retryable:
        parts.append("It may work later: a new crawl could have it as a seed (--seed-url).")
    if kind in REMEDIES:
        parts.append(f"To get it next time, {REMEDIES[kind]}.")
    return " ".join(parts)


def describe_in_flight(page: facts.InFlight) -> str:
    """What became of a request without an answer."""
    if page.postponed:
        return (
            f"tres requested it, and its site gave no answer ({printable(page.postponed)}). It is "
            "requested again once the site may be; `tres resume` continues with it."
        )
    return (
        "tres has requested it and not been answered. If the crawl is running, it is under way; "
        "if not, `tres resume` requests it first."
    )


def describe_rank(link: facts.Waiting) -> str:
    """How a waiting link ranks."""
    known = reasons({each.name: each.amount for each in link.features}, link.citations)
    why = f" What speaks for it: {join_words(known)}." if known else ""
    if link.q is None or link.rank is None:
        others = format_count(link.frontier - 1, "other link")
        return f"tres has not fetched it yet: it waits with {others}.{why}"
    rank = f"ranks {link.rank:,} of {link.frontier:,} waiting links"
    if link.frontier == 1:
        rank = "is the only waiting link"
    return f"tres has not fetched it yet: it {rank}, with a value of {link.q:.2f}.{why}"


def describe_site(link: facts.Waiting) -> str:
    """How much the site of a waiting link has given, and may give."""
    given = format_count(link.site_pages, "page")
    limit = "" if link.site_cap is None else f"; a site may give {link.site_cap:,}"
    text = f"Its site {printable(link.site)} has given {given} so far{limit}."
    if not link.held:
        return text
    return (
        f"{text} That is its share of the budget, as few other sites link to it "
        "(live.self_cited): links of other sites come first."
    )


def describe_turn(link: facts.Waiting) -> str:
    """Why the rank does not say when the link's turn comes."""
    if link.crawl.pages >= link.crawl.budget:
        return (
            "The crawl has spent its budget; `tres resume` with more --pages continues it. Each "
            "choice is made among a sample of the waiting links, and a site that was just asked "
            "has to rest."
        )
    return (
        "This ranks all waiting links. A real choice is made among a sample of them, and a site "
        "that was just asked has to rest; so its turn may come sooner or later."
    )


def why_never(link: facts.NeverFetched) -> str:
    """Why a URL is neither fetched nor waiting."""
    match link.reason:
        case "site-full":
            given = format_count(link.site_pages, "page")
            why = f"its site has given {given}, and may give {link.detail} (crawl.max_per_site)"
        case "too-deep":
            clicks = format_count(int(link.detail), "click")
            why = f"it is more than {clicks} away from a seed (live.max_clicks)"
        case "thrown-away":
            why = f"{link.detail} drops the links of pages that are not relevant (crawl.focus)"
        case "blocked":
            why = f"the site {printable(link.detail)} was blocked while the crawl ran"
        case "rule":
            rule = RULES.get(link.detail, f"the rule {link.detail!r} forbids it")
            why = f"links to it are not followed, as {rule}"
        case "limited":
            return (
                "tres has not fetched it: there were too many links, and this one was among the "
                f"worst, which are dropped ({link.detail}). Another link to it may bring it back."
            )
        case "unseen":
            return "tres does not know it: no fetched page links to it."
        case "unknown":
            why = "fetched pages link to it, and yet it does not wait; tres cannot tell why"
    return f"tres has not fetched it, and will not: {why}."
