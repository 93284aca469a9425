"""The log as a table: each attempt once, whichever segment its lines are in."""

import os
from pathlib import Path

import pytest

from entrance.errors import NotFound, Unavailable
from orchestrator.egress import cache
from orchestrator.egress.columns import NAMES
from orchestrator.egress.database import attempts
from orchestrator.egress.segments import segments
from tests.fakes.egress_log import FakeEgressLog, rows


@pytest.fixture
def log(tmp_path: Path) -> FakeEgressLog:
    return FakeEgressLog(tmp_path / "log")


def parquet(log: FakeEgressLog) -> list[Path]:
    return sorted(log.folder.glob("*.parquet"))


def test_a_decision_and_its_outcome_are_one_row(log: FakeEgressLog) -> None:
    cause = {"step": 7, "tool": "Bash", "call": "c-1", "since": "2026-11-30T11:59:58+00:00"}
    log.attempt(cause=cause, detail={"why": ["a"]})
    row = dict(zip(NAMES, rows(log.folder, "FROM attempts")[0], strict=True))
    assert (row["seq"], row["host"], row["port"], row["decision"]) == (
        2,
        "files.example",
        443,
        "allow",
    )
    assert (row["status"], row["bytes_in"], row["ms"], row["result"]) == (200, 4096, 34.0, "ok")
    assert (row["step"], row["tool"], row["call"]) == (7, "Bash", "c-1")
    assert str(row["since"]) == "2026-11-30 11:59:58"
    assert str(row["decided_at"]) == "2026-11-30 12:00:02"
    assert str(row["ended_at"]) == "2026-11-30 12:00:03"
    assert (row["target"], row["detail"]) == ("192.0.2.7:443", '{"why":["a"]}')


def test_sealed_and_open_segments_are_one_table(log: FakeEgressLog) -> None:
    for _ in range(3):
        log.attempt()
        log.seal()
    log.attempt()
    log.decided(decision="deny", reason="no rule allows it")
    assert rows(log.folder, "SELECT count(*), count(result), count(reason) FROM attempts") == [
        (5, 4, 1)
    ]
    assert len(parquet(log)) == 3


def test_an_outcome_in_a_later_segment_comes_to_its_decision(log: FakeEgressLog) -> None:
    early = log.decided(run="run-a")
    middle = log.decided(run="run-b")
    log.seal()
    log.came(early, status=201)
    log.seal()
    log.came(middle, status=202, target="192.0.2.9:443")
    found = rows(log.folder, "SELECT run, status, target FROM attempts ORDER BY seq")
    assert found == [("run-a", 201, "192.0.2.7:443"), ("run-b", 202, "192.0.2.9:443")]


def test_what_caused_it_may_only_be_known_when_it_is_over(log: FakeEgressLog) -> None:
    seq = log.decided(cause={"step": 3})
    log.came(seq, cause={"step": 4, "tool": "Bash", "call": "c-2"})
    late = log.decided(cause={"step": 5})
    log.attempt(cause={"step": 6, "tool": "Read"})
    log.seal()
    log.came(late, cause={"step": 7, "tool": "Grep"})
    found = rows(log.folder, "SELECT step, tool, call FROM attempts ORDER BY seq")
    assert found == [(4, "Bash", "c-2"), (7, "Grep", None), (6, "Read", None)]


def test_an_outcome_whose_decision_is_gone_is_no_attempt(log: FakeEgressLog) -> None:
    log.came(1)
    assert rows(log.folder, "FROM attempts") == []


def test_lines_that_cannot_be_read_hide_no_others(log: FakeEgressLog) -> None:
    log.attempt()
    log.raw(b"no json at all\n")
    log.raw(
        b'{"seq":"x","type":"decided"}\n{"seq":90,"type":"decided","port":"many","host":["a"]}\n'
    )
    log.raw(b"\xff\xfe\n[]\n\n")
    log.attempt()
    log.raw(b'{"seq":91,"at":"2026-11-30T12:0')  # being written just now
    found = rows(log.folder, "SELECT seq, port FROM attempts ORDER BY seq")
    assert found == [(2, 443), (4, 443), (90, None)]


def test_a_sealed_segment_is_read_from_its_parquet(log: FakeEgressLog) -> None:
    log.attempt()
    sealed = log.path
    log.seal()
    assert rows(log.folder, "SELECT count(*) FROM attempts") == [(1,)]
    sealed.write_bytes(b"")
    assert rows(log.folder, "SELECT count(*) FROM attempts") == [(1,)]
    cache.sweep(log.folder)
    assert parquet(log) == []
    assert rows(log.folder, "SELECT count(*) FROM attempts") == [(0,)]


def test_parquet_of_another_head_is_not_used_but_removed(log: FakeEgressLog) -> None:
    log.attempt()
    log.seal()
    rows(log.folder, "FROM attempts")
    (old,) = parquet(log)
    stale = old.with_name(old.name.replace(old.name.split(".")[1], "0" * 16))
    old.rename(stale)
    stale.write_bytes(b"whatever")
    assert rows(log.folder, "SELECT count(*) FROM attempts") == [(1,)]
    assert parquet(log) == [old]


def test_parquet_is_nobody_elses_to_read_and_no_half_file_is_left(log: FakeEgressLog) -> None:
    log.attempt()
    log.seal()
    rows(log.folder, "FROM attempts")
    assert [path.stat().st_mode & 0o777 for path in parquet(log)] == [0o600]
    assert not list(log.folder.glob(".*"))


def test_half_a_file_of_a_process_that_is_gone_is_removed(log: FakeEgressLog) -> None:
    log.attempt()
    log.seal()
    rows(log.folder, "FROM attempts")
    name = parquet(log)[0].name
    gone, ours = (log.folder / f".{name}.{pid}.part" for pid in (2**22 + 1, os.getpid()))
    gone.touch()
    ours.touch()
    rows(log.folder, "FROM attempts")
    assert (gone.exists(), ours.exists()) == (False, True)


def test_a_copy_that_cannot_be_written_to_is_read_all_the_same(log: FakeEgressLog) -> None:
    log.attempt()
    log.seal()
    where = log.folder / cache.name_of(segments(log.folder)[0])
    where.with_name(f".{where.name}.{os.getpid()}.part").mkdir()
    assert rows(log.folder, "SELECT count(*) FROM attempts") == [(1,)]
    assert parquet(log) == []


def test_what_was_over_by_then_is_not_even_looked_at(log: FakeEgressLog) -> None:
    log.attempt()
    log.seal()
    log.attempt()
    seal = segments(log.folder)[0].seal
    assert seal is not None
    with attempts(log.folder, since=seal.sealed_at.replace(year=2027)) as connection:
        assert connection.execute("SELECT count(*) FROM attempts").fetchall() == [(1,)]
    assert parquet(log) == []


def test_where_there_is_no_log_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no egress log"), attempts(tmp_path / "none"):
        pass


def test_a_broken_parquet_is_told_and_not_passed_over(log: FakeEgressLog) -> None:
    log.attempt()
    log.seal()
    rows(log.folder, "FROM attempts")
    parquet(log)[0].write_bytes(b"PAR1 it is not")
    with pytest.raises(Unavailable, match="can't be read"), attempts(log.folder):
        pass


def test_progress_is_told_segment_by_segment(log: FakeEgressLog) -> None:
    for _ in range(2):
        log.attempt()
        log.seal()
    heard: list[tuple[int, int]] = []
    with attempts(log.folder, told=lambda done, every: heard.append((done, every))):
        pass
    assert heard == [(0, 2), (1, 2), (2, 2)]
