"""Replaced files: readers meet the old content or the new one, never a part of it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import tres
from tres.files import durable
from tres.files.durable import UNFINISHED, atomic_replace, replace_file, replace_parts


@pytest.mark.parametrize("is_durable", [True, False])
def test_a_file_is_replaced_in_one_piece(tmp_path: Path, is_durable: bool) -> None:
    file = tmp_path / "a.json"
    replace_file(file, b"old", is_durable)
    with atomic_replace(file, is_durable) as unfinished:
        unfinished.write_bytes(b"half")
        assert file.read_bytes() == b"old"
        unfinished.write_bytes(b"all of it")
    assert file.read_bytes() == b"all of it"
    assert list(tmp_path.iterdir()) == [file]


def test_after_an_error_the_file_is_as_it_was_and_nothing_is_left(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    replace_file(file, b"old")

    def parts():
        yield b"half"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        replace_parts(file, parts())
    assert file.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [file]


def test_what_a_kill_has_left_is_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    file.with_name(f"a.db{UNFINISHED}").write_bytes(b"left behind")
    with atomic_replace(file) as unfinished:
        assert not unfinished.exists()
        unfinished.write_bytes(b"new")
    assert file.read_bytes() == b"new"


def test_content_is_synced_before_it_is_renamed_and_its_name_afterwards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "a.json"
    synced: list[tuple[str, bool]] = []
    monkeypatch.setattr(
        durable, "_sync", lambda path, flags: synced.append((path.name, file.exists()))
    )
    replace_file(file, b"new")
    assert synced == [(f"a.json{UNFINISHED}", False), (tmp_path.name, True)]


def test_no_other_module_writes_temporary_files() -> None:
    own = re.compile(r"""["']\.(part|tmp|temp)["']|\{UNFINISHED\}""")
    sources = Path(tres.__file__).parent.rglob("*.py")
    named = {file.name for file in sources if own.search(file.read_text())}
    assert named == {"durable.py", "run_directory.py"}  # the latter deletes what was left behind
