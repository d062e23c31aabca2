"""The Scrapy settings for rendering JavaScript.

The browser is the system's Chromium behind scrapy-playwright. It is off unless the topic file asks
for it, and what it needs is checked before anything starts.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tres.distribution import pip_install
from tres.engines.browser.needs_rendering import Rendering
from tres.errors import ConfigError
from tres.settings.sections import LiveSection

EXECUTABLE = "PLAYWRIGHT_CHROMIUM_EXECUTABLE_PATH"
"""The environment variable that names a Chromium other than the system's."""

PAGES_PER_BROWSER = 200
"""After this many pages the browser is closed and a new one started."""

_NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_AFTER_DECOMPRESSION = 540  # redirects, decompression and retries are done: a page is left
_ARGUMENTS = (
    # the guarding proxy is the only way out: no name look-ups, no UDP
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    "--proxy-bypass-list=<-loopback>",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # its older name
    "--disable-quic",
    "--dns-prefetch-disable",
    # no requests but those of pages
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-sync",
    "--metrics-recording-only",
    "--no-first-run",
    "--no-pings",
    # nobody looks at the picture
    "--blink-settings=imagesEnabled=false",
    "--disable-gpu",
    "--mute-audio",
)


@dataclass(frozen=True, slots=True)
class Browsing:
    """What the rendering middleware needs to know about the crawl."""

    live: LiveSection
    permitted: Callable[[str], bool]
    pages_per_browser: int


def browser_settings(
    live: LiveSection,
    permitted: Callable[[str], bool],
    pages_per_browser: int = PAGES_PER_BROWSER,
) -> dict[str, Any]:
    """Return Scrapy settings that render the pages that need it; none if no page can.

    `permitted` says whether an address may be connected to. Raises `ConfigError` if
    rendering is asked for and a part of it is not installed.
    """
    if not Rendering(live).possible:
        return {}
    _check_installed()
    return {
        "DOWNLOADER_MIDDLEWARES": {
            "tres.engines.browser.rendered_pages.RenderingMiddleware": _AFTER_DECOMPRESSION
        },
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "PLAYWRIGHT_BROWSER_TYPE": "chromium",
        "PLAYWRIGHT_MAX_PAGES_PER_CONTEXT": 1,  # every page has its own context
        "PLAYWRIGHT_LAUNCH_OPTIONS": launch_options(find_chromium()),
        "PLAYWRIGHT_PROCESS_REQUEST_HEADERS": None,
        "PLAYWRIGHT_DEFAULT_NAVIGATION_TIMEOUT": live.timeout * 1000,
        "TRES_BROWSING": Browsing(live, permitted, pages_per_browser),
    }


def find_chromium() -> Path:
    """Return the Chromium to use: the one that the environment names, or the system's."""
    named = os.environ.get(EXECUTABLE)
    if named and not os.access(named, os.X_OK):
        raise ConfigError(
            f"{EXECUTABLE} names {named}, which is not a program; name one or unset it"
        )
    found = named or next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        raise ConfigError(
            "live.javascript needs Chromium, which was not found: install the package chromium "
            f"(or google-chrome), or name one in the environment variable {EXECUTABLE}"
        )
    return Path(found)


def _check_installed() -> None:
    if find_spec("scrapy_playwright") is None:
        raise ConfigError(
            "live.javascript needs scrapy-playwright, which is not installed: "
            f"{pip_install('javascript')}"
        )


def launch_options(executable: Path) -> dict[str, Any]:
    """Return the options with which Playwright starts a browser."""
    return {
        "executable_path": str(executable),
        "headless": True,
        "chromium_sandbox": os.geteuid() != 0,  # Chromium has no sandbox for root
        "args": list(_ARGUMENTS),
        "ignore_default_args": ["--disable-popup-blocking"],
        # an interrupted crawl finishes its pages first, and closes the browser itself
        "handle_sigint": False,
        "handle_sigterm": False,
        "handle_sighup": False,
    }
