"""Which addresses may be dialled [pure]: public ones, and what a rule names of others.

Never: loopback, link-local, multicast, unspecified, metadata services, our own, and any IPv6 form
that carries an IPv4 address, but for NAT64's well-known prefix (RFC 6052), whose inner address is judged.
"""

from collections.abc import Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

NAT64 = IPv6Network("64:ff9b::/96")
CARRIES_IPV4: tuple[tuple[str, IPv6Network], ...] = (
    ("IPv4-compatible", IPv6Network("::/96")),
    ("IPv4-mapped", IPv6Network("::ffff:0:0/96")),
    ("IPv4-translated", IPv6Network("::ffff:0:0:0/96")),
    ("local NAT64", IPv6Network("64:ff9b:1::/48")),
    ("Teredo", IPv6Network("2001::/32")),
    ("6to4", IPv6Network("2002::/16")),
)
METADATA: frozenset[Address] = frozenset(
    map(
        ip_address,
        (
            "168.63.129.16",  # Azure's, on a public address
            "169.254.169.254",
            "100.100.100.200",
            "192.0.0.192",
            "fd00:ec2::254",
            "fd20:ce::254",
        ),
    )
)
SITE_LOCAL = IPv6Network("fec0::/10")
_ISATAP = frozenset({0x00005EFE, 0x02005EFE})


def undialable(
    address: str, *, refused: Iterable[Network] = (), networks: Iterable[Network] = ()
) -> str:
    """Why `address` is never dialled, in words; empty when it may be.

    `refused` are our own; `networks` are those of a rule that aren't public but may be dialled, which
    opens nothing of what is never dialled.
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return f"{address!a} is no address"
    if isinstance(parsed, IPv6Address):
        if parsed.scope_id is not None:
            return f"{parsed} belongs to one link"
        if parsed in NAT64:
            inner = str(IPv4Address(int(parsed) & 0xFFFFFFFF))
            return undialable(inner, refused=refused, networks=networks)
        if carrier := _carrier(parsed):
            return f"{parsed} carries an IPv4 address ({carrier})"
    return _never(parsed, refused) or _not_public(parsed, networks)


def network(text: str) -> Network:
    """A network, or one address as a network of its own. Raises: ValueError."""
    return ip_network(text, strict=False)


def _never(address: Address, refused: Iterable[Network]) -> str:
    if address.is_loopback or address.is_unspecified:
        return f"{address} is this machine"
    if address in METADATA:
        return f"{address} is a cloud's metadata service"
    if address.is_link_local or address.is_multicast or address in SITE_LOCAL:
        return f"{address} is no host's public address"
    if any(address in one for one in refused):
        return f"{address} is one of Sandgate's own networks"
    return ""


def _not_public(address: Address, networks: Iterable[Network]) -> str:
    if address.is_global and not address.is_reserved:
        return ""
    if any(address in one for one in networks):
        return ""
    return f"{address} is not a public address"


def _carrier(address: IPv6Address) -> str:
    for name, prefix in CARRIES_IPV4:
        if address in prefix and address not in {IPv6Address("::"), IPv6Address("::1")}:
            return name
    return "ISATAP" if int(address) >> 32 & 0xFFFFFFFF in _ISATAP else ""
