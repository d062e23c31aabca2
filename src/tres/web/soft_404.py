"""Soft 404: a page that says it does not exist, but comes with a success status.

The words "not found" prove nothing: pages about errors use them, and so do shops for things out of
stock. So a page counts as missing only if it is *short* and speaks about itself:

- its title is only such a sentence, apart from the name of the site
  ("404 Not Found | Example"), and it has fewer than `TITLE_WORDS` words; or
- its text has fewer than `TEXT_WORDS` words and contains a whole sentence that is on no other
  kind of page, such as "the page you requested could not be found".

A page about the error 404 has a longer title ("HTTP 404: meaning and history") or more text.
"""

from __future__ import annotations

import re

from tres.topic.text import words

TITLE_WORDS = 250
TEXT_WORDS = 120
MAX_CHARS = 3_000
"""Longer texts are not short, whatever their words; the patterns never run over them."""

_MISSING = r"""
    (?:http\W++)?(?:error|fehler|erreur|errore|fout|erro|błąd|ошибка)?\W*+404(?:\W*+(?:error|fehler))?
  | (?:error\W++)?(?:404\W++)?(?:page|file|document|object|url|site|requested\W++page)?\W*+
    (?:(?:was|is|could|can)\W++)?(?:not|cannot|can't)\W++(?:be\W++)?(?:found|exist)(?:\W++404)?
  | (?:page|article|content)\W++(?:does(?:\W++not|n't)\W++exist|(?:is\W++)?(?:no\W++longer|not|un)
    \W*+available|missing)
  | (?:oops\W++)?(?:that|this)\W++page\W++(?:can't|can\W?not|could\W++not)\W++be\W++found
  | (?:404\W++)?(?:die\W++)?seite\W++(?:wurde\W++)?nicht\W++(?:gefunden|vorhanden)
  | (?:404\W++)?(?:cette\W++|la\W++)?page\W++(?:non\W++trouvée|introuvable|n'existe\W++pas)
  | (?:404\W++)?(?:la\W++)?página\W++no\W++(?:encontrada|existe)
  | (?:404\W++)?(?:a\W++)?página\W++não\W++(?:encontrada|existe)
  | (?:404\W++)?(?:la\W++)?pagina\W++non\W++(?:trovata|esiste)
  | (?:404\W++)?pagina\W++niet\W++gevonden
  | (?:404\W++)?sidan\W++(?:hittades\W++inte|finns\W++inte) | siden\W++(?:blev\W++)?ikke\W++fundet
  | (?:404\W++)?nie\W++znaleziono\W++strony | strona\W++nie\W++(?:istnieje|została\W++znaleziona)
  | (?:404\W++)?страница\W++не\W++(?:найдена|существует)
  | (?:404\W++)?(?:ページが見つかりません.*|お探しのページは見つかりません.*)
  | (?:404\W++)?(?:页面(?:不存在|未找到|没有找到)|找不到(?:页面|網頁|网页)|頁面不存在)
"""
_TITLE = re.compile(rf"\W*+(?:oops|sorry)?\W*+(?:{_MISSING})\W*+", re.IGNORECASE | re.VERBOSE)
_PARTS = re.compile(r"\s+[|·•»«\u2013\u2014:-]+\s+|\s*\|\s*")
_SENTENCE = re.compile(
    r"""
    (?:page|url|file|document|resource|address)\s+(?:that\s+|which\s+)?
    (?:you\s+(?:(?:have\s+|are\s+|were\s+)?(?:requested|looking\s+for|looked\s+for|tried|trying)
    |requested)|requested)
    .{0,60}?(?:(?:could\s?n[o']t|can\s?not|can't|was\s+not|were\s+not)\s+(?:be\s+)?found
    |does(?:\s+not|n't)\s+exist|(?:has|have)\s+been\s+(?:moved|removed|deleted)|no\s+longer)
  | the\s+requested\s+(?:url|page|resource|document)\b.{0,80}?(?:not\s+(?:be\s+)?found
    |does\s+not\s+exist)
  | we\s+(?:can't|cannot|could\s?n[o']t|were\s+unable\s+to)\s+find\s+(?:the|that|this)\s+page
  | (?:angeforderte|gesuchte|gewünschte)\s+seite\s.{0,60}?(?:nicht\s+(?:gefunden|vorhanden)
    |existiert\s+nicht)
  | la\s+page\s+(?:que\s+vous\s+(?:cherchez|recherchez|avez\s+demandée)|demandée)\s.{0,60}?
    (?:n'existe|introuvable|n'a\s+pas)
  | la\s+página\s+(?:que\s+(?:busca|buscas|está\s+buscando|ha\s+solicitado)|solicitada)\s.{0,60}?
    no\s+(?:existe|se\s+(?:encuentra|encontró|ha\s+encontrado))
  | la\s+pagina\s+(?:che\s+(?:cerchi|stai\s+cercando)|richiesta)\s.{0,60}?non\s+
  | запрашиваем\w+\s+(?:вами\s+)?страниц\w+\s.{0,60}?не\s+(?:найден|существует)
    """,
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)


def is_soft_404(title: str, text: str) -> bool:
    """Return whether a page says that it does not exist.

    >>> is_soft_404("404 Not Found | Example", "Try our search."), is_soft_404("Lost", "")
    (True, False)
    """
    if len(text) > MAX_CHARS:
        return False
    size = len(words(text))
    if size < TITLE_WORDS and any(map(_TITLE.fullmatch, (title, *_PARTS.split(title)))):
        return True
    return size < TEXT_WORDS and _SENTENCE.search(text.replace("\u2019", "'")) is not None
