"""The policy file: what the runner writes and the proxy watches, as one value.

JSON, whole or not at all. A file with one rule that means nothing is unreadable: then everything is
refused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address
from typing import ClassVar, Self

from pydantic import TypeAdapter

from proxy.addresses import Network, network
from proxy.rules import SandboxPolicy


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyFile:
    """All sandboxes' policies of one generation. Raises: ValueError when two share an address."""

    __pydantic_config__: ClassVar[dict[str, str | bool]] = {"extra": "forbid", "strict": True}

    generation: int
    refused: tuple[str, ...] = ()
    """Networks and addresses of our own, which nothing is ever sent to."""
    sandboxes: tuple[SandboxPolicy, ...] = ()

    def __post_init__(self) -> None:
        for text in self.refused:
            network(text)
        addresses = {ip_address(one.address) for one in self.sandboxes}
        if len(addresses) != len(self.sandboxes):
            raise ValueError("two sandboxes have one address")

    @classmethod
    def parse(cls, raw: bytes) -> Self:
        """Raises: ValueError that says where it is wrong."""
        parsed = _ADAPTER.validate_json(raw)
        assert isinstance(parsed, cls)  # noqa: S101 - for the type only
        return parsed

    def text(self) -> bytes:
        """As it stands in the file."""
        return _ADAPTER.dump_json(self, indent=1)

    def by_address(self) -> Mapping[str, SandboxPolicy]:
        """The sandboxes by address."""
        return {one.address: one for one in self.sandboxes}

    def own_networks(self) -> tuple[Network, ...]:
        """`refused`, parsed."""
        return tuple(network(text) for text in self.refused)


_ADAPTER = TypeAdapter(PolicyFile)
