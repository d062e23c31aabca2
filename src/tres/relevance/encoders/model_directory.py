"""An encoder from a directory, in the layouts of sentence-transformers and of ONNX exports.

    tokenizer.json
    model.onnx, onnx/model.onnx    the first of these graphs that is there, or else
    model.safetensors              the weights of a BERT, with config.json
    1_Pooling/config.json          mean or first token; without it, the mean
    sentence_bert_config.json      the most tokens that the model reads
    modules.json                   the steps; one that tres does not know is refused

Directories come from strangers: all files are read with a limit on their size, and nothing in them
is run but the graph.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from tres.distribution import pip_install
from tres.errors import ModelError
from tres.files import opening as files
from tres.relevance.encoders.tokenizer_files import TOKENS, file_tokenizer
from tres.relevance.encoders.transformer import Graph, TransformerEncoder
from tres.relevance.model_files import MOST_BYTES

TOKENIZER, WEIGHTS, CONFIG = "tokenizer.json", "model.safetensors", "config.json"
GRAPHS = ("model.onnx", "onnx/model.onnx")
POOLING, LENGTH, MODULES = "1_Pooling/config.json", "sentence_bert_config.json", "modules.json"
FILES = (TOKENIZER, CONFIG, POOLING, LENGTH, MODULES)
"""The small files, all but tokenizer.json optional."""
T = TypeVar("T")

STEPS = ("Transformer", "Pooling", "Normalize")
MEAN, FIRST = "pooling_mode_mean_tokens", "pooling_mode_cls_token"


class _Length(msgspec.Struct):
    max_seq_length: int | None = None


class _Module(msgspec.Struct):
    type: str


def read_encoder(directory: Path, name: str) -> TransformerEncoder:
    """The encoder in a directory; `ModelError` says what is missing or wrong."""
    try:
        _require_known_steps(directory)
        tokenizer = file_tokenizer(_content(directory / TOKENIZER), _most_tokens(directory))
        return TransformerEncoder(name, tokenizer, _graph(directory), _first_token(directory))
    except ModelError as problem:
        raise ModelError(f"{directory}: {problem.message}; choose another encoder") from None


def has_graph(directory: Path) -> bool:
    """Whether a directory holds an ONNX graph."""
    return any((directory / name).is_file() for name in GRAPHS)


def _graph(directory: Path) -> Graph:
    for name in GRAPHS:
        if (directory / name).is_file():
            content = _content(directory / name)
            return Graph(content, hashlib.sha256(content).hexdigest())
    if (directory / WEIGHTS).is_file():
        return _graph_of_weights(directory)
    raise ModelError(f"holds neither {GRAPHS[0]} nor {WEIGHTS}")


def _graph_of_weights(directory: Path) -> Graph:
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load

        from tres.relevance.encoders.bert_graph import BertConfig, bert_graph
    except ModuleNotFoundError as missing:
        raise ModelError(
            f"{WEIGHTS} needs {missing.name} ({pip_install('neural')}), model.onnx does not"
        ) from None
    config = _json(directory / CONFIG, BertConfig)
    if not config.is_plain_bert:
        raise ModelError(
            f"{WEIGHTS} is a {config.model_type}, and tres reads only BERT from there; "
            f"export it as ONNX ('optimum-cli export onnx --model {directory.name} .')"
        )
    content = _content(directory / WEIGHTS)
    described = f"{config} {hashlib.sha256(content).hexdigest()}".encode()
    try:
        return Graph(bert_graph(config, load(content)), hashlib.sha256(described).hexdigest())
    except (SafetensorError, KeyError, ValueError, IndexError) as problem:
        raise ModelError(f"{WEIGHTS} holds no BERT ({problem})") from None


def _most_tokens(directory: Path) -> int:
    """How many tokens of a text are read: never more than the model can."""
    path = directory / LENGTH
    length = _json(path, _Length).max_seq_length if path.is_file() else None
    return max(3, min(TOKENS, length or TOKENS))


def _first_token(directory: Path) -> bool:
    """Whether the first token stands for the text; the mean of all tokens is the usual."""
    path = directory / POOLING
    modes: Mapping[str, object] = _json(path, dict[str, Any]) if path.is_file() else {MEAN: True}
    chosen = [mode for mode, on in modes.items() if mode.startswith("pooling_mode_") and on is True]
    if chosen not in ([MEAN], [FIRST]):
        raise ModelError(f"pools tokens by {', '.join(chosen) or '?'}, tres by {MEAN} or {FIRST}")
    return chosen == [FIRST]


def _require_known_steps(directory: Path) -> None:
    path = directory / MODULES
    modules = _json(path, list[_Module]) if path.is_file() else []
    for step in (module.type.rpartition(".")[2] for module in modules):
        if step not in STEPS:
            raise ModelError(f"has a step {step!r} that tres does not know")


def _json(path: Path, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(_content(path), type=kind)
    except (ValueError, RecursionError) as problem:
        raise ModelError(f"{path.name} is damaged ({problem})") from None


def _content(path: Path) -> bytes:
    try:
        return files.content(path, MOST_BYTES)
    except OSError as problem:
        raise ModelError(f"{path.name} cannot be read ({problem.strerror})") from None
