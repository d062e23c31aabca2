"""Read a run: pages, failures, sites, the tree, and a page again in full.

Give it the directory of a run, made by a program or by `tres crawl`, finished or not:

    python examples/read_a_run.py runs/biology

Without one, it first crawls a small generated web and stops in the middle.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import tres


def main(run: tres.Run) -> None:
    print(run)
    state = "running, or killed" if run.summary is None else run.summary["stopped"]
    print(f"{state}; {len(run.pages):,} of {run.budget:,} pages in {run.seconds:.1f} s\n")

    sites = Counter(page.site for page in run.pages if page.relevant)
    print("sites with most relevant pages:")
    for site, count in sites.most_common(3):
        print(f"  {count:3}  {site}")

    kinds = Counter(failure.kind for failure in run.failures)
    print("failures:", ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none")

    chosen = [page for page in run.pages if page.relevant and page.q is not None]
    best = max(chosen, key=lambda page: page.q or 0.0)
    print(f"\nthe best choice (value {best.q:.2f}, of {best.candidates} links): {best.url}")
    for name, value in sorted(run.named(best).items(), key=lambda item: -item[1])[:4]:
        print(f"  {value:5.2f}  {name}")
    if best.leaf is not None:
        print("its leaf in the tree:", run.tree().rule(best.leaf))

    page = run.web().fetch(best.url)
    if isinstance(page, tres.Page):
        print(f"\n{page.title}\n  {page.text[:150]} ...")


def crawled(directory: Path) -> tres.Run:
    """Return a run that was stopped in the middle; what it found so far is there."""
    web = tres.GeneratedWeb(pages=2000, seed=4)
    topic = tres.new_topic(web.topics["cooking"], web.seeds("cooking", 2), labels=["cooking"])
    for page in tres.crawl_pages(topic, web, run=directory / "cooking", pages=400):
        if page.step == 150:
            break
    return tres.Run(directory / "cooking")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(tres.Run(sys.argv[1]))
    else:
        with TemporaryDirectory() as scratch:
            main(crawled(Path(scratch)))
