"""Pushes whose result isn't recorded when the door starts: the host is asked what it has."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from entrance.git.unsettled import Unsettled
from entrance.git.upstream import GitHost, client_session
from entrance.log.records import Outcome
from entrance.ports import AcceptedPush, Moved
from tests.component.git.test_push import OWN
from tests.fakes.audit import FakeAudit
from tests.fakes.pushes import FakeWitness
from tests.servers.git import Door, FakeCredentials
from tests.waiting import until

NONE = "0" * 40


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    return tmp_path / "notes"


@asynccontextmanager
async def settling(
    notes: Path, audit: FakeAudit, witness: FakeWitness | None = None
) -> AsyncIterator[Unsettled]:
    """As after a start."""
    async with client_session() as http:
        host = GitHost(http, FakeCredentials())
        unsettled = Unsettled(notes, host, audit, witness, delays_s=(0.01,))
        unsettled.begin()
        try:
            yield unsettled
        finally:
            await unsettled.close()


async def sent(at_door: Door, notes: Path, *refs: str) -> AcceptedPush:
    """A push of `main` to these refs, of which there is only the note, as a kill leaves it."""
    main = (await at_door.refs())["refs/heads/main"]
    moved = tuple(Moved(ref, NONE, main) for ref in refs)
    push = AcceptedPush(at_door.session, at_door.session.repositories[0], moved, (main,), 7)
    async with settling(notes, FakeAudit()) as unsettled:
        unsettled.note(push)
    assert at_door.session.token_sha256 not in next(notes.iterdir()).read_text()
    return push


def outcomes(audit: FakeAudit) -> list[tuple[int, str]]:
    return [(one.of, one.result) for one in audit.records if isinstance(one, Outcome)]


def empty(notes: Path) -> bool:
    return not list(notes.iterdir())


async def test_one_that_arrived_is_recorded_and_vouched_for(at_door: Door, notes: Path) -> None:
    push = await sent(at_door, notes, f"{OWN}/x")
    await at_door.git.ok("-C", at_door.root / "small.git", "branch", "agent/TASK-7/x", "main")
    audit, witness = FakeAudit(), FakeWitness()

    async with settling(notes, audit, witness):
        await until(lambda: empty(notes))

    assert outcomes(audit) == [(7, "ok")]
    assert [one.moved for one in witness.told] == [push.moved]


async def test_one_that_did_not_arrive_is_recorded_and_nobody_vouches(
    at_door: Door, notes: Path
) -> None:
    await sent(at_door, notes, f"{OWN}/x")
    audit, witness = FakeAudit(), FakeWitness()

    async with settling(notes, audit, witness):
        await until(lambda: empty(notes))

    assert outcomes(audit) == [(7, "refused")]
    assert not witness.told


async def test_of_one_that_arrived_in_part_that_part_is_vouched_for(
    at_door: Door, notes: Path
) -> None:
    push = await sent(at_door, notes, f"{OWN}/x", f"{OWN}/y")
    await at_door.git.ok("-C", at_door.root / "small.git", "branch", "agent/TASK-7/y", "main")
    audit, witness = FakeAudit(), FakeWitness()

    async with settling(notes, audit, witness):
        await until(lambda: empty(notes))

    assert outcomes(audit) == [(7, "refused")]
    assert [one.moved for one in witness.told] == [push.moved[1:]]


async def test_while_nobody_can_vouch_the_note_stays_over_a_restart_and_is_recorded_once(
    at_door: Door, notes: Path
) -> None:
    await sent(at_door, notes, f"{OWN}/x")
    await at_door.git.ok("-C", at_door.root / "small.git", "branch", "agent/TASK-7/x", "main")
    audit, witness = FakeAudit(), FakeWitness(down=True)
    async with settling(notes, audit, witness):
        await until(lambda: '"taken"' in next(notes.iterdir()).read_text())
    witness.down = False

    async with settling(notes, audit, witness):
        await until(lambda: empty(notes))

    assert outcomes(audit) == [(7, "ok")]
    assert len(witness.told) == 1


async def test_a_note_that_can_not_be_read_is_no_trouble(notes: Path) -> None:
    notes.mkdir()
    (notes / "9.json").write_text("{")

    async with settling(notes, FakeAudit()):
        assert empty(notes)
