"""The door's witness: one attestation a push, on the disk and in the log, whatever goes wrong between."""

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from entrance.attestation.attestor import Attestor, name_of
from entrance.attestation.store import Attestations
from entrance.errors import Unavailable
from entrance.ports import Moved
from entrance.session import RunId
from tests.fakes.attested import ACCEPTED, SESSION, STOOD, TIP, accepted
from tests.fakes.audit import FakeAudit
from tests.fakes.clock import FakeClock
from tests.servers.log import signer


@pytest.fixture
def audit() -> FakeAudit:
    return FakeAudit()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def attestor(tmp_path: Path, audit: FakeAudit, clock: FakeClock) -> Attestor:
    store = Attestations(tmp_path / "kept")
    return Attestor(store, signer(), audit, lambda: STOOD, clock.now, "0.test")


async def test_an_attestation_is_kept_and_the_log_has_its_hash(
    attestor: Attestor, audit: FakeAudit
) -> None:
    await attestor.accepted(ACCEPTED)
    (file,) = attestor.store.of_commit(TIP)
    (told,) = audit.decisions("attestation")
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    assert (told.kind, told.subject) == ("attestation", file.name)
    assert told.detail == {"of": ACCEPTED.decision, "sha256": digest}
    assert attestor.store.of_run("run1") == [file]


async def test_told_again_after_the_log_was_away_it_is_the_same(
    attestor: Attestor, audit: FakeAudit, clock: FakeClock
) -> None:
    """As after a kill between the two: what the log gets is what the file has."""
    audit.down = True
    with pytest.raises(Unavailable):
        await attestor.accepted(ACCEPTED)
    (file,) = attestor.store.of_commit(TIP)
    first = file.read_bytes()
    audit.down = False
    clock.advance(60)
    await attestor.accepted(ACCEPTED)
    assert file.read_bytes() == first
    (told,) = audit.decisions("attestation")
    assert told.detail["sha256"] == hashlib.sha256(first).hexdigest()


async def test_one_that_can_not_be_kept_is_told_of_nowhere(
    attestor: Attestor, audit: FakeAudit, tmp_path: Path
) -> None:
    (tmp_path / "kept").write_text("a file is in its place")
    with pytest.raises(Unavailable, match="can't be kept"):
        await attestor.accepted(ACCEPTED)
    assert audit.records == []


def test_each_push_has_a_name_of_its_own() -> None:
    others = (
        accepted(decision=4),
        accepted(session=replace(SESSION, run=RunId("run2"))),
        accepted(repository=replace(ACCEPTED.repository, name="other")),
        accepted(moved=(replace(ACCEPTED.moved[0], new="e" * 40),)),
        accepted(moved=(*ACCEPTED.moved, Moved("refs/heads/agent/DEMO-7/b", "0" * 40, TIP))),
    )
    names = {name_of(push) for push in (ACCEPTED, *others)}
    assert len(names) == 1 + len(others)
    assert name_of(accepted(approval="A-1", findings=())) == name_of(ACCEPTED)
