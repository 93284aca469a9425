"""What becomes of a sandbox that is to be frozen where nothing can stop it."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from entrance.errors import Unavailable
from entrance.session import RunId
from orchestrator.adapters.opensandbox.engine import Engine, Found
from orchestrator.adapters.opensandbox.http import Server
from orchestrator.adapters.opensandbox.lifecycle import Lifecycle, Parts
from tests.fakes.clock import START
from tests.unit.orchestrator.adapters.opensandbox.sample import BLUEPRINT


class DeafEngine(Engine):
    """It has one sandbox, and stops none."""

    def __init__(self) -> None:
        pass

    async def containers(self, run: str | None = None) -> Sequence[Found]:
        return [Found("sb-1", run or "", "10.0.0.2", running=True, created=0)]

    async def inspect(self, sandbox: str) -> Mapping[str, Any]:
        return {"State": {"Running": True, "Paused": False}}

    async def pause(self, sandbox: str) -> None:
        raise Unavailable("the engine is away")


class DeafServer(Server):
    """The same of the server."""

    def __init__(self) -> None:
        pass

    async def pause(self, sandbox: str) -> None:
        raise Unavailable("the server is away")


class Ways:
    """`ending.Admission`: the addresses that reach the doors."""

    def __init__(self, *addresses: str) -> None:
        self.open = set(addresses)

    async def check(self) -> None:
        pass

    async def mend(self) -> None:
        pass

    async def register(self, address: str) -> None:
        self.open.add(address)

    async def unregister(self, address: str) -> None:
        self.open.discard(address)

    async def registered(self) -> frozenset[str]:
        return frozenset(self.open)


async def test_a_sandbox_that_can_not_be_stopped_loses_its_way_out_all_the_same() -> None:
    ways = Ways("10.0.0.2", "10.0.0.3")
    life = Lifecycle(Parts(BLUEPRINT, DeafServer(), DeafEngine(), ways, lambda: START))
    with pytest.raises(Unavailable):
        await life.freeze(RunId("r1"))
    assert ways.open == {"10.0.0.3"}
