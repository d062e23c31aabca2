"""Fetch URLs in a process of their own; see `child.py`."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]


def fetch(
    urls: Iterable[str],
    names: Mapping[str, list[list[str]]] | None = None,
    settings: Mapping[str, Any] | None = None,
    seconds: float = 90,
    **live: Any,
) -> Any:
    """What came of each URL (`told`), the names looked up (`asked`) and the peak memory."""
    polite = {"delay": 0.0, "per_site": 64, "retries": 0, "robots": False, "throttle": False}
    task = {
        "urls": list(urls),
        "names": dict(names or {}),
        "settings": dict(settings or {}),
        "live": {**polite, **live},
    }
    ended = subprocess.run(
        [sys.executable, "-m", "tests.engines.network.child"],
        cwd=ROOT,
        input=json.dumps(task),
        capture_output=True,
        text=True,
        timeout=seconds,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    assert "Traceback" not in ended.stderr, ended.stderr
    return json.loads(ended.stdout)
