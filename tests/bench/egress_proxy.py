"""The egress proxy, plain mitmdump and no proxy at all: interleaved rounds, ratios of medians.

    python -m tests.bench.egress_proxy [--rounds 3] [--seconds 2] [--mebibytes 200] [--stream 1024]

Needs root, for its own network namespaces. Ours has its policy and its log on: the real recorder, with
its disk. Origin, recorder and proxies are processes of their own. The last line is one JSON object.
"""

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

from tests.bench.egress_ways import Way, download, first_byte, growth, new_connections, requests
from tests.servers.egress import ORIGIN, PORT, PROXY, RULES, Egress, egress, sandbox
from tests.waiting import until

TARGETS = {
    "requests_over_mitmdump": 1.3,
    "download_over_direct": 0.2,
    "first_byte_ms": 20.0,
    "growth_mib": 20.0,
}
"""The first two at least, the others at most."""
CONNECTIONS = 16
HANDSHAKES = 40
MITMDUMP_PORT = 8082


async def measure(ways: list[Way], options: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Each figure of each way: medians over the rounds."""
    found: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for _ in range(options.rounds):
        for way in ways:
            mine = found[way.name]
            rate, cpu_ms = await requests(way, connections=CONNECTIONS, seconds=options.seconds)
            mine["requests_per_s"].append(rate)
            mine["cpu_ms_per_request"].append(cpu_ms)
            mine["new_connection_ms"].append(median(await new_connections(way, number=HANDSHAKES)))
            mine["download_mib_per_s"].append(await download(way, options.mebibytes))
            mine["first_byte_ms"].append(await first_byte(way))
    ours = ways[-1]
    found[ours.name]["growth_mib"].append(await growth(ours, options.stream))
    found[ours.name]["resident_mib"].append(ours.resident_mib())
    return {
        name: {what: round(median(all_of), 3) for what, all_of in mine.items()}
        for name, mine in found.items()
    }


def judged(figures: dict[str, dict[str, float]]) -> tuple[dict[str, float], bool]:
    """The figures that there are targets for, and whether they are met."""
    direct, mitmdump, ours = figures["direct"], figures["mitmdump"], figures["ours"]
    ratios = {
        "requests_over_mitmdump": round(ours["requests_per_s"] / mitmdump["requests_per_s"], 3),
        "download_over_direct": round(ours["download_mib_per_s"] / direct["download_mib_per_s"], 3),
        "first_byte_ms": ours["first_byte_ms"],
        "growth_mib": ours["growth_mib"],
    }
    at_least = ("requests_over_mitmdump", "download_over_direct")
    met = all(
        (ratios[name] >= target) if name in at_least else (ratios[name] <= target)
        for name, target in TARGETS.items()
    )
    return ratios, met


@asynccontextmanager
async def started(world: Egress, *argv: str, far: bool = False) -> AsyncIterator[int]:
    """A process of the bench; its pid."""
    space = world.far if far else world.near
    command = space.command(argv, world.mounts)
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield process.pid
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        await process.wait()


def answers(world: Egress, host: str, port: int) -> bool:
    """Whether somebody listens there."""
    try:
        with world.near.entered(), socket.create_connection((host, port), 1):
            return True
    except OSError:
        return False


async def main(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with egress(folder) as world:
            await world.log.stop()
            await world.origin.stop()
            certificate = next(folder.glob("allowed.example.pem"))
            bench = (sys.executable, "-m")
            dump = Path(sys.executable).with_name("mitmdump")
            conf = (
                f"confdir={folder / 'mitm'}",
                f"ssl_verify_upstream_trusted_ca={world.web.file}",
            )
            async with (
                started(
                    world, *bench, "tests.bench.egress_origin", ORIGIN, str(certificate), far=True
                ),
                started(
                    world,
                    *(*bench, "tests.bench.egress_keeper", str(folder / "log")),
                    str(folder / "log.sock"),
                ),
                started(
                    world,
                    *(str(dump), "-q", "--listen-host", PROXY, "--listen-port", str(MITMDUMP_PORT)),
                    *(part for one in conf for part in ("--set", one)),
                ) as mitmdump,
            ):
                await until(lambda: answers(world, ORIGIN, 443), 20)
                await until(lambda: answers(world, PROXY, MITMDUMP_PORT), 20)
                await until(lambda: world.status.get("recorder") is True, 20)
                await world.apply(sandbox(*RULES))
                ways = [
                    Way("direct", world.near),
                    Way("mitmdump", world.near, PROXY, MITMDUMP_PORT, lambda: mitmdump),
                    Way("ours", world.near, PROXY, PORT, lambda: int(world.status["pid"])),
                ]
                figures = await measure(ways, options)
    ratios, met = judged(figures)
    for way, mine in figures.items():
        told = "  ".join(f"{what} {value:g}" for what, value in mine.items())
        print(f"{way:9}", told)  # noqa: T201
    print(  # noqa: T201
        json.dumps(
            {
                "bench": "egress_proxy",
                "ratios": ratios,
                "figures": figures,
                "targets": TARGETS,
                "met": met,
                "load": os.getloadavg()[0],
            }
        )
    )
    return 0 if met else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--mebibytes", type=int, default=200)
    parser.add_argument("--stream", type=int, default=1024)
    sys.exit(asyncio.run(main(parser.parse_args())))
