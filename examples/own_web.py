"""A web from your own objects: pages from a database, a dump or a test.

A small web of two sites: one about bees, which links to the other, about cars.

    python examples/own_web.py
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import tres

BEES = ("honey", "hive", "queen", "pollen", "swarm", "wax", "nectar", "drone")
CARS = ("engine", "brake", "wheel", "clutch", "piston", "tyre", "petrol", "gear")


def pages() -> list[tres.Page]:
    """Return two sites; every page has three words of its topic and links to three pages."""
    return [
        *(page("bees.example", BEES, number, "animals") for number in range(len(BEES))),
        *(page("cars.example", CARS, number, "machines") for number in range(len(CARS))),
    ]


def page(host: str, words: tuple[str, ...], number: int, label: str) -> tres.Page:
    one, two, three = (words[(number + i) % len(words)] for i in range(3))
    return tres.Page(
        url=f"http://{host}/{one}",
        title=f"All about {one}",
        text=f"This page is about {one}, {two} and {three}. " * 5,
        links=(
            tres.Link(f"/{two}", f"more on {two}"),
            tres.Link(f"/{three}", f"more on {three}"),
            tres.Link(f"http://cars.example/{CARS[number]}", f"our sponsor: {CARS[number]}"),
        ),
        labels=(label,),
    )


def main(directory: Path) -> tres.Run:
    web = tres.PagesWeb(pages(), name="two sites")
    topic = tres.new_topic(["bee", *BEES[:3]], ["http://bees.example/honey"], labels=["animals"])
    run = tres.run_crawl(topic, web, run=directory / "bees")

    for page in run.pages:
        came = f"from {page.parent}" if page.parent else "seed"
        print(f"{page.step:3}  {page.relevance:.2f}  {page.url:30}  {came}")
    assert run.summary is not None  # the crawl has ended
    print(f"\n{run.relevant} of {len(run.pages)} relevant; it ended: {run.summary['stopped']}")
    return run


if __name__ == "__main__":
    with TemporaryDirectory() as scratch:
        main(Path(scratch))
