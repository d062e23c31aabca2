"""Snapshots: the state of a session on disk, so that a long journal need not be folded again.

    snapshot.bin    magic | length of the head | head (JSON) | arrays, end to end | digest

The head has the position in the journal to which the state belongs, the configuration and the
version of tres that wrote it, all values that are not arrays, and the type and shape of every
array. A snapshot is only a shortcut: one that is damaged, incomplete, or of another configuration,
version or journal is ignored with a warning, and the journal is folded from its start. It is
replaced in one piece, so there is always a whole one or none. The link of the last record
(`store.journal_file`), which stands for all records before it, shows that it belongs to this
journal: after a power cut a crawl may have taken another course from there.

When is one due? Writing takes time in proportion to the state, folding in proportion to the steps
since the last one. Every thousand steps, later every tenth of all, keeps the first below a few per
cent of the crawl and the second at some seconds.
"""

from __future__ import annotations

import hashlib
import json
import struct
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tres import __version__
from tres.crawl.session_state import State
from tres.errors import printable
from tres.files.durable import replace_parts

SNAPSHOT = "snapshot.bin"
MAGIC = b"tres snapshot 2\n"
EVERY, SHARE = 1000, 0.1

_LENGTH = struct.Struct("<Q")
_DIGEST = hashlib.blake2b().digest_size


class SnapshotWarning(UserWarning):
    """A snapshot could not be used or written; the crawl goes on with its journal alone."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A state, with the record of the journal and the configuration to which it belongs."""

    position: int
    link: int
    steps: int
    config: str
    state: State


def is_due(steps: int, last: int) -> bool:
    """Whether it is time for another snapshot."""
    return steps - last >= max(EVERY, SHARE * steps)


def write_snapshot(run: Path, snapshot: Snapshot) -> None:
    """Replace the snapshot of a run; it is on disk when this returns."""
    replace_parts(run / SNAPSHOT, _digested(_parts(snapshot)))


def _digested(parts: Iterable[bytes]) -> Iterator[bytes]:
    digest = hashlib.blake2b()
    for part in parts:
        digest.update(part)
        yield part
    yield digest.digest()


def read_snapshot(run: Path, config: str, last: int, link: Callable[[int], int]) -> Snapshot | None:
    """Return the snapshot of a run, if it belongs to this configuration and journal.

    The journal ends at the record `last`; `link` returns the link of a record.
    """
    try:
        content = (run / SNAPSHOT).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        set_aside(run, f"cannot be read: {error.strerror}")
        return None
    try:
        return _read(content, config, last, link)
    except (ValueError, KeyError, TypeError, RecursionError, struct.error) as error:
        set_aside(run, str(error))
        return None


def set_aside(run: Path, reason: str) -> None:
    """Warn that the snapshot is not used, and why."""
    text = f"{run / SNAPSHOT}: not used ({reason}); the journal is read from its start instead"
    warnings.warn(printable(text), SnapshotWarning, stacklevel=2)


def _parts(snapshot: Snapshot) -> Iterator[bytes]:
    arrays = {k: np.ascontiguousarray(v) for k, v in snapshot.state.items() if _is_array(v)}
    head = {
        "position": snapshot.position,
        "link": snapshot.link,
        "steps": snapshot.steps,
        "config": snapshot.config,
        "version": __version__,
        "values": {k: v for k, v in snapshot.state.items() if k not in arrays},
        "arrays": [[k, v.dtype.newbyteorder("<").str, v.shape] for k, v in arrays.items()],
    }
    text = json.dumps(head).encode()
    yield MAGIC + _LENGTH.pack(len(text)) + text
    for array in arrays.values():
        yield array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _is_array(value: object) -> bool:
    return isinstance(value, np.ndarray)


def _read(content: bytes, config: str, last: int, link: Callable[[int], int]) -> Snapshot:
    if not content.startswith(MAGIC):
        raise ValueError("it is not a snapshot of this version of tres")
    whole = memoryview(content)[:-_DIGEST]
    if hashlib.blake2b(whole).digest() != content[-_DIGEST:]:
        raise ValueError("it is damaged")
    start = len(MAGIC) + _LENGTH.size
    (length,) = _LENGTH.unpack_from(content, len(MAGIC))
    head = json.loads(content[start : start + length])
    if (head["config"], head["version"]) != (config, __version__):
        raise ValueError("it was made with another configuration or version of tres")
    position = head["position"]
    if not 0 < position <= last:
        raise ValueError("it belongs to a record that this journal does not reach")
    if link(position) != head["link"]:
        raise ValueError("the crawl has taken another course since")
    state = head["values"] | _arrays(whole[start + length :], head["arrays"])
    return Snapshot(position, head["link"], head["steps"], config, state)


def _arrays(content: memoryview, kinds: list[Any]) -> State:
    arrays, at = {}, 0
    for name, kind, shape in kinds:
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(content, kind, count, offset=at).reshape(shape)
        at += arrays[name].nbytes
    return arrays
