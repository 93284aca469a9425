"""A tool call through the door against others in its place, and against none: interleaved, as ratios.

    python -m tests.bench.mcp_gateway [--rounds 7] [--seconds 1.0] [--clients 1 10 50] [--quick]

The tool does nothing. It is called by 1, 10 and 50 clients in both eras of MCP: direct, through a relay
that does nothing but pass on, through the door, fastmcp's proxy and ContextForge (see `mcp_peers`;
`--quick` does without these two, and takes a minute). All are processes of their own on one machine.
Each way has one short turn in each round, and each ratio is taken of the same round: what else the
machine does in these seconds falls on all alike. The last line is one JSON object.
"""

import argparse
import asyncio
import json
import os
import random
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from orchestrator.settings import Environment
from orchestrator.stack.installation import Installation
from tests.bench import mcp_peers
from tests.bench.disk import disk_s
from tests.bench.mcp_calls import ERAS, RUNS, Era, Took, Way, ask, connected
from tests.bench.processes import part

PARTS = "tests.bench.mcp_parts"
CLIENTS = (1, 10, 50)
DIRECT, RELAY, DOOR = "direct", "relay", "door"
FASTMCP, CONTEXTFORGE = "fastmcp_reused", "contextforge"
AT_MOST = {"added_p50_ms": 1.2}
AT_LEAST = {
    "calls_over_direct": 0.30,
    f"calls_over_{FASTMCP}": 3.0,
    f"calls_over_{CONTEXTFORGE}": 10.0,
}
"""All of them with one client, in each era."""


@dataclass(slots=True)
class Rounds:
    """What was measured: by era, number of clients and way, a round after the other."""

    took: dict[tuple[Era, int, str], list[Took]] = field(default_factory=dict)
    disk_ms: float = 0.0
    """What the disk takes to keep one line."""

    def note(self, era: Era, clients: int, way: str, took: Took) -> None:
        """One more round of it."""
        self.took.setdefault((era, clients, way), []).append(took)

    def pairs(self, era: Era, clients: int, way: str, other: str) -> Iterator[tuple[Took, Took]]:
        """Both ways, round by round."""
        return zip(self.took[era, clients, way], self.took[era, clients, other], strict=True)

    def calls_over(self, era: Era, clients: int, other: str) -> float:
        """The door's calls a second over another's."""
        pairs = self.pairs(era, clients, DOOR, other)
        return median(mine.calls_per_s / its.calls_per_s for mine, its in pairs)

    def added_p50_ms(self, era: Era, clients: int, way: str) -> float:
        """What a way adds to a call that goes direct."""
        pairs = self.pairs(era, clients, way, DIRECT)
        return median(its.p50_ms - direct.p50_ms for its, direct in pairs)

    def unanswered(self, way: str) -> int:
        """Calls over a way that the tool's answer didn't come back for, of any number of clients."""
        return sum(
            each.unanswered
            for (_, _, name), took in self.took.items()
            if name == way
            for each in took
        )

    @property
    def clients(self) -> list[int]:
        return sorted({clients for _, clients, _ in self.took})

    @property
    def ways(self) -> list[str]:
        return sorted({way for _, _, way in self.took})


@asynccontextmanager
async def ways(home: Path, *, quick: bool) -> AsyncIterator[list[Way]]:
    """All servers, running."""
    async with AsyncExitStack() as stack:

        async def begun(*told: str) -> tuple[int, str, Sequence[str]]:
            """A server of ours: its pid, where it serves, and what else it says."""
            pid, [port, *more] = await stack.enter_async_context(part(PARTS, *told))
            return pid, f"http://127.0.0.1:{port}/mcp", more

        pid, url, _ = await begun("upstream")
        found = [Way(DIRECT, url, pid)]
        pid, at, _ = await begun("relay", "--upstream", url)
        found.append(Way(RELAY, at, pid))
        pid, at, tokens = await begun("door", "--upstream", url, "--home", str(home))
        found.append(Way(DOOR, at, pid, tokens))
        for way in found:
            await ask(way)
        if not quick:
            cache = Installation.open(Environment().home, create=True).cache
            peers = (
                mcp_peers.fastmcp(url, cache, home, reused=True),
                mcp_peers.fastmcp(url, cache, home, reused=False),
                mcp_peers.contextforge(url, cache, home),
            )
            found += [await stack.enter_async_context(peer) for peer in peers]
        yield found


