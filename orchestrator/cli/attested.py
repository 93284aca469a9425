"""`sandgate verify`: where a commit comes from, if the whole chain of proof holds."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.text import Text

from entrance.attestation.objects import Objects, objects_of
from entrance.attestation.refusals import REFUSALS, Refusal
from entrance.attestation.statement import Push
from entrance.attestation.store import Attestations
from entrance.attestation.verify import STEPS, Case, Check, attested, checks
from entrance.errors import Malformed, NotFound
from entrance.log.signing import Trust, trust_from
from orchestrator.cli.codes import Code, CommandFailed
from orchestrator.cli.place import JsonFlag, installation
from orchestrator.cli.screen import one_line, print_json, say

STORE = "attestations"
"""The folder in an installation's data."""
console = Console()
_WIDE, _SHORT = 13, 12


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was seen of a commit and one attestation."""

    commit: str
    file: Path
    push: Push | None
    seen: Sequence[Check]

    @property
    def refusal(self) -> Refusal | None:
        return self.seen[-1].refusal

    @property
    def code(self) -> int:
        return REFUSALS[self.refusal.word][0] if self.refusal else Code.OK


def verify(
    repository: Annotated[Path, typer.Argument(help="A clone of the repository, or a bare one.")],
    commit: Annotated[str, typer.Argument(help="The commit: its id, a branch, HEAD.")],
    attestation: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="The attestation, or a folder of them with its index."),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The public key, PEM; the installation's by default."),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="The egress log; the installation's by default."),
    ] = None,
    json: JsonFlag = False,
) -> None:
    """Say which run a commit comes from, and who let it out; or why nobody can vouch for it.

    Offline: it needs the repository, the attestation, the public key and the log, or copies of them.
    Each reason to refuse has an exit code of its own, from 20 on.
    """
    trust = _trust(key or installation().public_key)
    folder = log or installation().data("egress")
    try:
        with objects_of(repository) as objects:
            oid = objects.resolve(commit)
            files = _files(attestation, oid)
            found = [_judged(file, _case(oid, file, trust, objects, folder)) for file in files]
    except (NotFound, FileNotFoundError) as error:
        raise CommandFailed(str(error), Code.NOT_FOUND) from error
    # A branch may be pushed once more where another already is: any that holds is enough.
    verdict = next((one for one in found if not one.refusal), found[-1])
    if json:
        print_json(_as_json(verdict))
    else:
        _tell(verdict)
    if verdict.code:
        raise typer.Exit(verdict.code)


def _case(oid: str, file: Path, trust: Trust, objects: Objects, log: Path) -> Case:
    return Case(oid, file.read_bytes(), trust, objects, log, len(os.sched_getaffinity(0)))


def _judged(file: Path, case: Case) -> Verdict:
    said = attested(case.envelope, case.trust)
    push = said if isinstance(said, Push) else None
    return Verdict(case.commit, file, push, list(checks(case)))


def _files(given: Path | None, oid: str) -> Sequence[Path]:
    if given is not None and not given.is_dir():
        return [given]
    found = Attestations(given or installation().data(STORE)).of_commit(oid)
    if not found:
        where = given or "this installation"
        sentence = f"{where} has attested no push with commit {oid}"
        raise CommandFailed(f"{sentence}; --attestation names another's", Code.NOT_FOUND)
    return found


def _trust(file: Path) -> Trust:
    try:
        return trust_from(file)
    except (OSError, Malformed) as error:
        raise CommandFailed(
            f"the public key {file} can't be read: {error}", Code.NOT_FOUND
        ) from error


def _as_json(verdict: Verdict) -> dict[str, Any]:
    refusal = verdict.refusal
    return {
        "ok": refusal is None,
        "commit": verdict.commit,
        "word": refusal.word if refusal else "",
        "says": refusal.sentence if refusal else "",
        "code": int(verdict.code),
        "attestation": str(verdict.file),
        "checks": [
            {"name": one.name, "ok": one.refusal is None, "seen": one.seen} for one in verdict.seen
        ],
        "statement": verdict.push.model_dump(by_alias=True, exclude_none=True)
        if verdict.push
        else None,
    }


def _tell(verdict: Verdict) -> None:
    refusal, short = verdict.refusal, verdict.commit[:_SHORT]
    if refusal:
        say(console, f"✗ nobody vouches for commit {short}: {refusal.sentence}", "bold red")
    elif verdict.push:
        say(console, f"✓ commit {short} comes from run {verdict.push.run.id}", "bold green")
        for name, value in _facts(verdict.push):
            console.print(_row("  ", "", name, value), soft_wrap=True)
    say(console, "")
    seen = {one.name: one for one in verdict.seen}
    for name in STEPS:
        console.print(_step(name, seen.get(name)), soft_wrap=True)


def _step(name: str, check: Check | None) -> Text:
    if check is None:
        return _row("· ", "dim", name, "not looked at")
    if check.refusal:
        return _row("✗ ", "red", name, f"{check.refusal.word}: {check.refusal.sentence}")
    return _row("✓ ", "green", name, check.seen)


def _facts(push: Push) -> Iterator[tuple[str, str]]:
    run, allowed = push.run, push.approval
    yield "task", run.task
    yield "agent", f"{push.author.name} <{push.author.mail}>" if push.author else run.agent
    yield "made with", f"{run.harness}, {run.model}"
    yield "in", f"sandbox {run.sandbox}, image {run.image}"
    yield "pushed to", push.repository.url
    for one in push.refs:
        yield "branch", f"{one.ref} {_moved(one.old)} → {one.new[:_SHORT]}"
    yield "when", f"{push.accepted_at}, installation {push.installation}, Sandgate {push.version}"
    yield "approved", f"by {allowed.by} ({allowed.id})" if allowed else "nobody had to"
    for finding in push.findings:
        yield "noted", finding


def _moved(old: str) -> str:
    return old[:_SHORT] if old.strip("0") else "new"


def _row(mark: str, style: str, name: str, value: str) -> Text:
    return Text.assemble((mark, style), (f"{name:{_WIDE}}", "bold"), one_line(value, 400))
