"""The algebra behind a command has one thread, though it is loaded when the command runs."""

from __future__ import annotations

import os
import subprocess
import sys

PROBE = """
from tres.cli import command_group, main

def probe(prog_name):
    import numpy
    from threadpoolctl import threadpool_info
    print(*(pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"))

command_group.commands = probe
main()
"""


def threads(**environment: str) -> list[int]:
    inherited = {k: v for k, v in os.environ.items() if not k.endswith("_NUM_THREADS")}
    asked = subprocess.run(
        [sys.executable, "-c", PROBE],
        env=inherited | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return [int(number) for number in asked.stdout.split()]


def test_libraries_that_a_command_loads_have_one_thread() -> None:
    assert set(threads()) == {1}


def test_who_sets_the_number_gets_it() -> None:
    assert set(threads(OPENBLAS_NUM_THREADS="2", MKL_NUM_THREADS="2")) == {min(2, _cores())}


def _cores() -> int:
    return len(os.sched_getaffinity(0))
