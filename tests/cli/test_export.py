"""`tres export`: from runs as crawls leave them, to files and to standard output."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from tres.engines.protocols import Exchange
from tres.offline import open_web
from tres.store.warc_writer import WarcStore, parts_of

from .conftest import Tres
from .test_crawl import rows_of

PAGES = 15


@pytest.fixture
def run(tres: Tres, topic: Path, archive: Path, tmp_path: Path) -> Path:
    """A crawl of an archive."""
    path = tmp_path / "run"
    assert tres("crawl", topic, "--web", archive, "--run", path, "--pages", PAGES).code == 0
    return path


@pytest.fixture
def live(run: Path) -> Path:
    """The same as a live crawl leaves it: with what the servers had sent, in three files."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
    with WarcStore(run, {}, part_bytes=4_000) as warc:
        for row in rows_of(run):
            body = f"<title>From the wire</title><p>bees {row['url']}".encode()
            warc.append(Exchange(row["url"], b"GET / HTTP/1.1\r\n\r\n", head, body, at=1e9))
    assert len(parts_of(run)) > 2
    return run


def relevant(run: Path) -> list[str]:
    return [row["url"] for row in rows_of(run) if row["reward"] == "1"]


def test_urls_of_relevant_pages_on_standard_output(tres: Tres, run: Path) -> None:
    outcome = tres("export", run, "--to", "urls", "--relevant")
    assert outcome.code == 0, outcome.err
    assert outcome.out.split() == relevant(run)
    assert 0 < len(relevant(run)) < PAGES
    assert outcome.err == f"{len(relevant(run))} pages exported\n"


def test_csv_holds_the_rows_of_the_run(tres: Tres, run: Path) -> None:
    outcome = tres("export", run, "--to", "csv", "--site", "site0.example", "--limit", 2)
    rows = [row for row in rows_of(run) if row["site"] == "site0.example"][:2]
    judged = [row | {"relevant": row["reward"], "judged_by": "model"} for row in rows]
    assert list(csv.DictReader(io.StringIO(outcome.out))) == judged


def test_an_exported_run_is_an_archive_to_crawl(
    tres: Tres, run: Path, topic: Path, archive: Path, tmp_path: Path
) -> None:
    out = tmp_path / "export.jsonl"
    outcome = tres("export", run, "--to", "jsonl", "--out", out)
    assert outcome.err == f"{PAGES} pages exported to {out}\n"
    lines = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [line["url"] for line in lines] == [row["url"] for row in rows_of(run)]
    web, exported = open_web(str(archive)), open_web(str(out))
    assert all(exported.fetch(line["url"]) == web.fetch(line["url"]) for line in lines)
    topic.write_text(topic.read_text().replace('labels = ["Nature"]', 'load = "run/model"'))
    again = tmp_path / "again"
    assert tres("crawl", topic, "--web", out, "--run", again).code == 0
    assert len(rows_of(again)) == PAGES


def test_a_live_run_gives_what_the_servers_had_sent(tres: Tres, live: Path) -> None:
    outcome = tres("export", live, "--to", "jsonl", "--relevant")
    lines = [json.loads(line) for line in outcome.out.splitlines()]
    assert [line["title"] for line in lines] == ["From the wire"] * len(relevant(live))
    assert lines[0]["text"] == f"bees {lines[0]['url']}"


def test_a_live_run_is_a_web_to_crawl_again(
    tres: Tres, live: Path, topic: Path, tmp_path: Path
) -> None:
    topic.write_text(topic.read_text().replace('labels = ["Nature"]', 'load = "run/model"'))
    again = tmp_path / "again"
    outcome = tres("crawl", topic, "--web", live, "--run", again)
    assert outcome.code == 0, outcome.err
    assert rows_of(again)[0]["url"] == "http://site0.example/page/0"


def test_warc_records_are_copied_as_they_are(tres: Tres, live: Path, tmp_path: Path) -> None:
    out = tmp_path / "relevant.warc.gz"
    outcome = tres("export", live, "--to", "warc", "--relevant", "--out", out)
    assert outcome.code == 0, outcome.err
    with out.open("rb") as file:
        kinds = [
            (record.rec_type, record.rec_headers.get_header("WARC-Target-URI"))
            for record in ArchiveIterator(file, check_digests="raise")
        ]
    assert [url for kind, url in kinds if kind == "response"] == relevant(live)
    assert [url for kind, url in kinds if kind == "request"] == relevant(live)
    every = b"".join(part.read_bytes() for part in parts_of(live))
    assert all(member in every for member in _members(out.read_bytes()))
    assert len(open_web(str(out))) == len(relevant(live))


