"""Benchmarks and tools belong to the code: none of them uses a name that is gone."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest
from tests.support.missing import need_package

ROOT = Path(__file__).resolve().parents[1]
PROGRAMS = sorted(
    f"{path.parent.name}.{path.stem}"
    for folder in ("benchmarks", "tools")
    for path in (ROOT / folder).glob("[a-z]*.py")
)
NEEDS = {
    "benchmarks.dashboard": "playwright",
    "benchmarks.encoders": "tokenizers",
    "benchmarks.relevance": "torch",
    "benchmarks.report": "playwright",
    "tools.screenshots": "playwright",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_can_be_imported(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if name in NEEDS:
        need_package(NEEDS[name])
    for folder in (ROOT, ROOT / "benchmarks"):
        monkeypatch.syspath_prepend(str(folder))
    import_module(name)
    assert name in sys.modules
