"""Runs the orders in a file, `[{"name", "how", "arguments"}, ...]`, many at once.

Prints `{"name", "found", "evidence", "ms"}` a line for each, as soon as it is known.
"""

import json
import sys
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from orchestrator.adapters.posture.inside import kernel, network, places, requests, tunnels

MARKED: Mapping[str, Callable[..., Any]] = {
    "tcp": network.tcp,
    "udp": network.udp,
    "dns": network.dns,
    "dns_tcp": network.dns_tcp,
    "lookup": network.lookup,
    "ping": network.ping,
    "spoof": network.spoof,
}
"""They leave the probe's name wherever they come to."""
HOWS: Mapping[str, Callable[..., Any]] = {
    "ipv6_addresses": network.ipv6_addresses,
    "unix_names": network.unix_names,
    "family": kernel.family,
    "call": kernel.call,
    "status": kernel.status,
    "identity": kernel.identity,
    "rlimit": kernel.rlimit,
    "raise_rlimit": kernel.raise_rlimit,
    "core": kernel.core,
    "set_clock": kernel.set_clock,
    "signals": kernel.signals,
    "limit_of_another": kernel.limit_of_another,
    "reads": places.reads,
    "opens": places.opens,
    "there": places.there,
    "makes": places.makes,
    "of_image": places.of_image,
    "mounts": places.mounts,
    "mounted_without": places.mounted_without,
    "devices": places.devices,
    "makes_device": places.makes_device,
    "capped": places.capped,
    "cgroup": places.cgroup,
    "secrets_in_environment": places.secrets_in_environment,
    "processes": places.processes,
    "asks": requests.asks,
    "asks_each": requests.asks_each,
    "clock": requests.clock,
    "says": requests.says,
    "pushes": requests.pushes,
    "through": tunnels.through,
    "tunnel": tunnels.tunnel,
    "plain_tunnel": tunnels.plain_tunnel,
    "protocol": tunnels.protocol,
}
_SAYING = threading.Lock()


def try_it(order: Mapping[str, Any]) -> None:
    """Do what an order says; an error that was not foreseen is what was found."""
    began = time.monotonic()
    name, how, arguments = order["name"], order["how"], order["arguments"]
    try:
        found = MARKED[how](name, *arguments) if how in MARKED else HOWS[how](*arguments)
    except Exception as error:  # noqa: BLE001 - whatever it is: it is reported, and judged a failure
        found = f"error {type(error).__name__}", str(error)
    word, evidence = found if isinstance(found, tuple) else (found, "")
    ms = round((time.monotonic() - began) * 1000)
    line = json.dumps({"name": name, "found": word, "evidence": evidence, "ms": ms})
    with _SAYING:
        print(line, flush=True)  # noqa: T201 - whoever gave the order reads it


def main() -> None:
    """Run the orders in the file that the command line names, as many at once as it says."""
    orders = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with ThreadPoolExecutor(int(sys.argv[2])) as pool:
        list(pool.map(try_it, orders))
