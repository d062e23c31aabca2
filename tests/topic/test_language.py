"""The language of a page: identified from its text, or honestly unknown."""

import doctest
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.fuzz import fuzzed

from tres.settings.language_codes import LANGUAGES, base_code
from tres.settings.sections import LiveSection
from tres.topic import language
from tres.topic.language import language_of

SENTENCES = {
    "en": "The cell is the smallest unit of life and was discovered by Robert Hooke in 1665.",
    "de": "Die Zelle ist die kleinste Einheit des Lebens und wurde von Robert Hooke entdeckt.",
    "fr": "La cellule est l'unité de base de la vie et les organismes sont faits de cellules.",
    "es": "La célula es la unidad más pequeña de la vida y fue descubierta por Robert Hooke.",
    "it": "La cellula è l'unità di base della vita e gli organismi sono fatti di cellule.",
    "pt": "A célula é a menor unidade da vida e não foi descoberta por um só homem em um dia.",
    "nl": "Bijen vliegen elke dag enkele kilometers en vinden toch zonder moeite de weg terug.",
    "sv": "Cellen är den minsta enheten i livet och det var Robert Hooke som upptäckte att den är.",
    "pl": "Komórka jest najmniejszą jednostką życia i nie jest to jedyny element, który się liczy.",
    "ru": "Клетка является наименьшей единицей жизни.",
    "uk": "Клітина є найменшою одиницею життя.",
    "be": "Клетка з'яўляецца найменшай адзінкай жыцця.",
    "bg": "Клетката представлява най-малката единица на живота.",
    "no": "Cellen er den minste enheten i livet, og den ble oppdaget av Robert Hooke.",
    "da": "Cellen er den mindste enhed i livet, og den blev opdaget af Robert Hooke.",
    "el": "κύτταρα είναι μικρότερες μονάδες ζωής",
    "ar": "الخلية هي أصغر وحدة في الحياة",
    "he": "התא הוא היחידה הקטנה ביותר של החיים",
    "hi": "कोशिका जीवन की सबसे छोटी इकाई है",
    "ja": "細胞は生命の最小単位である。",
    "zh": "细胞是生命的最小单位。",
    "ko": "세포는 생명의 가장 작은 단위이다.",
    "th": "เซลล์เป็นหน่วยที่เล็กที่สุดของชีวิต",
}

SAMPLES = tomllib.loads(Path("benchmarks/languages.toml").read_text())


@pytest.mark.parametrize("code", SENTENCES)
def test_a_sentence_is_enough(code):
    assert language_of(SENTENCES[code]) == code


@pytest.mark.parametrize("text", ["", "\n", "12 345", "Paris London Rome", "x" * 5000, "\ud800"])
def test_a_text_without_evidence_is_unknown(text):
    assert language_of(text) == ""


def test_both_forms_of_norwegian_have_one_code():
    assert language_of("Biene flyg fleire kilometer kvar dag og finn likevel heim att.") == "no"


@pytest.mark.parametrize("char", ["\x00", "\x07", "\x85", "\ud800", "\ufffe", "\U0010ffff"])
def test_control_characters_do_not_hide_the_language(char):
    assert language_of(f"{char}{SENTENCES['uk']}{char}") == "uk"


@fuzzed
@given(st.text())
def test_any_text_has_a_known_language_or_none_and_always_the_same(text):
    found = language_of(text)
    assert found in (*LANGUAGES, "")
    assert language_of(text) == found


def test_every_answer_is_a_code_that_the_settings_accept():
    samples = [text for each in SAMPLES.values() for text in (*each["titles"], *each["sentences"])]
    found = {language_of(text) for text in samples} - {""}
    assert LiveSection(languages=sorted(found)).languages == tuple(sorted(found))
    assert len(found) > 30


@pytest.mark.parametrize("code", SAMPLES)
def test_a_paragraph_is_never_taken_for_a_related_language(code):
    assert language_of(" ".join(SAMPLES[code]["sentences"])) == base_code(code)


def test_a_foreign_word_does_not_change_the_language():
    assert language_of("The word μονάδα is Greek and the meaning of it is unit.") == "en"


def test_the_examples_in_the_documentation():
    assert doctest.testmod(language).failed == 0
