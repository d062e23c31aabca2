"""The further hops of a flight: redirects and retries.

Both go back to the scheduler, where they wait for their site's turn like any other request.

Redirects lead to http(s) URLs only, never back to a URL of the chain, and no further than
`live.redirects` hops, each of which is checked like any other request. A page that refreshes to
another URL at once is a redirect too. Retries are for failures of a retryable kind only.
"""

from __future__ import annotations

from typing import Self

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.downloadermiddlewares.retry import RetryMiddleware, get_retry_request
from scrapy.http import Response

from tres.engines.scrapy.failures import NamedFailure, name_failure
from tres.web.page import FailureKind
from tres.web.url import canonical

REDIRECTS = frozenset({301, 302, 303, 307, 308})
LAST_FAILURE = "tres_last_failure"
"""The key of a retried request's meta that holds its last failure (`NamedProblem`)."""
_MUCH_LATER = (FailureKind.SITE_DOWN, FailureKind.THROTTLED)
"""What would only fail again if it were retried now."""


class CheckedRedirectMiddleware:
    """A downloader middleware that follows redirects, within limits.

    Scrapy's own joins URLs in another way than links are, and follows loops to their end. What it
    does besides (cookies, passwords, referrers, POST) does not occur in a crawl.
    """

    def __init__(self, most: int) -> None:
        self._most = most

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        return cls(crawler.settings.getint("REDIRECT_MAX_TIMES"))

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Follow a redirect by a new request, or say why not."""
        if response.status not in REDIRECTS or request.meta.get("dont_redirect"):
            return response
        target = redirect_target(request.url, response)
        if target is None:
            return response
        before = previous_urls(request)
        if target in before:
            note = "redirects lead back to where they were"
            raise NamedFailure(FailureKind.REDIRECT_LOOP, note)
        if request.meta.get("redirect_times", 0) >= self._most:
            raise NamedFailure(FailureKind.REDIRECT_LOOP, f"more than {self._most} redirects")
        times = request.meta.get("redirect_times", 0) + 1
        return redirected(request, target, before, redirect_times=times)


def previous_urls(request: Request) -> list[str]:
    """Return the URLs of a chain of redirects so far, the last one included."""
    return [*request.meta.get("redirect_urls", ()), request.url]


def redirected(request: Request, url: str, before: list[str], **meta: int) -> Request:
    """Return the request for the next hop of a chain."""
    return request.replace(url=url, meta={**request.meta, **meta, "redirect_urls": before})


def redirect_target(url: str, response: Response) -> str | None:
    """Return the canonical URL that a redirect leads to, or None if it names none."""
    location = response.headers.get("Location")
    if not location:
        return None
    text = location.decode("utf-8", "replace")
    target = canonical(text, base=canonical(url))
    if target is None:
        raise NamedFailure(FailureKind.BLOCKED_URL, f"redirect to {text[:60]}")
    return target


class FailureRetryMiddleware(RetryMiddleware):
    """Scrapy's retries, for exactly those failures that have a retryable kind."""

    def process_exception(self, request: Request, exception: Exception) -> Request | None:  # type: ignore[override]
        """Return a request for another attempt, if one is left."""
        problem = name_failure(request.url, exception)
        if not problem.failed.retryable or request.meta.get("dont_retry"):
            return None
        if problem.failed.kind in _MUCH_LATER:
            return None
        assert self.crawler.spider is not None
        retry = get_retry_request(request, spider=self.crawler.spider, reason=exception)
        if retry is not None:
            retry.meta[LAST_FAILURE] = problem
        return retry
