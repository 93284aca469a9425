"""Containers like a sandbox in all but one thing, in which the battery's script runs."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import docker
from docker.types import Ulimit

from orchestrator.adapters.posture.script import script
from orchestrator.posture.judging import Result, found_in, judge, orders
from orchestrator.posture.probe import Probe, Stage
from orchestrator.stack.opensandbox import seccomp_profile

USER = "10001:10001"
SECONDS = 30


def hardened() -> dict[str, Any]:
    """The engine's options for a container that is as hardened as a sandbox."""
    return {
        "user": USER,
        "cap_drop": ["ALL"],
        "security_opt": ["no-new-privileges=true", f"seccomp={seccomp_profile()}"],
        "pids_limit": 128,
        "mem_limit": "256m",
        "memswap_limit": "256m",
        "ulimits": [
            Ulimit(name="nofile", soft=4096, hard=4096),
            Ulimit(name="core", soft=0, hard=0),
        ],
        "network_mode": "none",
    }


@dataclass(frozen=True, slots=True)
class Box:
    """Runs the script in containers of one image. `folder`: a folder of the host for it to read."""

    client: docker.DockerClient
    image: str
    folder: Path
    stage: Stage
    label: str

    def play(self, probes: Sequence[Probe], **options: Any) -> Mapping[str, Result]:
        """The results in a container with these options."""
        (self.folder / "posture.pyz").write_bytes(script())
        (self.folder / "orders.json").write_text(json.dumps(orders(probes, self.stage, "sandbox")))
        volumes = {str(self.folder): {"bind": "/posture", "mode": "ro"}}
        container = self.client.containers.create(
            self.image,
            ["-I", "/posture/posture.pyz", "/posture/orders.json", "8"],
            entrypoint=["python3"],
            working_dir="/",
            labels={"sandgate.installation": self.label},
            environment={"SANDGATE_RUN_TOKEN": "sgr_x"},
            **{**options, "volumes": {**volumes, **options.get("volumes", {})}},
        )
        try:
            container.start()
            container.wait(timeout=SECONDS)
            said = container.logs(stdout=True, stderr=False)
        finally:
            container.remove(force=True)
        found = dict(filter(None, map(found_in, map(json.loads, said.splitlines()))))
        return {result.probe.name: result for result in judge(probes, "runc", found, {})}

    def fails(self, probes: Sequence[Probe], **options: Any) -> set[str]:
        """The names of what fails in it."""
        return {name for name, result in self.play(probes, **options).items() if not result.ok}
