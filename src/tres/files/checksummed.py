"""JSON objects that carry a checksum of themselves, so that one changed bit is noticed.

Where a person may have written an object, one without a checksum is accepted.
"""

from __future__ import annotations

import json
import zlib
from typing import Any

KEY = "checksum"


def signed(values: dict[str, Any]) -> dict[str, Any]:
    """The object with its checksum.

    >>> signed({"pages": 3})
    {'pages': 3, 'checksum': '05bf3a83'}
    """
    return {**values, KEY: _checksum(values)}


def verified(values: dict[str, Any], by_hand: bool = True) -> dict[str, Any]:
    """The object without its checksum; ValueError if it is not what was written.

    With `by_hand`, it may lack one.

    >>> verified({"pages": 4, "checksum": "05bf3a83"})
    Traceback (most recent call last):
    ValueError: it is not what was written
    """
    rest = {key: value for key, value in values.items() if key != KEY}
    if not (by_hand and KEY not in values) and values.get(KEY) != _checksum(rest):
        raise ValueError("it is not what was written")
    return rest


def _checksum(values: dict[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(values, sort_keys=True).encode()):08x}"
