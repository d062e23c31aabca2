"""Crawls in a real browser: what scripts make is found, and what they break is contained."""

from __future__ import annotations

import os
import select
import signal
import socket
from itertools import groupby
from typing import Any

import pytest
from tests.engines.browser.site import PRIVATE, Site

APP = """<body><div id=root></div><script>
  root.innerHTML = '<p>written by a script</p><a href="/next">on</a>'
</script>"""


def words(outcome: dict[str, Any]) -> str:
    return " ".join(outcome["text"])


def test_text_and_links_made_by_scripts_are_found_where_a_pattern_matches(
    crawl: Any, public: Site
) -> None:
    public.pages |= {"/app": APP, "/data": "<body id=b>é <script src=/data.js></script>"}
    public.pages["/data.js"] = "fetch('/d.json').then(r => r.json()).then(d => b.append(d.text))"
    public.pages["/d.json"] = '{"text": "fetched as data: \\u00fc"}'
    without = crawl("/app", "/data").outcomes()
    assert [(words(each), each["links"]) for each in without.values()] == [("", []), ("é", [])]
    found = crawl("/app", "/data", "/app?other", javascript=["/(app|data)$"]).outcomes()
    assert words(found["/app"]) == "written by a script on"
    assert found["/app"]["links"] == ["/next"]
    assert words(found["/data"]) == "é fetched as data: ü"
    assert words(found["/app?other"]) == ""


def test_shells_are_detected_and_fetched_only_once(crawl: Any, public: Site) -> None:
    told = f"<body>{'word ' * 100}<script>document.body.append('more')</script>"
    public.pages |= {"/app": APP, "/told": told, "/blank": "<body>little"}
    found = crawl("/app", "/told", "/blank", javascript_detect=True).outcomes()
    rendered = {path for path, each in found.items() if "rendered" in each["flags"]}
    assert rendered == {"/app"}
    assert words(found["/app"]) == "written by a script on"
    assert public.log.count("GET /app") == 1


@pytest.mark.slow
def test_a_browser_is_replaced_after_some_pages(crawl: Any, public: Site) -> None:
    public.pages["/app"] = APP
    paths = [f"/app?{number}" for number in range(5)]
    found = crawl(*paths, javascript=["app"], pages_per_browser=2).outcomes()
    assert {words(each) for each in found.values()} == {"written by a script on"}
    assert [len(list(run)) for _, run in groupby(found[p]["browser"] for p in paths)] == [2, 2, 1]


@pytest.mark.slow
def test_endless_pages_fail_with_a_kind_and_the_crawl_goes_on(crawl: Any, public: Site) -> None:
    public.pages |= {
        "/loop": "<body>x<script>while (true) {}</script>",
        "/alerts": "<body>x<script>while (true) alert('again')</script>",
        "/giant": """<body><script>
            const much = 'x'.repeat(1e6)
            for (let i = 0; i < 100; i++) document.head.append(new Comment(much))
        </script>""",
        "/waits": "<body id=b><script src=/never.js async></script><script>b.append(1)</script>",
        "/never.js": "HANG",
        "/app": APP,
    }
    paths = ["/loop", "/alerts", "/giant", "/waits", "/app"]
    found = crawl(*paths, javascript=["."], timeout=12, at_once=2).outcomes()
    assert {path: found[path].get("failed", "") for path in paths} == {
        "/loop": "timeout",
        "/alerts": "timeout",
        "/giant": "too-large",
        "/waits": "",
        "/app": "",
    }
    assert words(found["/waits"]) == "1"
    assert words(found["/app"]) == "written by a script on"


ESCAPES = """<body><p id=said></p><iframe src='{private}/frame'></iframe><img src='{private}/img'>
<link rel=stylesheet href='{private}/style.css'><link rel=preconnect href='{private}'>
<a id=file href='{private}/file' download>file</a><form id=form action='{private}/form'></form>
<script>
  const say = text => said.append(text + ' ')
  const attempt = (name, url, how) =>
    fetch(url, how).then(r => say(name + ' got ' + r.status), () => say(name + ' failed'))
  Promise.all([
    attempt('own', '/own.json'),
    attempt('private', '{private}/secret', {{mode: 'no-cors'}}),
    attempt('redirect', '/to-private', {{mode: 'no-cors'}}),
    attempt('put', '/own.json', {{method: 'PUT'}}),
    attempt('tunnel', 'https://127.0.0.3/', {{mode: 'no-cors'}}),
  ]).then(() => say('done'))
  window.open('{private}/popup')
  navigator.sendBeacon('{private}/beacon', 'x')
  new Image().src = '{private}/image'
  new WebSocket('{private}/socket'.replace('http', 'ws'))
  new Worker(URL.createObjectURL(new Blob(["fetch('{private}/worker')"])))
  const turn = {{urls: 'turn:{silent}?transport=tcp', username: 'u', credential: 'c'}}
  const peer = new RTCPeerConnection({{iceServers: [{{urls: 'stun:{silent}'}}, turn]}})
  peer.createDataChannel('x')
  peer.createOffer().then(offer => peer.setLocalDescription(offer))
  file.click()
  setTimeout(() => form.submit(), 100)
  setTimeout(() => location = '{private}/left', 200)
</script>"""


