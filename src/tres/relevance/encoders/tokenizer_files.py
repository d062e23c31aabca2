"""Tokenizers: made by the package tokenizers, from a file or from a list of word pieces.

A text is cut to the tokens that a network reads; nothing is padded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from operator import or_
from typing import Any

import msgspec

from tres.errors import ModelError

UNKNOWN, BEGIN, END = "[UNK]", "[CLS]", "[SEP]"


TOKENS = 128
"""Tokens of a text that are read: its title and a few sentences."""
CHARS_PER_TOKEN = 20
"""Characters that are looked at, for each token that may be read."""


class CuttingTokenizer:
    """Turns the beginning of a text into tokens, special ones included."""

    def __init__(
        self, tokenizer: Any, digest: str, unknown: int | None, most: int = TOKENS
    ) -> None:
        """`unknown` stands for what the tokenizer does not know."""
        tokenizer.no_padding()
        tokenizer.enable_truncation(most)
        self.digest = f"{digest} {most}"
        self._tokenizer = tokenizer
        self._unknown = unknown
        self._most_chars = most * CHARS_PER_TOKEN

    def tokens(self, text: str) -> list[int]:
        """The tokens that are read; none if there is no word, or only unknown ones."""
        read = text[: self._most_chars]
        if not any(map(str.isalnum, read)):
            return []
        found = self._tokenizer.encode(read)
        tokens: list[int] = found.ids
        unknown = (token == self._unknown for token in tokens)
        return [] if all(map(or_, unknown, found.special_tokens_mask)) else tokens


class _Model(msgspec.Struct):
    """The part of tokenizer.json that says what stands for the unknown."""

    unk_token: str | None = None
    unk_id: int | None = None


class _File(msgspec.Struct):
    model: _Model


def file_tokenizer(content: bytes, most: int = TOKENS) -> CuttingTokenizer:
    """The tokenizer of a file tokenizer.json; `ModelError` if it is damaged."""
    from tokenizers import Tokenizer

    try:
        model = msgspec.json.decode(content, type=_File).model
        tokenizer = Tokenizer.from_buffer(content)
    except Exception as problem:  # the package raises nothing more specific
        raise ModelError(f"tokenizer.json describes no tokenizer ({problem})") from None
    unknown = model.unk_id if model.unk_token is None else tokenizer.token_to_id(model.unk_token)
    return CuttingTokenizer(tokenizer, hashlib.sha256(content).hexdigest(), unknown, most)


def bert_tokenizer(pieces: Sequence[str]) -> CuttingTokenizer:
    """The tokenizer of BERT for lower-case text, from its vocabulary in order."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    index = {piece: place for place, piece in enumerate(pieces)}
    tokenizer = Tokenizer(models.WordPiece(index, unk_token=UNKNOWN, max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    ends = [(token, index[token]) for token in (BEGIN, END)]
    tokenizer.post_processor = processors.TemplateProcessing(f"{BEGIN} $A {END}", None, ends)
    digest = hashlib.sha256("\n".join(pieces).encode()).hexdigest()
    return CuttingTokenizer(tokenizer, digest, index[UNKNOWN])
