"""What a crawl has found, read from its directory.

A run is read from its journal, which is correct at every moment: a run may be crawled, finished or
killed. `refresh` reads what a running crawl has added.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from tres.errors import ConfigError, RunError
from tres.frontier.leaf_rules import TreeView
from tres.offline import Web
from tres.relevance.model import RelevanceModel
from tres.report.run_reader import PageRow, RunReader
from tres.runs.resume_run import tree_of
from tres.store.export_pages import FORMATS, Selection, export, new_file
from tres.store.model_versions import newest_model
from tres.store.page_source import web_of


class Run(RunReader):
    """The run in a directory: `pages` and `failures` as typed rows, and what follows from them.

    `RunError` if there is no run, or if it is damaged. `summary` is None for a crawl that has
    not come to an orderly end; `relevant` and `harvest_rate` are known of any. What people have
    said of pages counts, and what a newer model says, once it has judged the run again.

        >>> Run("runs/none")
        Traceback (most recent call last):
          ...
        tres.errors.RunError: runs/none: no such run directory; name one that 'tres crawl' has ...
    """

    def __init__(self, path: Path | str) -> None:
        super().__init__(Path(path))

    @property
    def path(self) -> Path:
        """The directory."""
        return self.run

    def __repr__(self) -> str:
        return f"Run({str(self.run)!r}): {len(self.pages):,} pages, {self.relevant:,} relevant"

    @property
    def summary(self) -> dict[str, Any] | None:
        """The summary, if the crawl has ended in good order, with the judgements made since."""
        if (written := super().summary) is None or not self.verdicts:
            return written
        sites = {page.site for page in self.pages if page.relevant}
        numbers = {"relevant": self.relevant, "harvest_rate": self.harvest_rate}
        return written | numbers | {"relevant_sites": len(sites)}

    def harvest_curve(self) -> list[float]:
        """Return the harvest rate after each page: relevant pages / pages."""
        found = accumulate(page.relevant for page in self.pages)
        return [relevant / pages for pages, relevant in enumerate(found, start=1)]

    def named(self, page: PageRow) -> dict[str, float]:
        """Return the features of a link when the policy chose it, by name."""
        return dict(zip(self.features, page.features, strict=True))

    def tree(self) -> TreeView:
        """Return the decision tree as it is now; `RunError` if the policy has none."""
        return tree_of(self.run)

    def judge(self) -> RelevanceModel:
        """Return the model that judges pages, for your own texts or another crawl."""
        return newest_model(self.run)

    def web(self) -> Web:
        """Return the web from which pages can be read again, with `fetch(url)`."""
        web = web_of(self.run)
        if web is None:
            raise RunError(f"{self.run}: kept no pages; crawl with live.keep = 'pages' next time")
        return web

    def export(
        self,
        path: Path | str,
        to: str = "jsonl",
        *,
        relevant: bool = False,
        min_relevance: float = 0.0,
        sites: Sequence[str] = (),
        languages: Sequence[str] = (),
        limit: int | None = None,
        overwrite: bool = False,
    ) -> int:
        """Write chosen pages to a file in a format of `tres export`; return how many.

        Those crawled by now are written: what `pages` does not hold yet as well.
        """
        if to not in FORMATS:
            raise ConfigError(f"{to!r} is not a format; valid are {', '.join(FORMATS)}")
        chosen = Selection(relevant, min_relevance, tuple(sites), tuple(languages), limit)
        with new_file(Path(path), overwrite) as file:
            return export(self.run, to, file, chosen).pages
