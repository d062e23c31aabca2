"""What tres is called where packages are installed.

The name `tres` on the package index belongs to another project. So the distribution has a name of
its own, while the module and the command are called `tres`.
"""

from __future__ import annotations

DISTRIBUTION = "tres-crawler"


def pip_install(extra: str = "") -> str:
    """The command that installs what tres needs, or what one of its optional parts needs.

    pip keeps the tres that is installed, wherever it came from, and adds what is missing.

    >>> pip_install("neural")
    "pip install 'tres-crawler[neural]'"
    """
    return f"pip install '{DISTRIBUTION}[{extra}]'" if extra else f"pip install {DISTRIBUTION}"
