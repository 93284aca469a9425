"""Model streams through the door against streams direct: interleaved in one run, told as ratios.

    python -m tests.bench.model_gateway [--rounds 3] [--calls 40] [--burst 20000] [--seconds 3]

Provider and door are processes of their own; metering, budget and record are on. Delays are taken
from the time that each event carries. The last line is one JSON object.
"""

import argparse
import asyncio
import json
import os
import re
import resource
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from time import perf_counter

import aiohttp

from tests.bench.disk import disk_s
from tests.bench.model_parts import body
from tests.bench.processes import cpu_s, part
from tests.servers.anthropic import KEY

TARGETS = {
    "first_byte_added_ms": 2.0,
    "burst_events_per_s": 0.9,
    "live_p99_ms": 10.0,
    "live_core_percent": 25.0,
}
"""At most, but for the events per second: through the door over direct, at least."""
STREAMS, EVENTS_PER_S = 50, 50
PARTS = "tests.bench.model_parts"
PAUSE_S = 0.02
"""Nobody asks a model again in the moment in which the last answer is being counted."""
_STAMP = re.compile(rb"@([0-9.]+)@")


@dataclass(frozen=True, slots=True)
class Way:
    """Where to ask, and with which key."""

    url: str
    key: str


def by_way() -> dict[str, list[float]]:
    """Nothing measured yet."""
    return {"direct": [], "door": []}


@dataclass(slots=True)
class Taken:
    """What was measured, by way. CPU is the door's; for the direct way that is next to nothing."""

    first_byte_s: dict[str, list[float]] = field(default_factory=by_way)
    burst_per_s: dict[str, list[float]] = field(default_factory=by_way)
    burst_cpu_s: dict[str, list[float]] = field(default_factory=by_way)
    """For one event."""
    live_delay_s: dict[str, list[float]] = field(default_factory=by_way)
    live_core: dict[str, list[float]] = field(default_factory=by_way)
    """The share of a processor."""
    disk_s: float = 0

    async def burst(
        self, http: aiohttp.ClientSession, name: str, way: Way, pid: int, count: int
    ) -> None:
        """One stream as fast as it comes."""
        used, begun = cpu_s(pid), perf_counter()
        await read(http, way, count, 0)
        self.burst_per_s[name].append(count / (perf_counter() - begun))
        self.burst_cpu_s[name].append((cpu_s(pid) - used) / count)


async def read(http: aiohttp.ClientSession, way: Way, count: int, gap_s: float) -> list[bytes]:
    """The chunks of one stream."""
    headers = {"x-api-key": way.key, "content-type": "application/json"}
    async with http.post(way.url, data=body(count, gap_s), headers=headers) as answer:
        answer.raise_for_status()
        return [chunk async for chunk in answer.content.iter_any()]


async def first_byte(http: aiohttp.ClientSession, way: Way) -> float:
    """Seconds from asking to the first byte of the stream, after a moment without any call."""
    headers = {"x-api-key": way.key, "content-type": "application/json"}
    await asyncio.sleep(PAUSE_S)
    begun = perf_counter()
    async with http.post(way.url, data=body(1, 0), headers=headers) as answer:
        await answer.content.readany()
        took = perf_counter() - begun
        await answer.read()
    return took


async def live(http: aiohttp.ClientSession, way: Way, count: int) -> list[float]:
    """Seconds that each event of one stream was on its way, but for those of its first second."""
    delays: list[float] = []
    headers = {"x-api-key": way.key, "content-type": "application/json"}
    async with http.post(way.url, data=body(count, 1 / EVENTS_PER_S), headers=headers) as answer:
        async for chunk in answer.content.iter_any():
            now = perf_counter()
            delays += [now - float(stamp) for stamp in _STAMP.findall(chunk)]
    return delays[EVENTS_PER_S:]


