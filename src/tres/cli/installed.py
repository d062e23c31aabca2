"""What is installed, held against what tres needs: packages, word vectors, a browser.

Which packages there must be, and in which versions, is read from the metadata of the installed
package: the extras of pyproject.toml are the only list.
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
from tres.topic.vectors.cache import listed
from tres.topic.vectors.packages import GLOVE_50D, PIP_INSTALL, pip_package_installed

FOR_DEVELOPERS = ("dev", "docs")
"""Extras that nobody needs who only uses tres."""
DATA = "vectors"
"""The extra whose package is data, never imported; `word_vectors` looks for it."""
STARTING = 30.0
"""Seconds that a browser may take to start."""


class State(StrEnum):
    """What came of a check."""

    OK = "ok"
    MISSING = "missing"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what was found, and how to mend it if need be."""

    name: str
    state: State
    found: str
    remedy: str = ""


def judged(
    name: str, good: bool, found: str, remedy: str, otherwise: State = State.OPTIONAL
) -> Check:
    """A check that went well, or one that needs a remedy."""
    return Check(name, State.OK, found) if good else Check(name, otherwise, found, remedy)


def first_line(problem: Exception) -> str:
    """What an error says, in short."""
    return (str(problem).strip() or type(problem).__name__).splitlines()[0]


def requirements(package: str) -> dict[str, list[Requirement]]:
    """What a package needs on this system, by extra; by the empty name what it always needs."""
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


def packages(needed: dict[str, list[Requirement]]) -> Iterator[Check]:
    """Are the packages here, in the right versions, and can they be imported?"""
    if not needed:
        told = "tres is used without being installed, so nobody knows what it needs"
        yield Check("packages", State.OPTIONAL, told, "pip install . where its pyproject.toml is")
    for extra, each in needed.items():
        if extra not in (*FOR_DEVELOPERS, DATA):
            wrong = [problem for problem in map(trouble, each) if problem]
            found = "; ".join(wrong) or ", ".join(f"{r.name} {_version(r.name)}" for r in each)
            worst = State.OPTIONAL if extra else State.MISSING
            yield judged(extra or "packages", not wrong, found, pip_install(extra), worst)


def trouble(requirement: Requirement) -> str:
    """What is wrong with a package, if anything is."""
    version = _version(requirement.name)
    if version is None:
        return f"{requirement.name} is not installed"
    if not requirement.specifier.contains(version, prereleases=True):
        return f"{requirement.name} {version} is not {requirement.specifier}"
    module = requirement.name.replace("-", "_").lower()
    if find_spec(module) is None:  # its modules have other names: take its word for it
        return ""
    try:
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


def word_vectors() -> Check:
    """Are there word vectors, converted or ready to be?"""
    here = [stored.name for stored in listed()]
    if not here and pip_package_installed():
        here = [f"{GLOVE_50D.name}, converted at first use"]
    found = ", ".join(here) or "none, for topic.expand and kw-bilstm"
    return judged("vectors", bool(here), found, PIP_INSTALL)


def chromium() -> Check:
    """Is there a browser, and does it start as a crawl would start it?"""
    from tres.engines.browser.playwright_settings import find_chromium, launch_options

    name = "chromium"
    try:
        path = find_chromium()
    except ConfigError as problem:
        return Check(name, State.OPTIONAL, problem.message)
    if find_spec("playwright") is None:
        return Check(name, State.OPTIONAL, f"{path}, not tried", pip_install("javascript"))
    from playwright.sync_api import Error, sync_playwright

    try:
        with sync_playwright() as driver:
            options = {**launch_options(path), "timeout": STARTING * 1000}
            with driver.chromium.launch(**options) as browser:
                return Check(name, State.OK, f"{path} {browser.version} starts")
    except Error as problem:
        found = f"{path} does not start ({first_line(problem)})"
        return Check(name, State.OPTIONAL, found, "install another one: see docs/javascript.md")
