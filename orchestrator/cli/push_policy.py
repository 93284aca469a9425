"""`sandgate policy pushes`: what pushes may bring."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.console import Console

from entrance.push_policy import PushPolicy
from orchestrator.cli.client import segment
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.files import read_text
from orchestrator.cli.place import JsonFlag, runner
from orchestrator.cli.run import find
from orchestrator.cli.screen import print_json, print_table, say
from orchestrator.domain.egress import Unreadable
from orchestrator.domain.push_demand import policy_json, pushes_of, tightened

console = Console()
COLUMNS = ("rule", "mode", "what it finds")
_MIB = 1 << 20


def pushes(
    run: Annotated[
        str, typer.Option(metavar="RUN", help="What holds for a run, or for a task's newest run.")
    ] = "",
    engagement: Annotated[
        str, typer.Option(metavar="ENGAGEMENT", help="What holds for an engagement's next runs.")
    ] = "",
    file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Read what an engagement may ask; nothing is changed."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Show what is asked of pushes here: each rule, and whether it notes, holds or denies."""
    if sum(map(bool, (run, engagement, file))) > 1:
        raise CommandFailed("--run, --engagement and --file: one of them", Code.USAGE)
    shown = _meant(file) if file else _asked(run, engagement)
    if json:
        print_json(shown)
        return
    print_table(console, COLUMNS, [_row(rule) for rule in shown["rules"]], spare=(COLUMNS[2],))
    for glob in shown["gate_paths"]:
        say(console, f"a gate, too: {glob}")
    largest = f"{shown['max_file_bytes'] / _MIB:g} MiB, a push {shown['max_pack_bytes'] / _MIB:g}"
    say(console, f"at most, a file has {largest} MiB")


def _asked(run: str, engagement: str) -> Any:
    with runner() as api:
        if run:
            return api.get(f"/api/runs/{segment(find(api, run)['id'])}/push-rules")
        query = f"?engagement={quote(engagement, safe='')}" if engagement else ""
        return api.get(f"/api/push-rules{query}")


def _meant(file: Path) -> dict[str, Any]:
    """What a file means where the installation says nothing."""
    asked = pushes_of(read_text(file), str(file))
    if isinstance(asked, Unreadable):
        raise CommandFailed(asked.reason, Code.REFUSED)
    return policy_json(tightened(PushPolicy(), asked))


def _row(rule: Mapping[str, Any]) -> tuple[str, str, str]:
    mode = rule["mode"] if rule["mode"] == rule["default"] else f"{rule['mode']} (set)"
    return rule["rule"], mode, rule["about"]
