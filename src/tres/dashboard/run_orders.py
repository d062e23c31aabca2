"""What a user can do to a run from the browser: orders and judgements.

A running crawl gets orders through its inbox (`store.orders`) and decides itself when to obey. A
judgement is a line in a file. A request carries numbers and names, which are looked up here: the
URL of a judged page comes from the journal, never from the browser.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tres.dashboard.followed_run import FollowedRun
from tres.dashboard.run_counts import Json
from tres.errors import ConfigError, RunError
from tres.numbers import format_count
from tres.settings.topic_file import load_topic
from tres.store.judgements import Judgement, append_judgement
from tres.store.model_versions import MODEL
from tres.store.orders import Block, Budget, Order, Pause, Stop, order_named, send
from tres.store.page_source import web_of
from tres.store.run_directory import config_of
from tres.store.run_state import run_state
from tres.store.verdicts import MODEL as BY_MODEL

MAY_ORDER = ("pause", "continue", "stop", "budget", "block")
"""Orders that a browser may give; a new model is adopted by the process that trained it."""


def give_order(run: FollowedRun, wanted: Json) -> str:
    """Give an order to a running crawl; return the confirmation."""
    order = order_named(wanted, MAY_ORDER)
    if not run_state(run.directory).is_crawled:
        raise RunError("this run is not being crawled now; resume it first")
    send(run.directory, order)
    return _confirmation(order)


def save_judgement(run: FollowedRun, wanted: Json) -> str:
    """Save a judgement of one of the last pages; return the confirmation."""
    step, relevant = wanted.get("step"), wanted.get("relevant")
    page = run.page(step) if type(step) is int else None
    if page is None:
        raise RunError("this page is no longer among the last pages; reload the dashboard")
    if not isinstance(relevant, bool):
        raise ConfigError("say whether the page is relevant: true or false")
    by_model = page.relevance if page.judged_by == BY_MODEL else page.first_relevance
    append_judgement(run.directory, Judgement(page.url, relevant, page.step, by_model))
    run.invalidate()
    return f"Page {page.step:,} judged {'relevant' if relevant else 'not relevant'}."


def train_model(run: Path, watch: Callable[[str], None] = lambda stage: None) -> Json:
    """Retrain the model of a run with its judgements, in a process of its own.

    The pages of a run that is not being crawled are judged again.
    """
    from tres.runs.labelling import learn_judgements  # slow to import
    from tres.runs.rejudge import rejudge_idle_run

    web = web_of(run)
    if web is None:
        raise RunError(f'{run}: kept no pages to learn from; crawl with live.keep = "pages"')
    learnt = learn_judgements(run, web, load_topic(config_of(run)), watch)
    if not learnt.sent:
        watch("judging the pages of the run again")
        rejudge_idle_run(run, web)
    (run / MODEL).touch()  # the same judgements give the same model, which is not written again
    return {"judged": learnt.judged, "guessed": learnt.guessed, "told": learnt.sent}


def _confirmation(order: Order) -> str:
    match order:
        case Budget(pages):
            return f"The crawl will fetch {format_count(pages, 'page')} in all."
        case Block(site):
            return f"The crawl will fetch nothing more from {site}."
        case Stop():
            return "The crawl will stop once the requests in flight have ended."
        case Pause():
            return "The crawl will pause."
        case _:
            return "The crawl will continue."
