"""One door: whatever else a sandbox tries to reach on the network, it doesn't.

Everything is tried at once, from inside; that it could be reached at all is seen from the host.
"""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from orchestrator.adapters.firewall.counting import counted_in
from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.rules import NAMES
from orchestrator.adapters.firewall.standing import listed
from orchestrator.domain.dropped import Flow
from orchestrator.stack.installation import Installation
from orchestrator.stack.wiring import bridge_of
from tests.e2e.escape.agent import EXECD, Agent
from tests.e2e.escape.probing import LISTENER, TRIES, HostListener, reaches
from tests.e2e.escape.ways import (
    SERVICES,
    Way,
    host_ways,
    outside_ways,
    sibling_ways,
)
from tests.e2e.house import eventually
from tests.waiting import until

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]


@dataclass(frozen=True, slots=True)
class Tried:
    """What came of each way, who came to the host's listener, and what each wall dropped."""

    ways: Mapping[str, Way]
    found: Mapping[str, str]
    came: list[str]
    heard: str
    dropped: Mapping[str, int]


@pytest.fixture(scope="module")
def listener() -> Iterator[HostListener]:
    with HostListener().open() as listening:
        yield listening


@pytest.fixture(scope="module")
def tried(mole: Agent, neighbour: Agent, listener: HostListener) -> Tried:
    """The mole tries everything."""
    here = mole.house.here
    neighbour.do(f"setsid python3 -c '{LISTENER}' </dev/null >/dev/null 2>&1 &")
    neighbour.do("until [ -e /tmp/listens ]; do sleep 0.05; done; echo > /dev/tcp/127.0.0.1/8000")
    ways = {
        **host_ways(here, listener.port),
        **sibling_ways(neighbour.address, str(here.subnet.broadcast_address)),
        **outside_ways(here),
    }
    before = drops(here)
    found = mole.python(f"WAYS = {ways!r}\nDOOR = {here.gateway!r}\n{TRIES}")
    after = drops(here)
    dropped = {wall: after[wall] - before[wall] for wall in after}
    return Tried(ways, found, list(listener.came), neighbour.do("cat /tmp/heard").output, dropped)


def drops(here: Installation) -> dict[str, int]:
    """How many packets each wall has dropped, by the rule's comment."""
    listing: dict[str, Any] = json.loads(nft("-j", "list", "table", "inet", here.network))
    rules = [entry["rule"] for entry in listing["nftables"] if "rule" in entry]
    return {
        rule["comment"]: part["counter"]["packets"]
        for rule in rules
        for part in rule["expr"]
        if isinstance(part, dict) and isinstance(part.get("counter"), dict)
    }


def closed(tried: Tried, prefix: str) -> list[str]:
    """The ways of this kind. Fails when one of them was open."""
    ways = {way: said for way, said in tried.found.items() if way.startswith(prefix)}
    assert ways
    opened = {way: said for way, said in ways.items() if "reached" in said}
    assert not opened
    return list(ways)


def test_the_door_is_open(tried: Tried) -> None:
    """A sandbox reaches the entrance (so the other tries of this page do leave the sandbox)."""
    assert tried.found["the door"] == "reached"


async def test_nothing_else_of_the_host_is_reached(tried: Tried, listener: HostListener) -> None:
    """A sandbox reaches no other port of the host, by whatever address: gateway, bridges, network, IPv6."""
    for way in closed(tried, "a listener by"):
        how, address, port = tried.ways[way]
        assert how == "udp" or reaches(address, port), f"{way} works for nobody"
    await until(lambda: bool(listener.came))
    assert tried.came == [], "somebody came while only the mole tried"
    assert tried.dropped["nothing else"] > 0
    closed(tried, "ping the gateway")


@pytest.mark.parametrize("service", SERVICES)
def test_the_services_behind_the_door_are_not_reached(
    mole: Agent, tried: Tried, service: str
) -> None:
    """OpenSandbox, PocketBase, the runner's API, Polarion, git host, model: none but through the door."""
    assert reaches("127.0.0.1", getattr(mole.house.here.ports, service)), "it does not run"
    assert len(closed(tried, f"{service} by")) >= 3


