"""URLs whose fetch failed for a reason that may pass, and when they are tried again.

Did the page fail, or its site? Only the site's next answers can tell:

- while the site is silent, the URL *rests*. Other links of the site are tried first, if only to see
  whether it is back; a resting URL is tried when nothing else can be fetched;
- once the site has answered any other request, the URL is *due*: it is tried before anything new.
  If it fails again, the page is broken and the failure counts.

So an outage loses no link, and a page that never works costs two attempts. As a site may stay
away for good, no URL is tried more than `MOST` times.
"""

from __future__ import annotations

from collections import Counter, deque

from tres.mdp.columns import Flags
from tres.mdp.transitions import Choice

MOST = 10
"""Attempts for one URL; the pauses between them grow with every failure of its site."""


class PostponedChoices:
    """Choices that wait for another attempt."""

    def __init__(self) -> None:
        self._resting: deque[Choice] = deque()
        self._due: deque[Choice] = deque()
        self._attempts: Counter[int] = Counter()
        self._last: set[int] = set()

    def __len__(self) -> int:
        return len(self._resting) + len(self._due)

    def take(self, choice: Choice) -> bool:
        """Keep a failed choice for another attempt; return whether it gets one."""
        self._attempts[choice.url] += 1
        if choice.url in self._last or self._attempts[choice.url] >= MOST:
            self.forget(choice.url)
            return False
        self._resting.append(choice)
        return True

    def answered(self, choice: Choice) -> None:
        """Settle a choice whose site has answered; its resting choices become due."""
        self.forget(choice.url)
        if not self._resting:
            return
        self._due.extend(each for each in self._resting if each.site == choice.site)
        self._resting = deque(each for each in self._resting if each.site != choice.site)

    def due(self, waiting: Flags | None) -> Choice | None:
        """Take the first due choice whose site is ready, for its last attempt."""
        choice = _first(self._due, waiting)
        if choice is not None:
            self._last.add(choice.url)
        return choice

    def resting(self, waiting: Flags | None) -> Choice | None:
        """Take the first resting choice whose site is ready."""
        return _first(self._resting, waiting)

    def silent(self) -> set[int]:
        """Return the sites of resting choices: those that have not answered since."""
        return {choice.site for choice in self._resting}

    def forget(self, url: int) -> None:
        """Forget the attempts for a URL."""
        del self._attempts[url]  # a Counter ignores a missing key
        self._last.discard(url)

    def forget_site(self, site: int) -> None:
        """Drop all choices of a site."""
        self._resting = deque(each for each in self._resting if each.site != site)
        self._due = deque(each for each in self._due if each.site != site)


def _first(choices: deque[Choice], waiting: Flags | None) -> Choice | None:
    """Take the first choice whose site need not wait."""
    for place, choice in enumerate(choices):
        if waiting is None or not waiting[choice.site]:
            del choices[place]
            return choice
    return None
