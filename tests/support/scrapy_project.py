"""Plain Scrapy projects, made and run as people do it: by the `scrapy` command, in processes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.local_web import LocalWeb

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "scrapy-project"
QUICK = {"DOWNLOAD_DELAY": "0", "RETRY_TIMES": "0", "TRES_PAGES": "20"}
"""What a test cannot wait for; all else is as Scrapy's templates write it."""


@dataclass
class Ended:
    """What a `scrapy crawl` has left."""

    summary: dict[str, Any]
    items: list[dict[str, Any]]
    log: str

    def stat(self, name: str) -> int:
        """One of Scrapy's statistics."""
        found = re.search(rf"'{re.escape(name)}': (\d+)", self.log)
        return int(found[1]) if found else 0


@dataclass
class Project:
    """A project directory."""

    place: Path

    def spider(self, name: str, text: str) -> None:
        """Write a spider of this name."""
        (self.place / "plain" / "spiders" / f"{name}.py").write_text(text, encoding="utf-8")

    def edit(self, name: str, **changes: str) -> None:
        """Replace lines of a spider, named by how they begin."""
        path = self.place / "plain" / "spiders" / f"{name}.py"
        text = path.read_text(encoding="utf-8")
        for start, line in changes.items():
            text, times = re.subn(rf"(?m)^( *){start}\b.*$", rf"\g<1>{line}", text)
            assert times == 1, (start, text)
        path.write_text(text, encoding="utf-8")

    def scrapy(
        self, *arguments: str, web: LocalWeb | None = None
    ) -> subprocess.CompletedProcess[str]:
        proxy = {} if web is None else {"http_proxy": web.proxy}
        return subprocess.run(
            [sys.executable, "-m", "scrapy", *arguments],
            cwd=self.place,
            env={**os.environ, **proxy},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )

    def crawl(self, name: str, web: LocalWeb, **settings: str) -> Ended:
        """`scrapy crawl`, to its end."""
        given = [f"{key}={value}" for key, value in {**QUICK, **settings}.items()]
        options = [part for setting in given for part in ("-s", setting)]
        done = self.scrapy("crawl", name, "-O", "items.jsonl", *options, web=web)
        assert done.returncode == 0, done.stderr
        summary = self.place / "run" / "summary.json"
        assert summary.exists(), done.stderr
        lines = (self.place / "items.jsonl").read_text(encoding="utf-8").splitlines()
        return Ended(json.loads(summary.read_text()), [*map(json.loads, lines)], done.stderr)


def new_project(place: Path) -> Project:
    """`scrapy startproject` and `scrapy genspider`, and the lines that docs/scrapy.md asks for."""
    project = Project(place)
    for command in (
        ["startproject", "plain", "."],
        ["genspider", "basic", "bees.example"],
        ["genspider", "-t", "crawl", "rules", "bees.example"],
    ):
        done = project.scrapy(*command)
        assert done.returncode == 0, done.stderr
    with (place / "plain" / "settings.py").open("a", encoding="utf-8") as settings:
        settings.write("\n" + documented_lines())
    topic = (EXAMPLE / "topic.toml").read_text(encoding="utf-8")
    quick = topic.replace("delay = 1.0", "delay = 0.0\nthrottle = false")
    (place / "topic.toml").write_text(quick, encoding="utf-8")
    shutil.copytree(EXAMPLE / "examples", place / "examples")
    return project


def documented_lines() -> str:
    """The first Python block of docs/scrapy.md."""
    page = (ROOT / "docs" / "scrapy.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    return found[1]
