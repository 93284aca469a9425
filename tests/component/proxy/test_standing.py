"""Policy, log and process come and go: whatever is missing, nothing goes out that isn't allowed and told."""

import asyncio
import json
import os
import signal
import socket
from pathlib import Path

import pytest

from proxy.policy import Rule
from tests.servers.asking import ask, connect, line, plain
from tests.servers.egress import ALLOWED, RULES, SANDBOX, Egress, egress, other, sandbox
from tests.waiting import until

pytestmark = pytest.mark.asyncio(loop_scope="module")
TO_ALLOWED = connect(f"{ALLOWED}:443")
GET = line("GET", "/e", host=ALLOWED)


def read_to_the_end(sock: socket.socket) -> None:
    while sock.recv(1000):
        pass


async def works(world: Egress) -> bool:
    return (await ask(world, TO_ALLOWED, GET, sni=ALLOWED)).status == 200


async def test_a_new_policy_is_in_force_when_its_generation_is_shown(world: Egress) -> None:
    assert await works(world)
    await world.apply(sandbox(), other())
    answer = await ask(world, TO_ALLOWED, GET, sni=ALLOWED)
    assert answer.status == 403
    assert "request_access" in answer.body.decode()
    await world.apply(sandbox(*RULES), other())
    assert await works(world)


@pytest.mark.parametrize("text", [b"", b"{", b'{"generation": "x"}', None])
async def test_an_unreadable_policy_refuses_everything_and_is_told(
    world: Egress, text: bytes | None
) -> None:
    if text is None:
        (world.folder / "policy.json").unlink()
    else:
        world.write_policy(text)
    await until(lambda: bool(world.status["trouble"]))
    for first in (plain(f"http://{ALLOWED}/e"), TO_ALLOWED):
        answer = await ask(world, first, GET if first == TO_ALLOWED else b"", sni=ALLOWED)
        assert answer.status == 503
        assert "policy can't be read" in answer.body.decode()
    assert {one["detail"]["cause"] for one in world.log.decided} == {"policy_unreadable"}
    assert world.origin.connections == 0
    await world.apply(sandbox(*RULES), other())
    assert await works(world)
    assert world.status["trouble"] == ""


async def test_removing_a_sandbox_cuts_its_connections(world: Egress) -> None:
    world.origin.go_on.clear()
    with world.socket() as sock:
        sock.settimeout(5)
        sock.sendall(plain(f"http://{ALLOWED}/held"))
        assert await asyncio.to_thread(sock.recv, 1000)
        await world.apply(other())
        with pytest.raises(ConnectionResetError):
            await asyncio.to_thread(read_to_the_end, sock)
    world.origin.go_on.set()
    assert (await ask(world, TO_ALLOWED, GET, sni=ALLOWED)).status == 403
    await world.apply(sandbox(*RULES), other())


async def test_a_rule_that_is_taken_back_ends_with_the_answer_that_is_coming(world: Egress) -> None:
    world.origin.go_on.clear()
    with world.socket() as sock:
        sock.settimeout(5)
        sock.sendall(plain(f"http://{ALLOWED}/held"))
        assert await asyncio.to_thread(sock.recv, 1000)
        await world.apply(sandbox(), other())
        world.origin.go_on.set()
        while not (await asyncio.to_thread(sock.recv, 1000)).endswith(b"0\r\n\r\n"):
            pass
        sock.sendall(plain(f"http://{ALLOWED}/e"))
        assert (await asyncio.to_thread(sock.recv, 1000)).startswith(b"HTTP/1.1 403 ")
    await world.apply(sandbox(*RULES), other())
    await world.settled()
    assert [hit.path for hit in world.origin.hits] == ["/held"]


@pytest.mark.parametrize("how", ["no", "gone"])
async def test_without_an_acknowledgement_of_the_log_nothing_leaves(
    world: Egress, how: str
) -> None:
    if how == "gone":
        await world.log.stop()
    world.log.answering = "no"
    asking = asyncio.create_task(ask(world, TO_ALLOWED, GET, sni=ALLOWED))  # noqa: TID251
    if how == "gone":
        # It is back within the proxy's patience, but its disk is full.
        await until(lambda: world.status["recorder"] is False)
        await world.log.start()
    answer = await asking
    world.log.answering = "yes"
    assert answer.status == 503
    assert "unrecorded" in answer.body.decode()
    assert world.origin.connections == 0
    assert await works(world)


async def test_a_log_that_is_restarted_loses_no_request_and_no_outcome(world: Egress) -> None:
    world.origin.go_on.clear()
    with world.socket() as sock:
        sock.settimeout(5)
        sock.sendall(plain(f"http://{ALLOWED}/held"))
        assert await asyncio.to_thread(sock.recv, 1000)
        await world.log.stop()
        await until(lambda: world.status["recorder"] is False)
        world.origin.go_on.set()
        while not (await asyncio.to_thread(sock.recv, 1000)).endswith(b"0\r\n\r\n"):
            pass
        asking = asyncio.create_task(ask(world, TO_ALLOWED, GET, sni=ALLOWED))  # noqa: TID251
        await until(lambda: world.status["outcomes_waiting"] == 1)
        await world.log.start()
        assert (await asking).status == 200
    await world.settled()
    assert sorted(one["of"] for one in world.log.outcomes) == [
        one["seq"] for one in world.log.decided
    ]


