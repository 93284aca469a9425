"""Which log is read, and which of its attempts: the options that the commands share."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from entrance.errors import NotFound, Unavailable
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.place import installation
from orchestrator.clock import WallClock
from orchestrator.egress.cache import Progress as Told
from orchestrator.egress.filters import Filter, moment
from orchestrator.egress.segments import segments

LogOption = Annotated[
    Path | None,
    typer.Option("--log", metavar="FOLDER", help="A log that lies elsewhere: a copy, or a backup."),
]
RunOption = Annotated[list[str] | None, typer.Option("--run", metavar="ID", help="Only this run.")]
TaskOption = Annotated[
    list[str] | None, typer.Option("--task", metavar="ID", help="Only this task.")
]
AgentOption = Annotated[
    list[str] | None, typer.Option("--agent", metavar="USER", help="Only this agent.")
]
HostOption = Annotated[
    list[str] | None,
    typer.Option("--host", metavar="NAME", help="Only this host, and what is below it."),
]
ConnectionOption = Annotated[
    list[str] | None,
    typer.Option("--connection", metavar="NAME", help="Only tool calls at this connection."),
]
ToolOption = Annotated[
    list[str] | None,
    typer.Option("--tool", metavar="NAME", help="Only calls of this tool."),
]
DoorOption = Annotated[
    list[str] | None,
    typer.Option(
        "--door", metavar="NAME", help="Only this door: egress, model, mcp, git, fence, entrance."
    ),
]
DecisionOption = Annotated[
    list[str] | None,
    typer.Option("--decision", metavar="WORD", help="Only allow, hold or deny."),
]
SinceOption = Annotated[
    str, typer.Option(metavar="TIME", help="From then on: 15m, 2h, 7d ago, or ISO 8601 (UTC).")
]
UntilOption = Annotated[str, typer.Option(metavar="TIME", help="Up to then, in the same way.")]

WORDS = {
    "--door": {"egress", "model", "mcp", "git", "fence", "entrance"},
    "--decision": {"allow", "hold", "deny"},
}


def log_folder(given: Path | None) -> Path:
    """The log's folder: the one that is given, or the installation's.

    Raises: CommandFailed when there is none, or it can't be read from here.
    """
    folder = given or installation().data("egress")
    try:
        segments(folder)
    except NotFound as error:
        raise CommandFailed(str(error), Code.NOT_FOUND) from error
    except Unavailable as error:
        raise CommandFailed(
            f"{error}. The log is read from its files, on the installation's machine and as its user; "
            "--log FOLDER reads a copy",
            Code.REFUSED,
        ) from error
    return folder


def wanted(
    *,
    run: Sequence[str] | None = None,
    task: Sequence[str] | None = None,
    agent: Sequence[str] | None = None,
    host: Sequence[str] | None = None,
    connection: Sequence[str] | None = None,
    tool: Sequence[str] | None = None,
    door: Sequence[str] | None = None,
    decision: Sequence[str] | None = None,
    since: str = "",
    until: str = "",
) -> Filter:
    """The filter that the options say. Raises: CommandFailed."""
    for option, given in (("--door", door), ("--decision", decision)):
        for word in given or ():
            if word not in WORDS[option]:
                words = ", ".join(sorted(WORDS[option]))
                raise CommandFailed(f"{option} {word}: it is one of {words}", Code.USAGE)
    now = WallClock().now()
    try:
        return Filter(
            run=tuple(run or ()),
            task=tuple(task or ()),
            agent=tuple(agent or ()),
            host=tuple(host or ()),
            connection=tuple(connection or ()),
            tool=tuple(tool or ()),
            door=tuple(door or ()),
            decision=tuple(decision or ()),
            since=moment(since, now) if since else None,
            until=moment(until, now) if until else None,
        )
    except (ValueError, OverflowError) as error:
        raise CommandFailed(
            f"--since, --until: write 15m, 2h, 7d, or 2026-11-30T12:00 ({error})", Code.USAGE
        ) from error


@contextmanager
def progress(what: str) -> Iterator[Told]:
    """A bar on stderr, while something is done so many times; it is gone when that is over."""
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn())
    screen = Console(stderr=True)
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
        task = bar.add_task(what, total=None, visible=False)

        def told(done: int, every: int) -> None:
            bar.update(task, completed=done, total=every, visible=True)

        yield told
