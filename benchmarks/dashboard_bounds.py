"""How many connections strangers can hold open at a dashboard, and what answering *why?* costs.

Sends half requests to `tres dashboard` and counts those that are still open after some seconds,
while an honest client asks for the list of runs. Then the process that answers such questions
explains pages of a crawl of a generated web.

    python benchmarks/dashboard_bounds.py --half 3000 --pages 1000
"""

from __future__ import annotations

import argparse
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import tres
from tres.dashboard.followed_run import ClientState, FollowedRun
from tres.dashboard.query_process import QueryProcess
from tres.offline.generated.generator import GeneratedWeb

WEB, TOPIC = "generated:pages=20000,seed=2", "sailing"
HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
LOOKS = (1, 14)
"""Seconds after which open connections are counted."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--half", type=int, default=3_000, help="half requests")
    parser.add_argument("--pages", type=int, default=1_000, help="pages of the crawl")
    options = parser.parse_args()
    with TemporaryDirectory() as scratch:
        with dashboard(Path(scratch)) as (host, port):
            half_requests(host, port, options.half)
        explanations(Path(scratch) / "run", options.pages)


@contextmanager
def dashboard(folder: Path) -> Iterator[tuple[str, int]]:
    command = [sys.executable, "-m", "tres", "dashboard", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        host, port = process.stdout.readline().strip().rstrip("/").rpartition("/")[2].split(":")
        urlopen(f"http://{host}:{port}/").close()  # it answers
        yield host, int(port)
        process.terminate()


def half_requests(host: str, port: int, count: int) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 1_000,) * 2)
    clients = [socket.create_connection((host, port)) for _ in range(count)]
    for client in clients:
        client.setblocking(False)
        client.sendall(HALF)
    waited = 0
    for seconds in LOOKS:
        time.sleep(seconds - waited)
        waited = seconds
        print(f"{count:,} half requests, open after {seconds} s: {sum(map(is_open, clients)):,}")
    began = time.perf_counter()
    urlopen(f"http://{host}:{port}/api/runs").close()
    print(f"an honest request takes {time.perf_counter() - began:.2f} s")


def is_open(client: socket.socket) -> bool:
    try:
        while client.recv(4_096):
            pass
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def explanations(directory: Path, pages: int) -> None:
    web = GeneratedWeb(20_000, 2)
    topic = tres.new_topic(web.topics[TOPIC], web.seeds(TOPIC), labels=[TOPIC])
    for _ in tres.crawl_pages(topic, WEB, run=directory, pages=pages):
        pass
    run, answers = FollowedRun("run", directory, time.monotonic), QueryProcess()
    run.news(ClientState())
    for step in (pages, pages // 2, pages // 10):
        before, began = processor(answers), time.perf_counter()
        answers.ask("explain", run, step=step, wait=False)
        spent = processor(answers) - before
        print(
            f"page {step:,} explained in {time.perf_counter() - began:.2f} s, "
            f"{spent:.2f} s of processor time"
        )
    answers.close()


def processor(answers: QueryProcess) -> float:
    """Seconds of processor time of the process that answers, if there is one."""
    if answers._process is None:
        return 0.0
    fields = Path(f"/proc/{answers._process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
