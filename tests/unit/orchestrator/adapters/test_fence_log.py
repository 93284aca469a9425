"""What the fence dropped in the real log: written once, and read again by who begins anew."""

from pathlib import Path

import pytest

from entrance.decision import Deny
from entrance.errors import Unavailable
from entrance.log.egress_log import EgressLog
from entrance.log.records import Decided
from entrance.log.segments import Rules
from entrance.log.shelf import Shelf
from entrance.session import RunId, Session, TaskId
from orchestrator.adapters.fence_log import FenceLog
from orchestrator.domain.dropped import Anew, Count, Counted, Dropped, Flow, Owner
from tests.servers.log import lines_in, open_log, verified

SSH = Flow(3, "10.0.0.2", "10.0.0.1", "tcp", 22)
PING = Flow(4, "10.0.0.2", "192.0.2.1", "icmp", 0)
IPV6 = Flow(1, "fe80::2", "ff02::1", "udp", 5353)
REX = Owner(
    RunId("r1"),
    Session(
        RunId("r1"),
        TaskId("DEMO/DEMO-1"),
        "DEMO",
        "bot-rex",
        "10.0.0.2",
        "0" * 64,
        sandbox="box-1",
    ),
)


def dropped(flow: Flow, more: int, total: int, owner: Owner | None = REX) -> Dropped:
    return Dropped(flow, owner, Count(more, 60 * more), Count(total, 60 * total), 7)


def fence_log(log: EgressLog, folder: Path) -> FenceLog:
    return FenceLog(log, Shelf(folder / "log"), folder / "fence.json")


async def test_a_record_says_whose_packets_they_were_and_which_rule_dropped_them(
    tmp_path: Path,
) -> None:
    log = open_log(tmp_path / "log")
    await fence_log(log, tmp_path).record([dropped(SSH, 2, 5)])
    await log.close()
    (line,) = [one for one in lines_in(tmp_path / "log") if one["type"] == "decided"]
    known = {name: value for name, value in line.items() if name not in {"seq", "at", "hash"}}
    assert known == {
        "type": "decided",
        "door": "fence",
        "kind": "packet",
        "run": "r1",
        "task": "DEMO/DEMO-1",
        "agent": "bot-rex",
        "sandbox": "box-1",
        "address": "10.0.0.2",
        "subject": "tcp 10.0.0.1:22",
        "host": "10.0.0.1",
        "port": 22,
        "target": "10.0.0.1:22",
        "decision": "deny",
        "rule": "nothing else",
        "reason": "of the host a sandbox reaches nothing but its doors",
        "detail": {
            "protocol": "tcp",
            "packets": 2,
            "bytes": 120,
            "total_packets": 5,
            "total_bytes": 300,
            "generation": 7,
            "flow": [3, "10.0.0.2", "10.0.0.1", "tcp", 22],
        },
    }


@pytest.mark.parametrize(
    ("flow", "subject"),
    [
        pytest.param(PING, "icmp 192.0.2.1", id="no port"),
        pytest.param(IPV6, "udp [ff02::1]:5353", id="IPv6"),
        pytest.param(Flow(3, "10.0.0.2", "", "udp", 0), "udp", id="no room for its target"),
        pytest.param(Flow(), "packets", id="no room for anything"),
    ],
)
async def test_whatever_is_dropped_can_be_recorded(
    tmp_path: Path, flow: Flow, subject: str
) -> None:
    log = open_log(tmp_path / "log")
    mine = fence_log(log, tmp_path)
    assert await mine.record([dropped(flow, 1, 1, owner=None)]) == [None]
    assert await mine.told() == Counted(7, {flow: Count(1, 60)})
    await log.close()
    (line,) = [one for one in lines_in(tmp_path / "log") if one["type"] == "decided"]
    assert (line["subject"], "run" in line) == (subject, False)
    assert line["reason"]


@pytest.mark.parametrize("kept", ["kept", "not kept", "kept in the middle", "spoiled"])
async def test_who_begins_anew_is_told_the_sums_of_the_newest_generation(
    tmp_path: Path, kept: str
) -> None:
    log = open_log(tmp_path / "log", Rules(segment_bytes=2000))
    mine = fence_log(log, tmp_path)
    await mine.record([Anew(6, 0)])
    await mine.record([Dropped(SSH, REX, Count(9, 9), Count(9, 9), 6)])
    await mine.record([Anew(7, 6)])
    await mine.record([dropped(SSH, 2, 2), dropped(PING, 1, 1)])
    if kept == "kept in the middle":
        await mine.keep(Counted(7, {SSH: Count(2, 120), PING: Count(1, 60)}))
    await log.decided(Decided("request", '"door":"fence"', Deny("no"), detail={"door": "fence"}))
    await mine.record([dropped(SSH, 3, 5)])
    if kept == "kept":
        await mine.keep(Counted(7, {SSH: Count(5, 300), PING: Count(1, 60)}))
    if kept == "spoiled":
        (tmp_path / "fence.json").write_text("[1, 2")
    told = Counted(7, {SSH: Count(5, 300), PING: Count(1, 60)})
    assert await fence_log(log, tmp_path).told() == told
    await log.close()
    assert verified(tmp_path / "log").finding is None


async def test_a_log_without_the_fence_tells_nothing(tmp_path: Path) -> None:
    log = open_log(tmp_path / "log")
    await log.decided(Decided("request", "x", Deny("no")))
    assert await fence_log(log, tmp_path).told() is None
    await log.close()


class Full:
    """A log that takes one record."""

    def __init__(self) -> None:
        self.taken = 0

    async def decided(self, record: Decided) -> int:
        self.taken += 1
        if self.taken > 1:
            raise Unavailable("no space left on device")
        return 1


async def test_what_is_not_in_the_log_is_said(tmp_path: Path) -> None:
    mine = FenceLog(Full(), Shelf(tmp_path), tmp_path / "fence.json")
    first, second = await mine.record([dropped(SSH, 1, 1), dropped(PING, 1, 1)])
    assert first is None
    assert isinstance(second, Unavailable)
