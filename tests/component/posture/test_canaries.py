"""Canaries on real sockets: they count who comes, on either event loop, and a deaf one is told."""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import AsyncExitStack
from ipaddress import IPv4Network
from pathlib import Path

import pytest
import uvloop

from orchestrator.adapters.posture.canaries import CHECK, STRANGER, Canaries, host_sockets
from orchestrator.adapters.posture.inside.network import question
from orchestrator.adapters.posture.outside import outside
from tests.servers.namespaces import require_namespaces
from tests.waiting import until

LOOPBACK = IPv4Network("127.0.0.0/8")
NOWHERE = IPv4Network("192.0.2.0/24")


async def visited(network: IPv4Network) -> tuple[Canaries, bytes]:
    """A canary that was visited over TCP and UDP: by a probe, and by somebody."""
    canaries = Canaries(network)
    async with AsyncExitStack() as stack:
        sockets = host_sockets()
        await canaries.listen(stack, sockets)
        port = sockets[0].getsockname()[1]
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"gateway-ports\n")
        answer = await reader.read()
        writer.close()
        await asyncio.to_thread(say, port, b"gateway-udp\n")
        await asyncio.to_thread(say, port, b"\x00\x01")
        assert await canaries.deaf() == []
    return canaries, answer


def say(port: int, what: bytes) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(5)
        one.sendto(what, ("127.0.0.1", port))
        one.recv(64)


@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_whoever_comes_is_counted_and_answered(
    loop: Callable[[], asyncio.AbstractEventLoop],
) -> None:
    """The runner's own loop is another than the tests'."""
    with asyncio.Runner(loop_factory=loop) as runner:
        canaries, answer = runner.run(visited(LOOPBACK))
    assert answer == b"canary\n"
    counted = {name: canaries.counted[name] for name in ("gateway-ports", "gateway-udp", STRANGER)}
    assert counted == {"gateway-ports": 1, "gateway-udp": 1, STRANGER: 1}


async def test_who_is_no_sandbox_is_not_counted() -> None:
    canaries, _ = await visited(NOWHERE)
    assert set(canaries.counted) == {CHECK.decode()}


async def test_a_canary_that_is_gone_is_told() -> None:
    canaries = Canaries(LOOPBACK)
    async with AsyncExitStack() as stack:
        await canaries.listen(stack, host_sockets())
    deaf = await canaries.deaf()
    assert [one.split()[1] for one in deaf] == ["SOCK_STREAM", "SOCK_DGRAM"]


async def test_the_canary_outside_is_reached_by_the_host_and_leaves_nothing() -> None:
    """That a sandbox doesn't reach it shows something only if it is there."""
    require_namespaces()
    interface = f"sgt{os.getpid() % 100000}o0"
    shown = Path("/sys/class/net") / interface
    with outside(interface) as beyond:
        assert beyond.sockets
        canaries = Canaries(IPv4Network("203.0.113.0/24"))
        async with AsyncExitStack() as stack:
            await canaries.listen(stack, beyond.sockets)
            assert await canaries.deaf() == []
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
                one.connect((beyond.address, 53))
                one.send(question("dns-outside"))
                await until(lambda: canaries.counted["dns-outside"] == 1)
        assert shown.exists()
    assert not shown.exists()
