"""The egress log: durable appends, a full verification, and questions.

    python -m tests.bench.egress_log [--records 10000000] [--appends 200000] [--writers 200] [--folder DIR]

Appends go the way that all doors' records go, on the product's event loop, each waited for until it is
on the disk. The log that is verified has `--records` lines in sealed segments; of it is asked what one
run did, once with the segments' Parquet still to be made and then without. The last line is one JSON
object.
"""

import argparse
import asyncio
import json
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

from entrance.decision import Allow
from entrance.log.fields import of_decision, of_outcome
from entrance.log.records import Decided, Outcome, Request, Traffic
from entrance.log.segments import Segments
from entrance.log.shelf import Shelf
from entrance.log.verify import verify
from entrance.ports import Cause
from entrance.session import RunId, Session, TaskId
from orchestrator.egress.columns import NAMES
from orchestrator.egress.database import attempts
from orchestrator.egress.filters import Filter
from tests.servers.log import AT, open_log, signer

TARGETS = {"appends_per_s": 20_000, "verified_per_s": 200_000}
"""Records a second, at least."""
LIMITS = {"asked_s": 1.0}
"""Seconds, at most."""
RUNS = 500
CAUSE = Cause(12, "Bash", "toolu_01ABCDEFGHIJKLMNOPQRSTUV", "2026-01-05T00:00:00+00:00")
TRAFFIC = Traffic(200, 512, 48_123, "a" * 64, "b" * 64, 48_123, "192.0.2.7:443", 34)


@cache
def session(run: int) -> Session:
    """The session of one of the runs."""
    return Session(
        RunId(f"run{run:012d}"), TaskId(f"WEB/WEB-{run}"), "WEB", "bot-rex",
        f"10.231.0.{run % 250 + 2}", "0" * 64, sandbox=f"sandbox-{run:08d}",
    )  # fmt: skip


def decision(number: int) -> Decided:
    """The attempt with this number, which is of one of `RUNS` runs."""
    run = number % RUNS
    host = f"files{run % 40}.example"
    url = f"https://{host}/packages/{number:x}/thing-{number % 1000}.tar.gz"
    request = Request("GET", url, host, 443, host)
    return Decided("http", f"GET {host}", Allow(), session(run), request=request, rule="packages")


def filled(folder: Path, records: int) -> Shelf:
    """A log with so many records, each decision with its outcome, in as many segments as that takes."""
    segments = Segments(folder, signer(), lambda: AT)
    times = (AT + timedelta(milliseconds=passed) for passed in count())

    def written(fields: Mapping[str, Any]) -> int:
        now = next(times)
        seq = segments.add(now, fields)
        if segments.full(now):
            flushed()
            segments.turn(now)
        return seq

    def flushed() -> None:
        segments.flush()
        segments.keep(segments.in_file)

    for number in range(records // 2):
        record = decision(number)
        outcome = Outcome(written(of_decision(record, CAUSE)), "ok", traffic=TRAFFIC)
        written(of_outcome(outcome, record.of_run or "", None))
    flushed()
    os.fdatasync(segments.handle)
    segments.vouch()
    segments.close()
    return segments.shelf


async def appended(folder: Path, appends: int, writers: int) -> float:
    """Seconds for so many records, by so many who each wait for theirs."""
    log = open_log(folder, now=lambda: datetime.now(UTC))  # noqa: TID251 - a bench has the real one
    numbers = iter(range(appends // 2))

    async def one() -> None:
        for number in numbers:
            seq = await log.decided(decision(number))
            await log.came_of_it(Outcome(seq, "ok", traffic=TRAFFIC))

    began = perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(writers):
            tasks.create_task(one())
    took = perf_counter() - began
    await log.close()
    return took


def asked(folder: Path) -> tuple[float, int]:
    """Seconds for all that one run did, and how many attempts that is."""
    condition, values = Filter(run=[str(session(RUNS // 2).run)]).where()
    began = perf_counter()
    with attempts(folder) as connection:
        found = connection.execute(
            f"FROM attempts WHERE {condition} ORDER BY seq",
            values,
        ).fetchall()
    took = perf_counter() - began
    results = {row[NAMES.index("result")] for row in found}
    assert results == {"ok"}, "an outcome is another decision's"
    return took, len(found)


def measure(folder: Path, given: argparse.Namespace) -> dict[str, float]:
    """The figures."""
    # Processes that verify load this file, too: not the whole runner with it.
    from orchestrator.app.loop import run  # noqa: PLC0415

    append_s = run(appended(folder / "appended", given.appends, given.writers))
    fill_s = perf_counter()
    shelf = filled(folder / "filled", given.records)
    fill_s = perf_counter() - fill_s
    verify_s = perf_counter()
    report = verify(shelf, signer().trust, os.cpu_count() or 1)
    verify_s = perf_counter() - verify_s
    assert report.finding is None, report.finding
    first_s, _ = asked(shelf.folder)
    asked_s, answered = min(asked(shelf.folder) for _ in range(3))
    return {
        "appends_per_s": given.appends / append_s,
        "verified_per_s": report.records / verify_s,
        "records": report.records,
        "segments": report.segments,
        "mib": report.bytes / (1 << 20),
        "append_s": append_s,
        "fill_s": fill_s,
        "verify_s": verify_s,
        "first_asked_s": first_s,
        "asked_s": asked_s,
        "answered": answered,
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "verifier_peak_mib": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }


def main() -> None:
    """Measure, tell, and say in the last line whether the targets were met."""
    parser = argparse.ArgumentParser(description="The egress log: appends, and verification.")
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--appends", type=int, default=200_000)
    parser.add_argument("--writers", type=int, default=200)
    parser.add_argument("--folder", type=Path, help="where to write; a temporary one by default")
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="sandgate-bench-", dir=given.folder))
    try:
        figures = measure(folder, given)
    finally:
        shutil.rmtree(folder)
    result = {
        "bench": "egress_log",
        "ratios": {
            name: round(figures[name] / aim, 3) for name, aim in {**TARGETS, **LIMITS}.items()
        },
        "figures": {name: round(figure, 2) for name, figure in figures.items()},
        "targets": {**TARGETS, **LIMITS},
        "met": all(figures[name] >= least for name, least in TARGETS.items())
        and all(figures[name] <= most for name, most in LIMITS.items()),
        "load": os.getloadavg()[0],
    }
    sys.stdout.write(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
