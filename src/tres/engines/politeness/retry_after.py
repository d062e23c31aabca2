"""Retry-After: how long a server asks us to wait (RFC 9110, section 10.2.3).

The header is a number of seconds or an HTTP date. Anything else is ignored. The politeness clock
decides how far to believe it.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime


def parse_retry_after(header: bytes | None, now: float) -> float | None:
    """Return how long Retry-After asks us to wait; `now` is in seconds since the epoch."""
    if header is None:
        return None
    text = header.decode("ascii", "replace").strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - now)
    except (ValueError, OverflowError, OSError):  # not a date, or one out of range
        return None
