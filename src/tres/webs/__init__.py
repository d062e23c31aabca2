"""Webs that can be crawled without the Internet, by name or path."""

from __future__ import annotations

from tres.errors import ArchiveError
from tres.webs.archive import ENDINGS
from tres.webs.base import Web
from tres.webs.jsonl import JsonlArchive
from tres.webs.warc import WarcArchive

__all__ = ["JsonlArchive", "WarcArchive", "Web", "open_web"]


def open_web(spec: str) -> Web:
    """The web that `spec` names: a path of an archive."""
    if spec.endswith((".jsonl", ".jsonl.gz")):
        return JsonlArchive(spec)
    if spec.endswith((".warc", ".warc.gz")):
        return WarcArchive(spec)
    raise ArchiveError(f"{spec}: no web is known under this name; ")
