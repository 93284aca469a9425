"""The newest lines are vouched for while the log is written to, not only at its end."""

from pathlib import Path

import orjson

from entrance.decision import Deny
from entrance.log.checkpoints import Checkpoints
from entrance.log.records import Decided
from entrance.log.retention import Keep
from entrance.log.segments import Rules, Segments
from entrance.log.shelf import Shelf
from tests.servers.log import AT, open_log, signer
from tests.waiting import until

RECORD = Decided("request", "GET /x", Deny("no"), address="10.0.0.2")


def vouched(folder: Path) -> int:
    """The newest record that is vouched for."""
    return int(orjson.loads(Shelf(folder).head.read_bytes())["last_seq"])


async def test_new_records_are_vouched_for_soon(tmp_path: Path) -> None:
    log = open_log(tmp_path)
    assert await log.decided(RECORD) == 2
    await until(lambda: vouched(tmp_path) == 2)
    await log.close()


async def test_what_retention_lets_go_goes_while_the_log_is_written_to(tmp_path: Path) -> None:
    log = open_log(tmp_path, Rules(segment_bytes=1, keep=Keep(bytes=1)))
    for _ in range(3):
        await log.decided(RECORD)
    await until(lambda: 1 not in Shelf(tmp_path).segments())
    assert Shelf(tmp_path).segments() == [2, 3]
    await log.close()


async def test_what_could_not_be_signed_is_tried_again(tmp_path: Path) -> None:
    segments = Segments(tmp_path, signer(), lambda: AT)
    head, part = Shelf(tmp_path).head, tmp_path / ".head.json.part"
    head.mkdir()
    checkpoints = Checkpoints(segments, every_s=0.01)
    checkpoints.due()
    await until(part.exists)
    head.rmdir()
    await until(head.is_file)
    assert orjson.loads(head.read_bytes())["signature"]
    assert not part.exists()
    checkpoints.close()
    segments.close()
