"""A web by its path or name."""

from __future__ import annotations

import json

import pytest

from tres.errors import ArchiveError
from tres.offline import GeneratedWeb, JsonlArchive, open_web


def test_an_archive_is_known_by_its_ending(tmp_path):
    path = tmp_path / "web.jsonl"
    path.write_text(json.dumps({"url": "http://a.example/"}))
    assert isinstance(open_web(str(path)), JsonlArchive)


@pytest.mark.parametrize("ending", [".warc", ".warc.gz", ".jsonl", ".jsonl.gz"])
def test_a_file_that_is_not_there(tmp_path, ending):
    with pytest.raises(ArchiveError, match=f"web{ending}: no such file"):
        open_web(str(tmp_path / f"web{ending}"))


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("generated", "generated:pages=20000,seed=1"),
        ("generated:", "generated:pages=20000,seed=1"),
        ("generated:pages=500", "generated:pages=500,seed=1"),
        ("generated: seed = 3 , pages=500", "generated:pages=500,seed=3"),
    ],
)
def test_a_generated_web_takes_options(spec, name):
    web = open_web(spec)
    assert isinstance(web, GeneratedWeb)
    assert web.name == name


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("generated:page=5", "unknown key `page`; valid: pages, seed"),
        ("generated:pages", "`pages` needs a whole number, as in `pages=1000`"),
        ("generated:pages=many", "`pages` needs a whole number, as in `pages=1000`"),
        ("generated:seed=-1", "`seed` needs a whole number, as in `seed=1000`"),
        ("generated:seed=" + "9" * 500, "`seed` needs a whole number, as in `seed=1000`"),
        ("generated:pages=5", "`pages` must be between 100 and 100000000; give another number"),
        (
            "web.zip",
            "not a kind of web; give a file (.jsonl, .jsonl.gz, .warc, .warc.gz) or `generated`",
        ),
    ],
    ids=lambda value: value[:30],
)
def test_an_error_says_what_to_do_next(spec, message):
    with pytest.raises(ArchiveError) as error:
        open_web(spec)
    assert str(error.value) == f"{spec}: {message}"