async def measure(home: Path, given: argparse.Namespace, console: Console) -> Rounds:
    """All rounds."""
    rounds = Rounds()
    async with ways(home, quick=given.quick) as found:
        for era, number in product(ERAS, given.clients):
            async with AsyncExitStack() as stack:
                all_of_them = [
                    await stack.enter_async_context(connected(way, era, number)) for way in found
                ]
                for turns in shuffled(all_of_them, given.rounds):
                    for each in turns:
                        took = await each.take(given.seconds)
                        rounds.note(era, number, each.way.name, took)
                        console.print(_line(era, number, each.way.name, [took]), highlight=False)
        rounds.disk_ms = await disk_s(home) * 1000
    return rounds


def shuffled[T](items: Sequence[T], rounds: int) -> Iterator[list[T]]:
    """In another order each round, the same in each run: none always comes after the same one."""
    order = random.Random(rounds)  # noqa: S311 - an order, no secret
    for _ in range(rounds):
        yield order.sample(items, len(items))


def ratios(rounds: Rounds, era: Era) -> dict[str, float]:
    """Of one era: with one client, and the same with more."""
    found: dict[str, float] = {}
    for clients in rounds.clients:
        end = "" if clients == 1 else f"_{clients}"
        for way in (DOOR, RELAY):
            name = "added_p50_ms" if way == DOOR else f"{way}_added_p50_ms"
            found[f"{name}{end}"] = rounds.added_p50_ms(era, clients, way)
        for way in rounds.ways:
            if way != DOOR:
                found[f"calls_over_{way}{end}"] = rounds.calls_over(era, clients, way)
    return found


def told(rounds: Rounds) -> dict[str, Any]:
    """Ratios, figures, and whether the targets are met: those that were measured."""
    over = {era: ratios(rounds, era) for era in ERAS}
    targets = {
        name: target for name, target in (AT_MOST | AT_LEAST).items() if name in over[ERAS[0]]
    }
    met = not rounds.unanswered(DOOR) and all(
        of_era[name] <= target if name in AT_MOST else of_era[name] >= target
        for name, target in targets.items()
        for of_era in over.values()
    )
    figures = {
        f"{era}_{clients}_{way}": _figures(took)
        for (era, clients, way), took in rounds.took.items()
    }
    return {
        "bench": "mcp_gateway",
        "ratios": {era: _rounded(of_era) for era, of_era in over.items()},
        "figures": figures,
        "targets": targets,
        "met": met,
        "disk_ms": round(rounds.disk_ms, 3),
        "load": os.getloadavg()[0],
    }


def _figures(took: Sequence[Took]) -> dict[str, float]:
    return _rounded(
        {
            "calls_per_s": median(one.calls_per_s for one in took),
            "p50_ms": median(one.p50_ms for one in took),
            "p99_ms": median(one.p99_ms for one in took),
            "cpu_ms": median(one.cpu_ms for one in took),
            "unanswered": sum(one.unanswered for one in took),
        }
    )


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 3) for name, value in values.items()}


def _line(era: Era, clients: int, way: str, took: Sequence[Took]) -> str:
    of = _figures(took)
    return (
        f"{era} {clients:3} {way:15} {of['calls_per_s']:8.0f} calls/s  p50 {of['p50_ms']:8.2f} ms  "
        f"p99 {of['p99_ms']:8.2f} ms  cpu {of['cpu_ms']:7.3f} ms  unanswered {of['unanswered']:.0f}"
    )


def main() -> int:
    """Measure, tell, and say by the exit code whether the targets were met."""
    parser = argparse.ArgumentParser(description="A tool call through the door against others.")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=1.0, help="of each way, in each round")
    parser.add_argument(
        "--clients", type=int, nargs="+", default=CLIENTS, help="how many; the targets are of one"
    )
    parser.add_argument("--quick", action="store_true", help="without the peers, and fewer rounds")
    given = parser.parse_args()
    if 1 not in given.clients or not all(0 < number <= RUNS for number in given.clients):
        parser.error(f"--clients: up to {RUNS}, and 1 among them, as the targets are of one")
    if given.quick:
        given.rounds, given.seconds = min(given.rounds, 3), min(given.seconds, 0.5)
    console = Console(stderr=True, soft_wrap=True)
    with tempfile.TemporaryDirectory(prefix="sandgate-bench-") as folder:
        rounds = asyncio.run(measure(Path(folder), given, console))
    for (era, clients, way), took in rounds.took.items():
        console.print(_line(era, clients, way, took), highlight=False)
    result = told(rounds)
    sys.stdout.write(json.dumps(result) + "\n")
    return 0 if result["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
