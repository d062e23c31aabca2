"""`tres dashboard`: what is wrong is said before anything listens."""

from __future__ import annotations

import socket
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tres.cli import commands
from tres.errors import ConfigError, RunError


def called(*arguments: str) -> None:
    CliRunner().invoke(commands, ["dashboard", *arguments], catch_exceptions=False)


def test_what_is_no_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="holds no run"):
        called(str(tmp_path))


def test_a_port_that_is_taken_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        with pytest.raises(ConfigError, match=f"cannot listen on 127.0.0.1:{port}"):
            called("--port", port)


def test_a_token_that_can_be_guessed_is_refused() -> None:
    with pytest.raises(ConfigError, match="16 or more"):
        called("--token", "secret")


def test_a_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["tres.cli.dashboard"], "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'tres\[dashboard\]'"):
        called()
