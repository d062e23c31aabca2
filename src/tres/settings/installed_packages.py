"""Code from other packages: only installed packages are searched.

A topic file can name code to import. So that a stranger's file cannot make tres run code that
lies beside it, modules are looked up where somebody has installed them on purpose:

- in site-packages, and in the directories that its .pth files name (`pip install -e`);
- in the directories of PYTHONPATH that are absolute;

and neither in the current directory, which `python -m tres` has in `sys.path`, nor beside a script.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib import import_module
from importlib.metadata import distributions
from types import ModuleType


def search_path() -> list[str]:
    """Return those entries of `sys.path` where installed packages are."""
    standard = sysconfig.get_path("stdlib")
    first = sys.path.index(standard) if standard in sys.path else len(sys.path)
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    absolute = {os.path.normpath(each) for each in named if os.path.isabs(each)}
    before = [each for each in sys.path[:first] if os.path.normpath(each) in absolute]
    return before + sys.path[first:]


def entry_points(group: str) -> dict[str, str]:
    """Return the entry points of a group, by name: the path of what each stands for."""
    return {
        point.name: point.value
        for distribution in distributions(path=search_path())
        for point in distribution.entry_points
        if point.group == group
    }


def import_installed(module: str) -> ModuleType:
    """Import a module of an installed package, and what it imports in turn."""
    before = sys.path[:]
    sys.path[:] = search_path()
    try:
        return import_module(module)
    finally:
        sys.path[:] = before
