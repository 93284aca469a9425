"""`sandgate egress verify`: whether the log is whole, and which record is the first that isn't."""

import os
import re
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from entrance.errors import Malformed
from entrance.log.shelf import Shelf
from entrance.log.signing import Trust, trust_from
from entrance.log.verify import Report, verify
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.egress.options import LogOption, log_folder, progress
from orchestrator.cli.egress.page import amount
from orchestrator.cli.place import JsonFlag, installation
from orchestrator.cli.screen import print_json, say
from orchestrator.egress.cache import sweep
from orchestrator.egress.reader import find

console = Console()

_HEAD = re.compile(r"([0-9]{1,18}):([0-9a-f]{64})")


def check(
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The public key, from where it was kept; PEM."),
    ] = None,
    head: Annotated[
        str,
        typer.Option(
            metavar="SEQ:HASH",
            help="The newest record as an earlier verify told it: it must be there.",
        ),
    ] = "",
    log: LogOption = None,
    json: JsonFlag = False,
) -> None:
    """Check every record, seal and signature of the log; the exit code is 1 when anything is wrong.

    What is asked of the log afterwards is made anew of what was verified.
    """
    folder, earlier = log_folder(log), _earlier(head)
    trust = _trust(key, log)
    with progress("verifying the log") as told:
        report = verify(Shelf(folder), trust, len(os.sched_getaffinity(0)), told)
    sweep(folder)
    trouble = str(report.finding) if report.finding else _missing(folder, earlier)
    if json:
        print_json(_as_json(report, trust, trouble))
    else:
        _tell(report, trust, trouble)
    if trouble:
        raise typer.Exit(Code.FAILED)


def _trust(key: Path | None, log: Path | None) -> Trust:
    if key is None and log is not None:
        raise CommandFailed("with --log, say which public key to trust: --key FILE", Code.USAGE)
    path = key or installation().public_key
    try:
        return trust_from(path)
    except (OSError, Malformed) as error:
        raise CommandFailed(
            f"the public key {path} can't be read: {error}", Code.NOT_FOUND
        ) from error


def _earlier(head: str) -> tuple[int, str] | None:
    if not head:
        return None
    if not (found := _HEAD.fullmatch(head)):
        raise CommandFailed("--head: write SEQ:HASH, as verify tells it", Code.USAGE)
    return int(found[1]), found[2]


def _missing(folder: Path, earlier: tuple[int, str] | None) -> str:
    """What is wrong with the record that an earlier verify has told; empty when nothing is."""
    if earlier is None:
        return ""
    seq, digest = earlier
    line = find(folder, seq)
    if line is None:
        return f"record {seq} is not there: the log was put back to what it was before, or retention took it"
    if line.fields.get("hash") != digest:
        return f"record {seq} is another than it was: this is not the log that was verified"
    return ""


def _as_json(report: Report, trust: Trust, trouble: str) -> dict[str, Any]:
    found = report.finding
    return {
        "ok": not trouble,
        "says": trouble,
        "finding": found
        and {
            "kind": found.kind,
            "segment": found.segment,
            "seq": found.seq,
            "says": found.sentence,
        },
        "segments": report.segments,
        "records": report.records,
        "bytes": report.bytes,
        "torn": report.torn,
        "dropped": len(report.dropped),
        "head": f"{report.head.seq}:{report.head.hash.hex()}",
        "key_id": trust.key_id,
    }


def _tell(report: Report, trust: Trust, trouble: str) -> None:
    if trouble:
        say(console, f"the log is NOT whole: {trouble}", "bold red")
        say(console, f"up to there: {_counted(report)}")
        return
    say(console, f"the log is whole: {_counted(report)}, signed by key {trust.key_id}", "green")
    if report.dropped:
        say(console, f"retention has removed {len(report.dropped)} older segments, by signed rule")
    if report.torn:
        say(
            console, f"crashes have torn {report.torn} half-written ends off; the log tells of each"
        )
    say(console, f"its head, to be kept elsewhere: {report.head.seq}:{report.head.hash.hex()}")


def _counted(report: Report) -> str:
    return f"{report.records} records in {report.segments} segments, {amount(report.bytes)}"
