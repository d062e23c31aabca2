"""Names for the resolver of a test: what they resolve to, look-up by look-up.

A test that has a resolver of its own answers from this table: the n-th look-up of a name gives
the n-th list of addresses, and the last list from then on. The good address is one on which the
server listens; a crawl of this web must allow 127.0.0.0/8 and nothing else.
"""

from __future__ import annotations

GOOD = "127.0.1.1"

NAMES: dict[str, list[list[str]]] = {
    "good.hostile.test": [[GOOD]],
    "private.hostile.test": [["10.0.0.1"]],
    "lan.hostile.test": [["192.168.0.1"]],
    "metadata.hostile.test": [["169.254.169.254"]],
    "loopback6.hostile.test": [["::1"]],
    "mapped.hostile.test": [["::ffff:10.0.0.1"]],
    "zero.hostile.test": [["0.0.0.0"]],
    "multicast.hostile.test": [["224.0.0.1"]],
    "mixed.hostile.test": [[GOOD, "10.0.0.1"]],
    "rebinding.hostile.test": [[GOOD], ["10.0.0.1"]],
    "gone.hostile.test": [[]],
}

EXPECT: dict[str, tuple[str, ...]] = {
    "good.hostile.test": (
        "page",
        "near-duplicate",
    ),
    "private.hostile.test": ("blocked-address",),
    "lan.hostile.test": ("blocked-address",),
    "metadata.hostile.test": ("blocked-address",),
    "loopback6.hostile.test": ("blocked-address",),
    "mapped.hostile.test": ("blocked-address",),
    "zero.hostile.test": ("blocked-address",),
    "multicast.hostile.test": ("blocked-address",),
    "mixed.hostile.test": ("page", "near-duplicate", "blocked-address"),
    "rebinding.hostile.test": ("page", "near-duplicate", "blocked-address"),
    "gone.hostile.test": ("no-such-host",),
}
"""What must be reported for `http://NAME:PORT/`. Whatever it is: no connection to an address
outside 127.0.0.0/8 may be attempted. Names of the good address give pages that it has under
its own name, too."""


class Resolver:
    """Answers from the table, counting the look-ups."""

    def __init__(self) -> None:
        self.asked: dict[str, int] = {}

    def resolve(self, name: str) -> list[str]:
        """The addresses of a name, this time; unknown names have none."""
        answers = NAMES.get(name, [[]])
        count = self.asked.get(name, 0)
        self.asked[name] = count + 1
        return answers[min(count, len(answers) - 1)]
