"""What the live Web demands of a topic and an archive does not; checked before a crawl starts."""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from tres.engines.scrapy.network_settings import PROXY_SECONDS
from tres.errors import ConfigError
from tres.settings.topic_file import TopicConfig


def check_live(config: TopicConfig) -> None:
    """Raise a `ConfigError` if this topic cannot be crawled on the live Web."""
    check_no_labels(config)
    if not config.live.contact and not config.live.proxy:
        raise ConfigError(
            "live.contact is missing: sites must be able to reach whoever crawls them; write "
            'contact = "https://you.example/crawler" (or a mail address) under [live], '
            "or give --contact; to crawl an archive, name it with --web"
        )
    if config.live.proxy:
        _check_proxy(config.live.proxy)


def check_no_labels(config: TopicConfig) -> None:
    """Raise a `ConfigError` if the examples come from labels, which only archives have."""
    if config.training.labels:
        raise ConfigError(
            "training.labels: the live Web has no labels; name an archive with --web, give "
            'positives and negatives, load a model, or set model = "auto" without labels'
        )


def _check_proxy(proxy: str) -> None:
    """Connect to the proxy: if it were down, every site would look as if it were."""
    try:
        parts = urlsplit(proxy)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname, port), PROXY_SECONDS).close()
    except (OSError, ValueError) as problem:  # no address, no connection; no such port
        why = getattr(problem, "strerror", None) or problem
        raise ConfigError(
            f"live.proxy: nothing answers at {proxy} ({why}); start the proxy, or name another "
            "with --proxy"
        ) from None
