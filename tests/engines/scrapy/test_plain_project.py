"""A project as `scrapy startproject` and `scrapy genspider` make it, and what it may expect.

All of this runs the real commands in processes of their own, over a web on loopback.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.support.local_web import Answer, LocalWeb, Pages, html
from tests.support.scrapy_project import Project, new_project

pytestmark = pytest.mark.slow

HOME = "http://bees.example/"
ABOUT = "The bee and its hive give honey, nectar and pollen from a swarm, number "
ROBOTS = "User-agent: *\nDisallow: /private/\n"


CHECKED = '''
import scrapy


class CheckedSpider(scrapy.Spider):
    name = "checked"
    start_urls = ["http://bees.example/"]

    def parse(self, response):
        """
        @url http://bees.example/Items/1
        @returns items 1 1
        """
        yield {"url": response.url}
'''


def page(number: int) -> str:
    return f"http://bees.example/Items/{number}"


def wide_web(pages: int = 30) -> Pages:
    """One site that the spider may visit; what it links to, and parts of its own, are forbidden."""
    web: dict[str, str | Answer] = {f"{HOME}robots.txt": Answer(ROBOTS)}
    for i in range(pages):
        other = f"http://other{i}.example/"
        web[f"{other}robots.txt"] = Answer("User-agent: *\nDisallow: /\n")
        for away in range(2):
            web[f"{other}{away}"] = html(
                f"Other {i}", f"{ABOUT} {i} {away}", [f"{other}{away + 1}"]
            )
        links = [page((3 * i + j) % pages) for j in (1, 2, 3)]
        web[page(i)] = html(
            f"Page {i}", f"{ABOUT} {i}", [*links, f"{other}0", f"{HOME}private/{i}"]
        )
        web[f"{HOME}private/{i}"] = html("Private", f"{ABOUT} private {i}")
    web[HOME] = html("Home", f"{ABOUT} home", [page(0), page(1), "http://other0.example/0"])
    return web


def hosts(web: LocalWeb) -> set[str]:
    return {str(urlsplit(asked.url).hostname) for asked in web.asked}


def forbidden(web: LocalWeb) -> list[str]:
    return [url for url in web.urls if "/private/" in url or "//other" in url]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return new_project(tmp_path_factory.mktemp("made")).place


@pytest.fixture
def project(template: Path, tmp_path: Path) -> Project:
    return Project(Path(shutil.copytree(template, tmp_path / "project")))


def test_the_basic_template_stays_within_allowed_domains(project: Project) -> None:
    item = "yield {'url': response.url, **response.meta['tres']}"
    project.edit("basic", start_urls=f'start_urls = ["{HOME}"]', **{"pass": item})
    with LocalWeb(wide_web()) as web:
        ended = project.crawl("basic", web)
    assert hosts(web) == {"bees.example"}
    assert forbidden(web) == []
    assert (ended.summary["pages"], ended.summary["stopped"]) == (20, "budget")
    assert len(ended.items) == 20
    assert ended.summary["failures"].keys() <= {"robots-denied"}
    assert ended.stat("offsite/filtered") == ended.summary["dropped"]["off-site"] > 0


def test_the_rules_of_the_crawl_template_hold(project: Project) -> None:
    project.edit("rules", start_urls=f'start_urls = ["{HOME}"]')
    project.edit("rules", **{"return item": "return {'url': response.url}"})
    with LocalWeb(wide_web()) as web:
        ended = project.crawl("rules", web)
    assert hosts(web) == {"bees.example"}
    assert forbidden(web) == []
    assert (ended.summary["pages"], ended.summary["stopped"]) == (20, "budget")
    assert {item["url"] for item in ended.items} == set(web.urls) - {HOME}  # by parse_item
    assert ended.stat("spider_exceptions/count") == 0
    assert ended.summary["failures"] == {}
    assert ended.summary["dropped"]["spider-rules"] > 0


def test_a_project_that_names_the_old_path_still_crawls_and_is_told_the_new_one(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "default::DeprecationWarning")
    project.edit("basic", start_urls=f'start_urls = ["{HOME}"]')
    old = "tres.engines.scrapy.plugin.TresScheduler"
    with LocalWeb(wide_web()) as web:
        ended = project.crawl("basic", web, SCHEDULER=old, TRES_PAGES="5")
    assert (ended.summary["pages"], ended.summary["stopped"]) == (5, "budget")
    assert f'{old} has moved; set SCHEDULER = "tres.scrapy_plugin.TresScheduler"' in ended.log


def test_commands_for_single_pages_start_no_crawl(project: Project) -> None:
    project.spider("checked", CHECKED)
    with LocalWeb(wide_web()) as web:
        fetched = project.scrapy("fetch", "--nolog", page(0), web=web)
        shown = project.scrapy("shell", "--nolog", "-c", "response.status", page(0), web=web)
        checked = project.scrapy("check", "checked", web=web)
    assert "Page 0" in fetched.stdout
    assert shown.stdout.strip() == "200"
    assert "Ran 1 contract" in checked.stderr + checked.stdout
    assert "OK" in checked.stderr + checked.stdout
    assert web.urls == [page(0), page(0), page(1)]
    assert not (project.place / "run").exists()
