"""Policies by name: what each declares, and what a name may stand for."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tres.errors import ConfigError
from tres.mdp.state import CrawlState
from tres.policies.policy import NEUTRAL, PolicyInfo
from tres.policies.registry import feature_set, info_of, load_policy, make_policy, policy_info
from tres.policies.setup import PolicySettings
from tres.settings.installed_packages import search_path
from tres.settings.policy_names import POLICIES, POLICY_NAMES, split_policy
from tres.settings.sections import CrawlSection
from tres.settings.site_caps import SiteCap


@pytest.mark.parametrize("name", POLICIES)
def test_every_built_in_policy_declares_what_it_is(name: str) -> None:
    info = info_of(load_policy(name))
    assert info.summary
    assert policy_info(name) is info


def test_what_policies_declare_is_what_other_rooms_ask_for() -> None:
    def those(test: object) -> set[str]:
        return {name for name in POLICIES if test(policy_info(name))}  # type: ignore[operator]

    assert those(lambda info: info.q_values) == {"tres", "tres-sync", "tres-async"}
    assert those(lambda info: info.obeys_focus) == {"ache", "seedfinder"}
    assert those(lambda info: info.score_meaning) == {"ache", "seedfinder", "parent", "anchor"}
    assert those(lambda info: "web graph" in info.needs) == {"oracle"}
    assert those(lambda info: "search engine" in info.needs) == {"seedfinder"}


@pytest.mark.parametrize(
    ("cap", "expected"), [("inf", "evidence"), (10, "no-neighbours"), ("5..2", "no-neighbours")]
)
def test_the_default_feature_set_depends_on_the_cap(cap: object, expected: str) -> None:
    crawl = CrawlSection(max_per_site=SiteCap.parse(cap))
    assert (crawl.features, feature_set(crawl)) == ("auto", expected)
    for given in ("evidence", "no-neighbours", "paper"):
        assert feature_set(replace(crawl, features=given)) == given


def test_a_policy_that_reads_no_features_gets_the_cheap_set() -> None:
    sets = {name: feature_set(CrawlSection(policy=name)) for name in POLICIES}
    reading = {name for name, features in sets.items() if features == "evidence"}
    assert reading == {"tres", "tres-sync", "tres-async", "tree-random"}
    assert {sets[name] for name in POLICIES if name not in reading} == {"citations"}
    assert feature_set(CrawlSection(policy="random", features="paper")) == "paper"


@pytest.mark.parametrize("name", ["oracle", "seedfinder"])
def test_a_policy_that_needs_an_archive_is_refused_without_one(name: str) -> None:
    with pytest.raises(ConfigError, match=f"^crawl.policy: {name} needs .*; give it an archive"):
        make_policy(PolicySettings(name), CrawlState(), np.random.default_rng(1))


def test_a_name_is_checked_without_importing_anything() -> None:
    assert POLICY_NAMES.check("never.installed:Odds") == "never.installed:Odds"
    assert "never" not in sys.modules


@pytest.mark.parametrize(
    "name", ["", "tress", "a:", ":b", "a.b:", "a..b:C", "a/b:C", "a b:C", "a:b:c", "../a:b", 3]
)
def test_what_is_neither_a_name_nor_a_path_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match=r"must be one of tres, .*, or package.module:Name, not"):
        POLICY_NAMES.check(name)


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("tres", ("tres", "")),
        ("tres:gamma=0.1,soft=true", ("tres", "gamma=0.1,soft=true")),
        ("odds.policies:Odds", ("odds.policies:Odds", "")),
        ("odds:Odds:pages=9,features=paper", ("odds:Odds", "pages=9,features=paper")),
        ("tres:gamma", ("tres", "gamma")),
    ],
)
def test_a_policy_and_its_options_are_told_apart(spec: str, parts: tuple[str, str]) -> None:
    assert split_policy(spec) == parts


def installed(place: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> str:
    """Put a package where installed ones are, and return its name."""
    (place / f"{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(place))
    monkeypatch.syspath_prepend(place)
    return name


@pytest.mark.parametrize(
    ("module", "attribute", "text", "message"),
    [
        ("not_a_class", "odds", "odds = 3", "is not a policy: it is no class; derive a class from"),
        ("no_policy", "Odds", "class Odds: ...", "is not a policy: it lacks schema, "),
        ("misspelt", "Odd", "class Odds: ...", "has no Odd; did you mean misspelt:Odds?"),
        ("empty", "Odds", "", "has no Odds; name a class of the module"),
        ("broken", "Odds", "1 / 0", "cannot be imported: ZeroDivisionError: division by zero"),
        ("script", "Odds", "exit(3)", "cannot be imported: SystemExit: 3; mend the package"),
        ("lacking", "Odds", "import never_was", "No module named 'never_was'; install what is"),
    ],
)
def test_what_is_wrong_with_somebodys_class_is_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    module: str,
    attribute: str,
    text: str,
    message: str,
) -> None:
    path = f"{installed(tmp_path, monkeypatch, module, text)}:{attribute}"
    with pytest.raises(ConfigError) as problem:
        load_policy(path)
    assert problem.value.message.startswith(f"crawl.policy: {path} ")
    assert message in problem.value.message
    assert policy_info(path) == NEUTRAL


def test_a_package_that_is_not_installed_is_named() -> None:
    with pytest.raises(ConfigError, match="in the package never, which is not installed; install"):
        load_policy("never.installed:Odds")


def test_pythons_own_modules_hold_no_policies() -> None:
    with pytest.raises(ConfigError, match="names antigravity of Python itself"):
        load_policy("antigravity:fly")
    assert "antigravity" not in sys.modules


def test_the_current_directory_and_relative_paths_are_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "beside_the_topic.py").write_text("raise SystemExit('it ran')", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for entry in ("", ".", str(tmp_path)):
        monkeypatch.setattr(sys, "path", [entry, *sys.path])
        monkeypatch.setenv("PYTHONPATH", f":.:{Path.cwd().name}")
        assert entry not in search_path()
        with pytest.raises(ConfigError, match="the current directory is not searched"):
            load_policy("beside_the_topic:Odds")


def test_a_declaration_of_the_wrong_kind_is_passed_over() -> None:
    assert info_of(type("Odds", (), {"info": "a text"})) == NEUTRAL  # type: ignore[arg-type]
    assert info_of(type("Odds", (), {"info": PolicyInfo(summary="x")})).summary == "x"  # type: ignore[arg-type]
