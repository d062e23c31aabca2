"""The address of a chat-completions endpoint, and the key that it may see.

People write the address as the clients of these servers do: up to `/v1`, or whole. A key in the
environment may be meant for another service than the one that is asked. So without `--key-env`,
the usual key goes nowhere in the clear: over https, or to this machine only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from tres.errors import ConfigError
from tres.web.url import canonical

USUAL_KEY = "OPENAI_API_KEY"
CHAT = "/chat/completions"
USUAL_PATH = "/v1"


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where chat completions are asked for."""

    scheme: str
    host: str
    port: int | None
    path: str
    query: str = ""

    @classmethod
    def parse(cls, written: str) -> Endpoint:
        """Return the endpoint that a person means; `ConfigError` if it is none."""
        parts = urlsplit(canonical(written) or "")
        if not parts.hostname:  # what was written may contain a password
            raise ConfigError(
                "--ask must be an http or https address without user name and password, such as "
                "http://localhost:11434/v1"
            )
        return cls(parts.scheme, parts.hostname, parts.port, _chat_path(parts), parts.query)

    @property
    def target(self) -> str:
        """What is requested from the host."""
        return f"{self.path}?{self.query}" if self.query else self.path

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        """The address without its query, which may hold a secret."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}{f':{self.port}' if self.port else ''}{self.path}"


def _chat_path(parts: SplitResult) -> str:
    path = parts.path.rstrip("/")
    return path if path.endswith(CHAT) else f"{path or USUAL_PATH}{CHAT}"


def key_for(endpoint: Endpoint, variable: str | None, environment: Mapping[str, str]) -> str:
    """Return the key in a variable of the environment; empty if there is none to send."""
    key = environment.get(variable or USUAL_KEY, "").strip()
    if variable and not key:
        raise ConfigError(f"--key-env: the environment variable {variable} is not set; export it")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ConfigError(
            f"{variable or USUAL_KEY}: no HTTP header can hold this key; copy it again"
        )
    in_the_clear = endpoint.scheme == "http" and not endpoint.is_local
    return "" if variable is None and in_the_clear else key
