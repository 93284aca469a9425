"""Proxy and log together: every attempt is in the log exactly once, and nothing that arrived is missing."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from entrance.log.egress_log import EgressLog
from entrance.log.recorder import Recorder
from entrance.log.shelf import Shelf
from entrance.log.signing import Signer
from entrance.log.verify import verify
from entrance.registry import SessionRegistry
from tests.servers.asking import ask, connect, line, plain
from tests.servers.egress import ALLOWED, Egress, egress
from tests.waiting import until

SIGNER = Signer(Ed25519PrivateKey.generate())
TO_ALLOWED = connect(f"{ALLOWED}:443")


@asynccontextmanager
async def recorded(world: Egress) -> AsyncIterator[Path]:
    """The real log in the place of the test's; its folder."""
    await world.log.stop()
    folder = world.folder / "log"
    folder.mkdir(exist_ok=True)
    log = EgressLog(folder, SIGNER, lambda: datetime.now(UTC))  # noqa: TID251 - nothing is compared
    recorder = Recorder(log, SessionRegistry())
    await recorder.open(world.folder / "log.sock")
    try:
        yield folder
    finally:
        await recorder.close()
        await log.close()


def lines(folder: Path) -> list[dict[str, Any]]:
    """All lines, oldest first. Fails when the chain is broken."""
    shelf = Shelf(folder)
    assert verify(shelf, SIGNER.trust).finding is None
    files = [shelf.segment(number) for number in shelf.segments()]
    return [orjson.loads(one) for file in files for one in file.read_bytes().splitlines()]


def attempts(folder: Path) -> Counter[tuple[str, str]]:
    """Decisions by word and what was asked for."""
    decided = [one for one in lines(folder) if one["type"] == "decided"]
    return Counter((one["decision"], one.get("url", one.get("host", ""))) for one in decided)


async def test_many_attempts_at_once_are_each_in_the_log_once_with_their_outcome(
    tmp_path: Path,
) -> None:
    async with egress(tmp_path) as world, recorded(world) as folder:
        await until(lambda: world.status.get("recorder") is True)
        asked = [
            one
            for number in range(20)
            for one in (
                ask(world, TO_ALLOWED, line("GET", f"/{number}", host=ALLOWED), sni=ALLOWED),
                ask(world, plain(f"http://{ALLOWED}/h{number}")),
                ask(world, plain(f"http://no{number}.example/", host=f"no{number}.example")),
                ask(world, connect(f"no{number}.example:443"), hang_up=True),
            )
        ]
        await asyncio.gather(*asked)
        await world.settled()
        found = attempts(folder)
        allowed = {
            f"{scheme}://{ALLOWED}/{path}{n}"
            for scheme, path in (("https", ""), ("http", "h"))
            for n in range(20)
        }
        assert {url for word, url in found if word == "allow"} == allowed
        assert sum(count for (word, _), count in found.items() if word == "deny") == 40
        assert sum(found.values()) == 80
        outcomes = [one for one in lines(folder) if one["type"] == "outcome"]
        assert len(outcomes) == len({one["of"] for one in outcomes}) == 40
        assert {one["status"] for one in outcomes} == {200}


@pytest.mark.parametrize("victim", ["proxy", "log"])
async def test_whoever_is_killed_nothing_that_arrived_is_missing(
    tmp_path: Path, victim: str
) -> None:
    async with egress(tmp_path) as world:
        async with recorded(world) as folder:
            await until(lambda: world.status.get("recorder") is True)
            asking = asyncio.gather(
                *(ask(world, plain(f"http://{ALLOWED}/{number}")) for number in range(60)),
                return_exceptions=True,
            )
            await until(lambda: len(world.origin.hits) > 10)
            if victim == "proxy":
                os.kill(world.status["pid"], signal.SIGKILL)
                await asking
        if victim == "log":
            async with recorded(world):
                await asking
        arrived = Counter(hit.path for hit in world.origin.hits)
        told = Counter(url.removeprefix(f"http://{ALLOWED}") for _, url in attempts(folder))
        assert len(arrived) > 10
        assert not arrived - told
        assert max(told.values()) == 1
