"""What a folder that is an agent's holds is measured, whatever the agent puts into it."""

import os
from pathlib import Path

from orchestrator.adapters.watched_disks import ENTRY_BYTES, measured

MIB = 1 << 20


def test_files_are_counted_once_and_by_what_they_take(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    file = tmp_path / "sub" / "file"
    file.write_bytes(b"x" * MIB)
    os.link(file, tmp_path / "again")
    with (tmp_path / "sparse").open("wb") as sparse:
        sparse.truncate(1 << 40)
    assert MIB <= measured(tmp_path, 1 << 40) < MIB + 10 * ENTRY_BYTES


def test_a_link_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "to-all").symlink_to("/", target_is_directory=True)
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    assert measured(tmp_path, 1 << 40) == 2 * ENTRY_BYTES


def test_empty_files_take_room_too(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / str(number)).touch()
    assert measured(tmp_path, 1 << 40) == 100 * ENTRY_BYTES


def test_what_is_too_much_already_is_not_counted_on(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "file").write_bytes(b"x" * MIB)
    assert measured(tmp_path, MIB // 2) < 2 * MIB
