"""Whether the commits of a repository are those that were attested [pure].

A commit's id is the hash of all that it says, its parents among it: once each commit's bytes hash to
its id, what hangs together is settled, whatever else the repository says.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping

from entrance.attestation.refusals import Refusal, Word
from entrance.attestation.statement import Push
from entrance.git.checks.authors import wrong_trailers
from entrance.git.checks.facts import Brought, Commit, Person
from entrance.session import Authorship, RunId, Session, TaskId

_PERSON = re.compile(rb"(.*?) ?<(.*?)> -?\d+ [+-]\d+")
TRAILERS = "[trailers]"
"""How a finding ends that let trailers pass as they are."""
_HASHES = {40: "sha1", 64: "sha256"}


def not_attested(push: Push, commit: str) -> Refusal | None:
    """Whether the push brought this commit. A branch can be put at anybody's."""
    if commit in push.commits:
        return None
    sentence = f"the attestation vouches for {len(push.commits)} commits, and {commit} is none"
    if commit in push.attested:
        sentence = f"the host had commit {commit} before; the push only put a branch there"
    return Refusal(Word.NOT_ATTESTED, sentence)


def altered(raw: Mapping[str, bytes | None]) -> Refusal | None:
    """Whether every commit is there, and is what its id says. `raw`: their bytes; None: not there."""
    for oid, body in raw.items():
        if body is None:
            sentence = (
                f"commit {oid} is not in this repository, or can't be read; fetch its whole history"
            )
            return Refusal(Word.MISSING_COMMIT, sentence)
        if hashed(body, oid) != oid:
            sentence = f"what this repository has as commit {oid} is something else"
            return Refusal(Word.ALTERED_COMMIT, sentence)
    return None


def hashed(body: bytes, like: str) -> str:
    """The id that a commit's bytes have, in the hash that `like` is one of."""
    whole = hashlib.new(_HASHES[len(like)], usedforsecurity=False)
    whole.update(b"commit %d\0" % len(body))
    whole.update(body)
    return whole.hexdigest()


def out_of_range(push: Push, commits: Mapping[str, Commit]) -> Refusal | None:
    """Whether what lies between old and new is exactly what was attested."""
    stops = {*push.onto, *(one.old for one in push.refs)}
    attested, seen, ahead = set(push.commits), set[str](), [one.new for one in push.refs]
    while ahead:
        oid = ahead.pop()
        if oid in stops or oid in seen:
            continue
        if oid not in attested:
            sentence = f"commit {oid} lies between old and new, and the attestation has it not"
            return Refusal(Word.RANGE, sentence)
        seen.add(oid)
        ahead.extend(commits[oid].parents)
    if left := attested - seen:
        sentence = f"commit {min(left)} is attested, and doesn't lie between old and new"
        return Refusal(Word.RANGE, sentence)
    return None


def strange_trailers(push: Push, commits: Mapping[str, Commit]) -> Refusal | None:
    """Whether each commit says of itself what the attestation says, by the door's own rule.

    What was seen at the time, and let through, is no reason to refuse it now.
    """
    if push.author is None or any(one.endswith(TRAILERS) for one in push.findings):
        return None
    whole = Brought((), tuple(commits[oid] for oid in push.commits))
    for found in wrong_trailers(whole, _session(push)):
        return Refusal(Word.TRAILERS, f"commit {found.commit} has {found.what}")
    return None


def tree_of(body: bytes) -> str:
    """The folder that a commit has."""
    return next((v.decode("ascii", "replace") for name, v in _fields(body) if name == b"tree"), "")


def read(oid: str, body: bytes) -> Commit:
    """A commit's bytes, as the door's rules know one."""
    head, _, message = body.partition(b"\n\n")
    fields = list(_fields(head))
    return Commit(
        oid,
        tuple(value.decode("ascii", "replace") for name, value in fields if name == b"parent"),
        _person(fields, b"author"),
        _person(fields, b"committer"),
        message.decode("utf-8", "backslashreplace"),
    )


def _session(push: Push) -> Session:
    run, who = push.run, push.author
    allowed = frozenset(map(RunId, who.runs if who else ()))
    whose = Authorship(who.name, who.mail, run.model, allowed) if who else None
    return Session(
        RunId(run.id), TaskId(run.task), run.project, run.agent, "", "", authorship=whose
    )


def _fields(head: bytes) -> Iterator[tuple[bytes, bytes]]:
    for line in head.split(b"\n"):
        name, _, value = line.partition(b" ")
        if name:  # else it goes on with the line before
            yield name, value


def _person(fields: list[tuple[bytes, bytes]], wanted: bytes) -> Person:
    found = next((_PERSON.fullmatch(value) for name, value in fields if name == wanted), None)
    name, mail = found.groups() if found else (b"", b"")
    return Person(
        name.decode("utf-8", "backslashreplace"), mail.decode("utf-8", "backslashreplace")
    )
