"""A saved model on disk: a manifest, a vocabulary and arrays. Never pickle.

    model.json       format, kind, record of the training, SHA-256 of all other files
    vocabulary.txt   one word per line, in the order of the arrays
    weights.npz      named arrays
    ...              parts that only some kinds have, such as a network's graph

People pass models around, so a model is loaded only if all its files are there, its format is
known, and every file has the digest in the manifest. A digest does not say who made the file, so
sizes are checked before anything is unpacked. The manifest is written last: an interrupted save
leaves no model rather than half of one.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

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
"""Limit for all files of a model together, and for its unpacked arrays. The largest models have
a tenth of it."""


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """The content of a saved model of any kind."""

    kind: str
    vocabulary: tuple[str, ...]
    arrays: Mapping[str, NDArray[Any]]
    facts: Mapping[str, Any]
    """The record of the training, for people; it does not affect the answers."""
    parts: Mapping[str, bytes] = field(default_factory=dict)
    """Further files by name."""

    @property
    def digest(self) -> str:
        """Identity of everything that affects the answers."""
        digest = hashlib.sha256(f"{self.kind} {FORMAT}\n".encode())
        digest.update("\n".join(self.vocabulary).encode())
        for name, array in sorted(self.arrays.items()):
            digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array).tobytes())
        for name, part in sorted(self.parts.items()):
            digest.update(f"\n{name} {_sha256(part)}\n".encode())
        return digest.hexdigest()

    def write(self, directory: Path) -> None:
        """Write all files, the manifest last."""
        contents = {
            VOCABULARY: "".join(f"{word}\n" for word in self.vocabulary).encode(),
            **({WEIGHTS: _zipped(self.arrays)} if self.arrays else {}),
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
            for changed in (directory, directory.parent):
                sync_directory(changed)
        except OSError as problem:
            raise ModelError(
                f"{directory}: the model cannot be written ({problem.strerror}); "
                "free some space or name another directory"
            ) from None

    @classmethod
    def read(cls, directory: Path) -> ModelFiles:
        """Read and verify all files; `ModelError` names the one that is wrong."""
        manifest = _read_manifest(directory / MANIFEST)
        parts = _read_parts(directory, manifest)
        words = tuple(parts.pop(VOCABULARY).decode(errors="replace").splitlines())
        try:
            arrays = _unzipped(parts.pop(WEIGHTS)) if WEIGHTS in parts else {}
        except Exception as problem:  # zip files and array headers can be broken in many ways
            raise ModelError(
                f"{directory / WEIGHTS}: holds no arrays ({problem}); {AGAIN}"
            ) from None
        return cls(manifest["kind"], words, arrays, manifest["training"], parts)


class SavedModel:
    """Base class of models: `digest` and `save` follow from the files."""

    has_stems: ClassVar[bool] = False
    """Are the words of the model stems?"""

    def _files(self) -> ModelFiles:
        raise NotImplementedError

    @cached_property
    def digest(self) -> str:
        """Identity of the model: equal digests, equal answers."""
        return self._files().digest

    def save(self, directory: Path) -> None:
        """Write the model into `directory`, replacing a model that is there."""
        self._files().write(directory)


class WordWeightModel(SavedModel):
    """Base class of models whose fields are arrays with one number per word, and scalars."""

    kind: ClassVar[str]
    array_names: ClassVar[tuple[str, ...]]
    scalar_names: ClassVar[tuple[str, ...]]
    vocabulary: Mapping[str, int]
    facts: Mapping[str, Any]
    """The record of the training: numbers of examples, seed, versions."""

    def _files(self) -> ModelFiles:
        arrays = {name: getattr(self, name) for name in self.array_names}
        arrays["scalars"] = np.array([getattr(self, name) for name in self.scalar_names])
        return ModelFiles(self.kind, tuple(self.vocabulary), arrays, dict(self.facts))

    @classmethod
    def from_files(cls, files: ModelFiles) -> Self:
        """Rebuild a saved model; `ModelError` if the parts do not fit together."""
        index = {word: place for place, word in enumerate(files.vocabulary)}
        expected: dict[str, object] = dict.fromkeys(cls.array_names, ("float32", (len(index),)))
        expected["scalars"] = ("float64", (len(cls.scalar_names),))
        arrays = dict(files.arrays)
        if {name: (array.dtype.name, array.shape) for name, array in arrays.items()} != expected:
            raise ModelError("its arrays do not fit its vocabulary; train the model anew")
        if not index or not all(np.isfinite(array).all() for array in arrays.values()):
            raise ModelError("its arrays hold no usable numbers; train the model anew")
        scalars = zip(cls.scalar_names, arrays.pop("scalars").tolist(), strict=True)
        fields: dict[str, Any] = {"vocabulary": index, "facts": files.facts, **arrays}
        return cls(**fields, **dict(scalars))


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        manifest = json.loads(_read_bytes(path))
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


def _read_parts(directory: Path, manifest: Mapping[str, Any]) -> dict[str, bytes]:
    parts, allowed = {}, MOST_BYTES
    for name in sorted({VOCABULARY, *manifest["sha256"]}):
        path = directory / name
        content = parts[name] = _read_bytes(path, allowed)
        if _sha256(content) != manifest["sha256"].get(name):
            raise ModelError(
                f"{path}: is not the file that was saved (its digest differs); {AGAIN}"
            )
        allowed -= len(content)
    return parts


def _read_bytes(path: Path, max_bytes: int = files.MOST_BYTES) -> bytes:
    try:
        return files.content(path, max_bytes)
    except (FileNotFoundError, NotADirectoryError):
        raise ModelError(
            f"{path}: is missing, so {path.parent} holds no whole model; {AGAIN}"
        ) from None
    except OSError as problem:
        raise ModelError(f"{path}: cannot be read ({problem.strerror}); {AGAIN}") from None


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _zipped(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _unzipped(content: bytes) -> dict[str, NDArray[Any]]:
    """The arrays, if they are not too large: numbers, never objects."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        size = sum(member.file_size for member in archive.infolist())
        if size > MOST_BYTES:
            raise ValueError(f"they take {size:,} bytes")
        names = archive.namelist()
        return {name.removesuffix(".npy"): _array(archive.read(name)) for name in names}


def _array(content: bytes) -> NDArray[Any]:
    """Read an array; refuse one whose header claims another size than its content has."""
    file = io.BytesIO(content)
    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    shape, _, dtype = readers[npy.read_magic(file)](file)
    if math.prod(shape) * dtype.itemsize != len(content) - file.tell():
        raise ValueError(f"the shape {shape} is not that of the numbers")
    file.seek(0)
    array: NDArray[Any] = npy.read_array(file, allow_pickle=False)
    return array
