"""`sandgate egress export`: the log, to other systems."""

from collections.abc import Mapping
from enum import StrEnum
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import stamina
import typer
from rich.console import Console

from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.egress.options import (
    ConnectionOption,
    DecisionOption,
    DoorOption,
    HostOption,
    LogOption,
    RunOption,
    SinceOption,
    ToolOption,
    log_folder,
    progress,
    wanted,
)
from orchestrator.cli.egress.targets import (
    STDOUT,
    Body,
    Kind,
    Stdout,
    cursor_of,
    header_of,
    target_of,
)
from orchestrator.cli.place import JsonFlag
from orchestrator.cli.screen import print_json, say, tell
from orchestrator.egress.database import copy_to_parquet
from orchestrator.egress.filters import Filter
from orchestrator.egress.ocsf import Origin
from orchestrator.egress.reader import Reader
from orchestrator.egress.sending.cursor import CursorFile
from orchestrator.egress.sending.export import PATIENCE_S, Export, Summary
from orchestrator.egress.sending.messages import Format
from orchestrator.egress.sending.targets import Target

console = Console()


class Form(StrEnum):
    """What is sent of a record."""

    OCSF = "ocsf"
    JSONL = "jsonl"
    PARQUET = "parquet"


_RECORDS: Mapping[Form, Format] = {Form.OCSF: "ocsf", Form.JSONL: "jsonl"}
"""The forms in which records are sent one by one."""

TargetArgument = Annotated[
    str,
    typer.Argument(
        help="A file (- for stdout); udp://, tcp:// or tls://HOST[:PORT]; the URL to POST to."
    ),
]
FormOption = Annotated[Form, typer.Option("--format", help="What is sent of a record.")]
KindOption = Annotated[Kind, typer.Option("--to", help="What the target is.")]
FollowOption = Annotated[bool, typer.Option("--follow", help="Go on with what comes.")]
CaOption = Annotated[Path | None, typer.Option(metavar="FILE", help="TLS: whom to trust, as PEM.")]
CertificateOption = Annotated[
    Path | None, typer.Option(metavar="FILE", help="TLS: our certificate and its key, as PEM.")
]
HeaderOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=VALUE", help="HTTP: a header; VALUE may be @FILE, as a secret should."
    ),
]
BodyOption = Annotated[Body, typer.Option(help="HTTP: a record a line, or one array of them.")]
CursorOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Where it is kept how far the target has got."),
]
FromStartOption = Annotated[
    bool, typer.Option("--from-start", help="Forget how far it got, and send all of the log.")
]


def export(
    target: TargetArgument,
    form: FormOption = Form.OCSF,
    to: KindOption = Kind.FILE,
    follow: FollowOption = False,
    run: RunOption = None,
    host: HostOption = None,
    connection: ConnectionOption = None,
    tool: ToolOption = None,
    door: DoorOption = None,
    decision: DecisionOption = None,
    since: SinceOption = "",
    ca: CaOption = None,
    certificate: CertificateOption = None,
    header: HeaderOption = None,
    body: BodyOption = Body.NDJSON,
    cursor: CursorOption = None,
    from_start: FromStartOption = False,
    log: LogOption = None,
    json: JsonFlag = False,
) -> None:
    """Send the log on: each record once, going on where the last export to this target ended."""
    folder = log_folder(log)
    asked = wanted(
        run=run,
        host=host,
        connection=connection,
        tool=tool,
        door=door,
        decision=decision,
        since=since,
    )
    if form is Form.PARQUET:
        _parquet(folder, target, to, asked, json=json)
        return
    secrets = dict(header_of(one) for one in header or ())
    place: Target = Stdout()
    kept = CursorFile(None)
    if target != STDOUT:
        place = target_of(to, target, ca, certificate, secrets, body)
        kept = CursorFile(cursor or cursor_of(f"{to} {target} {form}", log))
    if from_start and kept.path:
        kept.path.unlink(missing_ok=True)
    patience_s = None if follow else PATIENCE_S
    made = Export(
        folder, place, kept, _origin(folder), _RECORDS[form], asked,
        patience_s=patience_s, told=_warn,
    )  # fmt: skip
    _send(made, follow=follow, json=json)


def _send(made: Export, *, follow: bool, json: bool) -> None:
    # `_warn` tells of each try that failed; stamina's own word of it would go to stdout.
    stamina.instrumentation.set_on_retry_hooks(())
    try:
        for _ in made.run(follow=follow):
            pass
    finally:
        made.target.close()
        if made.cursor.path:
            _tell(made.summary, made.cursor, json=json)


def _warn(sentence: str) -> None:
    say(Console(stderr=True), sentence, "yellow")


def _tell(summary: Summary, kept: CursorFile, *, json: bool) -> None:
    if json:
        facts = {name: getattr(summary, name) for name in ("sent", "first", "last", "lost")}
        print_json({**facts, "cursor": kept.path})
        return
    which = f", from {summary.first} to {summary.last}" if summary.sent else ""
    say(console, f"{summary.sent} records sent{which}; the cursor is {kept.path}")
    if summary.lost:
        sentence = "some records were removed by retention before they were sent"
        say(Console(stderr=True), sentence, "red")


def _parquet(folder: Path, target: str, to: Kind, asked: Filter, *, json: bool) -> None:
    if to is not Kind.FILE or target == STDOUT:
        raise CommandFailed("--format parquet goes to a file", Code.USAGE)
    with progress("reading the log") as told:
        count = copy_to_parquet(folder, asked, Path(target), told=told)
    made = {"attempts": count, "file": target}
    tell(console, made, f"{count} attempts are in {target}", json=json)


def _origin(folder: Path) -> Origin:
    """Whose log it is, as its oldest segment says."""
    lines = Reader(folder).read()
    name = str(lines[0].fields.get("installation", "")) if lines else ""
    return Origin(name or "sandgate", version("sandgate"))
