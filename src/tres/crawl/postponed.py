"""URLs whose fetch failed in a way that may pass, and when they are asked for again.

Whose fault was it, the page's or the site's? Only what its site does next can tell:

- while the site is silent, the URL *rests*. Other links of the site are asked for first, if only
  to see whether it is back; a URL that rests is asked for when nothing else can be;
- once anything else of the site has been answered, the URL is *due*: it is asked for before
  anything new. If it fails again, the page is broken and the failure counts.

So an outage loses no link, and a page that never works costs two attempts. As a site may stay
away for good, no URL is asked for more than `MOST` times.
"""

from __future__ import annotations

from collections import Counter, deque

from tres.mdp.columns import Flags
from tres.mdp.transitions import Choice

MOST = 10
"""Attempts for one URL; the pauses between them grow with every failure of its site."""


class PostponedChoices:
    """The choices of a crawl that wait for a second attempt."""

    def __init__(self) -> None:
        self._resting: deque[Choice] = deque()
        self._due: deque[Choice] = deque()
        self._attempts: Counter[int] = Counter()
        self._last: set[int] = set()

    def __len__(self) -> int:
        return len(self._resting) + len(self._due)

    def take(self, choice: Choice) -> bool:
        """A choice has failed, and may be tried again; is it worth it?"""
        self._attempts[choice.url] += 1
        if choice.url in self._last or self._attempts[choice.url] >= MOST:
            self.forget(choice.url)
            return False
        self._resting.append(choice)
        return True

    def answered(self, choice: Choice) -> None:
        """The site of a choice answers: what rests there is due, and this one is settled."""
        self.forget(choice.url)
        if not self._resting:
            return
        self._due.extend(each for each in self._resting if each.site == choice.site)
        self._resting = deque(each for each in self._resting if each.site != choice.site)

    def due(self, waiting: Flags | None) -> Choice | None:
        """The first choice whose site answers and need not wait; its last attempt."""
        choice = _first(self._due, waiting)
        if choice is not None:
            self._last.add(choice.url)
        return choice

    def resting(self, waiting: Flags | None) -> Choice | None:
        """The first choice that rests and whose site need not wait."""
        return _first(self._resting, waiting)

    def silent(self) -> set[int]:
        """The sites of what rests: nothing of them has been answered since."""
        return {choice.site for choice in self._resting}

    def forget(self, url: int) -> None:
        """The fate of a URL is settled."""
        del self._attempts[url]  # of a Counter: nothing happens if it is not there
        self._last.discard(url)

    def forget_site(self, site: int) -> None:
        """Nothing more of a site is wanted."""
        self._resting = deque(each for each in self._resting if each.site != site)
        self._due = deque(each for each in self._due if each.site != site)


def _first(choices: deque[Choice], waiting: Flags | None) -> Choice | None:
    """Take the first that need not wait."""
    for place, choice in enumerate(choices):
        if waiting is None or not waiting[choice.site]:
            del choices[place]
            return choice
    return None
