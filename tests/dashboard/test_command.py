"""`tres dashboard`: mistakes are reported before anything listens."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from tres.cli.command_group import commands
from tres.cli.dashboard import stopped_by_signals
from tres.errors import ConfigError, RunError


def called(*arguments: str) -> None:
    CliRunner().invoke(commands, ["dashboard", *arguments], catch_exceptions=False)


def test_an_error_names_what_is_not_a_run(tmp_path: Path) -> None:
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
    monkeypatch.setattr(import_module("tres.cli.dashboard"), "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"pip install 'tres-crawler\[dashboard\]'"):
        called()


@pytest.mark.parametrize("name", ["INT", "TERM"])
def test_a_signal_during_start_up_is_answered_like_one_later(tmp_path: Path, name: str) -> None:
    """The browser that it opens sends the signal, so nothing is served yet."""
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\nkill -{name} $PPID\n")
    browser.chmod(0o755)
    command = [sys.executable, "-m", "tres", "dashboard", "--port", "0", "--open"]
    ended = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"BROWSER": str(browser)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[-1] == "stopped"


def test_a_signal_that_got_lost_during_start_up_is_not_forgotten() -> None:
    with stopped_by_signals() as go_on:
        with suppress(KeyboardInterrupt):  # as Python does in callbacks of its own
            signal.raise_signal(signal.SIGTERM)
        assert not go_on()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
