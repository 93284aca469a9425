"""The battery in sandboxes of the real configuration: all of it well; and each wall that falls is seen.

One pair of sandboxes serves all of it; what a container's options make is tried in containers that
are weaker in one thing.
"""

import asyncio
import contextlib
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime
from typing import Any

import pytest
import pytest_asyncio

from orchestrator.adapters.engine import connect
from orchestrator.adapters.firewall.admission import Firewall
from orchestrator.adapters.firewall.nft import nft
from orchestrator.adapters.posture.hands import Hands
from orchestrator.adapters.posture.host import Made, look_around
from orchestrator.adapters.posture.playing import Playing
from orchestrator.adapters.posture.stage import set_stage
from orchestrator.clock import WallClock
from orchestrator.posture.battery import BATTERY
from orchestrator.posture.judging import Result, judge, why_skipped
from orchestrator.posture.probe import Caps, Wall
from orchestrator.stack import network
from orchestrator.stack.opensandbox import seccomp_profile
from tests.e2e.sandbox.lab import DISK_BYTES, TOKEN, Lab
from tests.servers.anthropic import model_server
from tests.servers.door import open_door

pytestmark = [
    pytest.mark.docker,
    pytest.mark.timeout(120),
    pytest.mark.asyncio(loop_scope="module"),
]
WHOLE_S = 20
"""So long the whole battery may take on its stage, on a machine that is busy with others."""


