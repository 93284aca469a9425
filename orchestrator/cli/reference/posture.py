"""`docs/reference/posture.md`, from the battery's table [pure]."""

from itertools import groupby

from orchestrator.cli.reference.markdown import code, page, table
from orchestrator.posture.battery import BATTERY
from orchestrator.posture.probe import Probe
from orchestrator.posture.report import Acceptance, Report, Tried

INTRO = """\
Each row is one thing that is tried from inside a fresh sandbox of the real configuration.
A probe passes when the sandbox saw what is expected, and our own servers that it must not reach counted
what is expected; `canary` says how often they must have seen it.
`wall` is the control that the probe watches: without it, the probe fails.
See [how to prove the sandbox closed](../how-to/prove-the-sandbox-closed.md)."""
OF_REPORTS = """\
A report is a JSON file in `posture/reports/` of the home, an acceptance one in `posture/accepted/`.
`signature` is Ed25519, in hexadecimal, over the JSON of all other fields: keys sorted, no blanks, UTF-8;
the public key is `keys/log.pub`."""


def posture() -> str:
    """The page."""
    return page(
        "Posture",
        INTRO,
        *(
            part
            for area, probes in groupby(BATTERY, lambda probe: probe.area)
            for part in (f"## {area.capitalize()}", _probes(list(probes)))
        ),
        "## Reports",
        OF_REPORTS,
        table(("field", "meaning"), _fields(Report)),
        "### A probe in a report",
        table(("field", "meaning"), _fields(Tried)),
        "### An acceptance",
        table(("field", "meaning"), _fields(Acceptance)),
    )


def _probes(probes: list[Probe]) -> str:
    return table(
        ("probe", "promise", "wall", "canary", "tiers"),
        (
            (code(probe.name), probe.promise, probe.wall, _canary(probe), _tiers(probe))
            for probe in probes
        ),
    )


def _canary(probe: Probe) -> str:
    return "" if probe.canary is None else str(probe.canary)


def _tiers(probe: Probe) -> str:
    return "runc, gVisor" if probe.well("gvisor") else "runc"


def _fields(form: type[Report | Tried | Acceptance]) -> list[tuple[str, str]]:
    return [(code(name), field.description or "") for name, field in form.model_fields.items()]
