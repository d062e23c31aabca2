"""A local web application that shows crawls, running and finished, and steers them.

It reads the stores of runs and leaves orders there; it never touches a crawl itself. So it may
be started, stopped or killed at any time, and nobody's crawl takes notice.
"""
