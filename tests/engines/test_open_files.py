"""A crawl stays below the number of files that it may have open."""

from __future__ import annotations

import resource
import warnings
from types import SimpleNamespace

import pytest
from twisted.internet.task import Clock

from tres.engines.network.open_files import (
    RESERVED,
    OpenFilesWarning,
    limit_in_flight,
    max_connections,
)
from tres.engines.scrapy.connections import IDLE_CONNECTIONS, ConnectionPool


class Connection:
    """Idle, and content with being closed."""

    state = "QUIESCENT"
    transport = SimpleNamespace(loseConnection=lambda: None, abortConnection=lambda: None)


def limit(monkeypatch: pytest.MonkeyPatch, files: int) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (files, resource.RLIM_INFINITY))


def test_the_usual_limit_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    for files in (256, 1024, resource.RLIM_INFINITY):
        limit(monkeypatch, files)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert limit_in_flight(64) == 64


@pytest.mark.parametrize("files", [10, RESERVED, 85, 100, 200, 256, 400, 1024])
def test_all_that_is_open_at_the_same_time_fits(
    monkeypatch: pytest.MonkeyPatch, files: int
) -> None:
    limit(monkeypatch, files)
    connections = look_ups = idle = max_connections()
    assert max_connections() == 1 or RESERVED + connections + look_ups + idle <= files


def test_who_wants_more_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    limit(monkeypatch, 100)
    with pytest.warns(
        OpenFilesWarning, match=r"only 100 files .*: 12 pages at a time instead of 64"
    ):
        assert limit_in_flight(64) == 12


@pytest.mark.parametrize(("files", "most"), [(100, 12), (256, 64), (100_000, IDLE_CONNECTIONS)])
def test_connections_that_nobody_uses_are_not_kept_beyond_it(
    monkeypatch: pytest.MonkeyPatch, files: int, most: int
) -> None:
    limit(monkeypatch, files)
    clock = Clock()
    pool = ConnectionPool(clock, 1, lambda url: None)
    for number in range(most + 50):
        pool._putConnection(f"host {number}", Connection())
        clock.advance(0)
    assert len(pool._timeouts) == most
