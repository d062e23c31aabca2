"""A downloader middleware of somebody else, which forgets what requests carry with them."""

from __future__ import annotations

from typing import Any


class ForgetsMeta:
    """Takes the mark off that lets a request for robots.txt pass."""

    def process_request(self, request: Any) -> None:
        request.meta.pop("dont_obey_robotstxt", None)
