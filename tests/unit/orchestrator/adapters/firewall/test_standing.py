"""What nft says of a table, as it is read."""

from ipaddress import IPv4Network

import pytest

from orchestrator.adapters.firewall import standing
from orchestrator.adapters.firewall.table import Bridge

SUBNET = IPv4Network("192.0.2.0/24")
BRIDGE = Bridge("sgtest", "sgtestb0", SUBNET, SUBNET[1], (8080, 8081))


@pytest.mark.parametrize(
    "printed",
    [
        '{"nftables": [{"table": {"family": "inet", "name": "sgtest", "handle": 444, "flags": \n',
        '{"nftables": [{"table": {"family": "inet", "name": "sgtest", "flags": "Lester Gooch #5"}}]}',
    ],
    ids=["cut off", "of freed memory"],
)
def test_a_table_that_nft_can_not_print_is_not_ours(
    monkeypatch: pytest.MonkeyPatch, printed: str
) -> None:
    """nft 1.0.6, of a table that a process owns."""
    monkeypatch.setattr(standing, "listing", lambda _name: printed)
    found = standing.listed(BRIDGE)
    assert found is not None
    assert standing.wrong_with(found, BRIDGE)


def test_a_table_that_there_is_not_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "listing", lambda _name: None)
    assert standing.wrong_with(standing.listed(BRIDGE), BRIDGE) == [standing.MISSING]
