"""git through the door against git direct: interleaved runs, ratios of medians.

    python -m tests.bench.git_proxy [--rounds 5] [--mebibytes 64]

The git host is a process of its own; the door runs in this one. The last line is one JSON object.
"""

import argparse
import asyncio
import itertools
import json
import os
import resource
import shutil
import socket
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter

from entrance.git.proxy import GitProxy
from entrance.git.upstream import client_session
from entrance.honeytokens.watch import Watch
from entrance.registry import SessionRegistry
from entrance.session import RepoGrant, RunId, Session, TaskId, hash_token
from orchestrator.stack.bare_repository import create_bare_repository
from orchestrator.stack.process import answers_http
from tests.fakes.alarm import FakeAlarm
from tests.fakes.audit import FakeAudit
from tests.servers.git import ITEM, REAL_CREDENTIAL, RUN_TOKEN, FakeCredentials, Git, running

TARGETS = {"ls_remote": 2.0, "clone_large": 1.5, "push_small": 2.0, "push_large": 1.5}
"""Through the door over direct, at most."""
SMALL_BYTES = 100
REPOSITORIES = ("small.git", "large.git", "sink.git")
"""What is cloned stays as it is: large pushes go to another repository."""


@dataclass(slots=True)
class Client:
    """What is measured. `base` is where the repositories lie: at the host, or at the door."""

    git: Git
    work: Path
    large_bytes: int
    numbers: "itertools.count[int]" = field(default_factory=itertools.count)

    async def take(self, what: str, base: str) -> float:
        """Do it once; seconds."""
        match what:
            case "ls_remote":
                return await self._timed("ls-remote", f"{base}/small.git")
            case "clone_large":
                target = self.work / "clone"
                shutil.rmtree(target, ignore_errors=True)
                return await self._timed("clone", "-q", "--bare", f"{base}/large.git", target)
            case "push_small":
                return await self._push(f"{base}/small.git", SMALL_BYTES)
            case _:
                return await self._push(f"{base}/sink.git", self.large_bytes)

    async def _push(self, url: str, size: int) -> float:
        clone, number = self.work / "pushing", next(self.numbers)
        if not clone.exists():
            await self.git.ok("init", "-q", clone)
        write_random(clone / "pushed.bin", size)
        await self.git.ok("add", "--all", cwd=clone)
        await self.git.ok("commit", "-q", "-m", f"Number {number}", cwd=clone)
        branch = f"HEAD:refs/heads/agent/{ITEM}/number-{number}"
        took_s = await self._timed("push", "-q", url, branch, cwd=clone)
        shutil.rmtree(clone)  # every push sends its own objects and no others
        return took_s

    async def _timed(self, *arguments: str | Path, cwd: Path | None = None) -> float:
        begun = perf_counter()
        await self.git.ok(*arguments, cwd=cwd)
        return perf_counter() - begun


@asynccontextmanager
async def host_process(root: Path, credential: Path) -> AsyncIterator[str]:
    """The git host in a process of its own; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "orchestrator.stack.githost", "--root", root),
        *("--port", str(port), "--credential-file", credential),
    )
    try:
        async with asyncio.timeout(30):
            while not answers_http("127.0.0.1", port, "/healthz"):  # noqa: ASYNC110 - a process
                await asyncio.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


@asynccontextmanager
async def door_at(host: str) -> AsyncIterator[str]:
    """The door before the host; its address."""
    repositories = tuple(
        RepoGrant(f"host/{name}", f"http://{host}/{name}", push=True, credential="host")
        for name in REPOSITORIES
    )
    audit, registry = FakeAudit(), SessionRegistry()
    registry.open(
        Session(
            run=RunId("run-1"),
            task=TaskId(f"DEMO/{ITEM}"),
            project="DEMO",
            agent="bot",
            address="127.0.0.1",
            token_sha256=hash_token(RUN_TOKEN),
            repositories=repositories,
            honeytokens=(RunId("run-1"),),
        )
    )
    watch = Watch(b"h" * 32, audit, FakeAlarm())
    async with (
        client_session() as http,
        running(GitProxy(http, audit, FakeCredentials(), watch), registry, audit) as address,
    ):
        yield address.removeprefix("http://")


def write_random(path: Path, size: int) -> None:
    """In pieces, so that the peak memory told is the door's."""
    with path.open("wb") as file:
        for start in range(0, size, 1 << 20):
            file.write(os.urandom(min(1 << 20, size - start)))


def make_repositories(work: Path, large_bytes: int) -> Path:
    """The host's root with its repositories, and the credential beside it."""
    for name in REPOSITORIES:
        files = work / f"{name}-files"
        files.mkdir()
        size = large_bytes if name == "large.git" else SMALL_BYTES
        write_random(files / "random.bin", size)
        create_bare_repository(files, work / "root" / name, message="First")
    (work / "credential").write_text(REAL_CREDENTIAL)
    (work / "home").mkdir()
    return work / "root"


async def measure(work: Path, rounds: int, large_bytes: int) -> dict[str, dict[str, float]]:
    """Medians in seconds: what is done, by way."""
    root = make_repositories(work, large_bytes)
    client = Client(Git(work / "home"), work, large_bytes)
    took: dict[str, dict[str, list[float]]] = {what: {"direct": [], "door": []} for what in TARGETS}
    async with host_process(root, work / "credential") as host, door_at(host) as door:
        bases = {
            "direct": f"http://{REAL_CREDENTIAL}@{host}",
            "door": f"http://run:{RUN_TOKEN}@{door}/git/host",
        }
        for number, what in itertools.product(range(rounds), TARGETS):
            # Turned round each time, so that neither way always finds the caches warm.
            for way in sorted(bases, reverse=bool(number % 2)):
                took[what][way].append(await client.take(what, bases[way]))
    return {
        what: {way: median(times) for way, times in ways.items()} for what, ways in took.items()
    }


def main() -> None:
    """Measure, tell, and say in the last line whether the targets were met."""
    parser = argparse.ArgumentParser(description="git through the door against git direct.")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--mebibytes", type=int, default=64, help="size of the large repository")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sandgate-bench-") as folder:
        seconds = asyncio.run(measure(Path(folder), given.rounds, given.mebibytes << 20))
    ratios = {what: round(ways["door"] / ways["direct"], 2) for what, ways in seconds.items()}
    figures: dict[str, float] = {
        f"{what}_{way}_s": round(taken, 3)
        for what, ways in seconds.items()
        for way, taken in ways.items()
    }
    figures["door_peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    result = {
        "bench": "git_proxy",
        "ratios": ratios,
        "figures": figures,
        "targets": TARGETS,
        "met": all(ratios[what] <= most for what, most in TARGETS.items()),
        "load": os.getloadavg()[0],
    }
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
