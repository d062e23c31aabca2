"""tres as a library: what `import tres` offers besides topics, webs and errors.

A thin layer on the same functions that the commands use, so that a crawl from a program and one
from the command line are the same crawl, with the same files.
"""
