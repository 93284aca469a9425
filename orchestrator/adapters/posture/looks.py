"""What the host itself sees of the walls: a wall that fell behind another is seen here only."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass

from docker.errors import DockerException

from entrance.errors import SandgateError
from orchestrator.adapters.posture import host
from orchestrator.adapters.posture.canaries import STRANGER, Canaries
from orchestrator.adapters.posture.hands import Hands, Player
from orchestrator.posture.judging import Found


@dataclass(frozen=True, slots=True)
class Looks:
    """Looks at the engine, the kernel, the firewall and the canaries."""

    hands: Hands
    canaries: Canaries
    players: Sequence[Player]

    async def look(self, how: str) -> Found:
        """What is found; `not told` when it can't be seen now."""
        looks: Mapping[str, Callable[[], Awaitable[Found]]] = {
            "firewall": self._firewall,
            "bridge": self._bridge,
            "bridge_filtered": self._filtered,
            "container": self._container,
            "engine_log": self._engine_log,
            "canaries": self._canaries,
            "strangers": self._strangers,
        }
        try:
            return await looks[how]()
        except (DockerException, OSError, SandgateError) as error:
            return Found("not told", str(error))

    async def _firewall(self) -> Found:
        return _flaws(await self.hands.firewall())

    async def _bridge(self) -> Found:
        return _flaws(await asyncio.to_thread(self._inspect_bridge))

    def _inspect_bridge(self) -> list[str]:
        with closing(self.hands.engine()) as client:
            return host.bridge_flaws(client.api.inspect_network(self.hands.bridge.name))

    async def _filtered(self) -> Found:
        return Found("yes" if await asyncio.to_thread(host.bridged_is_filtered) else "no")

    async def _container(self) -> Found:
        return _flaws(await asyncio.to_thread(self._inspect_containers))

    def _inspect_containers(self) -> list[str]:
        with closing(self.hands.engine()) as client:
            return [
                flaw
                for player in self.players
                for flaw in host.container_flaws(
                    client.api.inspect_container(player.container), self.hands.made.seccomp
                )
            ]

    async def _engine_log(self) -> Found:
        size = await asyncio.to_thread(self._logged)
        return Found("written" if size else "empty", f"{size} bytes")

    def _logged(self) -> int:
        with closing(self.hands.engine()) as client:
            return sum(len(client.api.logs(one.container, tail=10)) for one in self.players)

    async def _canaries(self) -> Found:
        deaf = await self.canaries.deaf()
        return Found(", ".join(deaf) or "all", f"{len(self.canaries.places)} tried")

    async def _strangers(self) -> Found:
        came = self.canaries.counted[STRANGER]
        return Found("came" if came else "none", f"{came} came")


def _flaws(flaws: Sequence[str]) -> Found:
    return Found("; ".join(flaws) or host.WHOLE)