def _members(data: bytes) -> list[bytes]:
    """Gzip members, cut where the next one begins."""
    start = data[:10]
    return [start + member for member in data.split(start)[1:]]


def test_warc_of_a_run_that_was_killed_ends_with_a_whole_record(
    tres: Tres, live: Path, tmp_path: Path
) -> None:
    with parts_of(live)[-1].open("ab") as file:
        file.write(parts_of(live)[0].read_bytes()[:150])
    out = tmp_path / "all.warc.gz"
    assert tres("export", live, "--to", "warc", "--out", out).code == 0
    assert len(open_web(str(out))) == PAGES


def test_warc_pages_that_were_not_kept_are_counted(tres: Tres, live: Path, tmp_path: Path) -> None:
    parts_of(live)[-1].unlink()
    out = tmp_path / "rest.warc.gz"
    outcome = tres("export", live, "--to", "warc", "--out", out)
    left = len(open_web(str(out)))
    assert 0 < left < PAGES
    assert outcome.err == (
        f"warning: {PAGES - left} pages could not be read again: left out\n"
        f"{left} pages exported to {out}\n"
    )


def test_a_plain_warc_is_copied_record_by_record_too(
    tres: Tres, live: Path, topic: Path, tmp_path: Path
) -> None:
    plain, again = tmp_path / "web.warc", tmp_path / "again"
    everything = io.BytesIO(b"".join(part.read_bytes() for part in parts_of(live)))
    plain.write_bytes(gzip.GzipFile(fileobj=everything).read())
    topic.write_text(topic.read_text().replace('labels = ["Nature"]', 'load = "run/model"'))
    assert tres("crawl", topic, "--web", plain, "--run", again).code == 0
    out = tmp_path / "one.warc.gz"
    outcome = tres("export", again, "--to", "warc", "--out", out)
    assert outcome.code == 0, outcome.err
    assert [page.url for page in open_web(str(out)).pages()] == [r["url"] for r in rows_of(again)]


def test_a_run_over_an_archive_has_no_warc(tres: Tres, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "x.warc.gz"
    outcome = tres("export", run, "--to", "warc", "--out", out)
    assert (outcome.code, outcome.err) == (
        2,
        f"tres: {run}: was not crawled live and kept no WARC files; use --to jsonl\n",
    )
    assert not list(tmp_path.glob("x.warc.gz*"))


def test_a_web_that_has_moved_is_given_anew(
    tres: Tres, run: Path, archive: Path, tmp_path: Path
) -> None:
    moved = archive.rename(tmp_path / "moved.jsonl")
    outcome = tres("export", run, "--to", "jsonl")
    assert outcome.code == 2
    assert "no such file" in outcome.err
    assert outcome.err.endswith("(if the web has moved, give it with --web)\n")
    assert outcome.out == ""
    assert tres("export", run, "--to", "jsonl", "--web", moved).out.count("\n") == PAGES


def test_pages_that_the_web_has_lost_are_counted(tres: Tres, run: Path, archive: Path) -> None:
    lines = archive.read_text().splitlines()
    gone = rows_of(run)[3]["url"]
    archive.write_text("\n".join(line for line in lines if json.loads(line)["url"] != gone))
    outcome = tres("export", run, "--to", "jsonl")
    assert outcome.code == 0
    assert "warning: 1 page could not be read again: exported without title" in outcome.err
    assert "text" not in json.loads(outcome.out.splitlines()[3])


def test_a_file_that_is_there_stays(tres: Tres, run: Path, tmp_path: Path) -> None:
    out = tmp_path / "urls.txt"
    out.write_text("mine")
    outcome = tres("export", run, "--to", "urls", "--out", out)
    assert (outcome.code, out.read_text()) == (2, "mine")
    assert "add --overwrite" in outcome.err
    assert tres("export", run, "--to", "urls", "--out", out, "--overwrite").code == 0
    assert len(out.read_text().split()) == PAGES


def test_a_terminal_is_spared_binary_data(
    tres: Tres, run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    outcome = tres("export", run, "--to", "parquet")
    assert (outcome.code, outcome.out) == (2, "")
    assert "name a file with --out" in outcome.err


def test_what_is_no_run_is_refused(tres: Tres, tmp_path: Path) -> None:
    outcome = tres("export", tmp_path, "--to", "urls")
    assert outcome.code == 2
    assert "not a run directory" in outcome.err
