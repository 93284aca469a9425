"""Sets the battery's stage: sandboxes as runs have them, sessions at the door, canaries on the host."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import Any

from entrance.errors import SandgateError, Unavailable
from entrance.session import RepoGrant, RunId, Session, TaskId, hash_token, new_run_token
from orchestrator.adapters.firewall.table import Bridge
from orchestrator.adapters.posture import host
from orchestrator.adapters.posture.canaries import Canaries, host_sockets, name_sockets
from orchestrator.adapters.posture.git_canary import GitCanary
from orchestrator.adapters.posture.hands import Hands, Player
from orchestrator.adapters.posture.outside import Outside, outside
from orchestrator.adapters.posture.playing import Playing
from orchestrator.ports import SandboxSpec
from orchestrator.posture.battery.egress import LISTED, OPEN
from orchestrator.posture.battery.git import GRANTED, READ_ONLY, door_name
from orchestrator.posture.commit import authorship
from orchestrator.posture.probe import Place, Stage, Tokens
from proxy.rules import Rule, SandboxPolicy

PROJECT = "POSTURE"
LISTED_RULE = Rule(
    name="posture", host=LISTED, schemes=frozenset({"http", "https"}), paths=(f"{OPEN}**",)
)


@asynccontextmanager
async def set_stage(hands: Hands, live: set[RunId]) -> AsyncIterator[Playing]:
    """Canaries, sandboxes, sessions; at the end nothing of it is left. `live` names the runs meanwhile.

    Raises: Unavailable, Forbidden, Conflict.
    """
    async with AsyncExitStack() as stack:
        canaries = Canaries(hands.bridge.subnet)
        sockets, beyond = await _sockets(hands.bridge, stack)
        gateway = str(hands.bridge.gateway)
        await canaries.listen(stack, [*sockets, *beyond.sockets], everywhere=gateway)
        git = GitCanary(canaries, _item(0))
        stack.push_async_callback(git.close)
        await git.open()
        players = await _players(hands, live, stack)
        place = await asyncio.to_thread(_place, hands, players, sockets[0].getsockname()[1])
        place = replace(place, git_canary=git.port, outside=beyond.address)
        tokens = Tokens(players["sandbox"].token, players["sibling"].token, new_run_token())
        playing = Playing(
            hands,
            Stage(
                place,
                tokens,
                hands.caps,
                _run(0),
                _task(0),
                second_door=hands.egress is not None,
                watched_disks=hands.watched_disks,
                trusted=hands.trusted,
            ),
            canaries,
            players,
        )
        if hands.egress is not None:  # out of it last: their sessions are of runs that nobody knows
            stack.push_async_callback(hands.egress.admit, ())
        _open_sessions(playing, stack)
        if hands.egress is not None:
            await hands.egress.admit(_policies(playing))
        yield playing


async def _sockets(bridge: Bridge, stack: AsyncExitStack) -> tuple[list[Any], Outside]:
    try:
        sockets = host_sockets()
    except OSError as error:
        raise Unavailable(f"the canaries can't listen: {error}") from error
    for one in (*sockets, *(named := name_sockets(str(bridge.gateway)))):
        stack.callback(one.close)
    beyond = outside(f"{bridge.name[:10]}o0")
    made = await asyncio.to_thread(beyond.__enter__)
    stack.push_async_callback(asyncio.to_thread, beyond.__exit__, None, None, None)
    return [*sockets, *named], made


async def _players(hands: Hands, live: set[RunId], stack: AsyncExitStack) -> dict[str, Player]:
    """One sandbox, a sibling, and one of every other image: each harness's image is looked at."""
    first, *others = hands.made.images
    wanted = {"sandbox": first, "sibling": others[0] if others else first}
    wanted |= {f"image:{harness}": harness for harness in others[1:]}
    runs = {who: _run(number) for number, who in enumerate(wanted)}
    live.update(runs.values())
    stack.callback(live.difference_update, runs.values())
    made: dict[str, Player] = {}

    async def make(number: int, who: str, harness: str) -> None:
        run, task = runs[who], _task(number)
        stack.push_async_callback(_remove, hands, run, task)
        await _remove(hands, run, task)  # of one that was killed
        mounts = await hands.disks.ensure(task)
        spec = SandboxSpec(run, task, hands.execd_token(run), mounts, harness)
        made[who] = Player(who, harness, await hands.sandboxes.create(spec), new_run_token())

    try:
        async with asyncio.TaskGroup() as group:
            for number, (who, harness) in enumerate(wanted.items()):
                group.create_task(make(number, who, harness))
    except* SandgateError as errors:
        raise errors.exceptions[0]  # noqa: B904 - it is the same trouble
    return {who: made[who] for who in wanted}


async def _remove(hands: Hands, run: RunId, task: TaskId) -> None:
    await hands.sandboxes.kill(run)
    await hands.disks.release(task)
    await hands.disks.purge(task)


def _place(hands: Hands, players: Mapping[str, Player], canary: int) -> Place:
    bridge = hands.bridge
    around = host.look_around(bridge)
    return Place(
        gateway=str(bridge.gateway),
        door=bridge.doors[0],
        egress=bridge.doors[1],
        sibling=players["sibling"].sandbox.address,
        broadcast=str(bridge.subnet.broadcast_address),
        canary=canary,
        git_canary=0,
        addresses=around.addresses,
        addresses6=around.addresses6,
        listening=around.listening,
        own_ports=hands.own_ports,
        resolvers=around.resolvers,
    )


def _open_sessions(playing: Playing, stack: AsyncExitStack) -> None:
    """What the tokens mean: nothing but the canary's repositories, and one of them nothing any more."""
    stage, door = playing.stage, playing.hands.door
    granted = tuple(
        RepoGrant(name, f"http://{name}", push=probe != READ_ONLY)
        for probe, name in ((probe, door_name(stage, probe)) for probe in GRANTED)
    )
    for number, player in enumerate(playing.players.values()):
        session = _session(number, player.sandbox.address, player.token)
        if player.who == "sandbox":
            session = replace(session, repositories=granted)
        playing.sessions[player.who] = session
        stack.callback(door.close, session.run)
        door.open(session)
    ended = _session(99, playing.players["sandbox"].sandbox.address, stage.tokens.ended)
    door.open(ended)
    door.close(ended.run)


def _policies(playing: Playing) -> list[SandboxPolicy]:
    """One host for the sandbox, which leads to nobody; nothing for the others."""
    return [
        SandboxPolicy(
            run=session.run,
            address=session.address,
            token_sha256=session.token_sha256,
            rules=(LISTED_RULE,) if who == "sandbox" else (),
        )
        for who, session in playing.sessions.items()
    ]


def _session(number: int, address: str, token: str) -> Session:
    return Session(
        run=_run(number),
        task=_task(number),
        project=PROJECT,
        agent="posture",
        address=address,
        token_sha256=hash_token(token),
        authorship=authorship(_run(number)),
        trial=True,
    )


def _run(number: int) -> RunId:
    return RunId(f"posture-{number}")


def _task(number: int) -> TaskId:
    return TaskId(f"{PROJECT}/{_item(number)}")


def _item(number: int) -> str:
    return f"{PROJECT}-{number}"
