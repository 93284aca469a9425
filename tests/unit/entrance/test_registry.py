"""Sessions in memory: open, closed, replaced, forgotten."""

from dataclasses import replace

import pytest

from entrance.errors import Conflict
from entrance.registry import SessionRegistry
from entrance.session import Ended, RunId, Session, TaskId

ONE = Session(RunId("r1"), TaskId("P/T"), "P", "bot", "10.0.0.2", "t1")


def test_a_session_is_found_until_it_is_closed_and_known_as_ended_after() -> None:
    registry = SessionRegistry()
    registry.open(ONE)
    assert registry.find("t1") is ONE
    assert registry.open_runs() == {"r1"}
    registry.close(RunId("r1"))
    assert registry.find("t1") == Ended(RunId("r1"))
    assert registry.open_runs() == set()


def test_closing_a_run_that_has_no_session_does_nothing() -> None:
    registry = SessionRegistry()
    registry.close(RunId("r1"))
    assert registry.find("t1") is None


def test_opening_again_replaces_the_session() -> None:
    registry = SessionRegistry()
    registry.open(ONE)
    moved = replace(ONE, address="10.0.0.9")
    registry.open(moved)
    assert registry.find("t1") is moved


def test_a_new_token_ends_the_runs_old_one() -> None:
    registry = SessionRegistry()
    registry.open(ONE)
    registry.open(replace(ONE, token_sha256="t2"))
    assert registry.find("t1") == Ended(RunId("r1"))
    assert isinstance(registry.find("t2"), Session)


def test_a_token_never_serves_another_run_or_again_after_its_end() -> None:
    registry = SessionRegistry()
    registry.open(ONE)
    with pytest.raises(Conflict):
        registry.open(replace(ONE, run=RunId("r2")))
    registry.close(RunId("r1"))
    with pytest.raises(Conflict):
        registry.open(ONE)


def test_only_so_many_ended_sessions_are_remembered() -> None:
    registry = SessionRegistry(remembered=2)
    for number in range(3):
        registry.open(replace(ONE, run=RunId(f"r{number}"), token_sha256=f"t{number}"))
        registry.close(RunId(f"r{number}"))
    assert registry.find("t0") is None
    assert registry.find("t1") == Ended(RunId("r1"))
