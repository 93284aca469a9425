"""The probe's two containers: as hardened as a sandbox, gone when the probe is over."""

import json
import socket
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import docker
from docker.errors import NotFound

from entrance.errors import Unavailable
from orchestrator.adapters.firewall.probe_inside import SCRIPT
from orchestrator.adapters.firewall.table import EXECD_PORT, Bridge

LABEL = "sandgate.installation"
PROBE_LABEL = "sandgate.probe"
USER = "10001:10001"
INSIDE_S = 20
SIBLING_S = 10.0
POLL_S = 0.02
Orders = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class ProbePair:
    """A sandbox-like container and its sibling, which stays to be called on."""

    client: docker.DockerClient
    bridge: Bridge
    image: str
    seccomp: str

    def run(
        self, orders: Mapping[str, Orders], addresses: Mapping[str, str]
    ) -> dict[str, dict[str, str]]:
        """What each (`sandbox`, `sibling`) found, by check. Raises: Unavailable, DockerException."""
        remove_leftovers(self.client, self.bridge)
        try:
            with ThreadPoolExecutor(2) as pool:
                making = {
                    who: pool.submit(self._create, orders[who], address, stay=who == "sibling")
                    for who, address in addresses.items()
                }
                made = {who: future.result() for who, future in making.items()}
            self.client.api.start(made["sibling"])
            # Or a sibling that is not there yet would pass for one out of reach.
            self._wait_for_sibling(addresses["sibling"])
            self.client.api.start(made["sandbox"])
            self.client.api.wait(made["sandbox"], timeout=INSIDE_S)
            return {who: self._said(container) for who, container in made.items()}
        finally:
            remove_leftovers(self.client, self.bridge)

    def _create(self, orders: Orders, address: str, *, stay: bool) -> str:
        api = self.client.api
        made = api.create_container(
            self.image,
            ["-I", "-c", SCRIPT, json.dumps(orders), "stay" if stay else "go"],
            entrypoint=["python3"],
            user=USER,
            working_dir="/",
            labels={LABEL: self.bridge.name, PROBE_LABEL: "yes"},
            networking_config=api.create_networking_config(
                {self.bridge.name: api.create_endpoint_config(ipv4_address=address)}  # type: ignore[arg-type]  # the stub's mistake
            ),
            host_config=api.create_host_config(
                network_mode=self.bridge.name,
                cap_drop=["ALL"],
                security_opt=["no-new-privileges=true", f"seccomp={self.seccomp}"],
                read_only=True,
                pids_limit=128,
                mem_limit="128m",
                memswap_limit="128m",
            ),
        )
        return str(made["Id"])

    def _wait_for_sibling(self, address: str) -> None:
        deadline = time.monotonic() + SIBLING_S
        while True:
            with suppress(OSError), socket.create_connection((address, EXECD_PORT), timeout=1):
                return
            if time.monotonic() > deadline:
                raise Unavailable(
                    "the posture probe could not run: the host does not reach a sandbox on its own"
                    " bridge (is another firewall of this host closing it?)"
                )
            time.sleep(POLL_S)

    def _said(self, container: str) -> dict[str, str]:
        said: bytes = self.client.api.logs(container, stdout=True, stderr=False)
        try:
            found = json.loads(said)
        except ValueError:
            return {}
        return {str(name): str(value) for name, value in found.items()}


def remove_leftovers(client: docker.DockerClient, bridge: Bridge) -> None:
    """Remove probe containers of this installation, also those of a probe that was killed."""
    labels = [f"{LABEL}={bridge.name}", PROBE_LABEL]
    rows = client.api.containers(all=True, filters={"label": labels})

    def remove(container: str) -> None:
        with suppress(NotFound):
            client.api.remove_container(container, force=True)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(remove, [row["Id"] for row in rows]))