def test_a_sibling_is_not_reached(tried: Tried, neighbour: Agent) -> None:
    """Two sandboxes on one bridge don't see each other: no execd, server, broadcast or ping (CASE-21)."""
    assert reaches(neighbour.address, EXECD), "execd does not run"
    assert len(closed(tried, "the neighbour")) == 4
    closed(tried, "ping the neighbour")
    assert tried.heard.split() == ["127.0.0.1"], "only the neighbour heard itself"


def test_a_siblings_execd_is_not_opened_by_its_own_token(mole: Agent, neighbour: Agent) -> None:
    """Not even with the token, which only the host knows, does one sandbox use another's execd (CASE-21)."""
    header = f"X-EXECD-ACCESS-TOKEN: {neighbour.execd_token}"
    ask = f"curl -s --noproxy '*' -m 3 -o /dev/null -w '%{{http_code}}' -H '{header}'"
    own = neighbour.do(f"{ask} http://127.0.0.1:{EXECD}/metrics")
    assert own.output == "200", "the token is wrong"
    assert mole.do(f"{ask} http://{neighbour.address}:{EXECD}/metrics").output == "000"


def test_a_sandbox_cannot_take_a_siblings_address(tried: Tried) -> None:
    """The address that goes with a run token can't be borrowed: the kernel refuses to speak from it."""
    assert closed(tried, "be the neighbour")


def test_the_outside_is_not_reached(tried: Tried) -> None:
    """No packet leaves for the internet or the metadata address; all of them end at the wall."""
    closed(tried, "an outside address")
    closed(tried, "the metadata address")
    closed(tried, "ping outside")
    assert tried.dropped["nowhere through us"] >= 4


def test_each_packet_that_the_fence_drops_is_in_the_log_once(mole: Agent, tried: Tried) -> None:
    """What the fence drops is on record: which run, to whom, by which rule, how often; and none twice."""
    assert tried.found
    eventually(lambda: dropped_in_log(mole) == dropped_by_table(mole))
    rules = {flow.rule for flow in dropped_by_table(mole)}
    assert {NAMES[rule].name for rule in rules} >= {"nothing else", "nowhere through us"}
    fence = [line for line in mole.house.trail(str(mole.run["id"])) if line.get("door") == "fence"]
    assert {line["address"] for line in fence} == {mole.address}
    assert any(line.get("port") == 53 for line in fence)


def dropped_by_table(mole: Agent) -> dict[Flow, int]:
    """What the kernel counted of the mole's packets."""
    counted = counted_in(listed(bridge_of(mole.house.here)) or {})
    assert counted
    return {f: c.packets for f, c in counted.flows.items() if f.source == mole.address}


def dropped_in_log(mole: Agent) -> dict[Flow, int]:
    """What the log says of them, all records together. (The address may have had another owner.)"""
    found: Counter[Flow] = Counter()
    for line in mole.house.lines():
        if line.get("door") == "fence" and line.get("address") == mole.address:
            found[Flow(*line["detail"]["flow"])] += line["detail"]["packets"]
    return dict(found)


def test_no_name_is_looked_up(tried: Tried) -> None:
    """DNS is dead: the engine's resolver, the host's, any other; no query leaves.

    CASE-01, CASE-02, CASE-17.
    """
    assert len(closed(tried, "DNS at")) >= 8
    closed(tried, "a name")


def test_there_is_no_ipv6(mole: Agent, tried: Tried) -> None:
    """A sandbox has no IPv6 address but its loopback's, and reaches nothing by it (CASE-03, CASE-04)."""
    interfaces = mole.do("cat /proc/net/if_inet6").output.splitlines()
    assert [line for line in interfaces if not line.endswith(" lo")] == []
    closed(tried, "an outside IPv6")
