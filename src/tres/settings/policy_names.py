"""The names that `crawl.policy` may have, and the classes of those that are built in.

    tres                    a policy of tres
    odds                    an entry point of the group `tres.policies` in an installed package
    package.module:Name     a class in a module of an installed package

What names of installed packages stand for: `tres.settings.named_code`.
"""

from __future__ import annotations

from importlib import import_module

from tres.settings.named_code import PATH, NamedCode

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

POLICY_NAMES = NamedCode("crawl.policy", "tres.policies", POLICIES, "a class")


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


def import_policy(name: str) -> object:
    """Import whatever a policy's name stands for; `ConfigError` says why that fails."""
    if name not in BUILT_IN:
        return POLICY_NAMES.load(name)
    module, _, attribute = BUILT_IN[name].partition(":")
    return getattr(import_module(module), attribute)
