"""The review packet: what a person needs to judge an agent's work, as Markdown [pure].

What the agent wrote is set off as a quotation and named as its words; everything else is Sandgate's
own record. It is never longer than every host takes.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from orchestrator.domain.escaping import block, code, inline, title
from orchestrator.domain.run import Run, Work
from orchestrator.domain.submitted import Pushes
from orchestrator.domain.task import Task

MOST_BYTES = 60_000
"""GitHub takes 65,536 characters, the others more."""
_TITLE = 180
_SCALES = (1, 2, 4, 8, 16, 64)
"""What is too long is made anew with that much less of each part."""

UNVERIFIED = (
    "Sandgate looked at what was pushed for secrets, gates and sizes, and at who wrote it. "
    "It ran no tests, and doesn't know whether the work is right."
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What a packet is made from."""

    run: Run
    task: Task
    repository: str
    branch: str
    pushes: Pushes
    ledger: Mapping[str, Any] = field(default_factory=dict)
    """As `orchestrator.domain.ledger` makes it."""


def packet_title(task: Task) -> str:
    """The title of the pull request."""
    return title(f"{task.item}: {task.title}", _TITLE)


def review_packet(facts: Facts) -> str:
    """The packet, at most `MOST_BYTES` of UTF-8."""
    made = ""
    for scale in _SCALES:
        made = "\n\n".join(part for part in _parts(facts, scale) if part) + "\n"
        if len(made.encode()) <= MOST_BYTES:
            return made
    return made.encode()[:MOST_BYTES].decode(errors="ignore")


def _parts(facts: Facts, scale: int) -> Iterable[str]:
    work = facts.run.ending.work if facts.run.ending else None
    yield _head(facts)
    yield _section("What was asked", *_asked(facts, scale))
    yield _section("What was done", *_done(facts, work, scale))
    yield _section("Tests", *_tests(facts, work, scale))
    yield _section("Not verified", *_not_verified(work, scale))
    yield _section("What was found in the pushes", *_found(facts, scale))
    yield _section("Files changed", *_files(facts, scale))
    yield _section("Hosts contacted", *_hosts(facts, scale))
    yield _section("Run and cost", _run(facts))
    yield _section("How to verify", *_verify(facts))


def _section(heading: str, *parts: str) -> str:
    return "\n\n".join([f"## {heading}", *(part for part in parts if part)])


def _head(facts: Facts) -> str:
    agent = code(facts.run.agent)
    return (
        f"An agent ({agent}) did this work in a sandbox, and Sandgate proposes it for review."
        " Quotations are what people and the agent wrote, as they wrote it; the rest is Sandgate's record."
    )


def _asked(facts: Facts, scale: int) -> Iterable[str]:
    yield f"**{inline(facts.task.title, 500)}** ({code(facts.task.id)})"
    yield block(facts.task.description, 6_000 // scale)


def _done(facts: Facts, work: Work | None, scale: int) -> Iterable[str]:
    yield f"As {code(facts.run.agent)} says:"
    words = work.words if work else facts.run.ending.summary if facts.run.ending else ""
    yield block(words, 14_000 // scale) or "Nothing."


def _tests(facts: Facts, work: Work | None, scale: int) -> Iterable[str]:
    tests = work.tests if work else ()
    if not tests:
        yield "The agent names none."
        return
    yield f"As {code(facts.run.agent)} says; Sandgate did not run them:"
    rows = [
        (
            inline(one.command, 300 // scale),
            inline(one.result, 20),
            inline(one.detail, 300 // scale),
        )
        for one in tests
    ]
    yield _table(("what was run", "result", "remarks"), rows, 50 // scale)


def _not_verified(work: Work | None, scale: int) -> Iterable[str]:
    yield block(work.not_verified, 4_000 // scale) if work else ""
    yield UNVERIFIED


def _found(facts: Facts, scale: int) -> Iterable[str]:
    rows = [(inline(mode, 20), inline(said, 400 // scale)) for mode, said in facts.pushes.findings]
    yield _table(("", "what"), rows, 50 // scale) if rows else "Nothing."


def _files(facts: Facts, scale: int) -> Iterable[str]:
    pushes = facts.pushes
    if not pushes.files:
        yield "See the changes themselves: none were recorded."
        return
    kept = pushes.files[: 200 // scale]
    yield "\n".join(f"- {code(path)}" for path in kept)
    if more := len(pushes.files) - len(kept) + pushes.files_left_out:
        yield f"And {more} more."


def _hosts(facts: Facts, scale: int) -> Iterable[str]:
    reached: Mapping[str, int] = facts.ledger.get("reached", {})
    most = sorted(reached.items(), key=lambda one: (-one[1], one[0]))
    rows = [(code(host), str(count)) for host, count in most]
    yield _table(("host", "requests"), rows, 60 // scale) if rows else "None of the internet."
    refused = facts.ledger.get("refused", [])
    yield f"{len(refused)} refused or held attempts are in the run's record." if refused else ""


def _run(facts: Facts) -> str:
    run, used = facts.run, facts.run.usage
    tokens = f"{used.input_tokens:,} in, {used.output_tokens:,} out"
    cached = (
        f"{used.cache_read_tokens:,} read from the cache, {used.cache_write_tokens:,} written to it"
    )
    names = {
        "run": run.id,
        "record": run.record,
        "model": run.model,
        "harness": run.harness,
        "image": run.session.image if run.session else "",
        "started": run.created_at.isoformat(timespec="seconds"),
        "repository": facts.repository,
        "branch": facts.branch,
    }
    cost = f"US$ {used.cost_usd:.4f} in {used.calls} model calls"
    rows = [(name, code(said)) for name, said in names.items() if said]
    return _table(("", ""), [*rows, ("cost", cost), ("tokens", f"{tokens}; {cached}")], 20)


def _verify(facts: Facts) -> Iterable[str]:
    arrived = [r for r in facts.pushes.arrived(facts.repository) if r.branch == facts.branch]
    commit = arrived[-1].new if arrived else ""
    shown = commit if commit.isalnum() else "COMMIT"
    yield (
        "Every accepted push is attested with the installation's key. In a clone that has the branch:"
    )
    yield f"```\nsandgate verify . {shown}\n```"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], most: int) -> str:
    """Cells are escaped by whoever made them."""
    lines = [_line(head), _line(["---"] * len(head)), *(_line(row) for row in rows[: max(most, 1)])]
    more = len(rows) - max(most, 1)
    return "\n".join(lines) + (f"\n\nAnd {more} more." if more > 0 else "")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
