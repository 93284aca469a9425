"""The files of the egress policy: what the installation says, what was found, what the proxy reads."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import orjson
from pydantic import TypeAdapter, ValidationError

from entrance.errors import Unavailable
from orchestrator.adapters.own_addresses import NET, own_addresses
from orchestrator.domain.egress import Ground, Unreadable
from orchestrator.domain.egress_compile import Known
from orchestrator.domain.egress_text import ground_of
from orchestrator.domain.presets import Preset, Registries, Registry
from orchestrator.domain.presets import Unavailable as NotHere
from proxy.policy_file import PolicyFile

_REGISTRIES: TypeAdapter[dict[str, Registry | NotHere]] = TypeAdapter(dict[str, Registry | NotHere])


def own_policy_file(home: Path) -> Path:
    """What the installation says for all its runs, as far as anybody has written it."""
    return home / "egress" / "policy.yaml"


def registries_file(home: Path) -> Path:
    """Where what was found is kept."""
    return home / "egress" / "registries.json"


@dataclass(frozen=True, slots=True)
class InstallationFiles:
    """`orchestrator.egress_policy.Sources` from files in the installation's home."""

    policy: Path
    """The installation's own policy; one that isn't there says nothing."""
    registries: Path
    presets: Mapping[str, Preset]
    subnet: str
    """The sandbox network's."""
    net: Path = NET
    """Where the kernel lists this machine's addresses."""

    def ground(self) -> Ground | Unreadable:
        try:
            text = self.policy.read_text(encoding="utf-8")
        except FileNotFoundError:
            return Ground()
        except (OSError, UnicodeDecodeError) as error:
            return Unreadable(f"{self.policy} can't be read: {error}")
        return ground_of(text, str(self.policy))

    def known(self) -> Known:
        return Known(self.presets, read_registries(self.registries))

    def refused(self) -> tuple[str, ...]:
        try:
            return (self.subnet, *own_addresses(self.net))
        except OSError as error:
            raise Unavailable(f"this machine's own addresses can't be read: {error}") from error

    def mark(self) -> object:
        return [_mark(file) for file in (self.policy, self.registries)]


def _mark(file: Path) -> tuple[int, int, int] | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns, found.st_size


def read_registries(file: Path) -> Registries:
    """What was found when the installation was brought up; nothing when that can't be read."""
    try:
        return _REGISTRIES.validate_json(file.read_bytes())
    except (OSError, ValidationError):
        return {}


def write_registries(file: Path, found: Registries) -> None:
    """Keep what was found, whole or not at all. Raises: OSError."""
    file.parent.mkdir(mode=0o700, exist_ok=True)
    _replace(file, orjson.dumps(_REGISTRIES.dump_python(dict(found)), option=orjson.OPT_INDENT_2))


@dataclass(frozen=True, slots=True)
class PolicyFiles:
    """`orchestrator.egress_policy.ProxyFiles`: the one that we write, and the one that the proxy writes."""

    policy: Path
    status: Path

    def written(self) -> PolicyFile | None:
        try:
            return PolicyFile.parse(self.policy.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError:
            return None
        except OSError as error:
            raise Unavailable(f"{self.policy} can't be read: {error}") from error

    def write(self, policy: PolicyFile) -> None:
        try:
            _replace(self.policy, policy.text())
        except OSError as error:
            raise Unavailable(f"{self.policy} can't be written: {error}") from error

    def applied(self) -> int:
        """What it has applied, as long as nothing is wrong with it."""
        try:
            status = orjson.loads(self.status.read_bytes())
            return 0 if status.get("trouble") else int(status["generation"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return 0


def _replace(file: Path, content: bytes) -> None:
    """Nobody else may read it: it holds hashes of run tokens."""
    part = file.with_name(f".{file.name}.part")
    part.unlink(missing_ok=True)
    with open(part, "xb", opener=lambda path, flags: os.open(path, flags, 0o600)) as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    part.replace(file)
