"""Says of one commit where it comes from, if everything hangs together, and else why not."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from entrance.attestation import chain, commits
from entrance.attestation.chain import log_of
from entrance.attestation.envelope import opened
from entrance.attestation.objects import Objects
from entrance.attestation.refusals import Refusal, Word
from entrance.attestation.statement import Push, read
from entrance.attestation.trees import Files, files_of
from entrance.log.signing import Trust, UntrustedError

STEPS = (
    "attestation",
    "commit",
    "objects",
    "view",
    "trailers",
    "range",
    "files",
    "log",
    "decision",
    "record",
)
"""What is looked at, in this order."""


@dataclass(frozen=True, slots=True)
class Case:
    """What is asked, and by what it is judged."""

    commit: str
    envelope: bytes
    trust: Trust
    objects: Objects
    log: Path
    processes: int = 1


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at: what it is, what was seen, and why it is refused, if it is."""

    name: str
    seen: str
    refusal: Refusal | None = None


def attested(envelope: bytes, trust: Trust) -> Push | Refusal:
    """What an attestation says, if our key has signed it."""
    try:
        return read(opened(envelope, trust))
    except UntrustedError as error:
        return Refusal(Word(error.why), f"the attestation can't be relied on: {error}")


def checks(case: Case) -> Iterator[Check]:
    """Look at one thing after the other, up to the first that is wrong.

    Raises: OSError, SandgateError: it can't be looked at.
    """
    push = attested(case.envelope, case.trust)
    if isinstance(push, Refusal):
        yield Check("attestation", "", push)
        return
    yield Check("attestation", f"signed by key {case.trust.key_id}")
    for look in (_of_repository(case, push), _of_log(case, push)):
        for check in look:
            yield check
            if check.refusal:
                return


def _of_repository(case: Case, push: Push) -> Iterator[Check]:
    wanted = [case.commit, *push.commits]
    raw, hidden = case.objects.commits(wanted), case.objects.replaced(wanted)
    count = _counted(len(push.commits), "commit")
    yield Check("commit", "one that it vouches for", commits.not_attested(push, case.commit))
    yield Check("objects", f"{count}, each hashes to its id", commits.altered(raw))
    yield Check("view", "git shows them as they are", _replaced("commit", hidden))
    read = {oid: commits.read(oid, body) for oid, body in raw.items() if body is not None}
    yield Check("trailers", "the same run, task, model", commits.strange_trailers(push, read))
    seen = f"{count} between old and new, and no other"
    yield Check("range", seen, commits.out_of_range(push, read))
    files = files_of(case.objects, commits.tree_of(raw[case.commit] or b""))
    seen = f"{_counted(files.count, 'file')} of this commit, each hashes to its id"
    yield Check("files", seen, _altered(files))
    hidden = case.objects.replaced(files.objects)
    if hidden:
        yield Check("files", seen, _replaced("file or folder", hidden))


def _of_log(case: Case, push: Push) -> Iterator[Check]:
    log = log_of(case.log, case.trust, case.processes)
    whole = f"{_counted(log.report.records, 'record')}, an unbroken chain"
    yield Check("log", whole, chain.broken(log))
    seen = f"record {push.decision} allowed it; then the log stood at {push.log.seq}"
    yield Check("decision", seen, chain.unlinked(log, push))
    seen = "the log tells of this attestation"
    yield Check("record", seen, chain.unrecorded(log, case.envelope))


def _altered(files: Files) -> Refusal | None:
    if not files.wrong:
        return None
    sentence = f"file or folder {files.wrong} of the commit is missing here, or is something else"
    return Refusal(Word.ALTERED_FILES, sentence)


def _replaced(what: str, oid: str) -> Refusal | None:
    if not oid:
        return None
    sentence = f"this repository makes git show something else in place of {what} {oid}"
    return Refusal(Word.REPLACED_COMMIT, f"{sentence} (`git replace`, or a graft)")


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
