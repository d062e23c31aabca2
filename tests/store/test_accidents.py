"""Small versions of `benchmarks/flips.py` and `benchmarks/power.py`."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from benchmarks.flips import Flipper, flips, scene_of
from benchmarks.kill import served
from benchmarks.power import Disk, File, is_here, power_cuts

pytestmark = pytest.mark.slow


def test_every_bit_that_is_flipped_is_harmless_or_named(tmp_path: Path) -> None:
    runs = scene_of(tmp_path, 12)
    became = Counter(flip.became for flip in flips(runs, 120))
    assert became["unnoticed"] == 0
    assert became["named"] > 40
    for run in runs:  # and the bits that were not noticed before
        flipper = Flipper(run)
        for name in ("config.toml", "judgements.jsonl", "model/model.json"):
            file = run / name
            text = file.read_bytes()
            at = text.index(next(digit for digit in b"123456789" if digit in text))
            assert flipper.flip(file, at, 0).became == "named", name


@pytest.mark.skipif(not is_here(), reason="strace is not here, or may not trace")
def test_a_run_goes_on_after_any_power_cut(tmp_path: Path) -> None:
    with served(tmp_path, 600) as scene:
        cuts = power_cuts(scene, 40, 3)
    assert [cut.said for cut in cuts if not cut.is_well] == []
    assert max(cut.seconds_lost for cut in cuts) < 60  # seconds of a crawl that is traced


def test_the_disk_that_loses_power_keeps_what_was_synced() -> None:
    """The benchmark would prove nothing if its disk lost nothing, or too much."""
    from random import Random

    file = File()
    file.write(0, b"a" * 4096)
    file.sync()
    file.write(4096, b"b" * 8192)
    left = {file.after_a_cut(Random(seed)) for seed in range(40)}
    assert all(content.startswith(b"a" * 4096) for content in left)
    assert {len(content) for content in left} == {4096, 12288}
    assert any(b"\0" * 4096 in content for content in left)
    assert Disk(Path("/run")).directories == {}
