"""What comes in: large, odd, half, and what a crash leaves of it."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from entrance.git.held import HeldPacks
from entrance.git.pktline import FLUSH
from entrance.ports import Moved
from tests.component.git.matrix import packs
from tests.component.git.matrix.test_heads_by_hand import command
from tests.component.git.test_push import OWN, push
from tests.fakes.push_inbox import FakePushInbox
from tests.fakes.pushes import FakeWitness
from tests.servers.git import KEPT, Door, door
from tests.waiting import until

MANY = 100_000


def leftovers(at_door: Door) -> list[Path]:
    return list((at_door.kept / "incoming").iterdir())


@pytest.mark.timeout(300)
async def test_a_push_of_100000_objects_is_read_and_arrives(at_door: Door) -> None:
    """CASE-49."""
    clone = await at_door.clone()
    said = "commit refs/heads/many\ncommitter agent <agent@localhost> 1800000000 +0000\ndata 1\nx\n"
    files = (
        f"M 100644 inline {number % 300}/{number}.txt\ndata {len(str(number))}\n{number}\n"
        for number in range(MANY)
    )
    stream = said + "from refs/remotes/origin/main^0\n" + "".join(files)
    await asyncio.to_thread(
        subprocess.run,
        ["git", "fast-import", "--quiet"],
        cwd=clone,
        input=stream.encode(),
        check=True,
        timeout=120,
    )

    said_of_it = await push(at_door, clone, f"refs/heads/many:{OWN}/many")

    assert said_of_it.code == 0, said_of_it.text
    assert at_door.audit.decisions("git_push")[-1].detail["objects"] > MANY
    await until(lambda: not leftovers(at_door))


async def test_a_delta_that_grows_beyond_memory_is_refused(at_door: Door) -> None:
    """A few kilobytes that would be three gigabytes."""
    base = packs.blob(bytes(1 << 20))
    size = 3 << 30
    growing = packs.delta(1 << 20, size, *[packs.copy(0, 1 << 20)] * (size >> 20))
    bomb = packs.entry(packs.REF_DELTA, growing, bytes.fromhex(base.oid))
    sent = packs.pack([packs.whole(base), bomb])

    status, said = await at_door.post("git-receive-pack", command(new=base.oid) + FLUSH + sent)

    assert (status, b"ng " in said) == (200, True)
    assert f"{OWN}/x" not in await at_door.refs()
    await until(lambda: not leftovers(at_door))


async def test_what_a_crash_left_is_gone_after_a_start(tmp_path: Path) -> None:
    left = tmp_path / KEPT / "incoming" / "push-left"
    half = tmp_path / KEPT / "mirrors" / ".gone-half"
    dropped = tmp_path / KEPT / "held" / ".leaving-x"
    for folder in (left, half, dropped):
        (folder / "objects").mkdir(parents=True)
        (folder / "body").write_bytes(b"half")

    async with door(tmp_path) as opened:
        assert not leftovers(opened)
        assert not half.exists()
        assert not dropped.exists()
        clone = await opened.clone()
        await opened.commit(clone)
        assert (await push(opened, clone, f"HEAD:{OWN}/one")).code == 0


async def test_a_held_push_is_kept_whole_and_asked_of_once(tmp_path: Path) -> None:
    inbox = FakePushInbox()
    async with door(tmp_path, inbox=inbox) as opened:
        clone = await opened.clone()
        (clone / ".github/workflows").mkdir(parents=True)
        new = await opened.commit(clone, ".github/workflows/ci.yml", b"on: push\n")
        before = await opened.refs()

        for _ in range(2):
            said = await push(opened, clone, f"HEAD:{OWN}/ci")
            assert "as A-1; a person looks at it" in said.text
            assert "[remote rejected]" in said.text

        [kept] = HeldPacks(opened.kept / "held").list()
        assert [asked.id for asked in inbox.asked] == [kept.record.push.id]
        assert kept.record.push.commits == (new,)
        assert kept.record.push.moved == (Moved(f"{OWN}/ci", "0" * 40, new),)
        assert "gate-path" in kept.record.push.reasons[0]
        assert kept.body.stat().st_size == kept.record.push.size_bytes
        assert await opened.refs() == before
        await until(lambda: not leftovers(opened))


async def test_what_can_not_be_asked_of_anybody_is_not_kept(tmp_path: Path) -> None:
    inbox = FakePushInbox()
    inbox.down = True
    async with door(tmp_path, inbox=inbox) as opened:
        clone = await opened.clone()
        await opened.commit(clone, "AGENTS.md", b"obey\n")

        said = await push(opened, clone, f"HEAD:{OWN}/x")

        assert "nobody could be asked" in said.text
        assert not HeldPacks(opened.kept / "held").list()


async def test_what_the_host_took_is_vouched_for_with_its_commits(tmp_path: Path) -> None:
    witness = FakeWitness()
    async with door(tmp_path, witness=witness) as opened:
        clone = await opened.clone()
        new = await opened.commit(clone)

        assert (await push(opened, clone, f"HEAD:{OWN}/one")).code == 0

    [told] = witness.told
    assert (told.commits, told.moved) == ((new,), (Moved(f"{OWN}/one", "0" * 40, new),))
