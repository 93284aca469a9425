"""What the table drops is counted by who wanted to reach whom, and survives the table's being made again.

A network namespace on a bridge stands for a sandbox: nothing here needs the engine.
"""

import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.firewall.counting import ROOM
from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.firewall.table import Bridge, table_text
from orchestrator.domain.dropped import Count, Counted, Flow
from tests.e2e import damage
from tests.e2e.sandbox.lab import new_bridge
from tests.servers.log import lines_in, verified
from tests.waiting import until

pytestmark = pytest.mark.docker

SEND = """
import socket
def udp(host, port, times=1):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for _ in range(times):
            s.sendto(b"x" * 32, (host, port))
"""


@dataclass(frozen=True, slots=True)
class Street:
    """A bridge with its table, and a namespace on it that has the first address of a sandbox."""

    bridge: Bridge
    pid: int

    @property
    def address(self) -> str:
        return str(self.bridge.subnet[2])

    def inside(self, script: str) -> None:
        """Run Python in the namespace."""
        command = ["nsenter", "-t", str(self.pid), "-n", "python3", "-c", SEND + script]
        subprocess.run(command, check=True, timeout=30)


@pytest.fixture(scope="module")
def street() -> Iterator[Street]:
    bridge = new_bridge()
    outer, inner = f"{bridge.name}v0", f"{bridge.name}v1"
    with ExitStack() as stack:
        stack.enter_context(_table(bridge))
        _ip("link", "add", bridge.interface, "type", "bridge")
        stack.callback(_ip, "link", "del", bridge.interface)
        _ip("addr", "add", f"{bridge.gateway}/24", "dev", bridge.interface)
        _ip("link", "set", bridge.interface, "up")
        pid = stack.enter_context(_namespace())
        _ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", str(pid))
        _ip("link", "set", outer, "master", bridge.interface, "up")
        street = Street(bridge, pid)
        commands = (
            f"addr add {street.address}/24 dev {inner}",
            f"link set {inner} up",
            f"addr add fe80::2/64 dev {inner} nodad",
            f"route add default via {bridge.gateway}",
        )
        for command in commands:
            subprocess.run(
                ["nsenter", "-t", str(pid), "-n", "ip", *command.split()], check=True, timeout=10
            )
        yield street


@pytest.fixture
def firewall(street: Street) -> Firewall:
    nft("-f", "-", stdin=table_text(street.bridge, [], Counted(1)))
    return Firewall(street.bridge)


@contextmanager
def _table(bridge: Bridge) -> Iterator[None]:
    nft("-f", "-", stdin=table_text(bridge, [], Counted(1)))
    try:
        yield
    finally:
        nft("-f", "-", stdin=f"add table inet {bridge.name}\ndelete table inet {bridge.name}\n")


