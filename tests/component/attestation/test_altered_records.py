"""What somebody has changed in an attestation or in the log: refused, each with a word of its own."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from entrance.attestation.refusals import Word
from entrance.log.retention import Keep, drop
from entrance.log.shelf import Shelf
from tests.component.attestation.pushed import Pushed
from tests.servers.attested import Repository, as_of, looked, refused
from tests.servers.log import lines_in, signer


def test_an_altered_attestation_is_refused(pushed: Pushed) -> None:
    text = pushed.file.read_bytes()
    for at in range(0, len(text), 97):
        pushed.file.write_bytes(text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :])
        assert pushed.verify() in {Word.UNREADABLE, Word.FORGED, Word.FOREIGN_KEY}


async def test_another_key_is_refused(pushed: Pushed) -> None:
    other = signer(b"x")
    push = as_of(pushed.push, decision=pushed.push.decision + 1)
    await pushed.house.attestor(other).accepted(push)
    file = pushed.house.store.of_commit(push.commits[0])[-1]
    assert pushed.verify(file=file) is Word.FOREIGN_KEY
    found = looked(pushed.file, pushed.repository.folder, "HEAD", pushed.house.log_folder, other)
    assert refused(found) is Word.FOREIGN_KEY


@pytest.mark.parametrize(
    ("changed", "word"),
    [
        ({"held": 1}, Word.OTHER_RECORD),
        ({"decision": 1}, Word.OTHER_RECORD),
        ({"decision": 3}, Word.OTHER_RECORD),
        ({"decision": 4711}, Word.MISSING_RECORD),
        ({"refs": ()}, Word.RANGE),
    ],
)
def test_a_decision_that_the_log_does_not_tell_is_refused(
    pushed: Pushed, changed: dict[str, object], word: Word
) -> None:
    """Signed with our key, too: the log is the second witness."""
    assert lines_in(pushed.house.log_folder)[1]["seq"] == pushed.push.decision == 2
    assert pushed.verify(file=pushed.saying(**changed)) is word


def test_one_that_the_log_does_not_know_is_refused(pushed: Pushed) -> None:
    other = pushed.saying(version="another")
    assert pushed.verify(file=other) is Word.UNRECORDED


def test_another_history_of_the_log_is_refused(pushed: Pushed) -> None:
    link = pushed.said().log.model_copy(update={"hash": "d" * 64})
    assert pushed.verify(file=pushed.saying(log=link)) is Word.OTHER_LOG


def _changed(shelf: Shelf) -> None:
    path = shelf.segment(1)
    path.write_bytes(path.read_bytes().replace(b"DEMO-7", b"DEMO-8", 1))


def _without_a_line(shelf: Shelf) -> None:
    path = shelf.segment(1)
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:1] + lines[2:]))


def _without_a_segment(shelf: Shelf) -> None:
    shelf.segment(1).unlink()


def _cut(shelf: Shelf) -> None:
    path = shelf.segment(1)
    path.write_bytes(path.read_bytes()[:-20])


def _empty(shelf: Shelf) -> None:
    for path in shelf.folder.iterdir():
        path.unlink()


@pytest.mark.parametrize("tamper", [_changed, _without_a_line, _without_a_segment, _cut, _empty])
async def test_a_missing_link_is_refused(pushed: Pushed, tamper: Callable[[Shelf], None]) -> None:
    pushed.house.clock.advance(3600)
    await pushed.house.pushed(Repository(pushed.repository.folder.with_name("other")))
    await pushed.house.log.close()
    tamper(Shelf(pushed.house.log_folder))
    assert pushed.verify() is Word.BROKEN_LOG


async def test_a_record_that_a_rule_removed_is_told_apart(pushed: Pushed) -> None:
    for name in ("two", "three"):
        pushed.house.clock.advance(3600)
        await pushed.house.pushed(Repository(pushed.repository.folder.with_name(name)))
    await pushed.house.log.close()
    drop(
        Shelf(pushed.house.log_folder), signer(), Keep(age=timedelta(minutes=1)),
        pushed.house.clock.advance(7200),
    )  # fmt: skip
    assert pushed.verify() is Word.RETIRED_RECORD
