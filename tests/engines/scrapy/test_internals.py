"""The contract with Scrapy and Twisted: each private name that tres uses is still there.

`internals.py` is the only module that may use one. When a release of Scrapy takes a name away, the
first test fails with a sentence that says which release, which name, and what breaks without it.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from scrapy.spiders import CrawlSpider
from scrapy.utils.misc import load_object

import tres.engines.scrapy
from tres.engines.scrapy import TESTED_SCRAPY

INTERNALS_PY = Path(tres.engines.scrapy.__file__).with_name("internals.py")
"""Not imported here: without one of its names it could not be, and no sentence would say why."""
SOURCES = INTERNALS_PY.parents[2]
INTERNALS = ("internals.py", "playwright_internals.py")
FOREIGN = ("scrapy", "twisted", "protego", "playwright", "scrapy_playwright", "OpenSSL")


@dataclass(frozen=True)
class Private:
    """A private name: where it is defined, and what tres loses without it."""

    owner: str
    name: str
    used_by: str
    purpose: str
    parameters: str = ""

    def __str__(self) -> str:
        return f"{self.owner}.{self.name}"


ENGINE = "scrapy.core.engine.ExecutionEngine"
SLOT = "scrapy.core.engine._Slot"
RULES = "scrapy.spiders.CrawlSpider"
HANDLER = "scrapy.core.downloader.handlers.http11.HTTP11DownloadHandler"
HTTP11 = "scrapy.core.downloader.handlers.http11"
POOL = "twisted.web.client.HTTPConnectionPool"
FOLLOW = "offer the links of a CrawlSpider's rules to the frontier"
DOWNLOAD = "download over connections whose address was checked"
PARSE = "bound the headers of a response"
IDLE = "bound the number of idle connections"

CONTRACT = (
    Private(ENGINE, "_slot", "requests_in_progress", "notice requests that Scrapy has lost"),
    Private(SLOT, "inprogress", "requests_in_progress", "notice requests that Scrapy has lost"),
    Private(SLOT, "nextcall", "wake_engine", "send a request as soon as politeness allows it"),
    Private(ENGINE, "_start", "is_starting", "let seeds wait for the spider's start requests"),
    Private(RULES, "_follow_links", "stop_following", FOLLOW),
    Private(RULES, "_requests_to_follow", "requests_to_follow", FOLLOW, "self response"),
    Private(RULES, "_build_request", "request_by_rule", FOLLOW, "self rule_index link"),
    Private("scrapy.Spider", "_parse", "default_callback", "call a spider back"),
    Private(
        "scrapy.core.spidermw.SpiderMiddlewareManager",
        "_process_spider_output",
        "through_spider_middlewares",
        "apply a project's spider middlewares to links",
        "self response result start_index",
    ),
    Private(
        "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware",
        "_parsers",
        "forget_robots",
        "ask again for a robots.txt that could not be fetched",
    ),
    *(
        Private(HANDLER, name, "AgentHandler", DOWNLOAD)
        for name in (
            "_contextFactory",
            "_pool",
            "_crawler",
            "_default_maxsize",
            "_default_warnsize",
            "_fail_on_dataloss",
            "_tls_verbose_logging",
        )
    ),
    Private(HTTP11, "_ScrapyAgent", "AgentRequests", DOWNLOAD),
    Private(
        f"{HTTP11}._ScrapyAgent", "_get_agent", "AgentRequests", DOWNLOAD, "self request timeout"
    ),
    Private(
        "scrapy.utils._download_handlers",
        "wrap_twisted_exceptions",
        "AgentHandler",
        "name the failures of downloads",
    ),
    Private("twisted.web._newclient", "ParseError", "ParseError", "name answers that are not HTTP"),
    Private(HTTP11, "_LenientHTTPClientParser", "LenientParser", PARSE),
    Private(HTTP11, "_LenientHTTP11ClientProtocol", "ParsingProtocol", PARSE),
    Private(HTTP11, "_LenientHTTP11ClientFactory", "BoundedPool", PARSE),
    Private("twisted.web._newclient.HTTP11ClientProtocol", "_parser", "ParsingProtocol", PARSE),
    Private("twisted.web.client._HTTP11ClientFactory", "_quiescentCallback", "BoundedPool", PARSE),
    Private(POOL, "_factory", "BoundedPool", PARSE),
    Private(POOL, "_timeouts", "BoundedPool", IDLE),
    Private(POOL, "_connections", "BoundedPool", IDLE),
    Private(POOL, "_putConnection", "BoundedPool", IDLE, "self key connection"),
    Private(POOL, "_removeConnection", "BoundedPool", IDLE, "self key connection"),
)


def broken(private: Private) -> str:
    """Return what has become of a private name; an empty string if it is as it was."""
    change = _change(private)
    if not change:
        return ""
    package = private.owner.partition(".")[0]
    needs = f"tres.engines.scrapy.internals.{private.used_by} needs it to {private.purpose}"
    last = ", ".join(TESTED_SCRAPY)
    return (
        f"{package} {version(package)} {change} {private}: {needs}; "
        f"the contract held with Scrapy {last}"
    )


def _change(private: Private) -> str:
    try:
        owner = _load(private.owner)
    except (ImportError, NameError):
        return "has no place for"
    if not _has(private, owner):
        return "has no"
    if private.parameters:
        taken = " ".join(inspect.signature(getattr(owner, private.name)).parameters)
        return "" if taken == private.parameters else f"({taken}) has changed the parameters of"
    return ""


def _load(path: str) -> Any:
    """Load a class or a module by its dotted path."""
    try:
        return load_object(path)
    except NameError:
        return import_module(path)


def _has(private: Private, owner: Any) -> bool:
    if hasattr(owner, private.name) or private.parameters or not isinstance(owner, type):
        return hasattr(owner, private.name)
    return any(private.name in _defined(kind) for kind in owner.__mro__[:-1])


@cache
def _defined(kind: type) -> frozenset[str]:
    """Return the names that a class defines: its methods, and what it gives to its instances."""
    assigned = re.findall(r"self\.(\w+)(?:: [^=\n]+)? = ", inspect.getsource(kind))
    return frozenset(assigned) | vars(kind).keys() | vars(kind).get("__annotations__", {}).keys()


@pytest.mark.parametrize("private", CONTRACT, ids=str)
def test_the_private_name_is_still_there(private: Private) -> None:
    problem = broken(private)
    assert not problem, problem


def test_the_private_name_of_scrapy_playwright_is_still_there() -> None:
    pytest.importorskip("scrapy_playwright")
    handler = "scrapy_playwright.handler.ScrapyPlaywrightDownloadHandler"
    purpose = "stop the scripts of a page before it is read"
    parameters = "self page request spider"
    problem = broken(Private(handler, "_apply_page_methods", "PageHandler", purpose, parameters))
    assert not problem, problem


def test_a_name_that_is_gone_is_reported_with_release_and_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(CrawlSpider, "_build_request")
    gone = next(each for each in CONTRACT if each.name == "_build_request")
    assert broken(gone) == (
        f"scrapy {version('scrapy')} has no scrapy.spiders.CrawlSpider._build_request: "
        "tres.engines.scrapy.internals.request_by_rule needs it to offer the links of a "
        "CrawlSpider's rules to the frontier; the contract held with Scrapy 2.19"
    )


def test_a_method_that_takes_other_parameters_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CrawlSpider, "_build_request", lambda self, rule, link, response: None)
    changed = next(each for each in CONTRACT if each.name == "_build_request")
    assert "(self rule link response) has changed the parameters of" in broken(changed)


def test_the_installed_scrapy_is_one_that_doctor_calls_tested() -> None:
    assert version("scrapy").startswith(tuple(f"{each}." for each in TESTED_SCRAPY))


def test_the_contract_lists_all_private_names_that_internals_uses() -> None:
    listed = {part for each in CONTRACT for part in (each.name, *each.owner.split("."))}
    own = {"_most_idle", "_make", "_agent", "_Factory"}
    assert set(private_names(INTERNALS_PY)) - own <= listed


def modules() -> list[Path]:
    return [path for path in sorted(SOURCES.rglob("*.py")) if path.name not in INTERNALS]


def test_no_other_module_imports_or_touches_private_names() -> None:
    found = {
        str(path.relative_to(SOURCES)): names
        for path in modules()
        if (names := sorted(foreign_private_names(path)))
    }
    assert found == {}, f"move these to engines/scrapy/internals.py: {found}"


def private_names(path: Path) -> Iterator[str]:
    """Yield every private name in a module: imported, or an attribute of anything."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith(FOREIGN):
                parts = [*module.split("."), *(alias.name for alias in names)]
                yield from filter(_is_private, parts)
            case ast.Attribute(attr=name) if _is_private(name):
                yield name


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def foreign_private_names(path: Path) -> Iterator[str]:
    """Yield the private names of others that a module uses."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom | ast.Import)]
    if any(_imports_foreign(node) for node in imported):
        yield from touched_private_names(tree)
        yield from inherited_private_names(path)


def touched_private_names(tree: ast.Module) -> Iterator[str]:
    """Yield the private names that a module imports, or uses on anything but `self`."""
    for node in ast.walk(tree):
        match node:
            case ast.ImportFrom(module=str(module), names=names) if module.startswith(FOREIGN):
                parts = [*module.split("."), *(alias.name for alias in names)]
                yield from filter(_is_private, parts)
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                pass  # `inherited_private_names` looks at these
            case ast.Attribute(attr="__dict__" | "__class__", ctx=ast.Load() | ast.Store()) as each:
                yield each.attr
            case ast.Attribute(attr=name) if _is_private(name):
                yield name


def _imports_foreign(node: ast.ImportFrom | ast.Import) -> bool:
    names = (
        [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
    )
    return any(name.partition(".")[0] in FOREIGN for name in names)


def inherited_private_names(path: Path) -> Iterator[str]:
    """Yield the private names that classes of a module use or override, and their bases define."""
    module = _loaded(path)
    for kind in vars(module).values() if module is not None else ():
        if isinstance(kind, type) and kind.__module__ == module.__name__:  # type: ignore[union-attr]
            used = {*re.findall(r"self\.(_\w+)", inspect.getsource(kind)), *vars(kind)}
            bases = [b for b in kind.__mro__ if b.__module__.partition(".")[0] in FOREIGN]
            shared = {name for base in bases for name in used & _defined(base)} - {"_abc_impl"}
            yield from (f"{kind.__name__}.{name}" for name in shared if _is_private(name))


def _loaded(path: Path) -> ModuleType | None:
    if "browser" in path.parts and find_spec("scrapy_playwright") is None:
        return None
    parts = path.relative_to(SOURCES.parent).with_suffix("").parts
    return import_module(".".join(part for part in parts if part != "__init__"))


@pytest.mark.parametrize(
    "line",
    [
        "from scrapy.core.engine import _Slot",
        "from twisted.web._newclient import Request",
        "from scrapy import Spider\nspider._parse(None)",
        "from scrapy import Spider\nspider.__dict__['x'] = 1",
        "from scrapy import Spider\nspider.__class__ = Spider",
    ],
)
def test_the_search_finds_what_it_must(line: str) -> None:
    assert list(touched_private_names(ast.parse(line)))
