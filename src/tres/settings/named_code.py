"""Settings that name code: a built-in name, or something in an installed package.

    tfidf                   a name that tres knows
    odds                    an entry point of an installed package
    package.module:Name     something in a module of an installed package

Topic files may come from strangers, and are read in many places. So reading a name imports
nothing: `NamedCode.load` does, when a crawl needs what it stands for. Only installed packages are
searched (`tres.settings.installed_packages`), never the current directory.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from types import ModuleType

from tres.errors import ConfigError
from tres.settings.installed_packages import entry_points, import_installed
from tres.settings.setting import nearest, shown

PATH = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
LONGEST = 200
"""Characters of a path."""


def is_path(name: str) -> bool:
    """Whether code is named by its path, and not by a name of its own."""
    return ":" in name


@dataclass(frozen=True, slots=True)
class NamedCode:
    """The names that one setting may have, and what those of installed packages stand for."""

    key: str
    """The setting."""
    group: str
    """The entry points by which packages add names."""
    built_in: tuple[str, ...]
    kind: str
    """What a path names, with its article."""

    def names(self) -> tuple[str, ...]:
        """Return all names: built-in ones first, then those of installed packages."""
        return (*self.built_in, *sorted(entry_points(self.group).keys() - {*self.built_in}))

    def check(self, value: object) -> str:
        """Check a value of the setting: a name that is known, or a path that could be one."""
        if isinstance(value, str):
            if value in self.built_in or (len(value) <= LONGEST and PATH.fullmatch(value)):
                return value
            if value in self.names():
                return value
        names = ", ".join(self.names())
        raise ValueError(f"must be one of {names}, or package.module:Name, not {shown(value)}")

    def recorded(self, name: str) -> str:
        """Return the name that a run records: for code of an installed package, its path.

        So the run says which code it was, and can be read where the package is missing.
        """
        if name in self.built_in or is_path(name):
            return name
        return entry_points(self.group).get(name, name)

    def load(self, name: str) -> object:
        """Import what a name of an installed package stands for; `ConfigError` if that fails."""
        path = self.recorded(name)
        if not PATH.fullmatch(path):
            raise self.problem(name, "is not installed here; install the package that has it")
        module, _, attribute = path.partition(":")
        found = self._import(name, module)
        if not hasattr(found, attribute):
            hint = nearest(attribute, [key for key in vars(found) if not key.startswith("_")])
            remedy = f"did you mean {module}:{hint}?" if hint else f"name {self.kind} of the module"
            raise self.problem(name, f"does not exist: {module} has no {attribute}; {remedy}")
        return getattr(found, attribute)

    def problem(self, name: str, text: str) -> ConfigError:
        """Return the error that a name stands for nothing that can be used."""
        return ConfigError(f"{self.key}: {name} {text}")

    def _import(self, name: str, module: str) -> ModuleType:
        package = module.partition(".")[0]
        if package in sys.stdlib_module_names:
            raise self.problem(name, f"names {package} of Python itself; name {self.kind} of yours")
        try:
            return import_installed(module)
        except ModuleNotFoundError as problem:
            why = f"cannot be imported: {problem}; install what is missing"
            if problem.name == package:
                why = (
                    f"is in the package {package}, which is not installed; "
                    "install it with pip (the current directory is not searched)"
                )
            raise self.problem(name, why) from None
        except (Exception, SystemExit) as problem:  # a script ends the program
            reason = f"{type(problem).__name__}: {problem}"
            raise self.problem(name, f"cannot be imported: {reason}; mend the package") from problem
