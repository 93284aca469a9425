"""`sandgate run`: what agents do and did."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from orchestrator.cli.client import Runner, lines, segment
from orchestrator.cli.codes import Code
from orchestrator.cli.place import JsonFlag, runner
from orchestrator.cli.screen import (
    escaped,
    event_line,
    one_line,
    print_json,
    print_table,
    say,
    tell,
    tell_each,
)

app = typer.Typer(no_args_is_help=True, help="Runs: list, show, watch, cancel, transcript.")
console = Console()

RunArgument = Annotated[
    str, typer.Argument(help="The run's id, or a task's id for its newest run.")
]
FIRST = (
    "id",
    "task",
    "agent",
    "state",
    "outcome",
    "cause",
    "why",
    "summary",
    "pushed",
    "pull_request",
)
"""What of a run is shown first."""
GOOD = {"submitted", "asked", "delegated", "held"}


@app.command("ls")
def listing(
    json: JsonFlag = False,
    limit: Annotated[int, typer.Option(min=1, max=500, help="How many, 1 to 500.")] = 20,
) -> None:
    """List the newest runs."""
    with runner() as api:
        runs = api.get(f"/api/runs?limit={limit}")
    columns = ("run", "task", "agent", "state", "outcome", "cause", "cost USD", "tokens", "started")
    spare = ("tokens", "started", "agent", "state")
    tell_each(console, runs, columns, _row, spare=spare, json=json)


@app.command()
def show(run: RunArgument, json: JsonFlag = False) -> None:
    """Show one run: how it ended and why, what it pushed, what it used."""
    with runner() as api:
        found = api.get(f"/api/runs/{segment(find(api, run)['id'])}")
    if json:
        print_json(found)
        return
    told = {name: found[name] for name in FIRST} | found | {"pushed": _branches(found["pushed"])}
    told["pull_request"] = proposed(found["pull_request"])
    print_table(console, ("", ""), list(told.items()))


@app.command()
def watch(run: RunArgument, json: JsonFlag = False) -> None:
    """Follow a run until it has ended; the exit code says how."""
    with runner() as api:
        last = follow(api, find(api, run, patience_s=30)["id"], json=json)
    raise typer.Exit(code_of(last))


@app.command()
def cancel(run: RunArgument) -> None:
    """Stop a run; it settles as stopped, cancelled."""
    with runner() as api:
        answer = api.post(f"/api/runs/{find(api, run)['id']}/cancel")
    say(console, f"{answer['id']} is {answer['state']} and will be stopped")


@app.command()
def propose(run: RunArgument, json: JsonFlag = False) -> None:
    """Open the pull request of a run that is over and submitted its work, or bring it up to date."""
    with runner() as api:
        answer = api.post(f"/api/runs/{find(api, run)['id']}/pull-request", {})
    made = answer["pull_request"]
    tell(
        console, answer, proposed(made) or "it has no repository to propose anything in", json=json
    )
    if made is None or not made["url"]:
        raise typer.Exit(Code.REFUSED)


@app.command()
def transcript(
    run: RunArgument,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A file instead of stdout.")
    ] = None,
) -> None:
    """Write a run's transcript, JSON lines."""
    with runner() as api:
        pieces = api.download(f"/api/runs/{find(api, run)['id']}/transcript")
        if out is not None:
            _write(out, pieces)
            return
        for line in lines(pieces):
            print(escaped(line.decode(errors="replace")))  # noqa: T201 - stdout is the interface


def _write(path: Path, pieces: Iterable[bytes]) -> None:
    """All of it, or nothing."""
    part = path.with_name(f".{path.name}.part")
    try:
        with part.open("wb") as file:
            file.writelines(pieces)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def find(api: Runner, run: str, patience_s: float = 0) -> dict[str, Any]:
    """The run of this id, or the newest of the task of this id (it may still be about to begin)."""
    if "/" not in run:
        found: dict[str, Any] = api.get(f"/api/runs/{segment(run)}")
        return found
    return api.wait_for_run(run, patience_s)


def follow(
    api: Runner,
    run: str,
    *,
    json: bool = False,
    console: Console = console,
    keep: list[Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Print a run's events as they come (and `keep` them); returns the run as it ended."""
    last: dict[str, Any] = {}
    trouble = Console(stderr=True)
    for kind, data in api.watch(run, tell=lambda text: say(trouble, text, "yellow")):
        if kind == "run":
            last = data
            continue
        if keep is not None:
            keep.append(data)
        if json:
            print_json(data, lines=True)
        elif line := event_line(data):
            # Wrapping is the terminal's business; a file's lines stay whole.
            console.print(line, soft_wrap=True)
    if not json:
        console.print(summary(last), soft_wrap=True)
    return last


def summary(run: Mapping[str, Any]) -> Text:
    """One line on how a run ended."""
    used = run["usage"]
    tokens = used["input_tokens"] + used["output_tokens"]
    return Text.assemble(
        f"{one_line(run['id'])} ended ",
        (one_line(run["outcome"]), "bold"),
        f" ({one_line(run['cause'])}): {tokens} tokens, {one_line(used['cost_usd'])} USD",
    )


def code_of(run: Mapping[str, Any]) -> Code:
    """The exit code that says how a run ended."""
    if run.get("outcome") in GOOD:
        return Code.OK
    return Code.RUN_STOPPED if run.get("outcome") == "stopped" else Code.RUN_FAILED


def proposed(made: Mapping[str, Any] | None) -> str:
    """A pull request in a line: its address, or why there is none."""
    return "" if made is None else made["url"] or f"none: {made['none']}"


def _branches(pushed: Iterable[Mapping[str, Any]]) -> list[str]:
    """Each branch once, with the repository that it is in."""
    named = (
        f"{ref.removeprefix('refs/heads/')} of {push['repository']}"
        for push in pushed
        for ref in push["refs"]
    )
    return list(dict.fromkeys(named))


def _row(run: Mapping[str, Any]) -> tuple[object, ...]:
    used = run["usage"]
    return (
        run["id"],
        run["task"],
        run["agent"],
        run["state"],
        run["outcome"] or "",
        run["cause"] or "",
        used["cost_usd"],
        used["input_tokens"] + used["output_tokens"],
        run["created_at"][:19],
    )
