"""Soft 404: pages that say they are not there, and pages about pages that are not there."""

from __future__ import annotations

import doctest
import time

import pytest

from tres.web import soft_404 as missing_module
from tres.web.soft_404 import is_soft_404

MENU = "Home News Contact Search our site for something else. " * 8
ARTICLE = "The server answers a request with a status code, and each of them has a meaning. " * 30


def test_the_examples_of_the_documentation_hold():
    assert doctest.testmod(missing_module).failed == 0


@pytest.mark.parametrize(
    "title",
    [
        "404",
        "Error 404",
        "404 Not Found",
        "404 - Page not found",
        "Page Not Found | Example",
        "Example - Page not found",
        "Oops! That page can't be found.",
        "The Example Times · Page does not exist",
        "Page no longer available",
        "Seite nicht gefunden \u2013 Beispiel",
        "Fehler 404",
        "Page introuvable | Exemple",
        "Página no encontrada",
        "Página não encontrada",
        "Pagina non trovata",
        "Pagina niet gevonden",
        "Страница не найдена",
        "ページが見つかりません",
        "页面不存在",
    ],
)
def test_a_short_page_whose_title_says_so_is_missing(title):
    assert is_soft_404(title, MENU)
    assert not is_soft_404(title, ARTICLE)


@pytest.mark.parametrize(
    "sentence",
    [
        "Sorry, the page you are looking for could not be found.",
        "The page you requested does not exist",
        "The requested URL /x was not found on this server.",
        "We couldn\u2019t find that page.",
        "Die gesuchte Seite konnte leider nicht gefunden werden.",
        "La page que vous recherchez n'existe pas.",
        "La página que busca no existe.",
        "Запрашиваемая вами страница не найдена",
    ],
)
def test_a_short_text_that_says_so_is_missing(sentence):
    assert is_soft_404("Example", f"{MENU}{sentence}")
    assert not is_soft_404("Example", f"{ARTICLE}{sentence}")


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("HTTP 404", ARTICLE),
        ("HTTP 404: what it means", "A server says 404 Not Found if there is no such page."),
        ("How to design a 404 page", "Visitors should know that the page was not found."),
        ("Peugeot 404", "A car that was built from 1960 to 1975."),
        ("Lost and found", "Nothing was found in the park today."),
        ("Contact", "Our page on rivers has moved."),
        ("The file not found exception in Java", "It is thrown if a file could not be found."),
        ("", ""),
    ],
)
def test_pages_about_missing_things_are_not_missing(title, text):
    assert not is_soft_404(title, text)


@pytest.mark.parametrize(
    "title", ["!" * 500, "404 " * 125, "error " * 80, " - " * 160, "page " * 99]
)
def test_no_title_or_text_takes_long(title):
    start = time.process_time()
    for text in ("page you requested " * 150, "the requested url" + " " * 2_900, "page " * 590):
        is_soft_404(title, text)
    assert time.process_time() - start < 1
