"""Pushes that wait for a person, on a real disk."""

from dataclasses import replace
from pathlib import Path

import pytest

from entrance.errors import NotFound
from entrance.git.held import HeldPacks, HeldRecord, hold_id
from entrance.ports import HeldPush, Moved
from entrance.push_policy import Mode, PushPolicy
from entrance.session import Authorship, RepoGrant, RunId, Session, TaskId

RUN = RunId("run-1")
MOVED = (Moved("refs/heads/agent/T-1/x", "0" * 40, "1" * 40),)
SESSION = Session(
    run=RUN,
    task=TaskId("P/T-1"),
    project="P",
    agent="bot",
    address="10.0.0.2",
    token_sha256="f" * 64,
    tools={"polarion": frozenset({"get_task"})},
    authorship=Authorship("Bot", "bot@x", "a:b", frozenset({RUN})),
    push_policy=PushPolicy({"secrets": Mode.DENY}),
)
RECORD = HeldRecord(
    HeldPush(
        id=hold_id(RUN, "https://host/repo.git", MOVED),
        session=SESSION,
        repository=RepoGrant("host/repo.git", "https://host/repo.git", push=True),
        moved=MOVED,
        commits=("1" * 40,),
        reasons=("It changes a workflow.",),
        decision=7,
        sha256="0" * 64,
        size_bytes=8,
    ),
    capabilities=("report-status", "side-band-64k"),
    head_bytes=4,
)


def received(folder: Path, body: bytes = b"HEADPACK") -> Path:
    (folder / "objects").mkdir(parents=True)
    (folder / "body").write_bytes(body)
    return folder


def test_a_kept_push_is_there_again_with_all_that_was_known_but_the_token(tmp_path: Path) -> None:
    HeldPacks(tmp_path / "held").keep(received(tmp_path / "in"), RECORD)

    found = HeldPacks(tmp_path / "held").get(RECORD.push.id)

    without = replace(RECORD.push, session=replace(SESSION, token_sha256=""))
    assert found.record == replace(RECORD, push=without)
    assert found.body.read_bytes() == b"HEADPACK"
    assert found.objects.is_dir()
    assert not (tmp_path / "in").exists()
    assert HeldPacks(tmp_path / "held").list() == (found,)


def test_the_same_push_again_is_the_same_hold_and_the_first_stays(tmp_path: Path) -> None:
    held = HeldPacks(tmp_path / "held")
    first = held.keep(received(tmp_path / "in"), RECORD)
    again = held.keep(received(tmp_path / "again", b"other"), RECORD)

    assert again == first
    assert again.body.read_bytes() == b"HEADPACK"
    assert (tmp_path / "again").exists()
    assert hold_id(RUN, "https://host/repo.git", MOVED) == RECORD.push.id
    assert hold_id(RunId("run-2"), "https://host/repo.git", MOVED) != RECORD.push.id


def test_what_was_dropped_is_gone(tmp_path: Path) -> None:
    held = HeldPacks(tmp_path / "held")
    held.keep(received(tmp_path / "in"), RECORD)

    held.drop(RECORD.push.id)
    held.drop(RECORD.push.id)

    assert held.list() == ()
    with pytest.raises(NotFound):
        held.get(RECORD.push.id)


@pytest.mark.parametrize("name", ["../x", "", "g" * 32, "A" * 32])
def test_an_id_that_is_none_finds_nothing(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFound):
        HeldPacks(tmp_path).get(name)
    HeldPacks(tmp_path).drop(name)
    assert tmp_path.exists()


def test_half_of_a_push_is_none_and_gives_way_to_a_whole_one(tmp_path: Path) -> None:
    held = HeldPacks(tmp_path / "held")
    (tmp_path / "held" / RECORD.push.id).mkdir(parents=True)
    assert held.list() == ()

    assert held.keep(received(tmp_path / "in"), RECORD).body.read_bytes() == b"HEADPACK"
