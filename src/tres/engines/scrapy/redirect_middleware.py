"""How far a server can make us go elsewhere.

Redirects lead to http(s) URLs only, never back to where the chain has been, and not further than
`live.redirects`. Each hop is a request of its own, which waits its turn and is checked as every
other.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.downloadermiddlewares.redirect import RedirectMiddleware
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from tres.engines.scrapy.failures import BlockedRedirect, RedirectLoop
from tres.web.url import canonical

REDIRECTS = frozenset({301, 302, 303, 307, 308})


class CheckedRedirectMiddleware(RedirectMiddleware):
    """Scrapy's redirects, with an eye on where they lead."""

    def _engine_started(self) -> None:
        """No referrer is ever sent, so Scrapy need not look for who sets it, nor warn of nobody."""
        self._referer_spider_middleware = None

    def process_response(self, request: Request, response: Response) -> Request | Response:  # type: ignore[override]
        """Follow a redirect by a new request, or say why not."""
        if response.status not in REDIRECTS or request.meta.get("dont_redirect"):
            return response
        target = redirect_target(request.url, response)
        if target is None:
            return response
        if target in (request.url, *request.meta.get("redirect_urls", ())):
            raise RedirectLoop("redirects lead back to where they were")
        followed = self._build_redirect_request(request, response, url=target)
        try:
            return self._redirect(followed, request, response.status)
        except IgnoreRequest as problem:
            raise RedirectLoop(f"more than {self.max_redirect_times} redirects") from problem


def redirect_target(url: str, response: Response) -> str | None:
    """The canonical URL that a redirect leads to; None if it does not say."""
    location = response.headers.get("Location")
    if not location:
        return None
    text = location.decode("utf-8", "replace")
    target = canonical(text, base=canonical(url))
    if target is None:
        raise BlockedRedirect(f"redirect to {text[:60]}")
    return target
