"""The battery that proves the sandboxes' walls, from the settings and the parts that runs are made with."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from importlib.metadata import version
from urllib.parse import urlsplit

import docker

from entrance.errors import Unavailable
from entrance.log.signing import Signer, signer_from
from orchestrator.adapters.engine import connect
from orchestrator.adapters.posture.battery import SandboxBattery
from orchestrator.adapters.posture.hands import Hands
from orchestrator.adapters.posture.host import Made
from orchestrator.adapters.posture.shelf import Shelf
from orchestrator.app.parts import Parts
from orchestrator.app.sandboxes import ENGINE_S, MIB, blueprint_of, bridge_of
from orchestrator.egress_policy import EgressPolicy
from orchestrator.posture.probe import Caps
from orchestrator.posture.proving import Proving
from orchestrator.settings import Settings
from proxy.rules import SandboxPolicy

FOLDER = "posture"


@dataclass(frozen=True, slots=True)
class LogKey:
    """The installation's key, as the battery's reports are signed with it."""

    signer: Signer

    @property
    def key_id(self) -> str:
        """As the log's own statements name it."""
        return self.signer.trust.key_id

    def sign(self, payload: bytes) -> bytes:
        """The payload's Ed25519 signature."""
        return self.signer.key.sign(payload)


class ProbePolicies:
    """The battery's sandboxes in the egress policy: `others` of no run, in force while they are tried."""

    def __init__(self, policy: EgressPolicy) -> None:
        self._policy = policy
        self._policies: Sequence[SandboxPolicy] = ()
        policy.others.append(lambda: self._policies)

    @property
    def generation(self) -> int:
        """The generation that is in force."""
        return self._policy.files.applied()

    def environment(self, token: str) -> Mapping[str, str]:
        """The variables that lead a sandbox's programs to the proxy."""
        return self._policy.way_out(token)

    async def admit(self, policies: Sequence[SandboxPolicy]) -> None:
        """Have exactly these in force. Raises: Unavailable when they aren't in time."""
        self._policies = policies
        if not await self._policy.apply():
            raise Unavailable(
                "the egress proxy did not take up the policy of the battery's sandboxes"
            )


def proving_of(settings: Settings, parts: Parts) -> Proving:
    """The battery, its shelf, and when it is due. Raises: OSError, Malformed."""
    signer = signer_from(settings.log.key_file)
    return Proving(
        battery=SandboxBattery(hands_of(settings, parts)),
        shelf=Shelf(settings.home / FOLDER, signer.trust.key),
        signer=LogKey(signer),
        clock=parts.world.clock,
        installation=settings.name,
        every=timedelta(hours=settings.posture.every_hours),
    )


def hands_of(settings: Settings, parts: Parts) -> Hands:
    """What the battery works with."""
    made, given, policy = blueprint_of(settings), settings.sandboxes, parts.inbox.policy
    caps = Caps(
        pids=made.pids,
        memory_bytes=made.memory_bytes,
        disk_bytes=given.disk_mib * MIB,
        tmp_bytes=made.tmp_bytes,
        shm_bytes=made.shm_bytes,
    )
    return Hands(
        sandboxes=parts.world.sandboxes,
        disks=parts.disks,
        door=parts.registry,
        engine=_engine(settings),
        firewall=parts.firewall.flaws,
        execd_token=parts.world.execd_token,
        bridge=bridge_of(settings),
        caps=caps,
        made=Made(
            images=made.images,
            seccomp=made.seccomp,
            runtime=made.runtime,
            caps={
                "memory": made.memory,
                "cpu": made.cpu,
                "pids": str(made.pids),
                "disk": given.disk,
                "disk_bytes": str(caps.disk_bytes),
                "tmp_bytes": str(caps.tmp_bytes),
                "shm_bytes": str(caps.shm_bytes),
            },
            egress=f"mitmproxy {version('mitmproxy')}" if policy else "",
        ),
        own_ports=_ports(settings),
        egress=ProbePolicies(policy) if policy else None,
        watched_disks=given.disk == "watched",
        trusted=tuple(given.trust.values()),
    )


def _engine(settings: Settings) -> Callable[[], docker.DockerClient]:
    return lambda: connect(settings.sandboxes.docker, timeout_s=ENGINE_S)


def _ports(settings: Settings) -> tuple[int, ...]:
    """The ports of the installation's own services on this machine."""
    urls = (settings.polarion.url, settings.pocketbase.url, settings.sandboxes.url)
    ports = {urlsplit(url).port for url in urls if urlsplit(url).hostname == "127.0.0.1"}
    return tuple(sorted({settings.api.port, *(port for port in ports if port)}))
