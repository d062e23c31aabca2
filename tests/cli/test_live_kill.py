"""Hard to kill, live: whatever ends a crawl over HTTP, and however often, it is the same crawl.

`benchmarks/kill.py` does the same with 2,000 pages and 20 kills.
"""

from __future__ import annotations

import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.kill import Scene, archived, chosen_moments, in_peace, ordeal, recorded, served
from tests.support.missing import skip_without

from tres.store.journal import JOURNAL, Journal

PAGES = 150


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    with served(tmp_path_factory.mktemp("web"), 900) as scene:
        yield scene


@pytest.fixture(scope="module")
def whole(scene: Scene) -> tuple[Path, int]:
    """A crawl that nobody has disturbed, and the number of its requests."""
    before = scene.asked()
    in_peace(scene, scene.directory / "whole", PAGES, 1)
    return scene.directory / "whole", scene.asked() - before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sign", "k", "kills"),
    [(signal.SIGKILL, 1, 7), (signal.SIGTERM, 1, 3), (signal.SIGKILL, 8, 3)],
    ids=["kill -9", "SIGTERM", "kill -9, eight in flight"],
)
def test_however_often_it_is_killed_it_is_the_crawl_that_was_not(
    scene: Scene, whole: tuple[Path, int], tmp_path: Path, sign: signal.Signals, k: int, kills: int
) -> None:
    run, (undisturbed, requests) = tmp_path / "run", whole
    result = ordeal(scene, run, PAGES, k, chosen_moments(kills, requests), sign)
    assert len(result.kills) == kills
    assert any(kill.in_flight for kill in result.kills) == (sign is signal.SIGKILL)
    assert result.lost() == 0
    assert result.twice() == []
    assert result.asked_in_vain() == []
    assert result.orphans() == 0
    assert result.warc_is_whole()
    with Journal.open(run / JOURNAL) as journal:
        assert journal.steps() == PAGES
    if k == 1:
        for name in ("pages.csv", "failures.csv", "tree.json"):
            assert (run / name).read_bytes() == (undisturbed / name).read_bytes(), name


@pytest.mark.slow
@pytest.mark.parametrize("way", ["a full disk", "a limit on files"])
def test_a_full_disk_ends_the_crawl_and_room_lets_it_go_on(
    scene: Scene, whole: tuple[Path, int], tmp_path: Path, way: str
) -> None:
    disk, small = tmp_path / "disk", way == "a full disk"
    disk.mkdir()
    if small and subprocess.run(mount(disk, "size=700k"), check=False).returncode:
        skip_without("permission to mount a file system")
    try:
        run = disk / "run"
        for _ in range(2):  # a disk that is still full is told again, and does no harm
            ended = subprocess.run(
                scene.crawl(run, PAGES, 1), capture_output=True, text=True, check=False,
                preexec_fn=None if small else limit_files,
            )  # fmt: skip
            assert ended.returncode == 2, ended.stderr
            assert f"{run}: cannot be written (" in ended.stderr
            assert f"free some space, then: tres resume {run}" in ended.stderr
            assert "Traceback" not in ended.stderr
        outcomes, _ = recorded(run)
        assert 0 < len(outcomes) < PAGES
        with Journal.open(run / JOURNAL) as journal:
            assert archived(run)[: journal.steps()] == [row["asked"] for row in journal.pages()]
        if small:
            subprocess.run(mount(disk, "remount,size=64m"), check=True)
        in_peace(scene, run, PAGES, 1)
        assert (run / "pages.csv").read_bytes() == (whole[0] / "pages.csv").read_bytes()
    finally:
        if small:
            subprocess.run(["umount", str(disk)], check=True)


def mount(directory: Path, options: str) -> list[str]:
    return ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(directory)]


def limit_files() -> None:
    """Python ignores SIGXFSZ: to write more than this is an error like that of a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
