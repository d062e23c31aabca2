"""The former address of the Scrapy scheduler: `SCHEDULER` settings in people's projects name it.

It lives in `tres.scrapy_plugin.scheduler` now, above the engines, because it opens a run.
"""

from importlib import import_module
from warnings import warn


def __getattr__(name: str) -> object:
    """A name of `tres.scrapy_plugin.scheduler`, with a warning."""
    new = "tres.scrapy_plugin.scheduler"
    if name.startswith("__") or not hasattr(import_module(new), name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warn(f"{__name__} has moved; write tres.scrapy_plugin.{name}", DeprecationWarning, stacklevel=2)
    return getattr(import_module(new), name)
