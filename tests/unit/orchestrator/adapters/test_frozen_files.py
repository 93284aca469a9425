"""What is known of frozen sandboxes survives on the disk, and is never taken for nothing."""

from dataclasses import replace
from pathlib import Path

import pytest

from entrance.errors import Malformed, Unavailable
from entrance.session import RunId
from orchestrator.adapters.frozen_files import FrozenFiles
from tests.fakes.frozen import FROZEN


def test_what_is_saved_is_loaded_by_the_next_process(tmp_path: Path) -> None:
    folder = tmp_path / "frozen"
    assert FrozenFiles(folder).load() == []
    FrozenFiles(folder).save(FROZEN)
    FrozenFiles(folder).save(replace(FROZEN, kept=True))
    other = replace(FROZEN, run=RunId("r2"))
    FrozenFiles(folder).save(other)
    assert FrozenFiles(folder).load() == [replace(FROZEN, kept=True), other]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_what_is_deleted_is_gone_and_deleting_it_again_is_nothing(tmp_path: Path) -> None:
    files = FrozenFiles(tmp_path)
    files.save(FROZEN)
    files.delete(FROZEN.run)
    files.delete(FROZEN.run)
    assert files.load() == []


def test_a_file_that_can_not_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "r1.json").write_text("{")
    with pytest.raises(Malformed, match=r"r1\.json"):
        FrozenFiles(tmp_path).load()


def test_the_run_of_a_file_that_can_not_be_read_is_known_all_the_same(tmp_path: Path) -> None:
    """The watchdog ends all sandboxes but the frozen ones: neither more nor fewer for a broken file."""
    files = FrozenFiles(tmp_path)
    assert files.runs() == frozenset()
    files.save(FROZEN)
    (tmp_path / "r2.json").write_text("{")
    assert files.runs() == {FROZEN.run, "r2"}


def test_where_nothing_can_be_written_that_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unavailable, match="can't be written"):
        FrozenFiles(tmp_path / "file" / "frozen").save(FROZEN)
