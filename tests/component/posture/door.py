"""The battery's requests, sent to a whole door by the very script that a sandbox runs; no Docker."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from ipaddress import IPv4Network
from pathlib import Path

from entrance.session import RepoGrant, RunId, TaskId, hash_token, new_run_token
from orchestrator.adapters.posture.canaries import Canaries, host_sockets
from orchestrator.adapters.posture.git_canary import GitCanary
from orchestrator.adapters.posture.script import script
from orchestrator.posture.battery import BATTERY
from orchestrator.posture.battery.git import GRANTED, READ_ONLY, door_name
from orchestrator.posture.commit import authorship
from orchestrator.posture.judging import Result, found_in, judge, orders
from orchestrator.posture.probe import Area, Caps, Place, Probe, Stage, Tokens, Wall
from tests.servers.anthropic import model_server
from tests.servers.door import Door, open_door

PROBES = [
    probe
    for probe in BATTERY
    if (probe.area in {Area.DOOR, Area.GIT} or probe.wall is Wall.CLOCK) and probe.who == "sandbox"
]
LOOPBACK = IPv4Network("127.0.0.0/8")
ITEM = "P-1"


@dataclass
class DoorStage:
    """A door with the battery's sessions, and canaries behind it."""

    door: Door
    stage: Stage
    canaries: Canaries
    folder: Path

    async def play(self, probes: Sequence[Probe] = PROBES) -> Mapping[str, Result]:
        """Try these probes, and judge what came of each."""
        self.canaries.counted.clear()
        lines = await self._run(orders(probes, self.stage, "sandbox"))
        found = dict(filter(None, map(found_in, map(json.loads, lines))))
        results = judge(probes, "runc", found, self.canaries.counted)
        return {result.probe.name: result for result in results}

    async def _run(self, asked: object) -> list[bytes]:
        script_file, order_file = self.folder / "posture.pyz", self.folder / "orders.json"
        script_file.write_bytes(script())
        order_file.write_text(json.dumps(asked))
        running = await asyncio.create_subprocess_exec(
            "python3", "-I", script_file, order_file, "12", stdout=asyncio.subprocess.PIPE
        )
        said, _ = await running.communicate()
        return said.splitlines()


@asynccontextmanager
async def door_stage(folder: Path) -> AsyncIterator[DoorStage]:
    """Serves until the block ends."""
    async with AsyncExitStack() as stack:
        model = await stack.enter_async_context(model_server())
        door = await stack.enter_async_context(open_door(folder, model))
        canaries = Canaries(LOOPBACK)
        sockets = host_sockets()
        await canaries.listen(stack, sockets)
        git = GitCanary(canaries, ITEM)
        stack.push_async_callback(git.close)
        await git.open()
        host, port = door.url.removeprefix("http://").split(":")
        place = Place(
            gateway=host,
            door=int(port),
            egress=1,
            sibling="127.0.0.9",
            broadcast="127.255.255.255",
            canary=sockets[0].getsockname()[1],
            git_canary=git.port,
        )
        tokens = Tokens(door.token, new_run_token(), new_run_token())
        stage = Stage(place, tokens, Caps(1, 1, 1, 1, 1), door.session.run, TaskId(f"X/{ITEM}"))
        _open_sessions(door, stage)
        yield DoorStage(door, stage, canaries, folder)


def _open_sessions(door: Door, stage: Stage) -> None:
    nothing = replace(
        door.session,
        task=stage.task,
        tools={},
        models=frozenset(),
        repositories=(),
        authorship=authorship(stage.run),
    )
    for run, token, address in (
        ("sibling", stage.tokens.sibling, stage.place.sibling),
        ("ended", stage.tokens.ended, stage.place.gateway),
    ):
        door.registry.open(
            replace(nothing, run=RunId(run), address=address, token_sha256=hash_token(token))
        )
    door.registry.close(RunId("ended"))
    granted = [
        RepoGrant(name, f"http://{name}", push=probe != READ_ONLY)
        for probe, name in ((probe, door_name(stage, probe)) for probe in GRANTED)
    ]
    door.session = nothing
    door.reopen(repositories=tuple(granted))
