"""What of an installation runs."""

from dataclasses import asdict, dataclass
from typing import Any

from orchestrator.stack import local_git
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
    """Every program that an installation consists of, in the order of their starting.

    The git host is a part once it serves something, the scripted model while it runs.
    """
    ports = {
        "pocketbase": here.ports.pocketbase,
        "polarion": here.ports.polarion,
        "opensandbox": here.ports.opensandbox,
        "githost": here.ports.githost,
        "model": here.ports.model,
        "runner": here.ports.runner,
    }
    parts = {
        name: Part(name, recorded_pid(here.run / f"{name}.pid") is not None, _url(port))
        for name, port in ports.items()
    }
    optional = {"githost": local_git.in_use(here), "model": parts["model"].alive}
    shown = [part for name, part in parts.items() if optional.get(name, True)]
    return [*shown, Part("entrance", parts["runner"].alive, here.entrance_url)]


def _url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"
