"""An installation: a home folder, the name and the addresses that everything of it carries.

Several live side by side on one machine. What is chosen once (subnet, ports) is kept in
`installation.json`, so that an address in a log or a git remote stays true.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Network
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.stack.addresses import free_ports, free_subnet
from orchestrator.stack.steps import StepFailed

ENTRANCE_PORT = 8080
EGRESS_PORT = 8081
LABEL = "sandgate.installation"
FILE = "installation.json"


class Ports(BaseModel):
    """The loopback ports of an installation's services."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    runner: int
    pocketbase: int
    opensandbox: int
    polarion: int
    model: int
    githost: int


class _Kept(BaseModel):
    """What `installation.json` holds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path
    name: str
    subnet: IPv4Network
    ports: Ports


@dataclass(frozen=True, slots=True)
class Installation:
    """One installation on this machine. Its folders exist once it was opened with `create`."""

    home: Path
    name: str
    subnet: IPv4Network
    ports: Ports

    @classmethod
    def open(cls, home: Path, *, create: bool) -> Self:
        """Read the installation at `home`; make it when there is none and `create` is set.

        Raises: StepFailed when there is none, its file can't be read, the home was moved or
        copied, or no subnet or port is free.
        """
        home = home.resolve()
        file = home / FILE
        if not file.exists():
            if not create:
                raise StepFailed(
                    "There is no installation here",
                    why=f"{home} holds no {FILE}",
                    what_to_do="`sandgate up` makes one; SANDGATE_HOME names another home.",
                )
            home.mkdir(parents=True, exist_ok=True)
            with _locked(home / ".create.lock"):
                if not file.exists():  # another `up` may have been first
                    _write(file, _choose(home))
        kept = _read(file)
        if kept.home != home:
            raise StepFailed(
                f"The installation at {home} was moved or copied",
                why=f"{FILE} says that it belongs to {kept.home}",
                what_to_do=f"Move it back, or remove {FILE} to make a new installation here.",
            )
        opened = cls(home=home, name=kept.name, subnet=kept.subnet, ports=kept.ports)
        if create:
            opened._make_folders()
        return opened

    @contextmanager
    def only_one(self) -> Iterator[None]:
        """Hold the installation for one `up` or `down` at a time.

        Raises: StepFailed when another one is at work.
        """
        with _locked(self.run / "up.lock", wait=False):
            yield

    @property
    def network(self) -> str:
        """The name of the sandbox network and of the nft table."""
        return self.name

    @property
    def bridge(self) -> str:
        """The network's interface; the kernel allows 15 characters."""
        return f"{self.name}b0"

    @property
    def gateway(self) -> str:
        """The host's address on the bridge: where the entrance listens."""
        return str(self.subnet.network_address + 1)

    @property
    def entrance_url(self) -> str:
        """Where a sandbox finds the entrance."""
        return f"http://{self.gateway}:{ENTRANCE_PORT}"

    @property
    def egress_url(self) -> str:
        """Where a sandbox finds the egress proxy."""
        return f"http://{self.gateway}:{EGRESS_PORT}"

    @property
    def labels(self) -> dict[str, str]:
        """The Docker labels that everything of this installation carries."""
        return {LABEL: self.name}

    @property
    def keys(self) -> Path:
        """Key and token files; nobody else may look into it."""
        return self.home / "keys"

    @property
    def public_key(self) -> Path:
        """By which anybody can check what the installation has signed."""
        return self.keys / "log.pub"

    @property
    def run(self) -> Path:
        """Pid files and locks."""
        return self.home / "run"

    @property
    def log(self) -> Path:
        """The services' logs."""
        return self.home / "log"

    @property
    def frozen(self) -> Path:
        """What is known of frozen sandboxes."""
        return self.home / "frozen"

    @property
    def tasks(self) -> Path:
        """The tasks' disk images and where they are mounted."""
        return self.home / "tasks"

    @property
    def cache(self) -> Path:
        """What can be fetched or built again."""
        return self.home / "cache"

    def data(self, service: str) -> Path:
        """What `service` keeps: pocketbase, polarion, opensandbox, egress (the log), proxy."""
        return self.home / "data" / service

    def _make_folders(self) -> None:
        for folder in (self.run, self.log, self.tasks, self.cache):
            folder.mkdir(exist_ok=True)
        self.keys.mkdir(mode=0o700, exist_ok=True)
        for service in ("pocketbase", "polarion", "opensandbox", "egress"):
            self.data(service).mkdir(mode=0o700, parents=True, exist_ok=True)


def name_of(home: Path) -> str:
    """The name of the installation at `home` (resolved): `sg` and six hex digits."""
    return f"sg{_home_hash(home).hex()[:6]}"


def _choose(home: Path) -> _Kept:
    seed = int.from_bytes(_home_hash(home)[:8])
    names = list(Ports.model_fields)
    ports = free_ports(seed, len(names))
    return _Kept(
        home=home,
        name=name_of(home),
        subnet=free_subnet(seed),
        ports=Ports(**dict(zip(names, ports, strict=True))),
    )


def _home_hash(home: Path) -> bytes:
    return hashlib.sha256(str(home).encode()).digest()


def _read(file: Path) -> _Kept:
    try:
        return _Kept.model_validate_json(file.read_bytes())
    except OSError as error:
        why = error.strerror or str(error)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        why = f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}".removeprefix(": ")
    raise StepFailed(
        "The installation's file can't be read",
        why=f"{file}: {why}",
        what_to_do="Mend or restore it: secrets, grants and git remotes name the ports in it.",
    )


def _write(file: Path, kept: _Kept) -> None:
    """Write whole or not at all: a crash in between leaves no half file to trip over."""
    part = file.with_suffix(".part")
    part.write_text(json.dumps(kept.model_dump(mode="json"), indent=2) + "\n")
    part.replace(file)


@contextmanager
def _locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    # The file stays: removing it would let two hold "the" lock. The kernel frees it with us.
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError as error:
            raise StepFailed(
                "Another `sandgate up` or `down` is at work",
                why=f"it holds {path}",
                what_to_do="Wait until it has ended.",
            ) from error
        yield
