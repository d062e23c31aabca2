"""What a link says, as numbers."""

from __future__ import annotations

import numpy as np
from tests.support.webs import To, links

from tres.web.link_wording import CODES, EACH, NO_WORD, WIDTH, encode_wordings


def codes(url: str, anchor: str = "") -> set[int]:
    return set(encode_wordings([url], [anchor])[0].tolist()) - {NO_WORD}


def test_every_word_of_anchor_and_url_is_a_number() -> None:
    both = codes("http://example.org/music/", "Midi files")
    assert len(both) == 4  # midi, files; example and music of the URL
    assert both == codes("http://example.org/music/") | codes("http://x.test", "Midi files") - (
        codes("http://x.test")
    )
    assert all(0 < code < CODES for code in both)


def test_a_word_of_the_url_is_another_word_than_in_the_anchor() -> None:
    assert codes("http://example.org/midi").isdisjoint(codes("http://x.test/", "midi example"))


def test_case_repetition_and_position_do_not_matter() -> None:
    assert codes("http://x.test/b/a", "Files of FILES") == codes("http://x.test/a/b", "files of")


def test_a_long_anchor_leaves_room_for_the_url() -> None:
    (row,) = encode_wordings(
        ["http://example.org/music"], [" ".join(f"word{i}" for i in range(99))]
    )
    assert len(row) == WIDTH
    assert codes("http://example.org/music") <= set(row.tolist())
    assert np.count_nonzero(row) == EACH + 2


def test_links_without_anchors_have_the_words_of_their_urls() -> None:
    urls = ["http://example.org/a", "http://example.org/b/c"]
    assert encode_wordings(urls, ()).tolist() == encode_wordings(urls, ["", ""]).tolist()
    assert encode_wordings([], ()).shape == (0, WIDTH)


def test_the_links_of_a_page_are_read_once() -> None:
    of_page = links(To("http://example.org/music/", anchor="Midi files"), "http://x.test/")
    assert of_page.wordings is of_page.wordings
    assert of_page.wordings.tolist() == encode_wordings(of_page.urls, of_page.anchors).tolist()
