"""Which reference page is made by what; writes them, and says which ones differ."""

from collections.abc import Callable, Mapping
from pathlib import Path

from orchestrator.cli.reference.approvals import approvals
from orchestrator.cli.reference.attestation import attestation
from orchestrator.cli.reference.commands import commands
from orchestrator.cli.reference.data_model import data_model
from orchestrator.cli.reference.egress_log import egress_log
from orchestrator.cli.reference.http_api import http_api
from orchestrator.cli.reference.mcp_tools import mcp_tools
from orchestrator.cli.reference.posture import posture
from orchestrator.cli.reference.push_rules import push_rules
from orchestrator.cli.reference.run_states import run_states
from orchestrator.cli.reference.settings import settings
from orchestrator.cli.reference.tool_policy import tool_policy

FOLDER = Path(__file__).resolve().parents[3] / "docs" / "reference"
PAGES: Mapping[str, Callable[[], str]] = {
    "approvals.md": approvals,
    "attestation.md": attestation,
    "cli.md": commands,
    "data-model.md": data_model,
    "egress-log.md": egress_log,
    "http-api.md": http_api,
    "mcp-tools.md": mcp_tools,
    "posture.md": posture,
    "push-rules.md": push_rules,
    "run-states.md": run_states,
    "settings.md": settings,
    "tool-policy.md": tool_policy,
}


def differing(folder: Path = FOLDER) -> list[str]:
    """The pages in `folder` that are not what the code says, or aren't there."""
    return [name for name, make in PAGES.items() if _read(folder / name) != make()]


def write(folder: Path = FOLDER) -> list[str]:
    """Make the pages that differ; say which."""
    changed = differing(folder)
    for name in changed:
        (folder / name).write_text(PAGES[name](), encoding="utf-8")
    return changed


def _read(page: Path) -> str | None:
    return page.read_text(encoding="utf-8") if page.exists() else None
