"""A writer that is killed in the middle, or finds no room: nothing that was acknowledged is lost."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from entrance.log.shelf import Shelf
from tests.servers.log import lines_in, open_log, verified

KILLS = 4


def writing(folder: Path, *options: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.component.log.writing", str(folder), *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def killed_after(records: int, process: subprocess.Popen[str]) -> list[int]:
    """What it said was on the disk, up to when it was killed."""
    assert process.stdout
    said = [int(process.stdout.readline()) for _ in range(records)]
    process.kill()
    rest, _ = process.communicate(timeout=20)
    whole = rest[: rest.rfind("\n") + 1]
    return said + [int(line) for line in whole.splitlines()]


@pytest.mark.parametrize("segment_bytes", [30_000, 64 << 20], ids=["short segments", "one segment"])
def test_what_was_acknowledged_before_a_kill_is_there_after_it(
    tmp_path: Path, segment_bytes: int
) -> None:
    acknowledged: set[int] = set()
    for kill in range(KILLS):
        process = writing(tmp_path, "--segment-bytes", str(segment_bytes))
        acknowledged |= set(killed_after(300 + 211 * kill, process))
        assert verified(tmp_path).finding is None
    log = open_log(tmp_path)
    asyncio.run(log.close())
    report = verified(tmp_path)
    assert report.finding is None
    lines = lines_in(tmp_path)
    decided = {line["seq"] for line in lines if line["type"] == "decided"}
    assert len(acknowledged) >= 300 * KILLS
    assert acknowledged <= decided
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert (report.segments > KILLS) == (segment_bytes < 1 << 20)


def test_a_disk_without_room_is_told_and_written_to_again_when_it_has_some(tmp_path: Path) -> None:
    process = writing(tmp_path, "--room", "40000")
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    said = output.splitlines()
    full = said.index("full")
    assert full > 20
    assert [int(word) for word in said[:full]] == list(range(2, full + 2))
    assert [int(word) for word in said[full + 1 :]] == [full + 2, full + 3, full + 4]
    assert (verified(tmp_path).finding, verified(tmp_path).records) == (None, full + 4)
    assert Shelf(tmp_path).segments() == [1]
