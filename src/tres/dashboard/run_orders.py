"""What a user may do to a run from the browser: orders and judgements.

A crawl that is going on is told through its inbox (`store.orders`) and decides itself when to
obey. A judgement is a line in a file.

A request carries numbers and names; what they mean is looked up here. So the URL of a page that
is judged is the one in the journal, and never one that a browser has sent.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tres.dashboard.followed_run import FollowedRun
from tres.dashboard.run_counts import Json
from tres.errors import ConfigError, RunError
from tres.settings.topic_file import load_topic
from tres.store.judgements import Judgement, append_judgement
from tres.store.model_versions import MODEL
from tres.store.orders import Block, Budget, Order, Pause, Stop, order_named, send
from tres.store.page_source import web_of
from tres.store.run_directory import config_of, is_exploring
from tres.store.run_state import run_state

MAY_ORDER = ("pause", "continue", "stop", "budget", "block")
"""Orders that a browser may give; a model is adopted by whoever has trained it."""


def give_order(run: FollowedRun, wanted: Json) -> str:
    """Tell a crawl that is going on what to do; what is said back to the user."""
    order = order_named(wanted, MAY_ORDER)
    if is_exploring(run.directory):
        raise RunError("the crawl is still learning its topic; it takes orders when it begins")
    if not run_state(run.directory).is_crawled:
        raise RunError("nobody is crawling this run now; go on with it first")
    send(run.directory, order)
    return _said(order)


def judge(run: FollowedRun, wanted: Json) -> str:
    """Keep what a person says about one of the last pages."""
    step, relevant = wanted.get("step"), wanted.get("relevant")
    page = run.page(step) if type(step) is int else None
    if page is None:
        raise RunError("this page is no longer among the last ones; reload the page")
    if not isinstance(relevant, bool):
        raise ConfigError("say whether the page is relevant: true or false")
    append_judgement(run.directory, Judgement(page.url, relevant, page.step, page.relevance))
    run.look_again()
    return f"Page {page.step:,} judged {'relevant' if relevant else 'not relevant'}."


def learn(run: Path, watch: Callable[[str], None] = lambda stage: None) -> Json:
    """Train the model of a run anew with its judgements; for a process of its own."""
    from tres.runs.labelling import learn_judgements  # slow to import

    web = web_of(run)
    if web is None:
        raise RunError(f'{run}: kept no pages to learn from; crawl with live.keep = "pages"')
    learnt = learn_judgements(run, web, load_topic(config_of(run)), watch)
    (run / MODEL).touch()  # the same judgements make the same model, which is not written again
    return {"judged": learnt.judged, "guessed": learnt.guessed, "told": learnt.told}


def _said(order: Order) -> str:
    match order:
        case Budget(pages):
            return f"The crawl is told to fetch {pages:,} pages in all."
        case Block(site):
            return f"The crawl is told to want nothing more of {site}."
        case Stop():
            return "The crawl is told to stop; what is in flight may land."
        case Pause():
            return "The crawl is told to pause."
        case _:
            return "The crawl is told to go on."
