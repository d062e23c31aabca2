"""Outlinks written by hand, for tests that work below the session."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from tests.support.webs import To

from tres.mdp.paths import PathFeatures
from tres.mdp.transitions import NO_PATH, Outlinks


def ids(*values: int) -> np.ndarray:
    """Ids as the core keeps them."""
    return np.array(values, np.int32)


def outlinks(
    targets: Sequence[tuple[int, int, To]],
    page: int = 0,
    relevance: float = 0.0,
    path: PathFeatures = NO_PATH,
    own_site: int = -1,
) -> Outlinks:
    """Links as (url id, site id, description); the description's own URL is not looked at."""
    sites = [site for _, site, _ in targets]
    return Outlinks(
        page=page,
        relevance=relevance,
        relevant=relevance >= 0.5,
        path=path,
        urls=ids(*(url for url, _, _ in targets)),
        sites=ids(*sites),
        same_site=np.array([site == own_site for site in sites], np.bool_),
        url_keyword=np.array([to.url_keyword for _, _, to in targets], np.bool_),
        anchor_keyword=np.array([to.anchor_keyword for _, _, to in targets], np.bool_),
        anchor_relevance=np.array([to.anchor_relevance for _, _, to in targets], np.float32),
        places=np.arange(len(targets), dtype=np.int32),
    )


def plain(site_of_url: dict[int, int], page: int = 0) -> Outlinks:
    """Links about which nothing is known but URL and site."""
    return outlinks([(url, site, To("")) for url, site in site_of_url.items()], page)
