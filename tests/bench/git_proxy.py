"""git through the door against git direct: interleaved runs, ratios of medians.

    python -m tests.bench.git_proxy [--repository PATH] [--rounds 5] [--pushes 20] [--mebibytes 100]

`--repository`: a bare or other clone with a long history; without one, one of 12,000 commits is made.
Host and door are processes of their own; the door's log and all checks are on. A clone is the whole
pack, taken by curl: what git then does with it is not the door's. The last line is one JSON object.
"""

import argparse
import asyncio
import itertools
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from rich.console import Console

from orchestrator.stack.process import answers_http
from tests.bench.git_checks import costs
from tests.bench.git_memory import Memory, watched
from tests.bench.git_parts import LOG, SECRET
from tests.bench.git_repository import ITEM, LONG, TWIN, Repositories, lay_out, long_history
from tests.servers.log import lines_in

TARGETS = {
    "clone_over_direct": 1.25,
    "clones_at_once_over_direct": 1.15,
    "push_small_added_ms": 80.0,
    "push_large_over_direct": 2.5,
    "door_peak_mib": 120.0,
}
"""At most."""
AT_ONCE = 8
PAUSE_S = 0.2
"""Nobody pushes again in the moment in which the last answer came."""
LARGE = ("random", "text")
"""The second is told, and has no target."""
_ENV = {"PATH": os.defpath, "HOME": "/nonexistent", "GIT_CONFIG_NOSYSTEM": "1"}
_CURL = ("curl", "--silent", "--show-error", "--fail", "--output", "/dev/null", "--write-out")
_KIND = "Content-Type: application/x-git-upload-pack-request"


