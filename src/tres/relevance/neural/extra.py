"""The optional packages of the neural models: asked for only where they are needed."""

from __future__ import annotations

from importlib.util import find_spec

from tres.distribution import pip_install
from tres.errors import ModelError


def need_extra(*packages: str) -> None:
    """`ModelError` with the remedy if one of these packages is not installed."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise ModelError(
            f"neural models need {' and '.join(missing)}, which "
            f"{'is' if len(missing) == 1 else 'are'} not installed: {pip_install('neural')}"
        )
