"""`tres init`: asks, or takes options; writes a topic file; looks at the seeds."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.local_web import Answer, LocalWeb, html

from tres.settings.topic_file import load_topic

from .conftest import Outcome, Tres
from .test_live import run_tres

SEED = "http://site0.example/page/0"


class Terminal(io.StringIO):
    """Somebody who answers."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    return tmp_path


def test_with_options_it_asks_nothing_and_the_crawl_it_names_runs(
    tres: Tres, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = tres("init", "my bees.toml", "--keywords", "bee, honey, honey bee", "--web", archive,
                 "--seed-url", SEED, "--pages", 20)  # fmt: skip
    assert (ended.code, ended.err) == (0, "")
    config = load_topic("my bees.toml")
    assert (config.name, config.topic.keywords) == ("my bees", ("bee", "honey"))
    assert (config.topic.phrases, config.topic.seeds) == (("honey bee",), (SEED,))
    assert (config.crawl.pages, config.training.model) == (20, "auto")
    assert ended.out.splitlines() == [
        "topic file: my bees.toml",
        f"seed: {SEED}",
        "  Bees 0",
        "  en, 4 links, 3 of 3 keywords: bee, honey, honey bee; likely relevant",
        f"next: tres crawl 'my bees.toml' --web {archive}",
    ]
    crawled = tres("crawl", "my bees.toml", "--web", archive)
    assert (crawled.code, crawled.err) == (0, "")


def test_it_says_all_that_is_missing_where_nobody_can_be_asked(tres: Tres, here: Path) -> None:
    ended = tres("init", "--seed-url", SEED)
    assert ended.code == 2
    assert ended.err.startswith("tres: missing: --keywords, --contact; give these options")
    assert list(here.iterdir()) == []


def test_yes_asks_nothing_on_a_terminal(tres: Tres, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal("never\n" * 9))
    assert "missing: --keywords" in tres("init", "--yes", "--contact", "me@example.org").err
    assert sys.stdin.read() == "never\n" * 9


def answered(
    tres: Tres, monkeypatch: pytest.MonkeyPatch, *lines: str, more: tuple[object, ...] = ()
) -> Outcome:
    monkeypatch.setattr(sys, "stdin", Terminal("".join(f"{line}\n" for line in lines)))
    return tres("init", "--no-check", *more)


def test_it_asks_for_what_no_option_says(tres: Tres, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = answered(
        tres, monkeypatch, "sea birds", "", "gull, tern", f"{SEED} {SEED}2", "me@example.org", ""
    )
    assert ended.code == 0, ended.err
    config = load_topic("sea-birds.toml")
    assert (config.name, config.topic.seeds) == ("sea birds", (SEED, f"{SEED}2"))
    assert (config.live.contact, config.crawl.pages) == ("me@example.org", 2000)
    assert ended.out.endswith("next: tres crawl sea-birds.toml --concurrency 8\n")


def test_a_topic_that_is_described_needs_no_keywords(
    tres: Tres, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "Bees and the honey in their hives."
    ended = answered(tres, monkeypatch, "bees", said, "", SEED, "a@b.c", "9")
    assert ended.code == 0, ended.err
    topic = load_topic("bees.toml").topic
    assert (topic.description, topic.keywords) == (said, ())
    options = ("--description", said, "--seed-url", SEED, "--web", archive, "--yes")
    checked = tres("init", "other.toml", *options)
    assert "2 of 3 keywords: bees, honey; likely relevant" in checked.out
    assert tres("crawl", "other.toml", "--web", archive, "--pages", 5).code == 0


def test_it_asks_again_until_it_has_an_answer(tres: Tres, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["", "birds", "", " , ", "gull", "gulls", SEED, "me", "me@example.org", "x", "9"]
    ended = answered(tres, monkeypatch, *lines)
    assert load_topic("birds.toml").crawl.pages == 9
    for problem in (
        "must contain at least one word",
        "must start with http:// or https://",
        "must be a mail address or a web page",
        "must be a whole number of at least 1, not 'x'",
    ):
        assert problem in ended.err


def test_a_seed_may_be_a_bare_host(tres: Tres, monkeypatch: pytest.MonkeyPatch) -> None:
    seeds = "gulls.example, Terns.example/a?b, http://auks.example, user@x.example"
    lines = ["birds", "", "gull", seeds, seeds.rpartition(",")[0], "me@example.org", "9"]
    ended = answered(tres, monkeypatch, *lines)
    assert "not 'user@x.example'" in ended.err
    found = load_topic("birds.toml").topic.seeds
    assert found == ("https://gulls.example/", "https://terns.example/a?b", "http://auks.example")
    given = ("auks.toml", "--keyword", "auk", "--seed-url", "auks.example", "--contact", "a@b.c")
    assert tres("init", *given, "--no-check", "--yes").code == 0
    assert load_topic("auks.toml").topic.seeds == ("https://auks.example/",)


def test_with_a_web_that_is_here_nobody_is_asked_for_a_contact(
    tres: Tres, archive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = answered(tres, monkeypatch, "bees", "", "bee", SEED, "7", more=("--web", archive))
    assert "mail address" not in ended.err
    assert load_topic("bees.toml").crawl.pages == 7


def test_a_file_that_is_there_is_not_touched(tres: Tres, archive: Path) -> None:
    Path("bees.toml").write_text("precious")
    options = ("bees.toml", "--keyword", "bee", "--seed-url", SEED, "--web", archive)
    ended = tres("init", *options)
    assert ended.code == 2
    assert ended.err == "tres: bees.toml: exists already; name another file, or add --force\n"
    assert Path("bees.toml").read_text() == "precious"
    assert tres("init", *options, "--force").code == 0
    assert load_topic("bees.toml").topic.keywords == ("bee",)


def test_wrong_options_are_named_before_anything_is_written(tres: Tres, here: Path) -> None:
    for wrong, problem in (
        (("--seed-url", "ftp://bees.example"), "--seed-url must start with http:// or https://"),
        (("--seed-url", SEED, "--pages", "few"), "--pages must be a whole number"),
        (("--seed-url", SEED, "--contact", "me"), "--contact must be a mail address"),
    ):
        ended = tres("init", "--keyword", "bee", "--web", "none.jsonl", *wrong)
        assert (ended.code, list(here.iterdir())) == (2, [])
        assert problem in ended.err


def test_it_warns_kindly_and_goes_on(tres: Tres, archive: Path, here: Path) -> None:
    hostile = {"url": "http://evil.example/", "title": "\x1b[2J<b>", "text": "nothing " * 30}
    archive.write_text(f"{archive.read_text()}\n{json.dumps(hostile)}")
    seeds = ("--seed-url", "http://gone.example/", "--seed-url", "http://evil.example/")
    ended = tres("init", "t.toml", "--keywords", "bee,Bee,the", "--web", archive, *seeds)
    assert ended.code == 0
    assert ended.out.splitlines()[1:-1] == [
        "note: 'bee' is given twice; it counts once",
        "note: 'the' says nothing about a topic; leave it out",
        "seed: http://gone.example/",
        "  note: it gave no page: http-404 (there is no such page)",
        "seed: http://evil.example/",
        "  \\x1b[2J<b>",
        "  language unknown, no links, 0 of 1 keyword; perhaps not relevant",
        "  note: it has none of your keywords",
    ]


def test_if_no_seed_gives_a_page_it_says_so_and_keeps_the_file(tres: Tres, archive: Path) -> None:
    ended = tres("init", "t.toml", "--keyword", "bee", "--web", archive,
                 "--seed-url", "http://gone.example/")  # fmt: skip
    assert ended.code == 3
    assert "no seed gave a page; name others in t.toml" in ended.err
    assert load_topic("t.toml").name == "t"


@pytest.mark.slow
def test_live_seeds_are_fetched_once_each_and_as_robots_txt_asks(here: Path) -> None:
    good, barred, slow = "http://a.example/", "http://b.example/x", "http://c.example/"
    web = LocalWeb(
        {
            good: html("All of bees", "the honey bee and the hive and the swarm " * 9, [slow]),
            barred: html("Barred", "honey bee " * 30, []),
            slow: Answer(status=500),
            "http://b.example/robots.txt": Answer("User-agent: *\nDisallow: /"),
        }
    )
    seeds = [option for seed in (good, barred, slow) for option in ("--seed-url", seed)]
    with web:
        ended = run_tres("init", here / "t.toml", "--keywords", "bee, hive", *seeds,
                         "--proxy", web.proxy)  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    assert web.urls == [good, slow]
    assert "  All of bees\n  en, 1 link, 2 of 2 keywords: bee, hive; likely" in ended.stdout
    assert f"seed: {barred}\n  note: it gave no page: robots-denied (its robots" in ended.stdout
    assert f"seed: {slow}\n  note: it gave no page: http-error" in ended.stdout
    assert f"--concurrency 8 --proxy {web.proxy}" in ended.stdout


@pytest.mark.slow
def test_a_seed_with_a_private_address_is_refused(here: Path) -> None:
    with LocalWeb({}) as web:
        ended = run_tres("init", "t.toml", "--keyword", "bee", "--contact", "me@example.org",
                         "--seed-url", f"{web.proxy}/")  # fmt: skip
    assert ended.returncode == 3
    assert "it gave no page: blocked-address (a private address" in ended.stdout
    assert web.asked == []


@pytest.mark.slow
def test_on_a_real_terminal_it_asks(here: Path) -> None:
    import os
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "tres", "init", "--no-check"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.write(ours, f"bees\n\nbee\n{SEED}\nme@example.org\n12\n".encode())
        assert process.wait(60) == 0
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "Number of pages to fetch [2000]: " in shown
    assert load_topic("bees.toml").crawl.pages == 12
