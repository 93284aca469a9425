"""The sandboxes of MCP servers: started when they are needed, and ended when nobody needs them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from entrance.errors import NotFound, Unavailable
from entrance.ports import McpServer, Stdio
from entrance.session import Backend, RunId, Session, TaskId, hash_token
from orchestrator.disks import KeptDisk
from orchestrator.domain.egress import Policy
from orchestrator.server_sandboxes import Boxes, Means
from orchestrator.server_sandboxes.boxes import AFTERWARDS_S
from orchestrator.server_sandboxes.names import box_on, disk_of, new_box
from tests.fakes.sandboxes import FakeDisks, FakeHarness, FakeSandboxes

RUN = RunId("run000000000001")
SESSION = Session(RUN, TaskId("DEMO/DEMO-7"), "DEMO", "bot-rex", "10.9.9.9", "a" * 64)
MEMORY = McpServer("memory", stdio=Stdio(("npx", "memory"), {"A": "1"}, "presets: [npm]"))


class Disks(FakeDisks):
    """Those that are there can be told."""

    async def kept(self) -> Sequence[KeptDisk]:
        return [KeptDisk(task, 0) for task in self.mounted]


@dataclass
class Egress:
    """`ServerEgress` that takes notes."""

    admitted: list[tuple[str, Session, Policy]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    trouble: str = ""

    def environment(self, wanted: Policy) -> Mapping[str, str]:
        return {"REGISTRIES": ",".join(wanted.presets)}

    def way_out(self, token: str) -> Mapping[str, str]:
        return {"PROXY": token}

    async def admit(self, account: RunId, session: Session, wanted: Policy) -> Sequence[str]:
        if self.trouble:
            raise Unavailable(self.trouble)
        self.admitted.append((account, session, wanted))
        return ()

    def forget(self, address: str) -> None:
        self.gone.append(address)


class House:
    """Boxes over fakes; `now` is the clock."""

    def __init__(self, folder: Path, *, offered: bool = True) -> None:
        self.now = 0.0
        self.open = {RUN}
        self.sandboxes = FakeSandboxes(FakeHarness(["ready", "its words"], None))
        self.disks, self.egress = Disks(), Egress()
        self.means = Means(
            sandboxes=self.sandboxes,
            disks=self.disks,
            execd_token=lambda box: f"execd of {box}",
            clock=lambda: self.now,
            offered=offered,
            said=folder,
            backend_url="http://10.9.9.1:8080/backend",
            egress=self.egress,
        )
        self.boxes = Boxes(self.means, lambda: frozenset(self.open), heartbeat_s=100)

    async def reach(self) -> str:
        return (await self.boxes.reach(SESSION, MEMORY, start=True)).url

    def nothing_left(self) -> bool:
        register = self.means.register
        return not (self.sandboxes.live or self.disks.mounted or register.live)


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


async def test_a_server_is_started_once_with_what_it_may_have(house: House) -> None:
    place = await house.boxes.reach(SESSION, MEMORY, start=True)
    assert await house.reach() == place.url
    (spec,), (argv, env) = house.sandboxes.specs, house.sandboxes.started[0]
    assert (spec.task, spec.harness, spec.env) == (SESSION.task, "stdio", {"REGISTRIES": "npm"})
    assert spec.run.startswith(f"memory.{RUN}.")
    assert argv[2:] == ["npx", "memory"]
    assert env["A"] == "1"
    assert place.hidden == (env["PROXY"],), "it is nobody's business"


async def test_what_it_does_is_its_runs_and_opens_no_door(house: House) -> None:
    await house.reach()
    ((account, own, policy),) = house.egress.admitted
    assert (account, policy.presets) == (f"memory.{RUN}", ("npm",))
    assert (own.run, own.task, own.agent, own.server) == (RUN, SESSION.task, "bot-rex", "memory")
    assert not any((own.tools, own.repositories, own.models))
    assert own.token_sha256 != SESSION.token_sha256
    assert house.means.register.at(own.address) == own


async def test_what_opens_its_backend_is_its_own_and_ends_with_it(house: House) -> None:
    backend = Backend("https://alm.example", "alm-token")
    env = {"URL": "${BACKEND_URL}", "TOKEN": "${BACKEND_TOKEN}"}
    alm = McpServer("alm", stdio=Stdio(("run",), env, backend=backend))
    await house.boxes.reach(SESSION, alm, start=True)
    ((_, given),) = house.sandboxes.started
    assert (given["URL"], given["TOKEN"]) == (house.means.backend_url, given["PROXY"])
    own = house.boxes.find(hash_token(given["TOKEN"]))
    assert own is not None
    assert (own.run, own.server, own.backend) == (RUN, "alm", backend)
    assert house.boxes.find(SESSION.token_sha256) is None
    await house.boxes.end_of(RUN)
    assert house.boxes.find(hash_token(given["TOKEN"])) is None


async def test_what_needs_no_start_starts_nothing(house: House) -> None:
    with pytest.raises(NotFound):
        await house.boxes.reach(SESSION, MEMORY, start=False)
    assert house.nothing_left()


async def test_with_its_run_all_of_it_goes_and_its_words_are_kept(house: House) -> None:
    await house.reach()
    await house.boxes.end_of(RUN)
    await house.boxes.end_of(RUN)
    assert house.nothing_left()
    assert house.egress.gone == ["10.0.0.2"]
    (file,) = house.boxes.said_by(RUN)
    assert file.read_text() == "its words"


async def test_one_that_was_doubted_and_lives_stays(house: House) -> None:
    first = await house.reach()
    house.boxes.doubt(SESSION, MEMORY)
    assert await house.reach() == first


async def test_one_that_is_gone_is_made_anew(house: House) -> None:
    first = await house.reach()
    house.sandboxes.live.clear()
    assert await house.reach() == first, "nobody has noticed"
    house.boxes.doubt(SESSION, MEMORY)
    assert await house.reach() != first
    assert len(house.sandboxes.live) == len(house.disks.mounted) == 1


async def test_a_server_that_is_to_run_differently_is_made_anew(house: House) -> None:
    await house.reach()
    other = McpServer("memory", stdio=Stdio(("npx", "another")))
    await house.boxes.reach(SESSION, other, start=True)
    assert len(house.sandboxes.live) == 1
    assert house.sandboxes.started[-1][0][2:] == ["npx", "another"]


@pytest.mark.parametrize("why", ["the image is gone", "no policy"])
async def test_of_one_that_can_not_be_started_nothing_is_left(house: House, why: str) -> None:
    if why == "no policy":
        house.egress.trouble = why
    else:
        house.sandboxes.refuse = NotFound(why)
    with pytest.raises(Unavailable, match=why):
        await house.reach()
    house.sandboxes.refuse = None
    assert house.nothing_left()


async def test_one_whose_bridge_ends_says_what_it_said(house: House) -> None:
    house.sandboxes.harness = FakeHarness(["no python"], 1)
    with pytest.raises(Unavailable, match="no python"):
        await house.reach()
    assert house.nothing_left()


async def test_where_there_is_no_image_that_is_said(tmp_path: Path) -> None:
    house = House(tmp_path, offered=False)
    with pytest.raises(Unavailable, match="--stdio-servers"):
        await house.reach()
    assert house.nothing_left()


async def test_who_gives_up_a_start_leaves_nothing(house: House) -> None:
    house.sandboxes.harness = FakeHarness([], None)  # it never listens
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await house.reach()
    assert house.nothing_left()


async def test_what_is_idle_or_of_no_run_ends_by_itself(house: House) -> None:
    await house.reach()
    house.now = house.boxes.idle_s
    await house.boxes.look()
    assert house.sandboxes.live
    house.now += 1
    await house.boxes.look()
    assert house.nothing_left()
    await house.reach()
    house.open.clear()
    house.now += AFTERWARDS_S + 1
    await house.boxes.look()
    assert house.nothing_left()


async def test_one_that_a_heartbeat_misses_is_looked_at_before_it_is_used(house: House) -> None:
    first = await house.reach()
    house.sandboxes.live.clear()
    house.now = 101
    await house.boxes.look()
    assert await house.reach() != first


async def test_disks_that_a_crash_has_left_are_removed_and_no_others(house: House) -> None:
    left, task = disk_of(new_box("memory", RUN)), TaskId("DEMO/DEMO-7")
    house.disks.mounted |= {left, task}
    await house.reach()
    await house.boxes.sweep_disks()
    assert left in house.disks.purged
    assert house.disks.mounted == {task, *map(disk_of, house.means.register.live)}


def test_a_servers_disk_is_told_from_a_tasks() -> None:
    box = new_box("memory", RUN)
    assert box_on(disk_of(box)) == box
    assert box_on(TaskId("DEMO/DEMO-7")) is None
