"""Whether the log tells the same as an attestation: the chain's whole, and the links to it."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from entrance.attestation.refusals import Refusal, Word
from entrance.attestation.statement import Push
from entrance.log.line import hash_of
from entrance.log.seal import Statement
from entrance.log.shelf import Shelf
from entrance.log.signing import Trust
from entrance.log.trail import lines_with
from entrance.log.verify import Report, verify


@dataclass(frozen=True, slots=True)
class Log:
    """A log's folder, after it was looked through: what is in it is what was written."""

    shelf: Shelf
    report: Report

    def at(self, seq: int) -> bytes | None:
        """The record of this number, as it was written; None when it isn't there."""
        mark = b'{"seq":%d,' % seq
        return next((line for line in self._with(mark) if line.startswith(mark)), None)

    def about(self, digest: str) -> dict[str, Any] | None:
        """The record that tells of an attestation with this hash."""
        for line in self._with(digest.encode()):
            told: dict[str, Any] = orjson.loads(line)
            if told.get("kind") == "attestation" and told.get("detail", {}).get("sha256") == digest:
                return told
        return None

    def retired(self, seq: int) -> Statement | None:
        """What was signed about the removal of the segment that had this record."""
        dropped = self.report.dropped
        return next((s for s in dropped if s.facts.first_seq <= seq <= s.facts.last_seq), None)

    def _with(self, mark: bytes) -> Iterator[bytes]:
        for number in self.shelf.segments():
            yield from (line.rstrip(b"\n") for line in lines_with(mark, self.shelf.segment(number)))


def log_of(folder: Path, trust: Trust, processes: int = 1) -> Log:
    """The log, looked through. Raises: OSError."""
    shelf = Shelf(folder)
    return Log(shelf, verify(shelf, trust, processes))


def broken(log: Log) -> Refusal | None:
    """Whether the chain is whole."""
    if log.report.finding is not None:
        return Refusal(Word.BROKEN_LOG, f"the log is not whole: {log.report.finding}")
    if not log.report.records:
        return Refusal(Word.BROKEN_LOG, f"there is no record in {log.shelf.folder}")
    return None


def unlinked(log: Log, push: Push) -> Refusal | None:
    """Whether the decision is in the log, and the log is the one that it was written in."""
    for seq, words in _decisions(push):
        line = log.at(seq)
        if line is None:
            return _gone(log, seq, "the decision")
        if what := _other(orjson.loads(line), push, words):
            return Refusal(Word.OTHER_RECORD, f"record {seq} of the log {what}")
    head = log.at(push.log.seq)
    if head is None:
        return _gone(log, push.log.seq, "where the log stood")
    digest = hash_of(head)
    if digest is None or digest.hex() != push.log.hash or push.decision > push.log.seq:
        sentence = (
            f"record {push.log.seq} of this log has another hash than when the push was taken"
        )
        return Refusal(Word.OTHER_LOG, sentence)
    return None


def unrecorded(log: Log, envelope: bytes) -> Refusal | None:
    """Whether the log tells of this very attestation."""
    digest = hashlib.sha256(envelope.removesuffix(b"\n")).hexdigest()
    if log.about(digest):
        return None
    return Refusal(Word.UNRECORDED, "the log doesn't tell that this attestation was written")


def _decisions(push: Push) -> Sequence[tuple[int, frozenset[str]]]:
    """The records that there must be, and what they may have decided."""
    allowed = [(push.decision, frozenset({"allow"}))]
    return [*([(push.held, frozenset({"hold"}))] if push.held else []), *allowed]


def _other(line: dict[str, Any], push: Push, words: frozenset[str]) -> str:
    """What is strange about the record of a decision; empty when nothing is."""
    if line.get("type") != "decided" or line.get("kind") != "git_push":
        return "is no decision about a push"
    if line.get("run") != push.run.id:
        return f"is of the run {line.get('run')}, not of {push.run.id}"
    if line.get("decision") not in words:
        return f"says {line.get('decision')}"
    told = line.get("detail", {}).get("updates")
    wanted = {(one.ref, one.old, one.new) for one in push.refs}
    # A host may take some of a push's branches and refuse others.
    if told is not None and not wanted <= {(one["ref"], one["old"], one["new"]) for one in told}:
        return "is about other branches, or other commits"
    return ""


def _gone(log: Log, seq: int, what: str) -> Refusal:
    if stone := log.retired(seq):
        at, rule = stone.told["dropped_at"], stone.told["rule"]
        sentence = f"record {seq} of the log ({what}) was removed on {at} by the rule {rule}"
        return Refusal(Word.RETIRED_RECORD, sentence)
    sentence = f"record {seq} of the log ({what}) is not there"
    return Refusal(Word.MISSING_RECORD, sentence)
