"""Serve a web during a `with` block: for tests, benchmarks and demonstrations."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

from tres.errors import ArchiveError
from tres.offline.http_responses import response_source
from tres.offline.proxy import Proxy
from tres.offline.web import Web

_STOP_SECONDS = 10.0
_ADDRESS = re.compile(r"http://\S+:\d+")


@contextmanager
def serving(web: Web, **options: Any) -> Iterator[str]:
    """Serve a web from a thread of this process; the options are those of `Proxy`."""
    proxy = Proxy(response_source(web), **options)
    loop = asyncio.new_event_loop()
    try:
        port = loop.run_until_complete(proxy.start())
        thread = Thread(target=loop.run_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.run_until_complete(proxy.close())
    finally:
        loop.close()


@contextmanager
def serving_process(web: str, *options: str) -> Iterator[str]:
    """Run `tres serve WEB` beside this process, on a core of its own."""
    command = [sys.executable, "-P", "-m", "tres", "serve", web, "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield _address(process, web)
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _address(process: subprocess.Popen[str], web: str) -> str:
    assert process.stdout is not None
    address = _ADDRESS.search(process.stdout.readline())
    if address is None:
        raise ArchiveError(f"{web}: could not be served; run `tres serve {web}` to see why")
    return address[0]
