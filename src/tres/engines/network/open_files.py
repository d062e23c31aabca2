"""How many files a process may have open, and how many pages that allows in flight.

A page in flight needs a connection and, for a moment, a look-up of its host's name; connections
kept open for later need as much again. Each of the three may use a third of what the limit (`ulimit
-n`) leaves beside everything else that a crawl has open.
"""

from __future__ import annotations

import resource
import warnings

RESERVED = 64
"""For the journal, WARC files, logs, libraries, and the processes that read pages."""
_MANY = 1 << 16


class OpenFilesWarning(UserWarning):
    """Fewer pages are fetched at a time than the user asked for."""


def max_connections() -> int:
    """Return how many pages may be in flight, and how many connections kept open."""
    return max(1, (_limit() - RESERVED) // 3)


def limit_in_flight(in_flight: int) -> int:
    """Return the number of pages in flight, lowered with a warning if it exceeds the limit."""
    most = max_connections()
    if in_flight > most:
        warnings.warn(
            f"only {_limit()} files may be open here (ulimit -n): {most} pages at a time "
            f"instead of {in_flight}",
            OpenFilesWarning,
            stacklevel=2,
        )
    return min(in_flight, most)


def _limit() -> int:
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MANY if soft == resource.RLIM_INFINITY else soft
