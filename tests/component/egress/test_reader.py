"""Lines in their order, each once, also while segments are sealed and lines half written."""

from pathlib import Path

import pytest

from entrance.errors import NotFound
from orchestrator.egress.reader import Place, Reader, end, find, near_the_end
from tests.fakes.egress_log import FakeEgressLog


@pytest.fixture
def log(tmp_path: Path) -> FakeEgressLog:
    return FakeEgressLog(tmp_path / "log")


def all_of(reader: Reader, most_bytes: int = 1 << 20) -> list[int]:
    seqs: list[int] = []
    while lines := reader.read(most_bytes):
        seqs += [line.seq for line in lines]
    return seqs


@pytest.mark.parametrize("most_bytes", [1, 100, 600, 1 << 20])
def test_every_line_comes_once_across_segments(log: FakeEgressLog, most_bytes: int) -> None:
    for _ in range(3):
        log.attempt()
        log.seal()
    reader = Reader(log.folder)
    assert all_of(reader, most_bytes) == list(range(1, log.seq + 1))
    assert not reader.gap


def test_reading_goes_on_where_it_stopped(log: FakeEgressLog) -> None:
    reader = Reader(log.folder)
    assert all_of(reader) == [1]
    log.attempt()
    assert all_of(reader) == [2, 3]
    log.seal()
    log.attempt()
    again = Reader(log.folder, reader.place)
    assert all_of(reader) == all_of(again) == [4, 5, 6]


def test_half_a_line_waits_for_its_other_half(log: FakeEgressLog) -> None:
    reader = Reader(log.folder)
    log.raw(b'{"seq":2,"type":')
    assert all_of(reader) == [1]
    log.raw(b'"decided"}\n')
    assert all_of(reader) == [2]


def test_what_is_no_json_object_is_a_line_all_the_same(log: FakeEgressLog) -> None:
    log.raw(b"nonsense\n[1]\n")
    lines = Reader(log.folder).read()
    assert [(one.seq, one.fields["type"]) for one in lines[1:]] == [(0, "unreadable")] * 2
    assert lines[1].raw == b"nonsense"


def test_nothing_after_the_limit_is_read(log: FakeEgressLog) -> None:
    log.attempt()
    log.seal()
    log.attempt()
    limit = end(log.folder)
    log.attempt()
    reader = Reader(log.folder)
    seqs: list[int] = []
    while lines := reader.read(before=limit):
        seqs += [line.seq for line in lines]
    assert seqs == [1, 2, 3, 4, 5, 6]
    assert reader.place == limit
    reader = Reader(log.folder)
    assert [line.seq for line in reader.read(before=Place(1, 0))] == []


def test_a_place_that_was_removed_by_retention_is_a_gap(log: FakeEgressLog) -> None:
    first = log.path
    log.seal()
    second = log.path
    log.attempt()
    log.seal()
    reader = Reader(log.folder, Place(1, 10))
    first.unlink()
    second.unlink()
    assert all_of(reader) == [log.seq]
    assert reader.gap
    fresh = Reader(log.folder)
    assert all_of(fresh) == [log.seq]
    assert not fresh.gap


def test_a_line_is_found_by_its_number(log: FakeEgressLog) -> None:
    log.attempt(run="run-x")
    log.seal()
    log.attempt(run="run-y")
    found = [find(log.folder, seq) for seq in (2, 5, 99)]
    assert [one and one.fields.get("run") for one in found] == ["run-x", "run-y", None]


def test_the_end_is_found_from_behind(log: FakeEgressLog) -> None:
    for _ in range(5):
        log.attempt()
        log.seal()
    assert all_of(Reader(log.folder, near_the_end(log.folder, 1 << 20)))[0] == 1
    assert all_of(Reader(log.folder, near_the_end(log.folder, 1))) == []
    some = all_of(Reader(log.folder, near_the_end(log.folder, 700)))
    assert some == list(range(some[0], log.seq + 1))
    assert len(some) in {1, 2, 3}


def test_where_there_is_no_log_that_is_said(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no egress log"):
        Reader(tmp_path).read() or Reader(tmp_path / "none").read()
