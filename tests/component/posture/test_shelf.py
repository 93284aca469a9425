"""Reports and acceptances on the disk: what isn't ours, or was changed, is not there."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from entrance.errors import Unavailable
from orchestrator.adapters.posture.shelf import KEPT, Shelf
from orchestrator.posture.report import Acceptance, Report
from tests.fakes.posture import AT, CONFIGURATION, Key, report, tried


def numbered(number: int, key: Key, **changes: object) -> Report:
    at = AT + timedelta(minutes=number)
    name = f"{at:%Y%m%dT%H%M%SZ}-{number:06x}"
    return report(tried("way"), id=name, ended_at=at, **changes).signed(key)


@pytest.fixture
def key() -> Key:
    return Key()


@pytest.fixture
def shelf(tmp_path: Path, key: Key) -> Shelf:
    return Shelf(tmp_path / "posture", key.public)


async def test_the_newest_report_of_a_configuration_is_found(shelf: Shelf, key: Key) -> None:
    for number, fingerprint in enumerate(("a", "b", "a", "b")):
        await shelf.keep(numbered(number, key, fingerprint=fingerprint))
    newest, of_a = await shelf.latest(), await shelf.latest("a")
    assert newest is not None
    assert of_a is not None
    assert (newest.fingerprint, of_a.ended_at - AT) == ("b", timedelta(minutes=2))
    assert await shelf.latest("c") is None


async def test_only_the_newest_reports_are_kept(shelf: Shelf, key: Key, tmp_path: Path) -> None:
    for number in range(KEPT + 3):
        await shelf.keep(numbered(number, key))
    kept = sorted(file.name for file in (tmp_path / "posture" / "reports").iterdir())
    assert len(kept) == KEPT
    assert kept[0].endswith("-000003.json")


@pytest.mark.parametrize("damage", ["changed", "another's", "unreadable"])
async def test_a_report_that_is_not_as_it_was_signed_is_passed_over(
    shelf: Shelf, key: Key, tmp_path: Path, damage: str
) -> None:
    await shelf.keep(numbered(0, key))
    await shelf.keep(numbered(1, Key() if damage == "another's" else key))
    file = max((tmp_path / "posture" / "reports").iterdir())
    if damage == "changed":
        said = json.loads(file.read_bytes())
        said["probes"][0]["found"] = "reached"
        file.write_text(json.dumps(said))
    elif damage == "unreadable":
        file.write_bytes(file.read_bytes()[:-40])
    found = await shelf.latest(CONFIGURATION.fingerprint())
    assert found is not None
    assert found.ended_at == AT


async def test_acceptances_come_back_in_their_order(shelf: Shelf, key: Key) -> None:
    for number, probe in enumerate(("one", "two@codex")):
        made = Acceptance(
            probe=probe, found="reached", why="known", by="lead",
            at=AT + timedelta(seconds=number), report="r",
        )  # fmt: skip
        await shelf.accept(made.signed(key))
    assert [one.probe for one in await shelf.acceptances()] == ["one", "two@codex"]


async def test_a_folder_that_cannot_be_written_to_is_a_sentence(tmp_path: Path, key: Key) -> None:
    (tmp_path / "posture").write_text("a file")
    with pytest.raises(Unavailable, match="can't be written to"):
        await Shelf(tmp_path / "posture", key.public).keep(numbered(0, key))
