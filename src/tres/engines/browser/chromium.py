"""One Chromium at a time, behind the guarding proxy, replaced after a while.

scrapy-playwright asks a provider for a browser, and asks again when that one is gone. This provider
starts the guarding proxy as well, knows the processes of its browser, and can always kill them: a
browser that hangs does not respond when it is asked to close.
"""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

from playwright.async_api import Browser
from playwright.async_api import Error as PlaywrightError
from scrapy_playwright.provider import PlaywrightBrowserProvider

from tres.engines.browser.guarding_proxy import GuardingProxy

CLOSING_SECONDS = 5.0
"""After this time, a browser that does not close is killed."""


class GuardedChromium(PlaywrightBrowserProvider):  # type: ignore[misc]  # is untyped
    """Gives scrapy-playwright browsers that can reach the Web only through the guarding proxy."""

    def __init__(self, config: Any, guard: GuardingProxy) -> None:
        super().__init__(config)
        self.guard = guard
        self.process = 0
        """The process, and process group, of the running browser; 0 without one."""
        self._browser: Browser | None = None
        self._launching = asyncio.Lock()

    async def start(self) -> None:
        """Start the proxy and the driver; the browser starts with the first page."""
        await self.guard.start()
        await super().start()

    async def launch_browser(self) -> Browser:
        """Return the running browser, or start one."""
        async with self._launching:
            if self._browser is None or not self._browser.is_connected():
                self._browser = await self.browser_type.launch(
                    **self.config.launch_options, proxy=self._proxy_settings()
                )
                self.process = await _process_of(self._browser)
            return self._browser

    def _proxy_settings(self) -> dict[str, str]:
        guard = self.guard
        return {"server": guard.url, "username": guard.user, "password": guard.password}

    async def retire(self) -> None:
        """Close the browser; kill it if it does not respond."""
        browser, self._browser = self._browser, None
        if browser is not None:
            with suppress(TimeoutError, PlaywrightError):
                await asyncio.wait_for(browser.close(), CLOSING_SECONDS)
        self.kill()

    def kill(self) -> None:
        """Kill all processes of the browser."""
        process, self.process = self.process, 0
        if process:
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)

    def kill_largest(self) -> None:
        """Kill the largest process: that of the page that made the browser grow."""
        largest = max(_group(self.process), key=_bytes_of, default=None) if self.process else None
        if largest is not None:
            with suppress(ProcessLookupError):
                os.kill(int(largest.name), signal.SIGKILL)

    def memory(self) -> int:
        """Return the bytes that all processes of the browser hold; 0 where that is unknown."""
        return sum(_bytes_of(path) for path in _group(self.process)) if self.process else 0

    async def close(self) -> None:
        """End the browser, the driver and the proxy."""
        await self.retire()
        if self.playwright is not None:
            await self.playwright.stop()
        await self.guard.close()


async def _process_of(browser: Browser) -> int:
    session = await browser.new_browser_cdp_session()
    answer = await session.send("SystemInfo.getProcessInfo")
    await session.detach()
    return next(int(each["id"]) for each in answer["processInfo"] if each["type"] == "browser")


def _group(leader: int) -> list[Path]:
    """Return the directories under /proc of all processes of a group."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getpgid(int(path.name)) == leader:
                found.append(path)
    return found


def _bytes_of(process: Path) -> int:
    """Return the private resident bytes of a process."""
    with suppress(OSError, ValueError):
        _, resident, shared, *_ = (process / "statm").read_text().split()
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    return 0
