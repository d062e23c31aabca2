"""Which network addresses a crawler may connect to.

A page can name any host, and a name can stand for any address: that of this machine, of the router,
of a database in the same network, of the service that hands out a cloud machine's keys. None of
them is the Web. So only publicly reachable addresses are permitted, and what the user allows by
name.

The rule applies to the numeric address of a connection, after every spelling (`0x7f.1`,
`2130706433`, `[::ffff:127.0.0.1]`) has become a number. An IPv6 address with an IPv4 address inside
(mapped, 6to4, NAT64) counts as that IPv4 address.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

Address = IPv4Address | IPv6Address

_NAT64 = ip_network("64:ff9b::/96")
_NEVER_PUBLIC = tuple(
    ip_network(network)
    for network in (
        "100.64.0.0/10",  # carrier-grade NAT
        "168.63.129.16/32",  # a cloud's own services, at an address that looks public
        "192.0.0.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "fec0::/10",
        "5f00::/16",
    )
)


class AddressGuard:
    """Permits public addresses, and networks that the user allows."""

    def __init__(self, allow: Iterable[str] = ()) -> None:
        self._allowed = tuple(ip_network(network, strict=False) for network in allow)

    def permits(self, address: str) -> bool:
        """May a connection to this numeric address be opened?

        >>> AddressGuard().permits("127.0.0.1"), AddressGuard(["127.0.0.0/8"]).permits("127.0.0.1")
        (False, True)
        """
        try:
            known = ip_address(address.partition("%")[0])
        except ValueError:
            return False
        meant = _embedded_ipv4(known) or known
        if any(form in network for form in (known, meant) for network in self._allowed):
            return True
        return is_public(meant)


def server_of(addresses: Iterable[str]) -> str:
    """Return one key for the server at these addresses of a name, whatever their order.

    An IPv6 network of 64 bits counts as one server.

    >>> server_of(["192.0.2.7", "192.0.2.1"]), server_of(["2001:db8::1:2"])
    ('192.0.2.1', '2001:db8::/64')
    """
    known = (ip_address(address.partition("%")[0]) for address in addresses)
    meant = [_embedded_ipv4(address) or address for address in known]
    first = min(meant, key=lambda address: (address.version, int(address)))
    if isinstance(first, IPv4Address):
        return str(first)
    return str(ip_network((first, 64), strict=False))


def is_public(address: Address) -> bool:
    """Is the address reachable from the whole Internet?"""
    if not address.is_global or address.is_multicast or address.is_reserved:
        return False
    return not any(address in network for network in _NEVER_PUBLIC)


def _embedded_ipv4(address: Address) -> IPv4Address | None:
    """Return the IPv4 address inside an IPv6 address, if there is one."""
    if isinstance(address, IPv4Address):
        return None
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour
