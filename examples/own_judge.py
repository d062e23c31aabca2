"""Your own judge: any object that gives a text a probability can decide what is relevant.

There are no examples and no training here: `Mentions` counts words. It could just as well ask a
model of another library. A page is judged once, in its own batch; the anchors of its links form a
second batch.

    python examples/own_judge.py
"""

from __future__ import annotations

from collections.abc import Sequence

import tres


class Mentions:
    """A text is the more relevant, the more of its words are words of the topic."""

    def __init__(self, words: Sequence[str], enough: float) -> None:
        self.words = frozenset(words)
        self.enough = enough

    def probabilities(self, texts: Sequence[str]) -> list[float]:
        return [min(1.0, 0.5 * self.share(text) / self.enough) for text in texts]

    def share(self, text: str) -> float:
        words = text.lower().split()
        return sum(word.strip(".,") in self.words for word in words) / max(1, len(words))


def main() -> tuple[int, int]:
    web = tres.GeneratedWeb(pages=2000, seed=3)
    words = web.topics["chess"]
    topic = tres.new_topic(words, web.seeds("chess", 2))
    judge = Mentions(words, enough=0.05)

    found = right = 0
    for page in tres.crawl_pages(topic, web, judge=judge, pages=400):
        if not page.relevant:
            continue
        found += 1
        truth = web.fetch(page.url)  # this web knows what its pages are about
        right += isinstance(truth, tres.Page) and "chess" in truth.labels
        if found % 20 == 0:
            print(f"{found:3} found in {page.step:3} pages, {right} of them truly about chess")
        if found == 100:
            print("enough: the crawl ends when the loop is left")
            break
    return found, right


if __name__ == "__main__":
    main()
