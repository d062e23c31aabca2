"""Encoders from the Hugging Face hub, where there is a network: `organisation/model`.

The files go to the hub's own cache, so a second use needs no network. The name of the encoder then
includes the revision that was found, `organisation/model@commit`; under that name it stays the
same, whatever is published later.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tres.distribution import pip_install
from tres.errors import ModelError
from tres.relevance.encoders.model_directory import (
    FILES,
    GRAPHS,
    WEIGHTS,
    has_graph,
    read_encoder,
)
from tres.relevance.encoders.transformer import TransformerEncoder

NAME = re.compile(r"(?P<model>\w[\w.-]*/\w[\w.-]*)(?:@(?P<revision>\w[\w.-]*))?", re.ASCII)


def hub_encoder(name: str) -> TransformerEncoder:
    """The encoder that the hub has under a name; `ModelError` without a network."""
    found = NAME.fullmatch(name)
    if found is None:
        raise ValueError(f"{name!r} is no name of the hub")
    directory = _downloaded(found["model"], found["revision"], (*FILES, *GRAPHS))
    if not has_graph(directory):
        directory = _downloaded(found["model"], directory.name, (*FILES, WEIGHTS))
    return read_encoder(directory, f"{found['model']}@{directory.name}")


def _downloaded(model: str, revision: str | None, names: tuple[str, ...]) -> Path:
    """The directory with these files of a model; its name is the commit."""
    if find_spec("huggingface_hub") is None:
        raise ModelError(
            f"{model} is no directory here, and {pip_install('encoder')} brings what loads it "
            "from the Hugging Face hub"
        )
    import huggingface_hub

    download: Any = huggingface_hub.snapshot_download
    try:
        return Path(download(model, revision=revision, allow_patterns=list(names)))
    except Exception as problem:  # of the network, the hub or the disk: no common base
        raise ModelError(
            f"{model} is no directory here, and cannot be loaded from the Hugging Face hub "
            f"({_first_line(problem)}); check its name and the network, or name a directory"
        ) from None


def _first_line(problem: Exception) -> str:
    return str(problem).strip().partition("\n")[0] or type(problem).__name__
