"""A saved model on disk: a manifest, a vocabulary and arrays. Never pickle.

    model.json       format, kind, origin, and the SHA-256 of all other files
    vocabulary.txt   one word per line, in the order of the arrays
    weights.npz      named arrays
    ...              parts that only some kinds have, such as a network's graph

Models are passed around, so a model is believed only when every file is there, is of a
version this program knows, and has the digest that the manifest promises. A digest says
nothing about who made it, so sizes are checked as well, before anything is unpacked. The
manifest is written last: a save that was interrupted leaves no model rather than half a one.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from tres import __version__
from tres.errors import ModelError
from tres.files import opening as files
from tres.files.checksummed import signed, verified
from tres.files.durable import sync_directory, write_synced

FORMAT = 1
MANIFEST, VOCABULARY, WEIGHTS = "model.json", "vocabulary.txt", "weights.npz"
AGAIN = "copy the model again or train it anew"
MOST_BYTES = 1_000_000_000
"""Of all files of a model together, and of its arrays unpacked; the largest have a tenth."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """What a saved model consists of, whatever its kind."""

    kind: str
    vocabulary: tuple[str, ...]
    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any]
    """Origin of the model, for people; it takes no part in the answers."""
    parts: Mapping[str, bytes] = field(default_factory=dict)
    """Further files by name, as they are."""

    @property
    def digest(self) -> str:
        """Identity of everything that takes part in the answers."""
        digest = hashlib.sha256(f"{self.kind} {FORMAT}\n".encode())
        digest.update("\n".join(self.vocabulary).encode())
        for name, array in sorted(self.arrays.items()):
            digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        for name, part in sorted(self.parts.items()):
            digest.update(f"\n{name} {_sha256(part)}\n".encode())
        return digest.hexdigest()

    def words_with(self, arrays: Iterable[str], scalars: int) -> dict[str, int]:
        """The place of every word, if each of these arrays has a number there; else `ModelError`.

        Beside them stand so many `scalars`, and nothing else.
        """
        places = {word: place for place, word in enumerate(self.vocabulary)}
        fitting: dict[str, object] = dict.fromkeys(arrays, ("float32", (len(places),)))
        fitting["scalars"] = ("float64", (scalars,))
        held = {name: (array.dtype.name, array.shape) for name, array in self.arrays.items()}
        if held != fitting:
            raise ModelError("its arrays do not fit its vocabulary; train the model anew")
        if not places or not all(np.isfinite(array).all() for array in self.arrays.values()):
            raise ModelError("its arrays hold no usable numbers; train the model anew")
        return places

    def write(self, directory: Path) -> None:
        """Write all files, the manifest last."""
        contents = {
            VOCABULARY: "".join(f"{word}\n" for word in self.vocabulary).encode(),
            **({WEIGHTS: _packed(self.arrays)} if self.arrays else {}),
            **self.parts,
        }
        manifest = {
            "format": FORMAT,
            "kind": self.kind,
            "digest": self.digest,
            "sha256": {name: _sha256(content) for name, content in contents.items()},
            "tres": __version__,
            "training": dict(self.facts),
        }
        contents[MANIFEST] = (json.dumps(signed(manifest), indent=2) + "\n").encode()
        try:
            directory.mkdir(parents=True, exist_ok=True)
            (directory / MANIFEST).unlink(missing_ok=True)
            for name, content in contents.items():
                write_synced(directory / name, [content])
            for place in (directory, directory.parent):
                sync_directory(place)
        except OSError as problem:
            raise ModelError(
                f"{directory}: the model cannot be written ({problem.strerror}); "
                "free some space or name another directory"
            ) from None

    @classmethod
    def read(cls, directory: Path) -> ModelFiles:
        """Read and verify all files; `ModelError` names the one that is wrong."""
        manifest = _manifest(directory / MANIFEST)
        parts = _parts(directory, manifest)
        words = tuple(parts.pop(VOCABULARY).decode(errors="replace").splitlines())
        try:
            arrays = _unpacked(parts.pop(WEIGHTS)) if WEIGHTS in parts else {}
        except Exception as problem:  # zip files and headers of arrays can be wrong in many ways
            raise ModelError(
                f"{directory / WEIGHTS}: holds no arrays ({problem}); {AGAIN}"
            ) from None
        return cls(manifest["kind"], words, arrays, manifest["training"], parts)


def _manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(_bytes(path))
    except (ValueError, RecursionError):
        raise ModelError(f"{path}: is damaged; {AGAIN}") from None
    if not isinstance(manifest, dict) or "format" not in manifest:
        raise ModelError(f"{path}: is not the manifest of a tres model; name a directory with one")
    if manifest["format"] != FORMAT:
        raise ModelError(
            f"{path}: has format {manifest['format']}, this version of tres reads format "
            f"{FORMAT}; train the model anew or use the version that wrote it"
        )
    types = {"kind": str, "sha256": dict, "training": dict}
    if not all(isinstance(manifest.get(key), kind) for key, kind in types.items()):
        raise ModelError(f"{path}: is damaged; {AGAIN}")
    if any(name != Path(name).name or name == MANIFEST for name in manifest["sha256"]):
        raise ModelError(f"{path}: names files outside of its directory; do not trust this model")
    try:
        verified(manifest)
    except ValueError as problem:
        raise ModelError(f"{path}: is damaged ({problem}); {AGAIN}") from None
    return manifest


def _parts(directory: Path, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    parts, room = {}, MOST_BYTES
    for name in sorted({VOCABULARY, *manifest["sha256"]}):
        parts[name] = _verified(directory / name, manifest, room)
        room -= len(parts[name])
    return parts


def _verified(path: Path, manifest: Mapping[str, Any], most: int) -> bytes:
    content = _bytes(path, most)
    if _sha256(content) != manifest["sha256"].get(path.name):
        raise ModelError(f"{path}: is not the file that was saved (its digest differs); {AGAIN}")
    return content


def _bytes(path: Path, most: int = files.MOST_BYTES) -> bytes:
    try:
        return files.content(path, most)
    except (FileNotFoundError, NotADirectoryError):
        raise ModelError(
            f"{path}: is missing, so {path.parent} holds no whole model; {AGAIN}"
        ) from None
    except OSError as problem:
        raise ModelError(f"{path}: cannot be read ({problem.strerror}); {AGAIN}") from None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _packed(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _unpacked(content: bytes) -> dict[str, NDArray[Any]]:
    """The arrays, if they are as large as they say and not too large: numbers, never objects."""
    with zipfile.ZipFile(io.BytesIO(content)) as stored:
        size = sum(member.file_size for member in stored.infolist())
        if size > MOST_BYTES:
            raise ValueError(f"they take {size:,} bytes")
        return {name.removesuffix(".npy"): _array(stored.read(name)) for name in stored.namelist()}


def _array(content: bytes) -> NDArray[Any]:
    """An array whose shape is that of its numbers; one that only claims to be large is refused."""
    file = io.BytesIO(content)
    header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    shape, _, kind = header[npy.read_magic(file)](file)
    if math.prod(shape) * kind.itemsize != len(content) - file.tell():
        raise ValueError(f"the shape {shape} is not that of the numbers")
    file.seek(0)
    array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
    return array
