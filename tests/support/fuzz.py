"""How hard to fuzz: some hundred inputs by default, `TRES_FUZZ=100000` for that many a test."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("TRES_FUZZ", "200"))

fuzzed = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=EXAMPLES <= 1_000,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
"""A decorator for tests that throw anything at a parser."""
