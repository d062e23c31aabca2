"""Language identifiers compared: how often they are right, what they cost.

    python -m benchmarks.languages [--web ARCHIVE.jsonl.gz]

Reads the texts of languages.toml: titles, single sentences, and paragraphs of three sentences.
"unknown" counts as neither right nor wrong: a page whose language is unknown is kept. With an
archive of English pages, it also counts which languages they are said to be in. Identifiers that
are not installed are left out (pip install py3langid resiliparse).
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

from tres.settings.language_codes import base_code

Identify = Callable[[str], str]
Text = tuple[str, str]
"""The code of its language, and the text."""
SURE = 0.2
"""Probability from which on py3langid's answer counts."""


def load_ours() -> Identify:
    from tres.topic.language import language_of

    return language_of


def load_py3langid() -> Identify:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)

    def identify(text: str) -> str:
        code, probability = identifier.classify(text[:1_000])
        return base_code(code) if probability >= SURE else ""

    return identify


def load_resiliparse() -> Identify:
    from resiliparse.parse.lang import detect_fast

    def identify(text: str) -> str:
        code = detect_fast(text[:1_000])[0]
        return "" if code == "unknown" else base_code(code)

    return identify


IDENTIFIERS = {"tres": load_ours, "py3langid": load_py3langid, "resiliparse": load_resiliparse}


def samples() -> dict[str, list[Text]]:
    """Return the texts by kind."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    kinds: dict[str, list[Text]] = {"titles": [], "sentences": [], "paragraphs": []}
    for code, texts in table.items():
        kinds["titles"] += [(base_code(code), text) for text in texts["titles"]]
        kinds["sentences"] += [(base_code(code), text) for text in texts["sentences"]]
        kinds["paragraphs"].append((base_code(code), " ".join(texts["sentences"])))
    return kinds


def score(identify: Identify, texts: Iterable[Text]) -> tuple[str, list[str]]:
    """Return right/unknown/wrong, and the mistakes."""
    answers = [(code, identify(text)) for code, text in texts]
    wrong = [f"{code}->{found}" for code, found in answers if found and found != code]
    unknown = sum(not found for _, found in answers)
    return f"{len(answers) - unknown - len(wrong)}/{unknown}/{len(wrong)}", wrong


def resident_megabytes() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 1e6


def microseconds(identify: Identify, texts: list[str]) -> float:
    start = time.process_time()
    for text in texts:
        identify(text)
    return (time.process_time() - start) / len(texts) * 1e6


def archive_texts(path: Path, pages: int = 1_500) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        records = map(json.loads, islice(lines, pages))
        return [record["text"] or record["title"] for record in records]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--web", type=Path, help="English pages, as .jsonl.gz")
    web = parser.parse_args().web
    english = archive_texts(web) if web else []
    kinds = samples()
    typical = english or [text for _, text in kinds["paragraphs"]] * 20
    for name, load in IDENTIFIERS.items():
        if name != "tres" and find_spec(name) is None:
            print(f"{name}: not installed")
            continue
        memory, start = resident_megabytes(), time.process_time()
        identify = load()
        identify("A first text, for whatever is loaded late.")
        loading, memory = time.process_time() - start, resident_megabytes() - memory
        print(f"{name}: loads in {loading:.3f} s, {memory:.0f} MB", end="; ")
        print(f"{microseconds(identify, typical):.0f} us a text; right/unknown/wrong:")
        for kind, texts in kinds.items():
            figures, wrong = score(identify, texts)
            print(f"  {kind:<10} {figures:>9}  {' '.join(wrong)}")
        if english:
            print(f"  {web.name}: {Counter(map(identify, english)).most_common(6)}")


if __name__ == "__main__":
    main()
