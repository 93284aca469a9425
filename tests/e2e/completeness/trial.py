"""The trial: attempts of every kind, the runner and then the proxy killed in the middle, and the accounts."""

import json
import os
import select
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx

from orchestrator.ports.sandboxes import STDIO
from orchestrator.stack import egress_proxy
from orchestrator.stack.services import LOOPBACK
from tests.e2e.completeness import accounts
from tests.e2e.completeness.book import Book, Told, book_of
from tests.e2e.completeness.canary import Canary, canary
from tests.e2e.completeness.crowd import crowd, known_to_the_proxy, wait_for
from tests.e2e.completeness.load import PER_HUNDRED
from tests.e2e.completeness.meter import used_by
from tests.e2e.house import House, Wanted, eventually
from tests.servers.certificates import WebAuthority

SECONDS_AN_ATTEMPT = 0.06
PATIENCE_S = 240.0


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it."""

    wrong: list[str]
    figures: Mapping[str, object]
    verified: Mapping[str, object]
    """What `sandgate egress verify` says."""


def wanted(web: WebAuthority) -> Wanted:
    """What the trial's house needs; `web` is its canary's authority."""
    given = {
        "SANDGATE_EGRESS__UPSTREAM_CA": str(web.file),
        "SANDGATE_RUNS__PARALLEL": "24",
    }
    return Wanted(harnesses=(STDIO,), settings=given)


def tried(house: House, web: WebAuthority, sandboxes: int, attempts: int) -> Result:
    """Try it in a house made as `wanted`, with so many attempts in all."""
    each, patience_s = attempts // sandboxes, PATIENCE_S + SECONDS_AN_ATTEMPT * attempts
    began = time.monotonic()
    with (
        canary(f"{house.here.name}c0", web) as counting,
        known_to_the_proxy(house, counting),
        crowd(house, sandboxes) as members,
    ):
        ready_s, since = time.monotonic() - began, len(house.lines())
        with used_by(house) as used:
            for member in members:
                member.begin(each, house)
            expected = each * sandboxes * PER_HUNDRED["http"] // 100
            killed = _kill(house, counting, expected, patience_s)
            told = wait_for(members, patience_s)
        book = _settled(house, told, since)
        wrong = accounts.wrong_with(told, book, counting.hits, _served(house), killed)
    read, verified = _read(house, told[0].run)
    figures = _figures(told, book, counting) | read
    figures |= {"ready_s": round(ready_s, 1), "cpu_s": used}
    return Result(wrong, figures, verified)


def _kill(house: House, counting: Canary, expected: int, patience_s: float) -> list[datetime]:
    """First the runner, which somebody starts again; then the proxy, which its supervisor does."""
    _until_came(counting, expected // 3, patience_s)
    killed = [_killed(house.pid("runner"))]
    house.sandgate("up")
    _until_came(counting, expected * 3 // 4, patience_s)
    state = egress_proxy.state(house.here)
    assert state
    before = int(str(state["pid"]))
    killed.append(_killed(before))
    eventually(lambda: (egress_proxy.state(house.here) or {}).get("pid", before) != before)
    return killed


def _killed(pid: int) -> datetime:
    """When it was dead: a process may go on for a moment after it was sent the signal."""
    process = os.pidfd_open(pid)
    try:
        signal.pidfd_send_signal(process, signal.SIGKILL)
        select.select([process], [], [], PATIENCE_S)
    finally:
        os.close(process)
    return datetime.now(UTC)  # noqa: TID251 - it is compared with the log's


def _until_came(counting: Canary, number: int, patience_s: float) -> None:
    until = time.monotonic() + patience_s
    while len(counting.hits) < number:
        assert time.monotonic() < until, f"{len(counting.hits)} of {number} came to the canary"
        time.sleep(0.02)


def _settled(house: House, told: list[Told], since: int) -> Book:
    """The book, once the fence's drops are in the log and outcomes are told."""

    def there() -> bool:
        state = egress_proxy.state(house.here) or {}
        return state.get("outcomes_waiting") == 0 and not list(
            accounts.of_packets(told, _book(house, since))
        )

    eventually(there)
    return _book(house, since)


def _book(house: House, since: int) -> Book:
    files = [house.log.segment(number) for number in house.log.segments()]
    return book_of((line for file in files for line in file.read_bytes().splitlines()), since)


def _served(house: House) -> list[str]:
    """The attempts that the model has answered, or begun to."""
    answer = httpx.get(
        f"http://{LOOPBACK}:{house.here.ports.model}/served/answers",
        headers={"x-api-key": house.stage.model_key.read_text()},
        timeout=30,
        trust_env=False,
    )
    found = (one["names"].get("attempt") for one in answer.raise_for_status().json()["answers"])
    return [attempt for attempt in found if attempt]


def _figures(told: list[Told], book: Book, counting: Canary) -> dict[str, object]:
    made = sum(len(one.answers) + sum(one.packets.values()) for one in told)
    took_s = max(one.took_s for one in told)
    without_answer, of_these_in_the_log = accounts.unanswered(told, book)
    return {
        "sandboxes": len(told),
        "attempts": made,
        "took_s": round(took_s, 1),
        "attempts_per_s": round(made / took_s),
        "at_the_proxy": accounts.at_the_proxy(told),
        "packets": sum(sum(one.packets.values()) for one in told),
        "canary_hits": len(counting.hits),
        "lines": len(book.seqs),
        "without_answer": without_answer,
        "of_these_in_the_log": of_these_in_the_log,
        "without_outcome": accounts.without_outcome(book),
        "answers": accounts.answers(told),
        "sandboxes_cpu_s": round(sum(one.cpu_s for one in told), 1),
    }


def _read(house: House, run: str) -> tuple[dict[str, object], Mapping[str, object]]:
    """The log as its readers have it: figures of asking it for a run, and what `verify` says."""
    began = time.monotonic()
    whole = json.loads(house.sandgate("egress", "verify", "--json").stdout)
    verified = time.monotonic()
    rows = house.sandgate("egress", "ls", "--run", run, "--limit", "100000", "--json").stdout
    asked = time.monotonic()
    size = sum(house.log.segment(number).stat().st_size for number in house.log.segments())
    figures: dict[str, object] = {
        "verify_s": round(verified - began, 2),
        "records": whole["records"],
        "torn": whole["torn"],
        "ls_of_a_run_s": round(asked - verified, 2),
        "rows_of_a_run": len(json.loads(rows)["attempts"]),
        "log_mib": round(size / (1 << 20), 1),
        "segments": len(house.log.segments()),
    }
    return figures, whole
