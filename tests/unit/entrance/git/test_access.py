"""Which repositories a run may use."""

from dataclasses import replace

from entrance.decision import Deny
from entrance.git.access import decide_access, printable, still_open
from entrance.session import Ended, RepoGrant, RunId, Session, TaskId

READ = RepoGrant("host/read.git", "https://host/read.git")
WRITE = RepoGrant("host/write.git", "https://host/write.git", push=True)


def session(*repositories: RepoGrant) -> Session:
    return Session(
        run=RunId("r"),
        task=TaskId("P/T-1"),
        project="P",
        agent="bot",
        address="127.0.0.1",
        token_sha256="",
        repositories=repositories,
    )


def test_a_granted_repository_is_opened() -> None:
    assert decide_access(session(READ, WRITE), "host/read.git", push=False) == READ
    assert decide_access(session(READ, WRITE), "host/write.git", push=True) == WRITE


def test_fetching_is_not_pushing() -> None:
    decision = decide_access(session(READ), "host/read.git", push=True)
    assert isinstance(decision, Deny)
    assert "for fetching, not for pushing" in decision.reason


def test_another_repository_is_denied_and_the_granted_ones_are_named() -> None:
    decision = decide_access(session(WRITE, READ), "host/other.git", push=False)
    assert decision == Deny(
        "repository host/other.git is not granted to this run; "
        "granted are: host/read.git, host/write.git"
    )


def test_a_run_without_repositories_is_told_so() -> None:
    decision = decide_access(session(), "x", push=False)
    assert isinstance(decision, Deny)
    assert decision.reason.endswith("granted are: none")


def test_a_push_goes_on_in_the_session_that_it_came_in_and_in_no_other() -> None:
    then = session(WRITE)
    assert still_open(session(READ, WRITE), then, WRITE) is None
    assert still_open(replace(then, run=RunId("other")), then, WRITE) is not None
    assert still_open(replace(then, address="127.0.0.2"), then, WRITE) is not None
    assert still_open(Ended(RunId("r")), then, WRITE) is not None
    assert still_open(None, then, WRITE) is not None


def test_a_name_from_the_wire_is_made_printable() -> None:
    assert printable("a\r\nb\x1b[0m\u2028" + "c" * 300) == "a?b?[0m?" + "c" * 192
