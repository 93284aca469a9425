"""Filters let the same attempts pass whether they are a line or a row."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from orchestrator.egress.database import attempts
from orchestrator.egress.filters import Filter, moment
from orchestrator.egress.reader import Reader
from tests.fakes.egress_log import BEGAN, FakeEgressLog

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOSTS = ("a.example", "x.a.example", "ba.example", "a.example.evil", "A.EXAMPLE", "", "example")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    log = FakeEgressLog(tmp_path_factory.mktemp("log"))
    for number, host in enumerate(HOSTS):
        log.attempt(
            host=host, run=f"run-{number % 2}", decision=("allow", "deny", "hold")[number % 3]
        )
    log.decided(door="git", kind="git_push", agent="bot-ann", task="WEB/WEB-2", host="it's")
    return log.folder


def by_line(folder: Path, wanted: Filter) -> list[int]:
    lines = Reader(folder).read()
    return [one.seq for one in lines if one.fields["type"] == "decided" and wanted.fits(one.fields)]


def by_row(folder: Path, wanted: Filter) -> list[int]:
    condition, values = wanted.where()
    with attempts(folder) as connection:
        found = connection.execute(
            f"SELECT seq FROM attempts WHERE {condition} ORDER BY seq",  # noqa: S608 - what is tested
            values,
        ).fetchall()
    return [row[0] for row in found]


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        pytest.param(Filter(), 8, id="no filter lets all pass"),
        pytest.param(Filter(run=["run-1"]), 4, id="by run"),
        pytest.param(Filter(run=["run-0", "run-1"]), 8, id="by one run of two"),
        pytest.param(Filter(decision=["deny", "hold"]), 4, id="by decision"),
        pytest.param(Filter(door=["git"]), 1, id="by door"),
        pytest.param(Filter(agent=["bot-ann"], door=["egress"]), 0, id="all fields must fit"),
        pytest.param(Filter(task=["WEB/WEB-2"]), 1, id="by task"),
        pytest.param(Filter(host=["a.example"]), 2, id="a host, and what is below it"),
        pytest.param(Filter(host=["*.A.example."]), 2, id="a host however it is written"),
        pytest.param(Filter(host=["example"]), 4, id="a label boundary, not an ending"),
        pytest.param(Filter(host=["it's"]), 1, id="a quote is a letter"),
        pytest.param(Filter(host=["x'; --"]), 0, id="no SQL gets in"),
        pytest.param(Filter(since=BEGAN + timedelta(seconds=14)), 2, id="since"),
        pytest.param(Filter(until=BEGAN + timedelta(seconds=4)), 1, id="until"),
        pytest.param(
            Filter(since=BEGAN + timedelta(seconds=2), until=BEGAN + timedelta(seconds=4)),
            1,
            id="the first moment is in, the last one is not",
        ),
    ],
)
def test_a_line_and_a_row_pass_alike(folder: Path, wanted: Filter, count: int) -> None:
    found = by_line(folder, wanted)
    assert (len(found), found) == (count, by_row(folder, wanted))


def test_a_line_without_a_time_is_at_no_time() -> None:
    line: dict[str, Any] = {"type": "decided", "at": "yesterday"}
    assert Filter().fits(line)
    assert not Filter(since=NOW).fits(line)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("90s", NOW - timedelta(seconds=90)),
        ("15m", NOW - timedelta(minutes=15)),
        ("2h", NOW - timedelta(hours=2)),
        ("7d", NOW - timedelta(days=7)),
        ("4w", NOW - timedelta(weeks=4)),
        ("2026-11-29", datetime(2026, 11, 29, tzinfo=UTC)),
        ("2026-11-29T10:00:00+02:00", datetime(2026, 11, 29, 8, tzinfo=UTC)),
    ],
)
def test_a_moment_is_read_as_people_write_it(text: str, meant: datetime) -> None:
    assert moment(text, NOW) == meant


@pytest.mark.parametrize("text", ["", "soon", "7", "-1h", "1.5h", "7 d"])
def test_what_is_no_moment_is_said_to_be_none(text: str) -> None:
    with pytest.raises(ValueError, match="Invalid isoformat string"):
        moment(text, NOW)


@pytest.mark.parametrize(
    ("wanted", "count"),
    [
        pytest.param(Filter(connection=["wiki"]), 1, id="calls at a connection"),
        pytest.param(Filter(connection=["wiki", "wik"]), 2, id="at one of two"),
        pytest.param(Filter(connection=["wik%"]), 0, id="a name is no pattern"),
        pytest.param(Filter(tool=["write"], connection=["wiki"]), 1, id="calls of a tool"),
        pytest.param(Filter(tool=["rite"]), 0, id="a tool's whole name"),
        pytest.param(Filter(connection=["wiki"], decision=["allow"]), 0, id="and of a decision"),
    ],
)
def test_tool_calls_are_found_by_their_connection(
    tmp_path: Path, wanted: Filter, count: int
) -> None:
    log = FakeEgressLog(tmp_path)
    log.decided(door="mcp", kind="tool_call", subject="wiki/write", decision="hold")
    log.decided(door="mcp", kind="tool_call", subject="wik/write", decision="allow")
    log.decided(door="git", kind="git_push", subject="wiki/repository")
    assert len(by_line(tmp_path, wanted)) == len(by_row(tmp_path, wanted)) == count