async def take(
    http: aiohttp.ClientSession, ways: dict[str, Way], pid: int, given: argparse.Namespace
) -> Taken:
    """All of it, the ways in turn: neither always finds the caches warm."""
    taken = Taken()
    for way in ways.values():  # the first calls of each process are not like the others
        for _ in range(5):
            await first_byte(http, way)
    for number in range(given.rounds):
        names = sorted(ways, reverse=bool(number % 2))
        for name in names * (given.calls // given.rounds):
            taken.first_byte_s[name].append(await first_byte(http, ways[name]))
        for name in names * 2:
            await taken.burst(http, name, ways[name], pid, given.burst)
        for name in names:
            delays, share = await live_streams(http, ways[name], pid, given.seconds)
            taken.live_delay_s[name] += delays
            taken.live_core[name].append(share)
    return taken


async def live_streams(
    http: aiohttp.ClientSession, way: Way, pid: int, seconds: int
) -> tuple[list[float], float]:
    """The delays of many streams at once, and the door's share of a processor meanwhile.

    Beginning and end are left out: they are calls, which are measured apart.
    """
    async with asyncio.TaskGroup() as tasks:
        streams = [
            tasks.create_task(live(http, way, seconds * EVENTS_PER_S)) for _ in range(STREAMS)
        ]
        await asyncio.sleep(1)
        used, begun = cpu_s(pid), perf_counter()
        await asyncio.sleep(seconds - 1.3)
        share = (cpu_s(pid) - used) / (perf_counter() - begun)
    return [delay for stream in streams for delay in stream.result()], share


async def measure(home: Path, given: argparse.Namespace) -> Taken:
    """Start both processes and measure."""
    async with part(PARTS, "upstream") as (_, [port]):
        url = f"http://127.0.0.1:{port}"
        async with part(PARTS, "door", "--upstream", url, "--home", str(home)) as (
            pid,
            [at, token],
        ):
            ways = {
                "direct": Way(f"{url}/v1/messages", KEY),
                "door": Way(f"http://127.0.0.1:{at}/model/anthropic/v1/messages", token),
            }
            connector = aiohttp.TCPConnector(limit=0)
            async with aiohttp.ClientSession(connector=connector, read_bufsize=1 << 18) as http:
                taken = await take(http, ways, pid, given)
                taken.disk_s = await disk_s(home)
                return taken


def told(taken: Taken) -> dict[str, object]:
    """Ratios of through over direct, figures, and whether the targets are met."""
    first = {way: median(times) * 1000 for way, times in taken.first_byte_s.items()}
    burst = {way: median(rates) for way, rates in taken.burst_per_s.items()}
    p50 = {way: median(times) * 1000 for way, times in taken.live_delay_s.items()}
    p99 = {way: quantiles(times, n=100)[98] * 1000 for way, times in taken.live_delay_s.items()}
    core, burst_cpu = median(taken.live_core["door"]), median(taken.burst_cpu_s["door"])
    ratios = {
        "first_byte": first["door"] / first["direct"],
        "burst_events_per_s": burst["door"] / burst["direct"],
        "live_p50": p50["door"] / p50["direct"],
        "live_p99": p99["door"] / p99["direct"],
    }
    figures = {
        "first_byte_added_ms": first["door"] - first["direct"],
        "disk_ms": taken.disk_s * 1000,
        "live_p99_ms": p99["door"],
        "live_core_percent": 100 * core,
        "burst_cpu_ms_per_1000_events": 1e6 * burst_cpu,
        "live_cpu_ms_per_1000_events": 1e6 * core / (STREAMS * EVENTS_PER_S),
        **{f"first_byte_{way}_ms": value for way, value in first.items()},
        **{f"burst_{way}_events_per_s": value for way, value in burst.items()},
        **{f"live_p50_{way}_ms": value for way, value in p50.items()},
        **{f"live_p99_{way}_ms": value for way, value in p99.items()},
    }
    at_most = all(
        figures[what] <= TARGETS[what] for what in TARGETS if what != "burst_events_per_s"
    )
    return {
        "bench": "model_gateway",
        "ratios": {what: round(value, 3) for what, value in ratios.items()},
        "figures": {what: round(value, 3) for what, value in figures.items()},
        "targets": TARGETS,
        "met": at_most and ratios["burst_events_per_s"] >= TARGETS["burst_events_per_s"],
        "load": os.getloadavg()[0],
    }


def main() -> None:
    """Measure and tell."""
    parser = argparse.ArgumentParser(description="Model streams through the door against direct.")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=40, help="calls for the first byte, each way")
    parser.add_argument("--burst", type=int, default=20_000, help="events of one fast stream")
    parser.add_argument("--seconds", type=int, default=3, help="how long the live streams go on")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="sandgate-bench-") as folder:
        result = told(asyncio.run(measure(Path(folder), given)))
    result["peak_mib"] = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
