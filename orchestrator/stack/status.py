"""What of an installation runs."""

from dataclasses import asdict, dataclass
from typing import Any

from orchestrator.stack.installation import Installation
from orchestrator.stack.process import recorded_pid
from orchestrator.stack.services import LOOPBACK


@dataclass(frozen=True, slots=True)
class Part:
    """One program of the installation."""

    name: str
    alive: bool
    where: str

    def as_json(self) -> dict[str, Any]:
        """As plain JSON."""
        return asdict(self)


def status_of(here: Installation) -> list[Part]:
    """Every program that an installation consists of, in the order of their starting."""
    ports = {
        "pocketbase": here.ports.pocketbase,
        "polarion": here.ports.polarion,
        "opensandbox": here.ports.opensandbox,
        "runner": here.ports.runner,
    }
    parts = [
        Part(name, recorded_pid(here.run / f"{name}.pid") is not None, f"http://{LOOPBACK}:{port}")
        for name, port in ports.items()
    ]
    return [*parts, Part("entrance", parts[-1].alive, here.entrance_url)]
