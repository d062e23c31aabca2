"""The settings of a topic file, section by section.

Every setting is defined once, in one line: its type, its range, its meaning and its
default. To add a setting, add a line; validation, messages, overrides and the commented
copy in the run directory follow from it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import ip_network
from pathlib import Path
from typing import Any, Literal, get_args

from tres.errors import ConfigError
from tres.settings.language_codes import LANGUAGES, base_code, suggest_codes
from tres.settings.named_code import NamedCode
from tres.settings.policy_names import POLICIES, POLICY_NAMES
from tres.settings.setting import (
    Check,
    Section,
    choice,
    existing_path,
    flat_list,
    is_there,
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
ModelKind = Literal["auto", "static", "transformer", "tfidf", "svm", "bilstm", "kw-bilstm"]
SiteKind = Literal["host", "domain"]
KeepKind = Literal["pages", "relevant", "nothing"]
Texts = tuple[str, ...]

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
MODEL_NAMES = NamedCode("training.model", "tres.judges", MODELS, "a judge")
SITES: tuple[SiteKind, ...] = get_args(SiteKind)
FOCUSES: tuple[FocusKind, ...] = get_args(FocusKind)
KEEPS: tuple[KeepKind, ...] = get_args(KeepKind)
VECTORS = ("glove-6b-50d",)
"""Word vectors that are known by name."""
ENCODERS = ("static", "minilm", "minilm-fp32")
"""Encoders that are known by name."""


def site_cap(value: object) -> SiteCap:
    """Check a cap as people write it."""
    try:
        return SiteCap.parse(value)
    except ValueError as problem:
        raise ValueError(f"{problem}, not {shown(value)}") from None


def vectors_source(value: object) -> str | Path:
    """Check the name of known vectors, or a path to a file of them."""
    if isinstance(value, str) and value in VECTORS:
        return value
    try:
        path = existing_path(value if isinstance(value, Path) else text(value))
    except ValueError as problem:
        raise ValueError(f"{problem}; known names: {', '.join(VECTORS)}") from None
    assert path is not None  # as the value was not None
    return path


def encoder_source(value: object) -> str:
    """Check the name of an encoder; a directory becomes absolute, as in `existing_path`."""
    name = text(str(value) if isinstance(value, Path) else value)
    if name in ENCODERS:
        return name
    if is_there(path := Path(name)):
        return str(path.absolute())
    if re.fullmatch(r"[\w.-]+/[\w.@-]+", name):  # the hub may have it
        return name
    known = ", ".join(ENCODERS)
    raise ValueError(
        f"names {shown(name)}, which is no directory; known names: {known}, or organisation/model "
        "of the Hugging Face hub"
    )


def _or_empty(check: Check[str]) -> Check[str]:
    return lambda value: "" if value == "" else check(value)


_SECONDS = number("of at least 0", lambda x: 0 <= x < float("inf"))
_SOME_SECONDS = number("above 0", lambda x: 0 < x < float("inf"))
_SHARE = number("from 0 to 1", lambda x: 0 <= x <= 1)
_SOME_SHARE = number("above 0 and at most 1", lambda x: 0 < x <= 1)


@dataclass(frozen=True, kw_only=True)
class TopicSection(Section, name="topic"):
    """What the crawl is about."""

    description: str = setting(
        _or_empty(text), "the topic in one or two sentences; with it, keywords may be left out", ""
    )
    keywords: Texts = setting(flat_list(term, "words"), "words that pages about the topic use", ())
    phrases: Texts = setting(
        flat_list(term, "phrases"), "phrases that pages about the topic use", ()
    )
    seeds: Texts = setting(
        flat_list(web_address, "web addresses"), "pages to start from; more by --seed-url", ()
    )
    expand: bool = setting(truth, "find more keywords in the relevant examples", False)
    strike: Texts = setting(flat_list(term, "words"), "words that expansion must not add", ())
    vectors: str | Path = setting(
        vectors_source, f"word vectors: {', '.join(VECTORS)}, or a file of them", VECTORS[0]
    )
    min_documents: int = setting(
        whole(1), "relevant examples that must contain a new keyword, at least", 3
    )
    contrast: float = setting(
        number("from 0 to 1000", lambda x: 0 <= x <= 1000),
        "how many times as frequent a new keyword must be in relevant as in other examples",
        10.0,
    )
    common_components: int = setting(
        whole(0, 20),
        "principal components to remove from word vectors, and their mean; 0 for none",
        2,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.keywords and not self.description:
            raise ConfigError(
                "topic.keywords is missing: name some words that pages about the topic use, or "
                "say in topic.description what they are about"
            )


@dataclass(frozen=True, kw_only=True)
class TrainingSection(Section, name="training"):
    """What teaches the relevance model: the crawl itself, unless there are examples or a model."""

    labels: Texts = setting(
        flat_list(text, "labels"), "labels of relevant pages, with all labels below them", ()
    )
    relevant: int = setting(whole(1), "relevant example pages to draw, at most", 150)
    irrelevant: int = setting(whole(1), "irrelevant example pages to draw, at most", 1000)
    model: str = setting(
        MODEL_NAMES.check,
        f"kind of model: {', '.join(MODELS)}, or package.module:Name of a judge of your own",
        "auto",
    )
    encoder: str = setting(
        encoder_source,
        f"what reads pages for a transformer model: {', '.join(ENCODERS[1:])}, a directory, or "
        "organisation/model of the Hugging Face hub",
        "minilm",
    )
    folds: int = setting(whole(2, 50), "folds of the cross-validation by `tres train`", 5)
    positives: Path | None = setting(
        existing_path, "relevant examples: a directory of .txt and .html, or .jsonl(.gz)", None
    )
    negatives: Path | None = setting(
        existing_path, "irrelevant examples: a directory of .txt and .html, or .jsonl(.gz)", None
    )
    load: Path | None = setting(existing_path, "directory of a saved model to use as it is", None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.positives is None) != (self.negatives is None):
            missing = "positives" if self.positives is None else "negatives"
            raise ConfigError(f"training.{missing} is missing: both kinds of examples are needed")
        if self.own_judge and self.load is not None:
            raise ConfigError(
                f"training.load names a model, and training.model the judge {self.model}; "
                "remove one of them"
            )
        if self._sources > 1 or not (self._sources or self.learns or self.own_judge):
            problem = f"names {self._sources} sources" if self._sources else "names no source"
            hint = "" if self._sources else ', or set model = "auto"'
            raise ConfigError(
                f"training {problem} of examples; "
                f"give exactly one of labels, positives with negatives, or load{hint}"
            )

    @property
    def learns(self) -> bool:
        """Whether the crawl itself teaches the model: there are no examples."""
        return self.model == "auto" and not self._sources

    @property
    def own_judge(self) -> bool:
        """Whether code of an installed package judges, so that there is nothing to train."""
        return self.model not in MODELS

    @property
    def has_examples(self) -> bool:
        """Whether example pages are named."""
        return self.load is None and self._sources > 0

    @property
    def _sources(self) -> int:
        return sum((bool(self.labels), self.positives is not None, self.load is not None))


@dataclass(frozen=True, kw_only=True)
class CrawlSection(Section, name="crawl"):
    """How many pages to fetch, and how to choose them."""

    pages: int = setting(whole(1), "pages to fetch before the crawl ends", 2000)
    requests: int = setting(
        whole(0), "URLs to request before the crawl ends, dead links included; 0 for no limit", 0
    )
    max_per_site: SiteCap = setting(
        site_cap, 'pages of one site, at most: "inf", a number, or falling as in "5..2"', SiteCap()
    )
    policy: str = setting(
        POLICY_NAMES.check,
        f"what chooses: {', '.join(POLICIES)}, or package.module:Name of an installed package",
        "tres",
    )
    preset: PresetName = setting(
        choice(tuple(PRESETS)),
        "defaults for policy, tree and agent: paper for the algorithm of the paper",
        "tres",
    )
    features: FeatureSet | Literal["auto"] = setting(
        choice(("auto", *FEATURES)),
        "features of a link; auto: evidence, or no-neighbours under a cap",
        "auto",
    )
    seed: int = setting(whole(0), "seed of all randomness: one seed, one crawl", 1)
    site: SiteKind = setting(choice(SITES), f"what counts as one site: {', '.join(SITES)}", "host")
    in_flight: int = setting(whole(1, 64), "pages fetched at the same time", 1)
    links_per_page: int = setting(
        whole(1), "links kept of one page, at most; the worst are dropped", 2_500
    )
    frontier_per_site: int = setting(
        whole(1), "waiting links of one site, at most; the worst are dropped", 50_000
    )
    frontier_size: int = setting(
        whole(1), "waiting links, at most; the worst are dropped", 1_000_000
    )
    focus: FocusKind = setting(
        choice(FOCUSES), "ache and seedfinder: hard drops links of irrelevant pages", "hard"
    )
    indexed: float = setting(
        _SOME_SHARE, "seedfinder: share of the web that its simulated search engine knows", 1.0
    )


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
        raise ValueError(f"must be an ISO 639 code, not {shown(value)}; {suggest_codes(written)}")
    return code


_PATTERNS = flat_list(_pattern, "patterns")


@dataclass(frozen=True, kw_only=True)
class LiveSection(Section, name="live"):
    """Crawling the Web: politeness, limits, and what counts as a page."""

    contact: str = setting(
        _or_empty(text), "a web page or mail address of yours, sent to every site", ""
    )
    user_agent: str = setting(
        _or_empty(text), "name in front of the contact; empty for tres and its version", ""
    )
    robots: bool = setting(truth, "obey robots.txt", True)
    delay: float = setting(
        _SECONDS, "seconds between two requests to one site, at least; 0 for no delay", 1.0
    )
    max_delay: float = setting(
        _SECONDS,
        "seconds between two requests to a slow site, at most (robots.txt may ask for more)",
        60.0,
    )
    throttle: bool = setting(truth, "go slower where answers take longer (AutoThrottle)", True)
    per_site: int = setting(whole(1, 64), "pages of one site fetched at the same time", 1)
    per_address: int = setting(
        whole(0, 64), "sites whose requests one network address may get, at most; 0 for no limit", 4
    )
    max_wait: float = setting(
        _SECONDS,
        "seconds to wait, at most, while all remaining sites must rest; then the crawl ends",
        300.0,
    )
    timeout: float = setting(_SOME_SECONDS, "seconds that a page may take", 30.0)
    max_bytes: int = setting(
        whole(1, 50_000_000), "bytes of a page, decompressed, at most", 5_000_000
    )
    retries: int = setting(whole(0, 10), "further attempts after a temporary failure", 2)
    redirects: int = setting(whole(0, 50), "redirects followed for one page, at most", 10)
    allow: Texts = setting(
        flat_list(_network, "addresses or networks"),
        "private addresses or networks that may be crawled",
        (),
    )
    proxy: str = setting(
        _or_empty(web_address), "send every request to this HTTP proxy; empty for none", ""
    )
    keep: KeepKind = setting(
        choice(KEEPS), f"raw pages to keep as WARC: {', '.join(KEEPS)}", "pages"
    )
    include: Texts = setting(_PATTERNS, "follow only URLs that match one of these", ())
    exclude: Texts = setting(_PATTERNS, "never follow URLs that match one of these", ())
    drop_parameters: Texts = setting(
        flat_list(text, "names"), "query parameters to drop, besides the known ones", ()
    )
    languages: Texts = setting(
        flat_list(_language, "language codes"),
        "count only pages in these languages, by ISO 639 code (en, uk); empty for all",
        (),
    )
    max_clicks: int = setting(whole(0), "clicks away from a seed, at most; 0 for no limit", 0)
    traps: bool = setting(
        truth, "refuse links to endless spaces, and to files that are not pages", True
    )
    near_duplicates: bool = setting(
        truth, "a page nearly equal to an earlier one earns nothing", True
    )
    keyword_density: float = setting(
        _SOME_SHARE,
        "share of keywords among a page's words above which it earns nothing; 1 for no limit",
        0.35,
    )
    self_cited: float = setting(
        _SOME_SHARE,
        "share of the budget for a domain without a seed that few others cite; 1 for no limit",
        0.14,
    )
    sitemaps: bool = setting(
        truth, "also take links from the sitemaps that robots.txt names", False
    )
    javascript: Texts = setting(_PATTERNS, "render URLs that match one of these in a browser", ())
    javascript_detect: bool = setting(
        truth, "render pages in a browser that have scripts and no text", False
    )


@dataclass(frozen=True, kw_only=True)
class TreeSection(Section, name="tree"):
    """The Tree-Frontier."""

    min_split: int = setting(whole(2), "experiences a leaf needs before it may split", 5)
    max_depth: int = setting(whole(1, 64), "depth at which leaves no longer split", 18)
    representatives: int = setting(
        whole(1, 1_000), "URLs that each of the best leaves offers at a decision", 8
    )


@dataclass(frozen=True, kw_only=True)
class AgentSection(Section, name="agent"):
    """The learner of link values (Double DQN)."""

    gamma: float = setting(
        number("of at least 0 and below 1", lambda x: 0 <= x < 1), "weight of later rewards", 0.3
    )
    hidden: tuple[int, ...] = setting(
        flat_list(whole(1, 1_000), "layer sizes", least=1, most=8),
        "sizes of the hidden layers: at most 8 of them, each at most 1000",
        (30, 15),
    )
    learning_rate: float = setting(_SOME_SHARE, "step size of the optimiser", 0.003)
    batch: int = setting(whole(1, 10_000), "experiences learnt from at each update", 32)
    updates: int = setting(whole(1, 16), "updates of the network after each page", 2)
    soft: bool = setting(truth, "learn from the model's probability instead of its verdict", True)
    new_sites: float = setting(
        _SHARE, "share of the reward that only the first relevant page of a site earns", 0.0
    )
    scarcity: float = setting(
        number("from 0 to 10", lambda x: 0 <= x <= 10),
        "under a cap: cost of the last place of a site while more of its links wait",
        0.3,
    )
    dead_links: float = setting(
        _SHARE, "live: what a link that gives no page costs, as a part of a page", 0.25
    )
    replay: int = setting(whole(1), "experiences kept for replay, at most", 20000)
    target_every: int = setting(
        whole(1), "updates (not pages) between two copies to the target network", 100
    )
    warmup: int = setting(whole(0), "random steps at the start", 0)
    guided: int = setting(
        whole(0), "steps guided by the relevance of page and anchor, before the agent decides", 20
    )
    epsilon: float = setting(_SHARE, "share of later steps taken at random", 0.02)
