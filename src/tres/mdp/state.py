"""The state of one crawl, g_t, as session and policy share it.

The session writes it, step by step; policies read it. URLs and sites are named here, their
pages counted, and the web paths kept.
"""

from __future__ import annotations

from tres.mdp.names import Names
from tres.mdp.paths import WebPaths
from tres.mdp.sites import Sites


class Crawl:
    """Names, site counts and web paths of one crawl."""

    def __init__(self) -> None:
        self.urls = Names()
        self.site_names = Names()
        self.sites = Sites()
        self.paths = WebPaths()
