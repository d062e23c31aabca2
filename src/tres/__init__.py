"""tres: a focused web crawler that learns where to go.

    import tres

    web = tres.open_web("encyclopedia.jsonl.gz")
    topic = tres.new_topic(["cell", "gene"], ["https://..."], labels=["Biology"])
    run = tres.run_crawl(topic, web, run="runs/biology", pages=500)
    print(run.harvest_rate)

Everything in `__all__` is for programs of your own; what lies below it may change. Each name is
loaded when it is first used, so that importing tres costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tres import errors
    from tres.api.crawls import crawl_pages, resume_crawl, run_crawl
    from tres.api.results import Run
    from tres.crawl.events import Stepped
    from tres.errors import TresError
    from tres.mdp.state import Crawl
    from tres.offline import GeneratedWeb, Web, open_web
    from tres.offline.pages import PagesWeb
    from tres.policies.policy import Policy, PolicyInfo
    from tres.policies.value_policy import ValuePolicy
    from tres.relevance.custom_model import Judge
    from tres.relevance.training import TopicWords
    from tres.report.run_reader import PageRow
    from tres.settings.topic_file import TopicConfig, load_topic, new_topic
    from tres.web.page import Failed, Link, Page

__version__ = "0.1.0"

__all__ = [
    "Crawl",
    "Failed",
    "GeneratedWeb",
    "Judge",
    "Link",
    "Page",
    "PageRow",
    "PagesWeb",
    "Policy",
    "PolicyInfo",
    "Run",
    "Stepped",
    "TopicConfig",
    "TopicWords",
    "TresError",
    "ValuePolicy",
    "Web",
    "__version__",
    "crawl_pages",
    "errors",
    "load_topic",
    "new_topic",
    "open_web",
    "resume_crawl",
    "run_crawl",
]

_HOMES = {
    "tres.api.crawls": ("crawl_pages", "resume_crawl", "run_crawl"),
    "tres.api.results": ("Run",),
    "tres.settings.topic_file": ("TopicConfig", "load_topic", "new_topic"),
    "tres.crawl.events": ("Stepped",),
    "tres.errors": ("TresError",),
    "tres.mdp.state": ("Crawl",),
    "tres.policies.policy": ("Policy", "PolicyInfo"),
    "tres.policies.value_policy": ("ValuePolicy",),
    "tres.relevance.custom_model": ("Judge",),
    "tres.relevance.training": ("TopicWords",),
    "tres.report.run_reader": ("PageRow",),
    "tres.web.page": ("Failed", "Link", "Page"),
    "tres.offline": ("GeneratedWeb", "Web", "open_web"),
    "tres.offline.pages": ("PagesWeb",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # a type checker shall know a wrong name when it sees one

    def __getattr__(name: str) -> object:
        """A name of the library, from the module where it lives."""
        if name == "errors":
            return import_module("tres.errors")
        if name not in _HOME:
            raise AttributeError(f"module 'tres' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOME[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
