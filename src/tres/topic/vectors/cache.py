"""Converted word vectors in the user's cache directory: written once, then memory-mapped.

    CACHE/vectors/KEY/
      words.txt       one word per line, in the order of the rows
      vectors.npy     (words, dim) in half precision, to be memory-mapped
      manifest.json   where they came from, sizes, and the SHA-256 of the two files

The key names the source and its digest, so another source is another directory. A
conversion is written under a hidden name and renamed when it is complete: a killed process
leaves no incomplete vectors, and the slower of two processes uses the result of the other.
Vectors whose digests differ from the manifest count as missing, and are converted again.
CACHE is TRES_CACHE if that is set, and otherwise the cache directory of the platform
(XDG_CACHE_HOME, ~/Library/Caches, LOCALAPPDATA).

Half precision keeps three digits, which has no effect on keyword expansion.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from tres.errors import VectorsError
from tres.topic.vectors.vocabulary import word_of

FORMAT = 1
WORDS, VECTORS, MANIFEST = "words.txt", "vectors.npy", "manifest.json"
ABANDONED = 24 * 3600
"""Seconds after which the hidden directory of a conversion belongs to a dead process."""

Block = tuple[Sequence[str], NDArray[np.floating[Any]]]
"""Some entries of a vocabulary, and a row of the matrix for each."""


@dataclass(frozen=True, slots=True)
class Source:
    """The origin of vectors; `key` is the name of their directory in the cache."""

    name: str
    origin: str
    key: str


@dataclass(frozen=True, slots=True)
class Stored:
    """Vectors in the cache."""

    name: str
    origin: str
    words: int
    dim: int
    digest: str
    directory: Path

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum((self.directory / name).stat().st_size for name in (WORDS, VECTORS))

    def read_words(self) -> list[str]:
        """Return all words, in the order of the rows."""
        return (self.directory / WORDS).read_text(encoding="utf-8").split("\n")[:-1]

    def map_matrix(self) -> NDArray[np.float16]:
        """Return the matrix, memory-mapped: only the rows in use are loaded."""
        matrix: NDArray[np.float16] = np.load(self.directory / VECTORS, mmap_mode="r")
        return matrix


def vectors_directory() -> Path:
    """Return the directory of this user's converted vectors."""
    if chosen := os.environ.get("TRES_CACHE"):
        return Path(chosen).absolute() / "vectors"
    if sys.platform == "win32":
        cache = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        cache = Path.home() / "Library" / "Caches"
    else:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "tres" / "vectors"


def find(key: str) -> Stored | None:
    """Return the vectors of a key, or None if they are missing or damaged."""
    directory = vectors_directory() / key
    try:
        manifest = json.loads((directory / MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT or manifest["sha256"] != _digests(directory):
            return None
        facts = {name: manifest[name] for name in ("name", "origin", "words", "dim", "digest")}
        return Stored(directory=directory, **facts)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def cached_vectors() -> list[Stored]:
    """Return all intact vectors of the cache, by name."""
    root = vectors_directory()
    names = [path.name for path in root.iterdir()] if root.is_dir() else []
    found = [find(name) for name in names if not name.startswith(".")]
    return sorted((stored for stored in found if stored), key=lambda stored: stored.name)


def convert(source: Source, blocks: Iterable[Block]) -> Stored:
    """Write blocks of a vocabulary into the cache, and return the stored vectors."""
    root = vectors_directory()
    try:
        root.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(root)
        scratch = Path(tempfile.mkdtemp(prefix=f".{source.key}.", dir=root))
        try:
            _write(scratch, source, blocks)
            _publish(scratch, root / source.key)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    except OSError as problem:
        raise VectorsError(
            f"{root}: cannot store converted vectors ({problem.strerror}); "
            "set TRES_CACHE to another directory"
        ) from None
    stored = find(source.key)
    if stored is None:
        raise VectorsError(f"{root}: cannot read converted vectors back; set TRES_CACHE")
    return stored


def _write(directory: Path, source: Source, blocks: Iterable[Block]) -> None:
    """Write all files of a conversion; the header of the matrix is completed at the end."""
    words: list[str] = []
    dim = 1
    with (directory / VECTORS).open("wb") as file:
        start = _header(file, 0, dim)
        for entries, rows in _usable(blocks):
            words += entries
            dim = rows.shape[1]
            file.write(rows.tobytes())
        assert _header(file, len(words), dim) == start
    if not words:
        raise VectorsError(
            f"{source.origin}: has no word that a text could contain; give other vectors"
        )
    (directory / WORDS).write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
    sums = _digests(directory)
    manifest = {
        "format": FORMAT,
        "name": source.name,
        "origin": source.origin,
        "words": len(words),
        "dim": dim,
        "digest": hashlib.sha256(json.dumps(sums, sort_keys=True).encode()).hexdigest(),
        "sha256": sums,
    }
    (directory / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", encoding="utf-8")


def _usable(blocks: Iterable[Block]) -> Iterator[tuple[list[str], NDArray[np.float16]]]:
    """Yield the entries that can be words of a text, each once, in half precision."""
    known: set[str] = set()
    for entries, rows in blocks:
        kept, places = [], []
        for place, word in enumerate(map(word_of, entries)):
            if word is not None and word not in known:
                known.add(word)
                kept.append(word)
                places.append(place)
        yield kept, _half(rows[np.array(places, np.intp)], kept)


def _half(rows: NDArray[np.floating[Any]], words: Sequence[str]) -> NDArray[np.float16]:
    whole = (np.abs(rows) < np.finfo(np.float16).max).all(axis=1)  # false for nan
    if not whole.all():
        wrong = words[int(np.argmin(whole))]
        raise VectorsError(
            f"the vector of {wrong!r} has values that are not numbers, or too large for "
            "half precision; give other vectors"
        )
    return rows.astype("<f2")


def _header(file: IO[bytes], words: int, dim: int) -> int:
    """Write the header of the matrix, and return its size. NumPy leaves room in it for the
    number of rows, so that it can be written again when that number is known."""
    file.seek(0)
    description = {"descr": "<f2", "fortran_order": False, "shape": (words, dim)}
    npy.write_array_header_1_0(file, description)
    return file.tell()


def _publish(scratch: Path, final: Path) -> None:
    """Give a complete conversion its name; replace a damaged one."""
    if find(final.name) is not None:
        return  # another process was faster
    damaged = Path(f"{scratch}.damaged")
    try:
        if final.exists():
            final.replace(damaged)
        scratch.replace(final)
    except OSError:
        if find(final.name) is None:
            raise
    finally:
        shutil.rmtree(damaged, ignore_errors=True)


def _digests(directory: Path) -> dict[str, str]:
    sums = {}
    for name in (WORDS, VECTORS):
        with (directory / name).open("rb") as file:
            sums[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return sums


def _remove_abandoned(root: Path) -> None:
    for path in root.glob(".*"):
        with suppress(OSError):  # another process may be removing it
            if time.time() - path.stat().st_mtime > ABANDONED:
                shutil.rmtree(path, ignore_errors=True)
