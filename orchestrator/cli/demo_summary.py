"""What the demo came to: a table for people, JSON for programs."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
from rich.console import Console
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from orchestrator.cli.screen import one_line, plain


def write_summary(path: Path, summary: Mapping[str, Any]) -> None:
    """Write it as JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    part.write_bytes(orjson.dumps(summary, option=orjson.OPT_INDENT_2, default=str))
    part.replace(path)


def show_summary(console: Console, summary: Mapping[str, Any], *, log: Path) -> None:
    """Show it as a table; `log` is where the egress log lies."""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    for name, value in _rows(summary, log):
        table.add_row(name, Text(plain(value)))
    console.print(Panel(table, title="[bold]What was done[/bold]", border_style="green"))


def _rows(summary: Mapping[str, Any], log: Path) -> list[tuple[str, str]]:
    seconds = ", ".join(f"{phase} {took}" for phase, took in summary["seconds"].items())
    refused = [f"{one['kind']}: {one_line(one['reason'])}" for one in summary["refused"]]
    diff, tests, used = summary["diff"], summary["tests"], summary["usage"]
    where = [
        f"sandgate run show {summary['run']}    sandgate run transcript {summary['run']}",
        str(log),
    ]
    if diff:
        branch = shlex.quote(summary["branch"])
        where.insert(1, f"git --git-dir {summary['repository_path']} show {branch}")
    return [
        ("task", summary["task"]),
        ("run", f"{summary['run']} (record {summary['agent_run']})"),
        ("agent", f"{summary['agent']}: {summary['harness']}, {summary['model']}"),
        ("outcome", f"{summary['outcome']} ({summary['cause']})"),
        (
            "branch",
            f"{summary['branch']}; main unchanged: {summary['main_unchanged']}" if diff else "none",
        ),
        ("diff", diff["stat"] if diff else "nothing was pushed"),
        ("tests", f"{tests['result'] or 'none'} ({tests['command']}, in the sandbox)"),
        ("tokens", _tokens(used)),
        ("cost", f"{summary['cost_usd']} USD"),
        ("served", _served(summary)),
        ("seconds", seconds),
        ("refused", "\n".join(refused) or "nothing"),
        (
            "transcript",
            f"{summary['transcript']['attachment']} ({summary['transcript']['bytes']} bytes)",
        ),
        ("look next", "\n".join(where)),
    ]


def _tokens(used: Mapping[str, Any]) -> str:
    cached = used["cache_read_tokens"] + used["cache_write_tokens"]
    return (
        f"{used['input_tokens']} in, {cached} cached, {used['output_tokens']} out, "
        f"{used['calls']} calls"
    )


def _served(summary: Mapping[str, Any]) -> str:
    """What the model says, beside what the door has metered."""
    if summary["equal"]:
        return "the same, to the token and the cent, by the model's own count"
    served = summary["served"]
    return f"NOT THE SAME by the model's own count: {_tokens(served)}, {served['cost_usd']} USD"
