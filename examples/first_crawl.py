"""A first crawl: give a topic and a budget, get the pages about it.

The web is generated, so nothing is fetched from anywhere. The program is the same with an archive,
or without a web for the live Web.

    python examples/first_crawl.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import tres


def main(directory: Path) -> None:
    web = tres.GeneratedWeb(pages=2000, seed=3)
    topic = tres.new_topic(
        keywords=web.topics["sailing"],
        seeds=web.seeds("sailing", 2),
        labels=["sailing"],  # this web labels its pages: examples to learn from
    )
    print(f"{len(web):,} pages; the topic: {', '.join(topic.topic.keywords[:4])}, ...\n")

    run = tres.run_crawl(topic, web, run=directory / "sailing", pages=200, on_page=show_some)

    print(f"\n{len(run.pages)} pages fetched, {run.relevant} of them relevant")
    print("harvest rate as it went:", *(f"{rate:.2f}" for rate in run.harvest_curve()[24::25]))
    print(f"{run.export(directory / 'sailing.jsonl', relevant=True)} pages exported")


def show_some(page: tres.Stepped) -> None:
    """Called with every page as soon as it is judged."""
    if page.step % 25 == 0:
        verdict = "relevant" if page.relevant else "not"
        print(f"{page.step:4}  {page.relevance:.2f}  {verdict:8}  {page.url}")


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        main(Path(scratch))
