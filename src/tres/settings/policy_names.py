"""The names that `crawl.policy` may have, and the class that each of them stands for.

    tres                    a policy of tres
    odds                    an entry point of the group `tres.policies` in an installed package
    package.module:Name     a class in a module of an installed package

Topic files may come from strangers, and are read in many places. So reading a name imports
nothing: `import_policy` does, when a crawl needs the class. Only installed packages are searched
(`tres.settings.installed_packages`), never the current directory.
"""

from __future__ import annotations

import re
import sys
from importlib import import_module

from tres.errors import ConfigError
from tres.settings.installed_packages import entry_points, import_installed
from tres.settings.setting import nearest, shown

GROUP = "tres.policies"

BUILT_IN = {
    "tres": "tres.policies.tres:Tres",
    "tres-sync": "tres.policies.tres:TresSync",
    "tres-async": "tres.policies.tres:TresAsync",
    "ache": "tres.policies.ache:Ache",
    "seedfinder": "tres.policies.seedfinder:SeedFinder",
    "han-async": "tres.policies.han:HanAsync",
    "han-sync": "tres.policies.han:HanSync",
    "tree-random": "tres.policies.tree_random:TreeRandom",
    "random": "tres.policies.tree_random:Random",
    "breadth-first": "tres.policies.best_first:BreadthFirst",
    "parent": "tres.policies.best_first:ParentFirst",
    "anchor": "tres.policies.best_first:AnchorFirst",
    "oracle": "tres.policies.oracle:Oracle",
}
POLICIES = tuple(BUILT_IN)

PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
LONGEST = 200
"""Characters of a path."""


def policy_names() -> tuple[str, ...]:
    """Return the names of all policies: built-in ones first, then those of installed packages."""
    return (*POLICIES, *sorted(entry_points(GROUP).keys() - BUILT_IN.keys()))


def is_path(name: str) -> bool:
    """Whether a policy is named by the path of its class, and not by its own name."""
    return ":" in name


def split_policy(spec: str) -> tuple[str, str]:
    """Split a policy from what follows it after a colon; a path has a colon of its own.

    >>> split_policy("tres:gamma=0.1"), split_policy("odds.policies:Odds:pages=9")
    (('tres', 'gamma=0.1'), ('odds.policies:Odds', 'pages=9'))
    """
    path = PATH.match(spec)
    known = spec.partition(":")[0] in BUILT_IN
    if path and not known and spec[path.end() :][:1] in ("", ":"):
        return path.group(), spec[path.end() + 1 :]
    name, _, rest = spec.partition(":")
    return name, rest


def policy_name(value: object) -> str:
    """Check a value of `crawl.policy`: a name that is known, or a path that could be one."""
    if isinstance(value, str):
        if value in BUILT_IN or (len(value) <= LONGEST and PATH.fullmatch(value)):
            return value
        if value in policy_names():
            return value
    raise ValueError(
        f"must be one of {', '.join(policy_names())}, or package.module:Name, not {shown(value)}"
    )


def recorded_name(name: str) -> str:
    """Return the name under which a run records its policy.

    For a policy of an installed package it is the path of its class: so the run says which code it
    was, and can be read where the package is missing.
    """
    return name if name in BUILT_IN or is_path(name) else entry_points(GROUP).get(name, name)


def import_policy(name: str) -> object:
    """Import whatever a policy's name stands for; `ConfigError` says why that fails."""
    path = BUILT_IN.get(name) or recorded_name(name)
    module, _, attribute = path.partition(":")
    if not PATH.fullmatch(path):
        raise _problem(name, "is not installed here; install the package that has it")
    package = module.partition(".")[0]
    if package in sys.stdlib_module_names:
        raise _problem(name, f"names {package} of Python itself; name a class of yours")
    try:
        found = import_module(module) if name in BUILT_IN else import_installed(module)
    except ModuleNotFoundError as problem:
        if problem.name == package:
            raise _problem(
                name,
                f"is in the package {package}, which is not installed; "
                "install it with pip (the current directory is not searched)",
            ) from None
        raise _problem(name, f"cannot be imported: {problem}; install what is missing") from None
    except Exception as problem:
        reason = f"{type(problem).__name__}: {problem}"
        raise _problem(name, f"cannot be imported: {reason}; mend the package") from problem
    if not hasattr(found, attribute):
        classes = [key for key, value in vars(found).items() if isinstance(value, type)]
        hint = nearest(attribute, classes)
        remedy = f"did you mean {module}:{hint}?" if hint else "name a class of the module"
        raise _problem(name, f"does not exist: {module} has no {attribute}; {remedy}")
    return getattr(found, attribute)


def _problem(name: str, text: str) -> ConfigError:
    return ConfigError(f"crawl.policy: {name} {text}")
