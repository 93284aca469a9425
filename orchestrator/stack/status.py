"""What of an installation runs."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from orchestrator.stack import egress_proxy, local_git
from orchestrator.stack.installation import Installation
from orchestrator.stack.pids import marked, recorded_pid
from orchestrator.stack.services import LOOPBACK
from orchestrator.stack.wiring import kept_providers


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

    The git host is a part once it serves something; the scripted model while it runs, and when
    models are to be found there. Raises: StepFailed when what was kept of them can't be read.
    """
    ports = {
        "pocketbase": here.ports.pocketbase,
        "polarion": here.ports.polarion,
        "opensandbox": here.ports.opensandbox,
        "githost": here.ports.githost,
        "model": here.ports.model,
        "runner": here.ports.runner,
    }
    marks = marked()
    parts = {
        name: Part(name, _runs(here.run / f"{name}.pid", marks), _url(port))
        for name, port in ports.items()
    }
    scripted = parts["model"].alive or parts["model"].where in kept_providers(here).values()
    optional = {"githost": local_git.in_use(here), "model": scripted}
    shown = [part for name, part in parts.items() if optional.get(name, True)]
    watchdog = Part("watchdog", _runs(here.run / "watchdog.pid", marks), here.bridge)
    doors = [Part("entrance", parts["runner"].alive, here.entrance_url)]
    if egress_proxy.enabled(here):
        name = egress_proxy.NAME
        doors.append(Part(name, _runs(here.run / f"{name}.pid", marks), here.egress_url))
    return [*shown, *doors, watchdog]


def _runs(pid_file: Path, marks: Mapping[Path, list[int]]) -> bool:
    return recorded_pid(pid_file) is not None or pid_file in marks


def _url(port: int) -> str:
    return f"http://{LOOPBACK}:{port}"
