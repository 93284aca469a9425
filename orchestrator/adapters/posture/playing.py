"""Probes tried on a stage that is set; it can be done more than once."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from entrance.session import Session
from orchestrator.adapters.posture.canaries import Canaries
from orchestrator.adapters.posture.hands import Hands, Player
from orchestrator.adapters.posture.looks import Looks
from orchestrator.adapters.posture.script import script
from orchestrator.ports import Sandbox
from orchestrator.posture.judging import Found, found_in, orders
from orchestrator.posture.probe import Probe, Stage

SCRIPT, ORDERS = "/tmp/posture.pyz", "/tmp/posture.json"  # noqa: S108 - inside the sandbox
INSIDE_S = 45.0
POLL_S = 0.05
MOST_WORKERS = 32
"""Most of the probes wait for what must not come."""


@dataclass
class Playing:
    """A stage that is set: probes can be tried on it, more than once."""

    hands: Hands
    stage: Stage
    canaries: Canaries
    players: Mapping[str, Player]
    sessions: dict[str, Session] = field(default_factory=dict)
    """What each player's token means at the door."""

    async def play(
        self, probes: Sequence[Probe], tell: Callable[[str], None] = lambda _: None
    ) -> tuple[dict[str, Found], Mapping[str, int]]:
        """Try these probes; what each found, and what the canaries counted of each meanwhile.

        Raises: Unavailable, NotFound when a sandbox is lost.
        """
        self.canaries.counted.clear()
        found: dict[str, Found] = {}
        async with asyncio.TaskGroup() as group:
            for player in self.players.values():
                asked = orders(probes, self.stage, player.who)
                if asked:
                    group.create_task(self._inside(player, asked, found, tell))
        looks = Looks(self.hands, self.canaries, list(self.players.values()))
        for probe in probes:
            if probe.who == "host":
                found[probe.name] = await looks.look(probe.how)
        return found, dict(self.canaries.counted)

    async def _inside(
        self,
        player: Player,
        asked: Sequence[Mapping[str, Any]],
        found: dict[str, Found],
        tell: Callable[[str], None],
    ) -> None:
        sandboxes, sandbox = self.hands.sandboxes, player.sandbox
        await sandboxes.write(sandbox, SCRIPT, script())
        await sandboxes.write(sandbox, ORDERS, json.dumps(asked).encode())
        egress = self.hands.egress
        env = {
            **(egress.environment(player.token) if egress else {}),
            "SANDGATE_ENTRANCE": f"http://{self.stage.place.gateway}:{self.stage.place.door}",
            "SANDGATE_RUN_TOKEN": player.token,
        }
        argv = ["python3", "-I", SCRIPT, ORDERS, str(workers_for(self.stage.caps.pids))]
        command = await sandboxes.start(sandbox, argv, env=env, cwd="/workspace")
        wanted = {str(order["name"]) for order in asked}
        try:
            async with asyncio.timeout(INSIDE_S):
                async for name, one in self._said(sandbox, command):
                    if name in wanted:
                        found[name] = one
                        tell(f"{len(found)} probes tried")
        except TimeoutError:
            return  # what said nothing by now has failed

    async def _said(self, sandbox: Sandbox, command: str) -> AsyncIterator[tuple[str, Found]]:
        cursor, running = -1, True
        while running:
            progress = await self.hands.sandboxes.progress(sandbox, command, cursor)
            cursor, running = progress.cursor, progress.running
            for one in filter(None, map(_read, progress.lines)):
                yield one
            if running:
                await asyncio.sleep(POLL_S)


def workers_for(pids: int) -> int:
    """How many probes are tried at once where there may be so many processes [pure]."""
    return max(1, min(MOST_WORKERS, pids // 4))


def _read(line: str) -> tuple[str, Found] | None:
    try:
        said = json.loads(line)
    except ValueError:
        return None
    return found_in(said) if isinstance(said, dict) else None
