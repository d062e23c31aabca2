"""Where encoders come from: each has a name.

    static                  the table that comes with tres
    minilm, minilm-fp32     Python packages
    a directory             a transformer, or a table made by tools/distil.py
    organisation/model      the Hugging Face hub, perhaps with @revision

Two encoders with one digest give the same vectors, so a model that was trained with one remembers
name and digest, and refuses another.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from tres.distribution import pip_install
from tres.errors import ModelError
from tres.relevance.encoders import hub, packages
from tres.relevance.encoders.encoder import Encoder
from tres.relevance.encoders.model_directory import read_encoder
from tres.relevance.encoders.static_table import StaticEncoder
from tres.relevance.model_files import MANIFEST

STATIC = "static"
TABLE = Path(__file__).parent / "data" / "minilm"
NAMES = (STATIC, packages.MINILM, packages.MINILM_FP32)


def load_encoder(name: str) -> Encoder:
    """The encoder of a name or in a directory; `ModelError` says how to get what is missing."""
    if name == STATIC:
        return StaticEncoder.load(TABLE, STATIC)
    directory = Path(name)
    if name not in NAMES and (directory / MANIFEST).is_file():
        return StaticEncoder.load(directory, name)
    _require_packages(name)
    if name == packages.MINILM:
        return packages.minilm(StaticEncoder.load(TABLE, STATIC))
    if name == packages.MINILM_FP32:
        return packages.minilm_fp32()
    if directory.is_dir():
        return read_encoder(directory, name)
    if hub.NAME.fullmatch(name):
        return hub.hub_encoder(name)
    raise ModelError(
        f"{name!r} is no encoder; valid are {', '.join(NAMES)}, a directory with one, "
        "or a name of the Hugging Face hub such as organisation/model"
    )


def _require_packages(name: str) -> None:
    missing = [each for each in ("onnxruntime", "tokenizers") if find_spec(each) is None]
    if missing:
        raise ModelError(
            f"the encoder {name!r} needs {' and '.join(missing)}, not installed here: "
            f"{pip_install('encoder')}"
        )
