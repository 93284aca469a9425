"""`sandgate posture run|show|accept|verify`: is it proven that a sandbox can't get out?"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.text import Text

from entrance.log.signing import trust_from
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.place import JsonFlag, installation, runner
from orchestrator.cli.screen import one_line, plain, print_json, print_table, say
from orchestrator.posture.report import Report

app = typer.Typer(
    no_args_is_help=True,
    help="Try every way out of a sandbox, and show what was found; a run starts only behind whole walls.",
)
console = Console()


@app.command()
def run(json: JsonFlag = False) -> None:
    """Run the whole battery now: a fresh sandbox of the real configuration tries everything.

    Exits with 1 when a probe failed that nobody has accepted.
    """
    told: Mapping[str, Any] = {}
    with runner() as api, nullcontext() if json else console.status("posture") as shown:
        for kind, data in api.stream("/api/posture/run"):
            match kind:
                case "doing" if shown is not None:
                    shown.update(f"posture: {one_line(data['text'])}")
                case "error":
                    raise CommandFailed(str(data["message"]), Code.FAILED)
                case "report":
                    told = data
                case _:
                    continue
    if not told:
        raise CommandFailed("the runner broke off: see `sandgate posture show`", Code.FAILED)
    if json:
        print_json(told["report"])
    else:
        _print(told["report"], told["report"]["accepted"])
    if told["failed"]:
        raise typer.Exit(Code.FAILED)


@app.command()
def show(
    everything: Annotated[
        bool, typer.Option("--all", help="Every probe, not only those that failed.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Show the newest report of the configuration as it is now."""
    with runner() as api:
        told = api.get("/api/posture")
    if json:
        print_json(told)
    elif told["report"] is None:
        say(console, told["closed"])
    else:
        _print(told["report"], told["accepted"], everything=everything)
        say(console, told["closed"] or "runs may start", style="red" if told["closed"] else "green")
    if told["closed"]:
        raise typer.Exit(Code.FAILED)


@app.command()
def accept(
    probe: Annotated[str, typer.Argument(help="The probe's name, as the report has it.")],
    why: Annotated[str, typer.Option(help="Your reason; it stands in every later report.")],
    by: Annotated[str, typer.Option(help="Who you are.")],
    until: Annotated[
        datetime | None,
        typer.Option(help="Until when; otherwise until the probe finds something else."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Accept that a probe fails as it does, so that runs may start. It is kept, signed and shown."""
    body = {"probe": probe, "why": why, "by": by}
    if until is not None:
        body["until"] = until.astimezone().isoformat()
    with runner() as api:
        made = api.post("/api/posture/accept", body)
    if json:
        print_json(made)
        return
    ends = f"until {made['until']}" if made["until"] else "until it finds something else"
    say(console, f"{made['probe']} is accepted as it is ({made['found']}), {ends}")


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A report, as `<home>/posture/reports/` has it.")],
    key: Annotated[
        Path | None, typer.Option(help="The public key, PEM; this installation's by default.")
    ] = None,
) -> None:
    """Check that a report is as the installation signed it. Needs no runner, only the public key."""
    report = _read(file)
    public = trust_from(key or installation().public_key).key
    try:
        for signed in (report, *report.accepted):
            signed.verify(public)
    except ValueError as error:
        raise CommandFailed(f"{file}: {error}", Code.FAILED) from error
    failed = [tried.name for tried in report.failures(now=report.ended_at)]
    whole = f"{report.id} of {report.installation} is as it was signed, with key {report.key_id}"
    say(console, whole)
    say(console, f"{len(report.probes)} probes, failed: {', '.join(failed) or 'none'}")


def _read(file: Path) -> Report:
    try:
        return Report.model_validate_json(file.read_bytes())
    except ValidationError as error:
        raise CommandFailed(f"{file} is no report of the posture", Code.FAILED) from error


def _print(
    report: Mapping[str, Any], accepted: Sequence[Mapping[str, Any]], *, everything: bool = False
) -> None:
    """A table by area, what failed, what was accepted, and what it is a report of."""
    by = {one["probe"]: one for one in accepted}
    print_table(console, ("area", "passed", "failed", "accepted"), list(_areas(report, by)))
    for tried in report["probes"]:
        if everything or not tried["ok"]:
            console.print(_line(tried, by.get(tried["name"])), soft_wrap=True)
    for name, why in report["skipped"].items() if everything else ():
        console.print(Text.assemble(("-  ", "dim"), plain(name), (f"  {plain(why)}", "dim")))
    made, fingerprint = report["configuration"], report["fingerprint"][:16]
    say(console, f"report {report['id']}, {report['why']}, fingerprint {fingerprint}")
    parts = (made["engine"], made["runtime"], made["kernel"], f"Sandgate {made['version']}")
    say(console, ", ".join(parts))


def _areas(report: Mapping[str, Any], by: Mapping[str, Any]) -> Iterator[tuple[str, int, str, str]]:
    for area, group in groupby(
        sorted(report["probes"], key=lambda tried: str(tried["area"])), lambda tried: tried["area"]
    ):
        tried = list(group)
        failed = [one for one in tried if not one["ok"]]
        kept = [one for one in failed if one["name"] in by]
        passed = len(tried) - len(failed)
        yield str(area), passed, str(len(failed) - len(kept) or ""), str(len(kept) or "")


def _line(tried: Mapping[str, Any], accepted: Mapping[str, Any] | None) -> Text:
    mark, style = ("✓", "green") if tried["ok"] else ("✗", "red")
    if accepted is not None:
        mark, style = "!", "yellow"
    found = f"found {one_line(tried['found'])}, expected {' or '.join(tried['expected'])}"
    name, promise = (plain(tried["name"]), "bold"), f"  {plain(tried['promise'])}"
    line = Text.assemble((f"{mark}  ", style), name, promise)
    if not tried["ok"]:
        line.append(f"\n   {found}; {one_line(tried['evidence'])}", style)
    if accepted is not None:
        line.append(f"\n   accepted by {plain(accepted['by'])}: {one_line(accepted['why'])}")
    return line
