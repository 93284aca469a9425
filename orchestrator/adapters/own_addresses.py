"""The addresses of this machine, as the kernel lists them."""

import re
from contextlib import suppress
from ipaddress import IPv6Address
from pathlib import Path

NET = Path("/proc/net")
_LOCAL = re.compile(r"\|-- ([0-9.]+)\n\s+/32 host LOCAL")


def own_addresses(net: Path = NET) -> tuple[str, ...]:
    """All of them but loopback, IPv4 and IPv6. Raises: OSError."""
    found = set(_LOCAL.findall((net / "fib_trie").read_text()))
    with suppress(FileNotFoundError):  # a machine without IPv6
        lines = (net / "if_inet6").read_text().splitlines()
        found |= {str(IPv6Address(bytes.fromhex(line.split()[0]))) for line in lines}
    return tuple(sorted(one for one in found if not one.startswith("127.") and one != "::1"))