@dataclass(slots=True)
class Bench:
    """What is measured. `ways`: where the repositories lie, direct and through the door."""

    repositories: Repositories
    ways: Mapping[str, str]
    wants: Path
    console: Console
    took_s: dict[str, dict[str, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    pushed: "itertools.count[int]" = field(default_factory=itertools.count)
    sinks: "itertools.count[int]" = field(default_factory=itertools.count)

    async def clones(self, rounds: int, at_once: int) -> None:
        """The whole pack, by so many at once."""
        what = "clone" if at_once == 1 else "clones_at_once"
        for number in range(rounds):
            for way in self._turned(number):
                begun = perf_counter()
                async with asyncio.TaskGroup() as tasks:
                    for _ in range(at_once):
                        tasks.create_task(self._pack(self.ways[way]))
                self._took(what, way, perf_counter() - begun)

    async def small(self, pushes: int) -> None:
        """One commit of one small file on a new branch; the first of the door makes its mirror."""
        places = {"direct": TWIN, "door": LONG}
        for number in range(pushes + 1):
            for way in self._turned(number):
                took_s = await self._push(way, places[way], f"small-{next(self.pushed)}")
                self._took("push_small" if number else "push_first", way, took_s)
                await asyncio.sleep(PAUSE_S)

    async def small_after_others(self, pushes: int) -> None:
        """The same, each after a push of somebody else's to the same repository."""
        for _ in range(pushes):
            for way in ("direct", "door"):
                took_s = await self._push(way, LONG, f"small-{next(self.pushed)}")
                self._took("push_small_after_others", way, took_s)

    async def large(self, rounds: int) -> None:
        """One commit with much in it, each time to a repository that has seen no other."""
        for number, what in itertools.product(range(rounds), LARGE):
            for way in self._turned(number):
                sink = self.repositories.sinks[next(self.sinks)]
                name = "push_large" if what == "random" else "push_large_text"
                self._took(name, way, await self._push(way, sink, what))

    def _turned(self, number: int) -> list[str]:
        """Turned round each time, so that neither way always finds the caches warm."""
        return sorted(self.ways, reverse=bool(number % 2))

    async def _pack(self, base: str) -> None:
        url = f"{base}/{LONG}/git-upload-pack"
        told = await run(
            *_CURL, "%{size_download}", "-H", _KIND, "--data-binary", f"@{self.wants}", url
        )
        assert int(told) > 1 << 20, "that was no pack"

    async def _push(self, way: str, repository: str, branch: str) -> float:
        target = f"refs/heads/{branch}:refs/heads/agent/{ITEM}/{branch}"
        begun = perf_counter()
        url = f"{self.ways[way]}/{repository}"
        await run("git", "-C", str(self.repositories.client), "push", "-q", url, target)
        return perf_counter() - begun

    def _took(self, what: str, way: str, seconds: float) -> None:
        self.took_s[what][way].append(seconds)
        self.console.print(f"{what:16} {way:7} {seconds:8.3f} s")


async def run(*argv: str) -> str:
    """What a program prints. Raises: CalledProcessError."""
    process = await asyncio.create_subprocess_exec(
        *argv, env=_ENV, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, argv, out, err.decode())
    return out.decode()


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
async def door_process(home: Path, host: str, names: list[str]) -> AsyncIterator[tuple[int, str]]:
    """The door in a process of its own; its pid, and where the repositories lie."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.bench.git_parts", "--home", home, "--host", host),
        *("--names", *names),
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        async with asyncio.timeout(60):
            port, token = (await process.stdout.readline()).decode().split()
        yield process.pid, f"http://run:{token}@127.0.0.1:{port}/git/host"
    finally:
        process.terminate()
        await process.wait()


async def measure(work: Path, given: argparse.Namespace, console: Console) -> dict[str, Any]:
    """All of it, and what came of it."""
    console.print("the repositories are laid out")
    history = given.repository or long_history()
    pushes = 2 * (given.pushes + 1 + given.pushes // 2)
    sinks = 2 * given.rounds * len(LARGE)
    repositories = lay_out(work, history, sinks, pushes, given.mebibytes << 20)
    (work / "wants").write_bytes(repositories.wants())
    (work / "credential").write_text(f"x-access-token:{SECRET}")
    names = [LONG, *repositories.sinks]
    async with (
        host_process(repositories.root, work / "credential") as host,
        door_process(work, host, names) as (pid, door),
        watched(pid) as memory,
    ):
        ways = {"direct": f"http://x-access-token:{SECRET}@{host}", "door": door}
        bench = Bench(repositories, ways, work / "wants", console)
        await bench.clones(given.rounds, 1)
        await bench.clones(given.rounds, AT_ONCE)
        await bench.small(given.pushes)
        await bench.small_after_others(given.pushes // 2)
        await bench.large(given.rounds)
        return told(bench, memory, work / LOG)


def told(bench: Bench, memory: Memory, log: Path) -> dict[str, Any]:
    """Ratios of through over direct, figures, and whether the targets are met."""
    middle = {
        what: {way: median(times) for way, times in ways.items()}
        for what, ways in bench.took_s.items()
    }
    over = {what: ways["door"] / ways["direct"] for what, ways in middle.items()}
    small = middle["push_small"]
    ratios = {
        "clone_over_direct": over["clone"],
        "clones_at_once_over_direct": over["clones_at_once"],
        "push_small_added_ms": 1000 * (small["door"] - small["direct"]),
        "push_large_over_direct": over["push_large"],
        "push_large_text_over_direct": over["push_large_text"],
        "door_peak_mib": memory.peak_mib(),
    }
    figures = {
        **{f"{what}_{way}_s": took for what, ways in middle.items() for way, took in ways.items()},
        "children_peak_mib": memory.children_mib,
        **steps(log),
        **costs(),
    }
    return {
        "bench": "git_proxy",
        "ratios": {what: round(value, 3) for what, value in ratios.items()},
        "figures": {what: round(value, 3) for what, value in figures.items()},
        "targets": TARGETS,
        "met": all(ratios[what] <= most for what, most in TARGETS.items()),
        "load": os.getloadavg()[0],
    }


def steps(log: Path) -> dict[str, float]:
    """What each step of a push took at the door, by its own clock, in ms; medians. They overlap."""
    took: dict[str, list[float]] = defaultdict(list)
    for line in lines_in(log):
        detail = line.get("detail") or {}
        kind = "large" if detail.get("pack_bytes", 0) > 1 << 20 else "small"
        for step, ms in (detail.get("ms") or {}).items():
            took[f"{kind}_{step}_ms"].append(ms)
    return {step: median(all_of) for step, all_of in sorted(took.items())}


def main() -> int:
    """Measure, tell, and say in the last line whether the targets were met."""
    parser = argparse.ArgumentParser(description="git through the door against git direct.")
    parser.add_argument("--repository", type=Path, help="a clone with a long history")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--pushes", type=int, default=20, help="small pushes, each way")
    parser.add_argument("--mebibytes", type=int, default=100, help="size of a large push")
    given = parser.parse_args()
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory(prefix="sandgate-bench-") as folder:
        result = asyncio.run(measure(Path(folder), given, console))
    sys.stdout.write(json.dumps(result) + "\n")
    return 0 if result["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