async def test_what_the_log_kept_and_did_not_acknowledge_is_told_again_as_the_same(
    world: Egress,
) -> None:
    """The log dies between the disk and its answer: the request waits for the next one, and goes on."""
    world.log.answering = "kept"
    asking = asyncio.create_task(ask(world, TO_ALLOWED, GET, sni=ALLOWED))  # noqa: TID251
    await until(lambda: len(world.log.decided) == 1)
    await world.log.stop()
    world.log.answering = "yes"
    await world.log.start()
    assert (await asking).status == 200
    first, again = world.log.decided
    assert first["key"]
    assert {**first, "seq": 0} == {**again, "seq": 0}
    assert (await ask(world, TO_ALLOWED, GET, sni=ALLOWED)).status == 200
    assert world.log.decided[-1]["key"] != first["key"]


async def test_a_restarted_proxy_remembers_what_was_used(tmp_path: Path) -> None:
    once = Rule(name="once", host=ALLOWED, uses=1)
    async with egress(tmp_path) as world:
        await world.apply(sandbox(once))
        assert await works(world)
        os.killpg(world.process.pid, signal.SIGKILL)
        await world.process.wait()
        await world.restart()
        answer = await ask(world, TO_ALLOWED, GET, sni=ALLOWED)
        assert answer.status == 403
        assert "as often as it allows" in answer.body.decode()


async def test_a_use_that_cannot_be_kept_is_refused_and_not_used_up(world: Egress) -> None:
    state, aside = world.folder / "state", world.folder / "aside"
    await world.apply(sandbox(Rule(name="once", host=ALLOWED, uses=1), run="run-once"), other())
    state.rename(aside)
    answer = await ask(world, TO_ALLOWED, GET, sni=ALLOWED)
    aside.rename(state)
    assert answer.status == 503
    assert "can't be kept" in answer.body.decode()
    assert world.origin.connections == 0
    assert await works(world)
    assert (await ask(world, TO_ALLOWED, GET, sni=ALLOWED)).status == 403
    await world.apply(sandbox(*RULES), other())


async def test_a_proxy_that_dies_is_started_again(tmp_path: Path) -> None:
    async with egress(tmp_path) as world:
        before = world.status["pid"]
        os.kill(before, signal.SIGKILL)
        await until(lambda: world.status.get("pid", before) != before)
        await until(lambda: world.status.get("recorder") is True)
        assert await works(world)


async def test_ended_in_order_it_tells_what_was_going_on(tmp_path: Path) -> None:
    async with egress(tmp_path) as world:
        world.origin.go_on.clear()
        with world.socket() as sock:
            sock.settimeout(5)
            sock.sendall(plain(f"http://{ALLOWED}/held"))
            assert await asyncio.to_thread(sock.recv, 1000)
            os.killpg(world.process.pid, signal.SIGTERM)
            assert await world.process.wait() == 0
        assert len(world.log.outcomes) == len(world.log.decided) == 1


async def test_ended_in_order_it_tells_of_a_tunnel_in_which_nothing_was_asked(
    tmp_path: Path,
) -> None:
    async with egress(tmp_path) as world:
        with world.socket() as sock:
            sock.settimeout(5)
            sock.sendall(TO_ALLOWED)
            assert await asyncio.to_thread(sock.recv, 1000)
            os.killpg(world.process.pid, signal.SIGTERM)
            async with asyncio.timeout(5):
                assert await world.process.wait() == 0
        assert [one["kind"] for one in world.log.decided] == ["connect"]
        assert [one["result"] for one in world.log.outcomes] == ["unused"]


async def test_it_doesnt_start_without_an_authority_that_is_one(tmp_path: Path) -> None:
    async with egress(tmp_path) as world:
        os.killpg(world.process.pid, signal.SIGTERM)
        await world.process.wait()
        (tmp_path / "egress-ca.key").write_text("nothing")
        await world.restart()
        assert await world.process.wait() == 1
        assert "can't start" in (tmp_path / "proxy.log").read_text()


async def test_its_state_is_told_to_its_own_machine_only(world: Egress) -> None:
    status = line("GET", "/.sandgate/status", host="x")
    assert (await ask(world, status, source="10.7.0.1")).status == 200
    answer = await ask(world, status)
    # A sandbox's address is this machine's too in this test; in an installation it isn't.
    assert SANDBOX.startswith("10.7.0.")
    assert json.loads(answer.body)["generation"] > 0
