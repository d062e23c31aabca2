"""Text from the Web stays text, and every character of it is visible."""

from __future__ import annotations

import pytest

from tres.report.safe_html import Markup, breakable, element, harmless, joined, link


def test_text_is_escaped_and_markup_is_not() -> None:
    inner = element("b", "a & b")
    assert element("p", "<i>", inner, None, class_="x") == (
        '<p class="x">&lt;i&gt;<b>a &amp; b</b></p>'
    )


def test_attributes_are_escaped() -> None:
    assert element("a", "x", href='"><script>') == '<a href="&quot;&gt;&lt;script&gt;">x</a>'
    assert element("input", disabled=True, hidden=False, id=None) == "<input disabled>"


@pytest.mark.parametrize(
    "char", ["\x00", "\x1b", "\x7f", "\x9b", "\u202e", "\u2066", "\u200f", "\ufeff", "\ud800"]
)
def test_characters_that_steer_become_visible(char: str) -> None:
    assert harmless(f"a{char}b") == "a\ufffdb"
    assert joined(f"a{char}b") == "a\ufffdb"
    assert joined(f"a{char}b").encode()


def test_writing_of_the_world_stays_as_it_is() -> None:
    for text in ("Übersicht", "\u0645\u06cc\u200c\u062e", "蜜蜂", "\U0001f469\u200d\U0001f33e"):
        assert harmless(text) == text


def test_only_addresses_of_the_web_become_links() -> None:
    assert link("https://a.example/") == (
        '<a href="https://a.example/" rel="noreferrer noopener">https://a.example/</a>'
    )
    for other in ("javascript:alert(1)", "data:text/html,x", "//a.example", "ftp://a.example"):
        assert "<a" not in link(other, "text")


def test_a_long_name_may_break_behind_its_dots() -> None:
    assert breakable("a.b<") == Markup("a.<wbr>b&lt;")
    assert breakable("77.5%") == "77.5%"
    assert breakable("generated:pages=9") == Markup("generated:<wbr>pages=<wbr>9")
