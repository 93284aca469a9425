"""Holds what the sandboxes and the canaries counted against the lines of the log [pure]."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime

from tests.e2e.completeness.book import COUNTED, NOT_DECIDED, UNRECORDED, Book, Line, Told
from tests.e2e.completeness.load import AT_THE_PROXY, model_sha256

ALLOWED = frozenset({"http", "https", "tool", "tool-misused", "model", "fetch"})
OK = 200
ANSWERED_OK = frozenset({"tool-refused", "push-refused"})
"""Refusals that are told in a protocol's own words, with the status of success."""


def wrong_with(
    crowd: Sequence[Told],
    book: Book,
    hits: Sequence[tuple[str, datetime]],
    served: Sequence[str],
    killed: Sequence[datetime],
) -> list[str]:
    """What doesn't agree, in sentences. `killed`: when the runner was dead, and then the proxy."""
    every = {attempt: kind for one in crowd for attempt, (kind, _) in one.answers.items()}
    unrecorded = {
        attempt
        for one in crowd
        for attempt, (_, status) in one.answers.items()
        if status == UNRECORDED
    }
    return [
        *_of_answers(crowd, book),
        *_of_counts(crowd, book),
        *of_packets(crowd, book),
        *_of_hits(book, hits, every),
        *_of_served(book, served, every),
        *_of_outcomes(book, max(killed), unrecorded),
        *(f"{attempt}: nobody made it" for attempt in book.decided.keys() - every.keys()),
        *(f"key {key}: {n} times" for key, n in book.keys.items() if n > 1),
        *([] if book.seqs == sorted(set(book.seqs)) else ["numbers are not in their order"]),
    ]


def _of_answers(crowd: Sequence[Told], book: Book) -> Iterator[str]:
    for one in crowd:
        for attempt, (kind, status) in one.answers.items():
            if kind in COUNTED:
                continue
            lines = book.decided.get(attempt, [])
            answered = status not in NOT_DECIDED
            if answered and (kind in ALLOWED | ANSWERED_OK) != (status == OK):
                yield f"{attempt}, {kind}: answered {status}"
            if len(lines) > 1 or (answered and not lines):
                yield f"{attempt}, {kind} {status}: {len(lines)} times in the log"
            for line in lines:
                wanted = "allow" if kind in ALLOWED else "deny"
                if line["decision"] != wanted or (line.get("run") or one.run) != one.run:
                    yield f"{attempt}, {kind}: {line}"


def _of_counts(crowd: Sequence[Told], book: Book) -> Iterator[str]:
    for one in crowd:
        for kind in sorted(COUNTED):
            answered = len(one.of(kind, answered=True))
            most = answered + len(one.of(kind, answered=False))
            found = book.counted[one.run, kind]
            if not answered <= found <= most:
                yield f"{one.run}, {kind}: {found} in the log, {answered} to {most} were made"
        for attempt in one.of("model", answered=True):
            found = len(book.by_sha256.get(model_sha256(attempt), []))
            if found != 1:
                yield f"{attempt}, model: {found} outcomes with its body"


def of_packets(crowd: Sequence[Told], book: Book) -> Iterator[str]:
    for one in crowd:
        for target, sent in one.packets.items():
            found = book.packets[one.address, target]
            if found != sent:
                yield f"{one.run}, packets to {target}: {found} in the log, {sent} were sent"


def _of_hits(
    book: Book, hits: Sequence[tuple[str, datetime]], every: Mapping[str, str]
) -> Iterator[str]:
    came = Counter(attempt for attempt, _ in hits)
    for attempt, number in came.items():
        if number > 1 or every.get(attempt) not in {"http", "https"}:
            yield f"{attempt}: came {number} times to the canary"
    for attempt, at in hits:
        lines = book.decided.get(attempt, [])
        if len(lines) != 1 or datetime.fromisoformat(lines[0]["at"]) > at:
            yield f"{attempt}: came to the canary at {at}, decided: {lines}"


def _of_served(book: Book, served: Sequence[str], every: Mapping[str, str]) -> Iterator[str]:
    for attempt, number in Counter(served).items():
        outcomes = len(book.by_sha256.get(model_sha256(attempt), []))
        if number > 1 or outcomes > 1 or every.get(attempt) != "model":
            yield f"{attempt}: served {number} times, {outcomes} outcomes"


def _of_outcomes(book: Book, killed_last: datetime, unrecorded: Collection[str]) -> Iterator[str]:
    """One of each; none is missing of what was let out after the last kill.

    What the killed proxy had told may have been read, and so recorded, when it was dead already.
    """
    dead = set(_tellers(book, killed_last))
    for of, lines in book.outcomes.items():
        if len(lines) > 1:
            yield f"record {of} has {len(lines)} outcomes"
    for attempt, lines in book.decided.items():
        for line in lines:
            if line["decision"] == "allow" and line["seq"] not in book.outcomes:
                at = datetime.fromisoformat(line["at"])
                if at > killed_last and attempt not in unrecorded and _teller(line) not in dead:
                    yield f"{attempt}: record {line['seq']} of {at} has no outcome"


def _tellers(book: Book, until: datetime) -> Iterator[str]:
    """The processes that had something recorded by then through another's hands."""
    for line in (line for lines in book.decided.values() for line in lines if "key" in line):
        if datetime.fromisoformat(line["at"]) <= until:
            yield _teller(line)


def _teller(line: Line) -> str:
    """Whose record it is, by the key that it gave it (`proxy.recorder`); "" for the runner's own."""
    return str(line.get("key", "")).partition("-")[0]


def without_outcome(book: Book) -> int:
    """How many allowed attempts have none: a killed process didn't get to tell it."""
    return sum(
        line["decision"] == "allow" and line["seq"] not in book.outcomes
        for lines in book.decided.values()
        for line in lines
    )


def unanswered(crowd: Sequence[Told], book: Book) -> tuple[int, int]:
    """How many attempts got no answer, and how many of these are in the log."""
    named = [
        attempt
        for one in crowd
        for attempt, (kind, status) in one.answers.items()
        if status in NOT_DECIDED and kind not in COUNTED
    ]
    return len(named), sum(attempt in book.decided for attempt in named)


def answers(crowd: Sequence[Told]) -> dict[str, int]:
    """How many attempts of a kind got which status."""
    found = Counter(f"{kind} {status}" for one in crowd for kind, status in one.answers.values())
    return dict(sorted(found.items()))


def at_the_proxy(crowd: Sequence[Told]) -> int:
    """How many attempts came to the egress proxy."""
    kinds = {kind.replace(" ", "-") for kind in AT_THE_PROXY}
    return sum(kind in kinds for one in crowd for kind, _ in one.answers.values())