def hands_of(lab: Lab, sandboxes: Any, disks: Any, door: Any) -> Hands:
    made = lab.blueprint()
    return Hands(
        sandboxes=sandboxes,
        disks=disks,
        door=door,
        engine=lambda: connect(None, timeout_s=30),
        firewall=Firewall(lab.bridge).flaws,
        execd_token=lambda run: f"{TOKEN}-{run}",
        bridge=lab.bridge,
        caps=Caps(made.pids, made.memory_bytes, DISK_BYTES, made.tmp_bytes, made.shm_bytes),
        made=Made({"native": lab.images.sandbox}, seccomp_profile(), {}),
        own_ports=(lab.server.port,),
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def playing(lab: Lab, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Playing]:
    """The battery's stage: a door, canaries, a sandbox and its sibling."""
    gateway, port = str(lab.bridge.gateway), lab.bridge.doors[0]
    folder = tmp_path_factory.mktemp("posture")
    async with (
        model_server() as model,
        open_door(folder, model, host=gateway, port=port) as door,
        lab.sandboxes() as sandboxes,
    ):
        hands = hands_of(lab, sandboxes, lab.disks(), door.registry)
        async with set_stage(hands, set()) as ready:
            yield ready


async def tried(playing: Playing, *walls: Wall) -> Mapping[str, Result]:
    """The results of the probes that watch these walls; of all, when none is named."""
    probes = [
        probe
        for probe in BATTERY
        if (not walls or probe.wall in walls) and not why_skipped(probe, playing.stage, "runc")
    ]
    found, counted = await playing.play(probes)
    return {result.probe.name: result for result in judge(probes, "runc", found, counted)}


def bad(results: Mapping[str, Result]) -> dict[str, str]:
    return {
        name: f"{result.told} ({result.found.evidence})"
        for name, result in results.items()
        if not result.ok
    }


async def test_every_probe_passes_behind_whole_walls(playing: Playing) -> None:
    began = time.monotonic()
    results = await tried(playing)
    took_s = time.monotonic() - began
    assert bad(results) == {}
    assert len(results) > 180
    assert took_s < WHOLE_S


@pytest.fixture
def mended(lab: Lab) -> Iterator[None]:
    """Whatever a test does to the firewall's table is undone."""
    yield
    network.ensure(lab.client, lab.bridge)


@pytest.mark.usefixtures("mended")
async def test_a_firewall_without_its_rules_is_seen(lab: Lab, playing: Playing) -> None:
    """CASE-19, CASE-20."""
    nft("flush", "chain", "inet", lab.bridge.name, "from_sandbox")
    results = await tried(playing, Wall.FIREWALL)
    failed = bad(results)
    assert failed.keys() >= {
        *("firewall-whole", "gateway-ports", "gateway-udp", "gateway-ping", "dns-gateway"),
        *("host-ports", "host-udp", "gateway-decimal", "gateway-octal", "gateway-hex"),
        *("gateway-short", "gateway-mapped", "dns-gateway-tcp"),
    }
    assert results["gateway-decimal"].counted == 1
    assert results["gateway-udp"].counted == 1
    assert results["door-open"].ok


@pytest.mark.usefixtures("mended")
async def test_one_dropped_rule_is_seen_though_another_wall_holds(
    lab: Lab, playing: Playing
) -> None:
    nft("flush", "chain", "inet", lab.bridge.name, "forward")
    failed = bad(await tried(playing, Wall.FIREWALL))
    assert set(failed) == {"firewall-whole"}
    assert "forward" in failed["firewall-whole"]


@contextlib.contextmanager
def talking(interface: str) -> Iterator[None]:
    """The engine's own filter lets containers of the bridge talk to each other."""
    rule = ("FORWARD", "-i", interface, "-o", interface, "-j", "ACCEPT")
    subprocess.run(["iptables", "-w", "-I", *rule], check=True)
    try:
        yield
    finally:
        subprocess.run(["iptables", "-w", "-D", *rule], check=True)


@pytest.mark.usefixtures("mended")
async def test_a_bridge_whose_sandboxes_may_talk_is_seen(lab: Lab, playing: Playing) -> None:
    """CASE-21: what `enable_icc` does, and the firewall's rule for it gone as well."""
    nft("flush", "chain", "inet", lab.bridge.name, "forward")
    with talking(lab.bridge.interface):
        failed = bad(await tried(playing, Wall.BRIDGE))
    assert set(failed) == {"sibling-execd", "sibling-ports", "sibling-udp", "sibling-ping"}
    assert "reached" in failed["sibling-execd"]


@pytest.mark.usefixtures("mended")
async def test_a_door_too_many_is_seen(lab: Lab, playing: Playing) -> None:
    gateway = str(lab.bridge.gateway)
    with socket.create_server((gateway, 0)) as server:
        port = server.getsockname()[1]
        nft("add", "element", "inet", lab.bridge.name, "doors", f"{{ {gateway} . {port} }}")
        before = playing.stage
        around = look_around(lab.bridge)
        playing.stage = replace(before, place=replace(before.place, listening=around.listening))
        try:
            failed = bad(await tried(playing, Wall.FIREWALL))
        finally:
            playing.stage = before
    assert set(failed) == {"gateway-ports", "firewall-whole"}
    assert f"reached {gateway}:{port}" in failed["gateway-ports"]


@pytest.mark.usefixtures("mended")
async def test_a_resolver_that_answers_is_seen(lab: Lab, playing: Playing) -> None:
    """CASE-01, CASE-17."""
    for protocol in ("udp", "tcp"):
        rule = f"ip daddr {lab.bridge.gateway} {protocol} dport 53 accept"
        nft("insert", "rule", "inet", lab.bridge.name, "from_sandbox", *rule.split())
    results = await tried(playing, Wall.FIREWALL, Wall.RESOLVER)
    failed = bad(results)
    assert failed.keys() >= {"dns-gateway", "dns-gateway-tcp", "gateway-ports", "firewall-whole"}
    assert "host-ports" not in failed
    assert results["dns-gateway"].counted == 1


async def test_a_token_that_is_valid_from_elsewhere_is_seen(playing: Playing) -> None:
    """CASE-31: the sibling's session says that its token belongs to the sandbox's address."""
    door = playing.hands.door
    before = playing.sessions["sibling"]
    door.open(replace(before, address=playing.players["sandbox"].sandbox.address))
    try:
        failed = bad(await tried(playing, Wall.IDENTITY))
    finally:
        door.open(before)
    assert set(failed) == {"token-of-sibling", "token-forwarded"}


async def test_a_clock_that_is_wrong_is_seen(lab: Lab, playing: Playing) -> None:
    """CASE-79: a door whose clock is another's than the sandbox's, by a minute."""
    gateway, port = str(lab.bridge.gateway), lab.bridge.doors[1]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        date = format_datetime(WallClock().now() - timedelta(minutes=1), usegmt=True)
        writer.write(f"HTTP/1.1 200 OK\r\nDate: {date}\r\nContent-Length: 0\r\n\r\n".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, gateway, port)
    before = playing.stage
    playing.stage = replace(before, place=replace(before.place, door=port))
    try:
        failed = bad(await tried(playing, Wall.CLOCK))
    finally:
        playing.stage = before
        server.close()
    assert set(failed) == {"clock"}
