"""How many files a process may have open, and what that leaves for a crawl.

A page in flight takes a connection and, for a moment, a look-up of its host's name; connections
that are kept open for later take as much again. Each may have a third of what the limit
(`ulimit -n`) leaves beside all else that a crawl holds open.
"""

from __future__ import annotations

import resource
import warnings

RESERVED = 64
"""For the journal, WARC files, logs, libraries, and the processes that read pages."""
_MANY = 1 << 16


class OpenFilesWarning(UserWarning):
    """Fewer pages are fetched at a time than was asked for."""


def room() -> int:
    """Pages that may be in flight, and connections that may be kept, at most."""
    return max(1, (_limit() - RESERVED) // 3)


def bounded(in_flight: int) -> int:
    """As many pages in flight as was asked for, or as there is room for, with a warning."""
    most = room()
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