@contextmanager
def _namespace() -> Iterator[int]:
    with subprocess.Popen(
        ["unshare", "--net", "sh", "-c", "echo; exec cat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as inside:
        assert inside.stdin
        assert inside.stdout
        inside.stdout.readline()
        yield inside.pid
        inside.stdin.close()


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, timeout=10)


def of(counted: Counted, street: Street) -> dict[Flow, int]:
    """Packets by flow, without what the kernel itself says on a new bridge."""
    own = {street.address, ""}
    return {flow: c.packets for flow, c in counted.flows.items() if flow.source in own}


async def test_every_packet_is_counted_once_by_rule_and_flow(
    street: Street, firewall: Firewall
) -> None:
    gateway = str(street.bridge.gateway)
    street.inside(f"udp('{gateway}', 53, 3)")
    await firewall.register(street.address)
    street.inside(f"udp('{gateway}', 53, 500); udp('192.0.2.1', 443, 2)")
    counted = await firewall.dropped()
    assert of(counted, street) == {
        Flow(2, street.address, gateway, "udp", 53): 3,
        Flow(3, street.address, gateway, "udp", 53): 500,
        Flow(4, street.address, "192.0.2.1", "udp", 443): 2,
    }
    assert counted.flows[Flow(2, street.address, gateway, "udp", 53)] == Count(3, 3 * 60)


async def test_what_has_no_port_and_what_is_ipv6_is_counted_too(
    street: Street, firewall: Firewall
) -> None:
    await firewall.register(street.address)
    street.inside(
        "s = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)\n"
        "for n in range(4): s.sendto(bytes([8, 0, n, n]) + b'ping', ('192.0.2.1', 0))"
    )
    flows = of(await firewall.dropped(), street)
    assert flows == {Flow(4, street.address, "192.0.2.1", "icmp", 0): 4}
    street.inside(
        f"at = socket.if_nametoindex('{street.bridge.name}v1')\n"
        "s = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM); s.bind(('fe80::2', 0, 0, at))\n"
        "s.sendto(b'x', ('ff02::1', 5353, 0, at))"
    )
    found = await firewall.dropped()
    assert found.flows[Flow(1, "fe80::2", "ff02::1", "udp", 5353)].packets == 1


async def test_where_there_is_no_room_for_another_flow_its_source_is_still_counted(
    street: Street, firewall: Firewall
) -> None:
    await firewall.register(street.address)
    street.inside(f"for port in range(1, {ROOM + 100}): udp('192.0.2.1', port)")
    began = time.monotonic()
    flows = of(await firewall.dropped(), street)
    assert time.monotonic() - began < 5
    assert sum(flows.values()) == ROOM + 99
    assert len(flows) == ROOM + 1
    assert flows[Flow(4, street.address, "", "udp", 0)] == 99


@pytest.mark.parametrize("how", ["flushed", "a door more", "a rule changed under its name"])
async def test_a_table_that_is_made_again_goes_on_counting(
    street: Street, firewall: Firewall, how: str
) -> None:
    await firewall.register(street.address)
    street.inside("udp('192.0.2.1', 443, 2)")
    before = await firewall.dropped()
    damage.DAMAGES[how](street.bridge)
    assert await firewall.restored()
    street.inside("udp('192.0.2.1', 443, 3)")
    after = await firewall.dropped()
    assert after.generation == before.generation
    assert of(after, street) == {Flow(4, street.address, "192.0.2.1", "udp", 443): 5}


async def test_a_table_that_was_deleted_counts_anew(street: Street, firewall: Firewall) -> None:
    before = await firewall.dropped()
    damage.delete(street.bridge)
    await firewall.restored()
    assert (await firewall.dropped()).generation != before.generation


async def test_what_was_counted_is_no_flaw_and_nothing_else_is_let_by(
    street: Street, firewall: Firewall
) -> None:
    """The counts come and go; what counts them stays as it was made."""
    street.inside("udp('192.0.2.1', 443, 2)")
    assert await firewall.flaws() == []
    nft("add", "set", "inet", street.bridge.name, "dropped_too", "{ type ipv4_addr; }")
    assert await firewall.flaws() == ["set dropped_too was added"]
    await firewall.restored()
    nft("add", "rule", "inet", street.bridge.name, "dropped", "counter")
    assert await firewall.flaws() == ["chain dropped does not hold exactly its rules"]


RECORDING = """
import asyncio, sys
from ipaddress import IPv4Network
from pathlib import Path
from entrance.log.shelf import Shelf
from orchestrator.adapters.fence_log import FenceLog
from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.firewall.table import Bridge
from orchestrator.drops import Drops
from tests.servers.log import open_log

name, subnet, folder = sys.argv[1], IPv4Network(sys.argv[2]), Path(sys.argv[3])

async def owners():
    return {}

async def main():
    bridge = Bridge(name, name + "b0", subnet, subnet[1], (8080, 8081))
    told = FenceLog(open_log(folder), Shelf(folder), folder.with_suffix(".json"))
    print("up", flush=True)
    await Drops(Firewall(bridge), told, owners, every_s=0.01).run()

asyncio.run(main())
"""
FLOWS, EACH, KILLS = 40, 200, 3


@contextmanager
def recording(street: Street, folder: Path) -> Iterator[None]:
    """A process that records what is dropped, until it is killed as by kill -9."""
    command = [sys.executable, "-c", RECORDING, street.bridge.name, str(street.bridge.subnet)]
    with subprocess.Popen(
        [*command, str(folder)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[3]
    ) as process:
        try:
            assert process.stdout
            assert process.stdout.readline() == b"up\n"
            yield
        finally:
            process.kill()


async def test_under_load_and_over_kills_each_packet_is_in_the_log_once(
    street: Street, firewall: Firewall, tmp_path: Path
) -> None:
    """Whoever records is killed while packets come, again and again; the sums agree in the end."""
    folder = tmp_path / "log"
    send = f"for n in range({EACH}):\n for port in range({FLOWS}): udp('192.0.2.1', 1000 + port)"
    with ThreadPoolExecutor(1) as pool:
        for _ in range(KILLS):
            before = recorded(folder, street)
            with recording(street, folder):
                sending = pool.submit(street.inside, send)
                await until(lambda before=before: recorded(folder, street) > before)  # type: ignore[misc]
            sending.result()
            street.inside("udp('192.0.2.1', 1000)")  # while nobody records
    sent = KILLS * (FLOWS * EACH + 1)
    assert recorded(folder, street) < sent
    with recording(street, folder):
        await until(lambda: recorded(folder, street) >= sent)
    assert sum(of(await firewall.dropped(), street).values()) == sent
    assert recorded(folder, street) == sent
    assert verified(folder).finding is None


def recorded(folder: Path, street: Street) -> int:
    """How many packets of the namespace are in the log."""
    fence = [line for line in lines_in(folder) if line.get("door") == "fence"]
    return sum(each["detail"]["packets"] for each in fence if each.get("address") == street.address)
