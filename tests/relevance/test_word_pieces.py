"""Words are cut into pieces as the reference implementation cuts them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.support.missing import need_package

from tres.relevance.encoders.sources import load_encoder
from tres.relevance.encoders.word_pieces import WordPieces
from tres.topic.text import words

LATIN = "abcdefghijklmnopqrstuvwxyz0123456789àéîöüçñøßæœ"
GREEK, CYRILLIC, HEBREW = (
    map(chr, range(0x3B1, 0x3CA)),
    map(chr, range(0x430, 0x450)),
    "\u05d0\u05d1",
)
HANGUL = "가나다한글"
WORDS = st.text([*LATIN, *GREEK, *CYRILLIC, *HEBREW, *HANGUL], min_size=1, max_size=12)
KNOWN = "cellists whaleboats antidisestablishmentarianism Zürich naïveté covid19 x86".split()


def index(pieces):
    return {piece: place for place, piece in enumerate(pieces)}


@pytest.fixture(scope="module")
def vocabulary():
    return load_encoder("static").word_pieces


@pytest.fixture(scope="module")
def reference(vocabulary):
    need_package("tokenizers")
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    tokenizer = Tokenizer(models.WordPiece(index(vocabulary), unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


@given(WORDS | st.sampled_from(KNOWN))
@example("a" * 100)
@example("a" * 101)
@example("😀")
def test_it_agrees_with_the_reference(vocabulary, reference, text):
    pieces = WordPieces(index(vocabulary), len(vocabulary))
    for word in words(text):
        expected = reference.encode(word).tokens
        found = [vocabulary[place] for place in pieces.places(word)]
        assert found == ([] if "[UNK]" in expected else expected)


def test_the_longest_piece_is_cut_off_first():
    tokens = ["sea", "seaweed", "##weed", "##we", "##ed", "##s"]

    def pieces(word, number=6):
        return [tokens[place] for place in WordPieces(index(tokens), number).places(word)]

    assert pieces("seaweeds") == ["seaweed", "##s"]
    assert pieces("seaed") == ["sea", "##ed"]
    assert pieces("seawee") == []
    assert pieces("weed") == [], "a piece of the inside does not begin a word"
    assert pieces("") == []
    assert pieces("seas", number=5) == [], "the last entry is no piece"