class SilentPort:
    """A private port for streams and datagrams, on which nothing should ever arrive."""

    def __init__(self) -> None:
        self.stream = socket.create_server((PRIVATE, 0))
        self.datagrams = socket.socket(type=socket.SOCK_DGRAM)
        self.datagrams.bind(self.stream.getsockname())
        self.place = "{}:{}".format(*self.stream.getsockname())

    def was_reached(self) -> bool:
        with self.stream, self.datagrams:
            return bool(select.select([self.stream, self.datagrams], [], [], 0)[0])


def test_no_page_reaches_a_private_address(crawl: Any, public: Site, private: Site) -> None:
    silent = SilentPort()
    public.pages["/escapes"] = ESCAPES.format(private=private.url(""), silent=silent.place)
    public.pages |= {"/own.json": "{}", "/to-private": f"REDIRECT {private.url('/redirected')}"}
    found = crawl("/escapes", javascript=["escapes"], timeout=60).outcomes()["/escapes"]
    assert private.log == []
    assert not silent.was_reached()
    said = words(found)
    assert "own got 200" in said
    assert "put failed" in said
    assert "done" in said, "all attempts have ended before the page was read"
    assert found["refused"].keys() == {"127.0.0.2", "127.0.0.3"}
    asked = {"GET /robots.txt", "GET /escapes", "GET /own.json", "GET /to-private"}
    assert set(public.log) == asked


def test_a_page_stays_where_it_is(crawl: Any, public: Site) -> None:
    public.pages["/leaves"] = "<body>here<script>location = '/elsewhere'</script>"
    public.pages["/opens"] = """<body>here<script>
        for (let i = 0; i < 50; i++) window.open('/elsewhere')
    </script>"""
    found = crawl("/leaves", "/opens", javascript=["."]).outcomes()
    assert {path: words(each) for path, each in found.items()} == {
        "/leaves": "here",
        "/opens": "here",
    }
    assert "GET /elsewhere" not in public.log


@pytest.mark.slow
def test_a_browser_that_dies_is_replaced(crawl: Any, public: Site) -> None:
    public.pages["/app"] = APP
    # so many that some come after the kill, however late that is
    running = crawl(*(f"/app?{number}" for number in range(8)), javascript=["app"])
    told = []
    for outcome in running:
        told.append(outcome)
        if len(told) == 2:
            os.kill(outcome["browser"], signal.SIGKILL)
    assert len(told) == 8
    assert {each.get("failed") for each in told} <= {None, "unreadable"}
    assert words(told[-1]) == "written by a script on"
    assert told[-1]["browser"] != told[0]["browser"]
    assert running.left_behind() == []


def test_an_interrupted_crawl_finishes_its_pages_and_leaves_no_process_behind(
    crawl: Any, public: Site
) -> None:
    public.pages["/app"] = APP
    running = crawl(*(f"/app?{number}" for number in range(500)), javascript=["app"], at_once=2)
    outcomes = iter(running)
    told = [next(outcomes)]
    os.killpg(running.process.pid, signal.SIGINT)  # as a terminal does: to all of the group
    told += outcomes
    assert len(told) < 500
    assert {words(each) for each in told if "text" in each} == {"written by a script on"}
    assert [each for each in told if "failed" in each] == []
    assert running.left_behind() == []


def test_a_killed_crawl_leaves_no_process_behind(crawl: Any, public: Site) -> None:
    public.pages["/app"] = APP
    running = crawl(*(f"/app?{number}" for number in range(500)), javascript=["app"])
    assert words(next(iter(running))) == "written by a script on"
    running.process.kill()
    assert running.left_behind(30) == []
