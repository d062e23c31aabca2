"""Retries: which failures are tried again.

A retry goes back to the scheduler, where it waits for its site's turn like any other request.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.downloadermiddlewares.retry import RetryMiddleware, get_retry_request

from tres.engines.scrapy.failures import SiteDown, SlowSite, name_failure

LAST_FAILURE = "tres_last_failure"
"""The key of a retried request's meta that holds its last failure (`NamedProblem`)."""


class FailureRetryMiddleware(RetryMiddleware):
    """Scrapy's retries, for exactly those failures that have a retryable kind."""

    def process_exception(self, request: Request, exception: Exception) -> Request | None:  # type: ignore[override]
        """Return a request for another attempt, if one is left."""
        problem = name_failure(request.url, exception)
        if not problem.failed.retryable or request.meta.get("dont_retry"):
            return None
        if isinstance(exception, SiteDown | SlowSite):  # later, but not as soon as this
            return None
        assert self.crawler.spider is not None
        retry = get_retry_request(request, spider=self.crawler.spider, reason=exception)
        if retry is not None:
            retry.meta[LAST_FAILURE] = problem
        return retry
