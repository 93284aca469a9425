"""What a probe is: one thing that a sandbox must not be able to do, and how that is tried [pure]."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal

from entrance.session import RunId, TaskId


class Area(StrEnum):
    """What a probe is about, as reports group it."""

    NETWORK = "network"
    NAMES = "names"
    KERNEL = "kernel"
    PROCESSES = "processes"
    FILES = "files"
    LIMITS = "limits"
    DOOR = "door"
    GIT = "git"
    EGRESS = "egress"
    HOST = "host"


class Wall(StrEnum):
    """The control that a probe watches: with it gone, the probe fails."""

    FIREWALL = "firewall"
    BRIDGE = "bridge"
    RESOLVER = "resolver"
    SECCOMP = "seccomp"
    CAPABILITIES = "capabilities"
    NO_NEW_PRIVILEGES = "no-new-privileges"
    USER = "user"
    EXECD = "execd"
    IMAGE = "image"
    MOUNTS = "mounts"
    MASKS = "masked paths"
    LIMITS = "limits"
    CLOCK = "clock"
    ENVIRONMENT = "environment"
    IDENTITY = "token and address"
    ROUTES = "routes"
    FRAMING = "framing"
    GRANTS = "grants"
    REFS = "ref rules"
    UPSTREAM = "upstream"
    EGRESS_IDENTITY = "egress identity"
    EGRESS_POLICY = "egress policy"
    EGRESS_FRAMING = "egress framing"


Tier = Literal["runc", "gvisor"]
Who = str
"""Who tries it: the `sandbox`, a `sibling` on the same network, one of another harness's image
(`image:<harness>`), or the `host` itself by looking."""


NOT_THERE: tuple[str, ...] = ()
"""As what is well under gVisor: it acts on a kernel that is the sandbox's own, nothing is promised."""


@dataclass(frozen=True, slots=True)
class Tokens:
    """The run tokens that are tried. They are of runs that don't exist, and open nothing of worth."""

    own: str = field(repr=False)
    sibling: str = field(repr=False)
    ended: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Caps:
    """What the configuration says a sandbox may take at most. Bytes, but for the counts."""

    pids: int
    memory_bytes: int
    disk_bytes: int
    tmp_bytes: int
    shm_bytes: int


@dataclass(frozen=True, slots=True)
class Place:
    """What the host has that the probes name: addresses, ports, canaries."""

    gateway: str
    door: int
    egress: int
    """The port of the second door."""
    sibling: str
    broadcast: str
    canary: int
    """A port, TCP and UDP, on which a canary listens at every address of the host."""
    git_canary: int
    """The loopback port of the canary git host."""
    addresses: tuple[str, ...] = ()
    """The host's other IPv4 addresses."""
    addresses6: tuple[str, ...] = ()
    """The host's IPv6 addresses; link-local ones with the sandbox's own interface as scope."""
    listening: tuple[int, ...] = ()
    """Ports on which programs of the host listen, at other addresses than loopback's."""
    own_ports: tuple[int, ...] = ()
    """The loopback ports of the installation's own services."""
    resolvers: tuple[str, ...] = ()
    outside: str = "203.0.113.7"
    """A canary beyond a route of the host; where there can't be one, an address of nobody's."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What the probes of one battery are put together from."""

    place: Place
    tokens: Tokens
    caps: Caps
    run: RunId
    """The run that `tokens.own` is of."""
    task: TaskId
    second_door: bool = False
    """Whether the egress proxy is there."""
    watched_disks: bool = False
    """Whether the task's disk is measured, and not capped by the kernel."""
    trusted: tuple[str, ...] = ()
    """Where the files with the authorities that a sandbox trusts are mounted."""

    @property
    def item(self) -> str:
        """The task's id inside its project, as branches carry it."""
        return self.task.rpartition("/")[2]


Arguments = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Probe:
    """One row of the battery."""

    name: str
    area: Area
    wall: Wall
    promise: str
    """What is promised, in a sentence that a security team can hold us to."""
    how: str
    """The word for what is done: see `adapters.posture.inside`, for `host` `adapters.posture.host`."""
    arguments: Callable[[Stage], Arguments | None] = lambda _: ()
    """Its arguments; None: it can't be tried here, as there is nothing of the kind."""
    expected: tuple[str, ...] = ("closed",)
    """Any of these words is well."""
    gvisor: tuple[str, ...] | None = None
    """The same under gVisor, where that differs; none at all: it isn't promised there."""
    canary: int | None = None
    """How often the canaries must have seen it; None: none of them could."""
    who: Who = "sandbox"
    second_door: bool | None = None
    """Tried only where the second door is there (or isn't); None: in any case."""

    def well(self, tier: Tier) -> tuple[str, ...]:
        """The words that are well in this tier."""
        return self.expected if tier == "runc" or self.gvisor is None else self.gvisor
