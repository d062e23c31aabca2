"""What a page of another site, another machine or another name may do: nothing."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from starlette.types import ASGIApp
from tests.support.dashboard import CHANGING, OWN, ask, get, post, step

from tres.dashboard.app import Dashboard
from tres.dashboard.login_attempts import FREE_ATTEMPTS, MOST, LoginAttempts
from tres.dashboard.run_list import Runs
from tres.dashboard.security import COOKIE, LARGEST_BODY, AccessRules, choose_token
from tres.errors import ConfigError
from tres.runs.open_run import OpenRun
from tres.store.orders import take

TOKEN = "a token that is long enough"


@pytest.fixture
def locked(tmp_path: Path) -> ASGIApp:
    runs = Runs(time.monotonic, home=tmp_path / "runs")
    return Dashboard(runs, AccessRules({"crawler.example"}, TOKEN)).app()


def orders(run: OpenRun) -> int:
    return len(list(take(run.directory)))


@pytest.mark.parametrize("path", ["/", "/static/app.js", "/api/runs", "/api/runs/none"])
def test_every_answer_has_a_strict_policy(app: ASGIApp, path: str) -> None:
    headers = get(app, path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "10.0.0.1:8042"])
def test_a_foreign_host_is_refused(app: ASGIApp, host: str) -> None:
    for path in ("/", "/api/runs"):
        assert ask(app, "GET", path, {"host": host}).status == 421


@pytest.mark.parametrize("host", ["localhost:9999", "127.0.0.1", "[::1]:8042", "LOCALHOST"])
def test_this_machine_has_several_names(app: ASGIApp, host: str) -> None:
    assert ask(app, "GET", "/api/runs", {"host": host}).status == 200


PAUSE = {"order": "pause"}


def test_our_own_page_may_give_orders(app: ASGIApp, run: OpenRun) -> None:
    step(run)
    own = {"origin": "http://127.0.0.1:8042", "sec_fetch_site": "same-origin"}
    assert post(app, "/api/runs/letters/orders", PAUSE, **own).status == 200
    assert orders(run) == 1


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://127.0.0.1:9"}, 403),
        ({"sec_fetch_site": "cross-site"}, 403),
        ({"sec_fetch_site": "same-site"}, 403),
        ({"content_type": "text/plain"}, 415),
        ({"content_type": "application/x-www-form-urlencoded"}, 415),
        ({"host": "evil.example"}, 421),
        ({"content_length": str(LARGEST_BODY + 1)}, 413),
        ({"content_length": "many"}, 413),
    ],
)
def test_others_may_not(app: ASGIApp, run: OpenRun, headers: dict[str, str], status: int) -> None:
    step(run)
    assert post(app, "/api/runs/letters/orders", PAUSE, **headers).status == status
    assert orders(run) == 0


def test_a_form_of_another_site_lacks_the_header(app: ASGIApp, run: OpenRun) -> None:
    step(run)
    headers = {name: value for name, value in CHANGING.items() if name != "x-tres"}
    body = json.dumps(PAUSE).encode()
    assert ask(app, "POST", "/api/runs/letters/orders", headers, body).status == 403
    assert ask(app, "GET", "/api/runs/letters/orders", OWN).status == 405
    assert ask(app, "DELETE", "/api/runs/letters", CHANGING).status == 405
    assert orders(run) == 0


def test_pages_of_other_sites_get_no_answers(app: ASGIApp) -> None:
    assert get(app, "/api/runs", sec_fetch_site="cross-site").status == 403
    assert get(app, "/", sec_fetch_site="cross-site").status == 200  # a link leads here


def test_a_body_without_a_length_is_cut_off(app: ASGIApp, run: OpenRun) -> None:
    step(run)
    body = json.dumps(PAUSE | {"x": "y" * LARGEST_BODY}).encode()
    assert ask(app, "POST", "/api/runs/letters/orders", CHANGING, body).status == 413
    assert orders(run) == 0


@pytest.mark.parametrize("body", [b"", b"[]", b"{", b"[" * 9_000, b"\xff"])
def test_a_body_that_is_not_an_object_is_refused(app: ASGIApp, run: OpenRun, body: bytes) -> None:
    step(run)
    assert ask(app, "POST", "/api/runs/letters/orders", CHANGING, body).status == 400


def test_nothing_is_answered_without_the_token(locked: ASGIApp, run: OpenRun) -> None:
    step(run)
    for path in ("/api/runs", "/api/runs/letters", "/api/runs/letters/frontier"):
        assert get(locked, path).status == 401
        assert get(locked, path, authorization="Bearer wrong").status == 401
        assert get(locked, path, cookie=f"{COOKIE}=wrong").status == 401
    assert post(locked, "/api/runs/letters/orders", PAUSE).status == 401
    assert orders(run) == 0
    assert get(locked, "/").status == get(locked, "/static/app.js").status == 200


def test_the_token_opens_once_and_a_cookie_from_then_on(locked: ASGIApp) -> None:
    assert post(locked, "/api/login", {"token": "wrong"}).status == 401
    assert post(locked, "/api/login", {"token": None}).status == 401
    assert post(locked, "/api/login", {"token": TOKEN}, origin="http://evil.example").status == 403
    welcome = post(locked, "/api/login", {"token": TOKEN})
    cookie = welcome.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert TOKEN not in cookie
    assert get(locked, "/api/runs", cookie=cookie.partition(";")[0]).status == 200
    assert get(locked, "/api/runs", authorization=f"Bearer {TOKEN}").status == 200


def test_those_who_guess_the_token_must_wait(tmp_path: Path) -> None:
    now = [0.0]
    access = AccessRules({"127.0.0.1"}, TOKEN, attempts=LoginAttempts(lambda: now[0]))
    locked = Dashboard(Runs(time.monotonic, home=tmp_path), access).app()
    cookie = post(locked, "/api/login", {"token": TOKEN}).headers["set-cookie"].partition(";")[0]
    for number in range(FREE_ATTEMPTS - 1):
        assert post(locked, "/api/login", {"token": f"wrong {number}"}).status == 401
    assert get(locked, "/api/runs", authorization="Bearer wrong").status == 401
    for wait in (1, 2, 4):
        refused = post(locked, "/api/login", {"token": TOKEN})  # not even looked at
        assert (refused.status, refused.headers["retry-after"]) == (429, str(wait))
        assert get(locked, "/api/runs", authorization=f"Bearer {TOKEN}").status == 429
        assert get(locked, "/api/runs", cookie=cookie).status == 200
        now[0] += wait
        assert post(locked, "/api/login", {"token": f"wrong, after {wait}"}).status == 401
    now[0] += 60
    assert post(locked, "/api/login", {"token": TOKEN}).status == 200


def test_others_do_not_wait_for_a_guesser() -> None:
    attempts = LoginAttempts(lambda: 0.0)
    for number in range(FREE_ATTEMPTS):
        attempts.failed("192.0.2.1", f"wrong {number}")
        attempts.failed(f"2001:db8::{number}", f"wrong {number}")
    assert attempts.wait("192.0.2.1") == attempts.wait("::ffff:192.0.2.1") == 1
    assert attempts.wait("2001:db8::ffff") == 1  # one machine has a network of addresses
    assert attempts.wait("192.0.2.2") == attempts.wait("2001:db8:1::1") == 0


def test_guessers_are_remembered_within_bounds() -> None:
    now = [0.0]
    attempts = LoginAttempts(lambda: now[0])
    for number in range(2_000):  # a day of guessing
        attempts.failed("192.0.2.1", f"wrong {number}")
    assert attempts.wait("192.0.2.1") == 60
    now[0] = 700.0
    attempts.failed("192.0.2.1", "wrong")  # long after: the first one again
    assert attempts.wait("192.0.2.1") == 0
    for number in range(2 * MOST):
        attempts.failed(f"10.0.{number // 256}.{number % 256}", "wrong")
    assert len(attempts._wrong) == MOST


def test_a_program_with_an_old_token_locks_nobody_out(locked: ASGIApp) -> None:
    for _ in range(10 * FREE_ATTEMPTS):
        assert get(locked, "/metrics", authorization="Bearer the one of yesterday").status == 401
    assert post(locked, "/api/login", {"token": TOKEN}).status == 200


def test_other_hosts_need_a_token() -> None:
    assert choose_token("127.0.0.1", None) is choose_token("localhost", None) is None
    made = choose_token("0.0.0.0", None)
    assert made is not None
    assert len(made) >= 32
    assert made != choose_token("0.0.0.0", None)
    assert choose_token("0.0.0.0", TOKEN) == choose_token("127.0.0.1", TOKEN) == TOKEN
    with pytest.raises(ConfigError, match="16 or more"):
        choose_token("0.0.0.0", "short")


def test_a_message_names_the_run_and_not_its_place(app: ASGIApp, run: OpenRun) -> None:
    step(run)
    (run.directory / "orders").write_text("in the way")
    answer = post(app, "/api/runs/letters/orders", PAUSE)
    assert answer.status == 409
    assert "cannot be written" in answer.json["error"]
    assert str(run.directory.parent) not in answer.json["error"]
