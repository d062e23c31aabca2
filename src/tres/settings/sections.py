"""The settings of a topic file, section by section.

Every setting stands here once, in one line: its type, its range, its meaning and its
default. Adding a setting is adding a line; validation, messages, overrides and the
commented copy that a run keeps all follow from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal, get_args

from tres.errors import ConfigError
from tres.settings.language_codes import LANGUAGES, base_code, suggest_codes
from tres.settings.policy_names import POLICIES, policy_name
from tres.settings.setting import (
    Section,
    choice,
    existing_path,
    flat_list,
    number,
    setting,
    shown,
    term,
    text,
    truth,
    web_address,
    whole,
)
from tres.settings.site_caps import SiteCap

PresetName = Literal["tres", "paper"]
FocusKind = Literal["hard", "soft"]
FeatureSet = Literal[
    "evidence", "no-neighbours", "no-siblings", "no-words", "citations", "paper", "no-site"
]
ModelKind = Literal["tfidf", "svm", "bilstm", "kw-bilstm", "auto"]
SiteKind = Literal["host", "domain"]
KeepKind = Literal["pages", "relevant", "nothing"]

PRESETS: dict[PresetName, dict[str, Any]] = {
    "tres": {},
    "paper": {
        "crawl.features": "paper",
        "tree.min_split": 5,
        "tree.representatives": 1,
        "agent.gamma": 0.3,
        "agent.updates": 1,
        "agent.soft": False,
        "agent.new_sites": 0.0,
        "agent.scarcity": 0.0,
        "agent.dead_links": 0.0,
        "agent.warmup": 100,
        "agent.guided": 0,
        "agent.epsilon": 0.05,
    },
}
"""What a setting is by default if `crawl.preset` names one of these; `tres` is as written below."""
FEATURES: tuple[FeatureSet, ...] = get_args(FeatureSet)
MODELS: tuple[ModelKind, ...] = get_args(ModelKind)
SITES: tuple[SiteKind, ...] = get_args(SiteKind)
FOCUSES: tuple[FocusKind, ...] = get_args(FocusKind)
KEEPS: tuple[KeepKind, ...] = get_args(KeepKind)
VECTORS = ("glove-6b-50d",)
"""Word vectors that are known by name."""


def site_cap(value: object) -> SiteCap:
    """A cap as people write it."""
    try:
        return SiteCap.parse(value)
    except ValueError as problem:
        raise ValueError(f"{problem}, not {shown(value)}") from None


def vectors_source(value: object) -> str | Path:
    """Vectors by name, or a file that is there."""
    if isinstance(value, str) and value in VECTORS:
        return value
    try:
        path = existing_path(value if isinstance(value, Path) else text(value))
    except ValueError as problem:
        raise ValueError(f"{problem}; known by name: {', '.join(VECTORS)}") from None
    assert path is not None  # nothing is given for nothing only
    return path


@dataclass(frozen=True, kw_only=True)
class TopicSection(Section):
    """What the crawl is about."""

    NAME = "topic"

    keywords: tuple[str, ...] = setting(
        flat_list(term, "words", least=1), "words that pages about the topic use"
    )
    phrases: tuple[str, ...] = setting(
        flat_list(term, "phrases"), "phrases that pages about the topic use", ()
    )
    seeds: tuple[str, ...] = setting(
        flat_list(web_address, "web addresses"), "pages to start from; more by --seed-url", ()
    )
    expand: bool = setting(truth, "find more keywords in the relevant examples", False)
    strike: tuple[str, ...] = setting(
        flat_list(term, "words"), "words that expansion finds and that are not wanted", ()
    )
    vectors: str | Path = setting(
        vectors_source, f"word vectors: {', '.join(VECTORS)}, or a file of them", VECTORS[0]
    )
    min_documents: int = setting(
        whole(1), "relevant examples that a new keyword must occur in, at least", 3
    )
    contrast: float = setting(
        number("from 0 to 1000", lambda x: 0 <= x <= 1000),
        "how many times more relevant than other examples must contain a new keyword, by share",
        10.0,
    )
    common_components: int = setting(
        whole(0, 20), "components of all word vectors to take away, with their mean; 0 for none", 2
    )


@dataclass(frozen=True, kw_only=True)
class TrainingSection(Section):
    """How the relevance model learns: from labels, from files, or not at all (`load`)."""

    NAME = "training"

    labels: tuple[str, ...] = setting(
        flat_list(text, "labels"), "labels of relevant pages, with all labels below them", ()
    )
    relevant: int = setting(whole(1), "relevant example pages to draw, at most", 150)
    irrelevant: int = setting(whole(1), "irrelevant example pages to draw, at most", 1000)
    model: ModelKind = setting(choice(MODELS), f"kind of model: {', '.join(MODELS)}", "tfidf")
    folds: int = setting(whole(2, 50), "parts that `tres train` cross-validates with", 5)
    positives: Path | None = setting(
        existing_path, "relevant examples: a directory of .txt and .html, or .jsonl(.gz)", None
    )
    negatives: Path | None = setting(
        existing_path, "irrelevant examples: a directory of .txt and .html, or .jsonl(.gz)", None
    )
    load: Path | None = setting(existing_path, "directory of a saved model to use as it is", None)
    explore: int = setting(
        whole(1), "pages fetched to learn the topic if model is auto and there are no examples", 300
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.positives is None) != (self.negatives is None):
            missing = "positives" if self.positives is None else "negatives"
            raise ConfigError(f"training.{missing} is missing: examples of both kinds are needed")
        given = [bool(self.labels), self.positives is not None, self.load is not None]
        if sum(given) != 1 and not self.explores:
            raise ConfigError(
                f"training names {sum(given)} sources of examples; "
                "give exactly one of labels, positives with negatives, or load"
                + (', or set model = "auto"' if not any(given) else "")
            )

    @property
    def explores(self) -> bool:
        """Is the topic to be learnt from keywords and seeds alone?"""
        given = bool(self.labels) or self.positives is not None or self.load is not None
        return self.model == "auto" and not given


@dataclass(frozen=True, kw_only=True)
class CrawlSection(Section):
    """How far to go, and by which policy."""

    NAME = "crawl"

    pages: int = setting(whole(1), "pages to fetch before the crawl ends", 2000)
    requests: int = setting(
        whole(0), "URLs to ask for before the crawl ends, dead links and all; 0 for no limit", 0
    )
    max_per_site: SiteCap = setting(
        site_cap, 'pages of one site, at most: "inf", a number, or falling as in "5..2"', SiteCap()
    )
    policy: str = setting(
        policy_name,
        f"who chooses: {', '.join(POLICIES)}, or package.module:Name of an installed package",
        "tres",
    )
    preset: PresetName = setting(
        choice(tuple(PRESETS)),
        "whose defaults hold for policy, tree and agent: paper for the paper's algorithm",
        "tres",
    )
    features: FeatureSet | Literal["auto"] = setting(
        choice(("auto", *FEATURES)),
        "what it sees of a link; auto: evidence, under a cap without neighbours",
        "auto",
    )
    seed: int = setting(whole(0), "seed of all randomness: one seed, one crawl", 1)
    site: SiteKind = setting(choice(SITES), f"what counts as one site: {', '.join(SITES)}", "host")
    in_flight: int = setting(whole(1, 64), "pages fetched at the same time", 1)
    links_per_page: int = setting(
        whole(1), "links of one page that count, at most; the worst are dropped", 2_500
    )
    frontier_per_site: int = setting(
        whole(1), "links of one site that wait, at most; the worst are dropped", 50_000
    )
    frontier_size: int = setting(
        whole(1), "links that wait, at most; the worst are dropped", 1_000_000
    )
    focus: FocusKind = setting(
        choice(FOCUSES), "ache and seedfinder: throw links of irrelevant pages away, or not", "hard"
    )
    indexed: float = setting(
        number("above 0 and at most 1", lambda x: 0 < x <= 1),
        "seedfinder: share of the web that its simulated search engine knows",
        1.0,
    )


def _maybe_text(value: object) -> str:
    return "" if value == "" else text(value)


def _pattern(value: object) -> str:
    written = text(value)
    try:
        re.compile(written)
    except re.error as problem:
        raise ValueError(f"must be a regular expression ({problem}), not {shown(value)}") from None
    return written


def _network(value: object) -> str:
    try:
        return str(ip_network(text(value), strict=False))
    except ValueError:
        raise ValueError(f"must be an address or a network, not {shown(value)}") from None


def _language(value: object) -> str:
    code = base_code(written := text(value))
    if code not in LANGUAGES:
        raise ValueError(f"must be a language code, not {shown(value)}; {suggest_codes(written)}")
    return code


def _proxy(value: object) -> str:
    return "" if value == "" else web_address(value)


_SECONDS = number("of at least 0", lambda x: 0 <= x < float("inf"))
_SOME_SECONDS = number("above 0", lambda x: 0 < x < float("inf"))


@dataclass(frozen=True, kw_only=True)
class LiveSection(Section):
    """Crawling the Web itself: politeness, limits, and what counts as a page there."""

    NAME = "live"

    contact: str = setting(
        _maybe_text, "web page or mail address of whoever crawls; every site is told", ""
    )
    user_agent: str = setting(
        _maybe_text, "name in front of the contact; empty for tres and its version", ""
    )
    robots: bool = setting(truth, "obey robots.txt", True)
    delay: float = setting(
        _SECONDS,
        "seconds between two requests to one site, at least; 0 for as fast as it goes",
        1.0,
    )
    max_delay: float = setting(
        _SECONDS,
        "seconds between two requests to a slow site, at most (robots.txt may ask more)",
        60.0,
    )
    throttle: bool = setting(truth, "go slower where answers take longer (AutoThrottle)", True)
    per_site: int = setting(whole(1, 64), "pages of one site fetched at the same time", 1)
    per_address: int = setting(
        whole(0, 64), "a network address is asked as so many sites would be; 0 for no limit", 4
    )
    max_wait: float = setting(
        _SECONDS,
        "seconds that a crawl waits if all sites left must rest; else it ends, to be resumed",
        300.0,
    )
    timeout: float = setting(_SOME_SECONDS, "seconds that a page may take", 30.0)
    max_bytes: int = setting(
        whole(1, 50_000_000), "bytes of a page, decompressed, at most", 5_000_000
    )
    retries: int = setting(whole(0, 10), "further attempts after a failure that may pass", 2)
    redirects: int = setting(whole(0, 50), "redirects followed for one page, at most", 10)
    allow: tuple[str, ...] = setting(
        flat_list(_network, "addresses or networks"),
        "private addresses or networks that may be crawled all the same",
        (),
    )
    proxy: str = setting(_proxy, "send every request to this HTTP proxy; empty for none", "")
    keep: KeepKind = setting(
        choice(KEEPS), f"raw pages to keep as WARC: {', '.join(KEEPS)}", "pages"
    )
    include: tuple[str, ...] = setting(
        flat_list(_pattern, "patterns"), "follow only URLs in which one of these is found", ()
    )
    exclude: tuple[str, ...] = setting(
        flat_list(_pattern, "patterns"), "never follow URLs in which one of these is found", ()
    )
    drop_parameters: tuple[str, ...] = setting(
        flat_list(text, "names"), "query parameters to drop, beside the known ones", ()
    )
    languages: tuple[str, ...] = setting(
        flat_list(_language, "language codes"),
        "count only pages in these languages, by ISO 639 code (en, uk); empty for all",
        (),
    )
    max_clicks: int = setting(whole(0), "clicks away from a seed, at most; 0 for no limit", 0)
    traps: bool = setting(
        truth, "refuse links to endless spaces, and to files that are no pages", True
    )
    near_duplicates: bool = setting(
        truth, "a page nearly equal to an earlier one earns nothing", True
    )
    keyword_density: float = setting(
        number("above 0 and at most 1", lambda x: 0 < x <= 1),
        "share of a page's words that may be keywords; with more it earns nothing; 1 for any",
        0.35,
    )
    self_cited: float = setting(
        number("above 0 and at most 1", lambda x: 0 < x <= 1),
        "share of the budget for a domain without a seed that few others cite; 1 for any",
        0.14,
    )
    sitemaps: bool = setting(
        truth, "also take links from the sitemaps that robots.txt names", False
    )
    javascript: tuple[str, ...] = setting(
        flat_list(_pattern, "patterns"),
        "render URLs in which one of these is found in a browser",
        (),
    )
    javascript_detect: bool = setting(
        truth, "render pages in a browser that have scripts and no text without it", False
    )


@dataclass(frozen=True, kw_only=True)
class TreeSection(Section):
    """The Tree-Frontier."""

    NAME = "tree"

    min_split: int = setting(whole(2), "experiences a leaf needs before it may split", 5)
    max_depth: int = setting(whole(1, 64), "depth at which leaves split no more", 18)
    representatives: int = setting(
        whole(1, 1_000), "URLs that each of the best leaves offers at a decision", 8
    )


@dataclass(frozen=True, kw_only=True)
class AgentSection(Section):
    """The learner of link values (Double DQN)."""

    NAME = "agent"

    gamma: float = setting(
        number("of at least 0 and below 1", lambda x: 0 <= x < 1), "weight of what follows", 0.3
    )
    hidden: tuple[int, ...] = setting(
        flat_list(whole(1, 1_000), "layer sizes", least=1, most=8),
        "sizes of the hidden layers: at most 8 of them, each at most 1000",
        (30, 15),
    )
    learning_rate: float = setting(
        number("above 0 and at most 1", lambda x: 0 < x <= 1), "step size of the optimiser", 0.003
    )
    batch: int = setting(whole(1, 10_000), "experiences learnt from at each update", 32)
    updates: int = setting(whole(1, 16), "updates of the network after each page", 2)
    soft: bool = setting(truth, "learn from the model's probability, not from its verdict", True)
    new_sites: float = setting(
        number("from 0 to 1", lambda x: 0 <= x <= 1),
        "share of the reward that only the first relevant page of a site earns",
        0.0,
    )
    scarcity: float = setting(
        number("from 0 to 10", lambda x: 0 <= x <= 10),
        "under a cap: what the last place of a site costs for which more links wait",
        0.3,
    )
    dead_links: float = setting(
        number("from 0 to 1", lambda x: 0 <= x <= 1),
        "live: a link that gives no page counts as so much of a page in what is learnt",
        0.25,
    )
    replay: int = setting(whole(1), "experiences remembered, at most", 20000)
    target_every: int = setting(
        whole(1), "updates (not pages) from one copy to the target network to the next", 100
    )
    warmup: int = setting(whole(0), "steps at random before anything is asked for a value", 0)
    guided: int = setting(
        whole(0), "steps by the relevance of page and anchor, before the agent decides", 20
    )
    epsilon: float = setting(
        number("from 0 to 1", lambda x: 0 <= x <= 1), "share of later steps taken at random", 0.02
    )
