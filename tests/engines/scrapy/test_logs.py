"""Scrapy's words go into a file, and cannot steer a terminal from there."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from tres.engines.scrapy.logs import logging_to
from tres.engines.scrapy.network_settings import merge_settings


def test_warnings_go_to_the_file_and_nowhere_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = logging.getLogger("scrapy.core.engine")
    with logging_to(tmp_path / "scrapy.log"):
        log.info("nobody needs this")
        log.warning("a page says %s", "\x1b[2Jboo\nforged line")
    written = (tmp_path / "scrapy.log").read_text()
    assert "nobody" not in written
    assert "a page says \\x1b[2Jboo\n  forged line" in written
    assert capsys.readouterr().err == ""


def test_without_messages_no_log_file_is_created(tmp_path: Path) -> None:
    with logging_to(tmp_path / "scrapy.log"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_tables_of_settings_are_merged_and_later_values_win() -> None:
    one, two = {"A": 1, "T": {"x": 1, "y": 1}}, {"A": 2, "T": {"y": None}, "B": 3}
    assert merge_settings(one, two) == {"A": 2, "T": {"x": 1, "y": None}, "B": 3}
