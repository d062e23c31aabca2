"""The state of one crawl, g_t, as session and policy share it.

The session updates it at every step; policies read it.
"""

from __future__ import annotations

from tres.mdp.names import Names
from tres.mdp.paths import WebPaths
from tres.mdp.sites import Sites


class CrawlState:
    """The ids of URLs and sites, the page counts of sites, and the web paths."""

    def __init__(self) -> None:
        self.urls = Names()
        self.site_names = Names()
        self.sites = Sites()
        self.paths = WebPaths()


Crawl = CrawlState
"""The name of the class in the library, `tres.Crawl`."""
