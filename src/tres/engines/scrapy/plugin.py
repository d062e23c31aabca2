"""The old path of the Scrapy plug-in; settings of existing projects still name it.

`TresScheduler` is `tres.scrapy_plugin.TresScheduler` now, above the engines: it opens a run.
"""

from importlib import import_module
from warnings import warn


def __getattr__(name: str) -> object:
    """Return `tres.scrapy_plugin.TresScheduler`, with a warning."""
    if name != "TresScheduler":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = "tres.scrapy_plugin.TresScheduler"
    old = f"{__name__}.{name}"
    warn(f'{old} has moved; set SCHEDULER = "{new}"', DeprecationWarning, stacklevel=2)
    return import_module("tres.scrapy_plugin").TresScheduler
