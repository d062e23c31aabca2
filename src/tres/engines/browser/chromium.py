"""One Chromium at a time: started behind the guarding proxy, replaced when it has grown old.

scrapy-playwright asks a provider for a browser, and asks again when that one is gone. This
provider starts the guarding proxy with it, knows the processes of its browser, and can end
them for certain: a browser that hangs does not answer when it is asked to close.
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
"""What has not closed after so long is ended by force."""


class GuardedChromium(PlaywrightBrowserProvider):  # type: ignore[misc]  # is untyped
    """Gives scrapy-playwright browsers that can reach the Web through the guard only."""

    def __init__(self, config: Any, guard: GuardingProxy) -> None:
        super().__init__(config)
        self.guard = guard
        self.process = 0
        """The process, and process group, of the browser that runs; 0 if none does."""
        self._browser: Browser | None = None
        self._launching = asyncio.Lock()

    async def start(self) -> None:
        """Start the guard and the driver; the browser waits for the first page."""
        await self.guard.start()
        await super().start()

    async def launch_browser(self) -> Browser:
        """The browser that runs, or a new one."""
        async with self._launching:
            if self._browser is None or not self._browser.is_connected():
                self._browser = await self.browser_type.launch(
                    **self.config.launch_options, proxy=self._way_out()
                )
                self.process = await _process_of(self._browser)
            return self._browser

    def _way_out(self) -> dict[str, str]:
        guard = self.guard
        return {"server": guard.url, "username": guard.user, "password": guard.password}

    async def retire(self) -> None:
        """Close the browser, by force if it does not listen."""
        browser, self._browser = self._browser, None
        if browser is not None:
            with suppress(TimeoutError, PlaywrightError):
                await asyncio.wait_for(browser.close(), CLOSING_SECONDS)
        self.kill()

    def kill(self) -> None:
        """End all processes of the browser at once."""
        process, self.process = self.process, 0
        if process:
            with suppress(ProcessLookupError):
                os.killpg(process, signal.SIGKILL)

    def kill_largest(self) -> None:
        """End the largest process: that of the page which made the browser grow."""
        largest = max(_group(self.process), key=_bytes_of, default=None) if self.process else None
        if largest is not None:
            with suppress(ProcessLookupError):
                os.kill(int(largest.name), signal.SIGKILL)

    def memory(self) -> int:
        """Bytes that the browser holds in all its processes; 0 where that cannot be known."""
        return sum(_bytes_of(path) for path in _group(self.process)) if self.process else 0

    async def close(self) -> None:
        """Leave no process and no connection behind."""
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
    """The directories under /proc of all processes of a group."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.getpgid(int(path.name)) == leader:
                found.append(path)
    return found


def _bytes_of(process: Path) -> int:
    """What a process holds of its own: resident, and shared with no file or other process."""
    with suppress(OSError, ValueError):
        _, resident, shared, *_ = (process / "statm").read_text().split()
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    return 0
