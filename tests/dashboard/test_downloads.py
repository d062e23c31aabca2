"""Reports and exports: streamed from another process, and never cut short unnoticed."""

from __future__ import annotations

import asyncio
import sys
import time
from io import BytesIO
from pathlib import Path

import pytest
from starlette.types import ASGIApp
from tests.support.dashboard import get

import tres
from tres.dashboard import downloads
from tres.dashboard.app import Dashboard
from tres.dashboard.downloads import AT_ONCE, Downloads, _chunks
from tres.dashboard.run_list import Runs
from tres.dashboard.security import AccessRules
from tres.errors import RunError
from tres.offline.generated.generator import GeneratedWeb
from tres.store.export_pages import Selection, export


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished crawl in a directory whose name would break a header."""
    place, web = tmp_path_factory.mktemp("home"), GeneratedWeb(300, seed=1)
    topic = tres.new_topic(web.topics["sailing"], web.seeds("sailing"), labels=["sailing"])
    run = place / 'sail"\r\nX: y'
    for _ in tres.crawl_pages(topic, "generated:pages=300,seed=1", run=run, pages=30):
        pass
    return place


@pytest.fixture
def app(home: Path) -> ASGIApp:
    return Dashboard(Runs(time.monotonic, home=home), AccessRules({"127.0.0.1"})).app()


RUN = "/api/runs/sail---X--y"


def test_a_report_is_confined(app: ASGIApp) -> None:
    answer = get(app, f"{RUN}/report")
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.body.startswith(b"<!doctype html>")
    assert answer.headers["content-security-policy"].startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(("form", "relevant"), [("csv", 1), ("jsonl", 0)])
def test_pages_are_saved_as_tres_export_writes_them(
    app: ASGIApp, home: Path, form: str, relevant: int
) -> None:
    answer = get(app, f"{RUN}/export?to={form}&relevant={relevant}")
    expected = BytesIO()
    export(next(home.iterdir()), form, expected, Selection(relevant=bool(relevant)))
    assert (answer.status, answer.body) == (200, expected.getvalue())
    which = "relevant" if relevant else "all"
    assert answer.headers["content-disposition"] == (
        f'attachment; filename="sail---X--y-{which}.{form}"'
    )
    assert "default-src 'none'" in answer.headers["content-security-policy"]


@pytest.mark.parametrize("form", ["", "exe", "../csv", "--out"])
def test_other_formats_are_refused(app: ASGIApp, form: str) -> None:
    assert get(app, f"{RUN}/export?to={form}").status == 400


def test_a_download_that_fails_says_why(app: ASGIApp, home: Path) -> None:
    answer = get(app, f"{RUN}/export?to=warc")
    assert answer.status == 409
    assert "kept no WARC files" in answer.json["error"]
    assert str(home) not in answer.json["error"]
    assert "warc" not in get(app, RUN).json["formats"]
    assert {"csv", "jsonl", "urls"} <= set(get(app, RUN).json["formats"])


def test_others_must_wait_their_turn(home: Path) -> None:
    dashboard = Dashboard(Runs(time.monotonic, home=home), AccessRules({"127.0.0.1"}))
    dashboard.downloads = Downloads(_running=AT_ONCE)
    answer = get(dashboard.app(), f"{RUN}/export?to=csv")
    assert (answer.status, answer.headers["retry-after"]) == (503, "5")


def test_a_process_that_cannot_start_takes_no_place(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downloads, "COMMAND", (str(home / "nothing"),))
    run = Runs(time.monotonic, home=home).all()[0]
    made = Downloads()
    with pytest.raises(OSError, match="nothing"):
        asyncio.run(made.export(run, "csv", relevant=False))
    assert made._running == 0


def test_a_download_that_breaks_off_is_not_complete() -> None:
    async def read() -> bytes:
        command = (sys.executable, "-c", "print('half'); raise SystemExit(1)")
        process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        return b"".join([chunk async for chunk in _chunks(process)])

    with pytest.raises(RunError, match="could not be made"):
        asyncio.run(read())
