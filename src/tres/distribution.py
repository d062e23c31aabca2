"""The name of the distribution that provides the module and the command `tres`.

The name `tres` on the package index belongs to another project.
"""

from __future__ import annotations

DISTRIBUTION = "tres-crawler"


def pip_install(extra: str = "") -> str:
    """Return the command that installs tres, or what one of its optional parts needs.

    pip keeps an installed tres, wherever it came from, and adds what is missing.

    >>> pip_install("neural")
    "pip install 'tres-crawler[neural]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'" if extra else f"pip install {DISTRIBUTION}"
