"""JSON objects that carry a checksum of themselves, so that one changed bit is noticed.

An object without a checksum is taken as it is where a person may have written it.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

KEY = "checksum"


def signed(held: dict[str, Any]) -> dict[str, Any]:
    """The object with its checksum.

    >>> signed({"pages": 3})
    {'pages': 3, 'checksum': '05bf3a83'}
    """
    return {**held, KEY: _checksum(held)}


def verified(held: dict[str, Any], by_hand: bool = True) -> dict[str, Any]:
    """The object without its checksum; ValueError if it is not what was written.

    `by_hand`: it may be without one.

    >>> verified({"pages": 4, "checksum": "05bf3a83"})
    Traceback (most recent call last):
    ValueError: it is not what was written
    """
    rest = {key: value for key, value in held.items() if key != KEY}
    if not (by_hand and KEY not in held) and held.get(KEY) != _checksum(rest):
        raise ValueError("it is not what was written")
    return rest


def _checksum(held: dict[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(held, sort_keys=True).encode()):08x}"
