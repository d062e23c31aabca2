"""The files that the examples of the documentation start from, made once and copied for every page.

The pages use an encyclopedia with labels, a topic `biology` and its run. Here the encyclopedia is
a generated web whose words for astronomy are replaced by words of biology, so that the examples run
as they are written. `astronomy` is the topic of the tutorial, crawled live on a web served by
`tres serve`.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tests.docs.running import Workplace

from tres.offline.generated.generator import GeneratedWeb
from tres.offline.serving import serving_process
from tres.web.page import Page

SIZE = 1000
WEB = f"generated:pages={SIZE},seed=1"
WORDS = {
    "astronomy": "biology",
    "telescope": "species",
    "galaxy": "animal",
    "star": "plant",
    "planet": "cell",
    "nebula": "gene",
    "orbit": "evolution",
    "comet": "protein",
    "moon": "fossil",
}
_WORD = re.compile(rf"\b({'|'.join(WORDS)})\b", re.IGNORECASE)


class Given:
    """Makes each file or run on first use, and copies it to where it is needed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._makers: dict[str, Callable[[], None]] = {
            "encyclopedia.jsonl.gz": self._encyclopedia,
            "biology.toml": self._biology,
            "runs/biology": self._biology_run,
            "astronomy.toml": self._astronomy,
            "runs/astronomy": self._astronomy_run,
            "runs/bees": self._bees_run,
        }

    def copy(self, names: tuple[str, ...], target: Path) -> None:
        """Copy files and runs by name."""
        for name in names:
            made = self._made(name)
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            if made.is_dir():
                shutil.copytree(made, target / name, dirs_exist_ok=True)
            else:
                shutil.copy(made, target / name)

    def _made(self, name: str) -> Path:
        if not (self._directory / name).exists():
            self._makers[name]()
        return self._directory / name

    def _encyclopedia(self) -> None:
        path = self._directory / "encyclopedia.jsonl.gz"
        with gzip.open(path, "wt", compresslevel=1) as file:
            file.writelines(map(_line, GeneratedWeb(SIZE, 1).pages()))

    def _biology(self) -> None:
        keywords = list(WORDS.values())
        (self._directory / "biology.toml").write_text(
            f"[topic]\nkeywords = {json.dumps(keywords)}\nseeds = {json.dumps(_seeds(3))}\n"
            '[training]\nlabels = ["Science/Biology"]\n[crawl]\npages = 100\n'
        )

    def _biology_run(self) -> None:
        self._made("biology.toml")
        self._made("encyclopedia.jsonl.gz")
        self._run("tres crawl biology.toml --web encyclopedia.jsonl.gz --run runs/biology")

    def _astronomy(self) -> None:
        (self._directory / "astronomy.toml").write_text(
            f"[topic]\nkeywords = {json.dumps(list(WORDS))}\nseeds = {json.dumps(_seeds(5))}\n"
            "[crawl]\npages = 100\nin_flight = 8\n"
            '[live]\ncontact = "you@example.org"\ndelay = 0.0\n'
        )

    def _astronomy_run(self) -> None:
        self._made("astronomy.toml")
        with serving_process(WEB) as proxy:
            self._run(f"tres crawl astronomy.toml --proxy {proxy} --run runs/astronomy")

    def _bees_run(self) -> None:
        """Copy a live run under another name."""
        shutil.copytree(self._made("runs/astronomy"), self._directory / "runs/bees")

    def _run(self, command: str) -> None:
        with Workplace(self._directory) as place:
            done = place.shell(command)
        if done.returncode:
            raise subprocess.CalledProcessError(done.returncode, command, done.stdout)


def _seeds(count: int) -> list[str]:
    return GeneratedWeb(SIZE, 1).seeds("astronomy", count)


def _line(page: Page) -> str:
    """Return a page of the encyclopedia as a line of an archive."""
    labels = ["Science/Biology" if name == "astronomy" else f"Life/{name}" for name in page.labels]
    record = {
        "url": page.url,
        "title": _translate(page.title),
        "text": _translate(page.text),
        "links": [[link.url, _translate(link.anchor)] for link in page.links],
        "labels": labels,
    }
    return json.dumps(record) + "\n"


def _translate(text: str) -> str:
    return _WORD.sub(lambda match: WORDS[match[0].lower()], text)
