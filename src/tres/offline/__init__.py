"""Webs that can be crawled without the Internet, by path or by name."""

from __future__ import annotations

from pathlib import Path

from tres.errors import ArchiveError
from tres.offline.archive import ENDINGS
from tres.offline.generated.generator import DEFAULT_PAGES, DEFAULT_SEED, GeneratedWeb
from tres.offline.generated.graph import Shape
from tres.offline.jsonl import JsonlArchive
from tres.offline.warc import WARC_ENDINGS, WarcArchive
from tres.offline.web import Web

__all__ = ["GeneratedWeb", "JsonlArchive", "Shape", "WarcArchive", "Web", "open_web"]

MAX_DIGITS = 18

_GENERATED_KEYS = ("pages", "seed")


def open_web(spec: str) -> Web:
    """Open a web by its path or name.

    That is an archive, a directory of WARC files (such as the run of a live crawl), or
    `generated:pages=50000,seed=3`.
    """
    name, _, options = spec.partition(":")
    if name == "generated":
        return _generated(spec, options)
    if spec.endswith((".jsonl", ".jsonl.gz")):
        return JsonlArchive(spec)
    if spec.endswith(WARC_ENDINGS) or Path(spec).is_dir():
        return WarcArchive(spec)
    known = ", ".join(ENDINGS)
    raise ArchiveError(f"{spec}: not a kind of web; give a file ({known}) or `generated`")


def _generated(spec: str, options: str) -> GeneratedWeb:
    given = dict(_option(spec, option) for option in options.split(",") if option.strip())
    try:
        return GeneratedWeb(given.get("pages", DEFAULT_PAGES), given.get("seed", DEFAULT_SEED))
    except ValueError as error:
        raise ArchiveError(f"{spec}: {error}; give another number") from None


def _option(spec: str, option: str) -> tuple[str, int]:
    key, _, value = (part.strip() for part in option.partition("="))
    if key not in _GENERATED_KEYS:
        keys = ", ".join(_GENERATED_KEYS)
        raise ArchiveError(f"{spec}: unknown key `{key}`; valid: {keys}")
    if not (value.isascii() and value.isdigit() and len(value) <= MAX_DIGITS):
        raise ArchiveError(f"{spec}: `{key}` needs a whole number, as in `{key}=1000`")
    return key, int(value)
