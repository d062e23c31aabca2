"""`tres` as a process whose resolver is ours, and whose every connection is written down.

    python -m tests.hostile.child CONNECTIONS crawl TOPIC ...

Names are looked up in `names.NAMES`. Each address that the process so much as tries to connect
to gets a line in the file CONNECTIONS: an audit hook sees it before the system does. A
connection to an address outside 127.0.0.0/8 is refused here, if the crawl should ever try one.
"""

from __future__ import annotations

import os
import socket
import sys
from ipaddress import ip_address, ip_network
from typing import Any

from tests.hostile.names import Resolver

from tres.cli import main

LOOPBACK = ip_network("127.0.0.0/8")


def resolve_by(resolver: Resolver) -> None:
    """Look names up in the table; addresses are what they are."""
    real = socket.getaddrinfo

    def getaddrinfo(host: Any, port: Any, *more: Any, **named: Any) -> list[Any]:
        name = host.decode() if isinstance(host, bytes) else host
        if not isinstance(name, str) or not name.endswith(".test"):
            return real(host, port, *more, **named)
        addresses = resolver.resolve(name)
        if not addresses:
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return [entry for address in addresses for entry in real(address, port, *more, **named)]

    socket.getaddrinfo = getaddrinfo


def watch_connections(path: str) -> None:
    """Write down, and permit or not, whatever is connected to."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def hook(event: str, told: tuple[Any, ...]) -> None:
        if event != "socket.connect" or not isinstance(told[1], tuple):
            return
        os.write(file, f"{told[1][0]}\n".encode())
        if ip_address(told[1][0]) not in LOOPBACK:
            raise ConnectionRefusedError(told[1][0])

    sys.addaudithook(hook)


if __name__ == "__main__":
    watch_connections(sys.argv.pop(1))
    resolve_by(Resolver())
    main()
