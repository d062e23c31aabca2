"""A local web application that shows running and finished crawls and steers them.

It reads the stores of runs and leaves orders there; it never touches a crawl itself. So it can be
started, stopped or killed at any time without disturbing a crawl.
"""
