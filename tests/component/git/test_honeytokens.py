"""A honeytoken in anything that git sends to a host: found, and the host has nothing it could use."""

import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from entrance.git.pktline import FLUSH, encode
from entrance.honeytokens.watch import RULE
from tests.component.git.matrix.promises import pushes_at_host
from tests.component.git.test_push import OWN, push
from tests.fakes.alarm import canary
from tests.servers.git import Door, door

SECRET = canary("run-1")
LONG = "".join(
    f"line {number} of a file that is long enough for a delta\n" for number in range(2000)
)


@pytest.fixture
async def at_door(tmp_path: Path) -> AsyncIterator[Door]:
    async with door(tmp_path) as opened:
        yield opened


async def in_a_file(at_door: Door, clone: Path) -> None:
    await at_door.commit(clone, "notes.txt", f"key: {SECRET}\n".encode())


async def in_a_packed_file(at_door: Door, clone: Path) -> None:
    await at_door.commit(clone, "notes.txt", base64.encodebytes(f"key: {SECRET}\n".encode()))


async def in_a_large_file(at_door: Door, clone: Path) -> None:
    await at_door.commit(clone, "notes.txt", bytes(3 << 20) + SECRET.encode() + bytes(1 << 20))


async def in_a_files_name(at_door: Door, clone: Path) -> None:
    await at_door.commit(clone, f"{SECRET}.txt", b"nothing\n")


async def in_a_message(at_door: Door, clone: Path) -> None:
    await at_door.commit(clone)
    await at_door.git.ok("commit", "--amend", "-qm", f"Use {SECRET}", cwd=clone)


async def in_an_authors_name(at_door: Door, clone: Path) -> None:
    await at_door.commit(clone)
    author = f"--author={SECRET} <a@b.c>"
    await at_door.git.ok("commit", "--amend", "--no-edit", "-q", author, cwd=clone)


async def in_a_delta(at_door: Door, clone: Path) -> None:
    """Against a file that the host has already."""
    await at_door.commit(clone, "long.txt", LONG.encode())
    assert (await push(at_door, clone, f"HEAD:{OWN}/long")).code == 0
    changed = LONG.replace("line 900 ", f"line 900 {SECRET} ")
    await at_door.commit(clone, "long.txt", changed.encode())


async def in_a_commit_that_is_undone(at_door: Door, clone: Path) -> None:
    await in_a_file(at_door, clone)
    await at_door.commit(clone, "notes.txt", b"nothing to see\n")


@pytest.mark.parametrize(
    "hide",
    [
        in_a_file,
        in_a_packed_file,
        in_a_large_file,
        in_a_files_name,
        in_a_message,
        in_an_authors_name,
        in_a_delta,
        in_a_commit_that_is_undone,
    ],
    ids=lambda hide: hide.__name__,
)
async def test_a_push_with_one_in_it_changes_nothing(
    at_door: Door, hide: Callable[[Door, Path], Awaitable[None]]
) -> None:
    clone = await at_door.clone()
    await hide(at_door, clone)
    before, asked = await at_door.refs(), pushes_at_host(at_door)
    assert not at_door.alarm.touched

    said = await push(at_door, clone, f"HEAD:{OWN}/work")

    assert said.code != 0
    assert await at_door.refs() == before
    [touched] = at_door.alarm.touched
    assert (touched.canary, touched.where, touched.door) == ("aws-secret", "a pushed pack", "git")
    found = at_door.audit.decisions("git_push")[-1]
    assert (found.rule, found.decision.word) == (RULE, "deny")
    assert pushes_at_host(at_door) == asked
    assert SECRET not in str(at_door.audit.records)


async def test_one_in_a_branchs_name_never_reaches_the_host(at_door: Door) -> None:
    clone = await at_door.clone()
    await at_door.commit(clone)
    asked = len(at_door.host_saw)

    said = await push(at_door, clone, f"HEAD:{OWN}/{SECRET}")

    assert said.code != 0
    assert at_door.alarm.touched[0].where == "the commands of a git push"
    assert not [
        path for path, _ in at_door.host_saw[asked:] if "receive-pack" in path.split("?")[0]
    ]
    assert SECRET not in str(at_door.audit.records)


async def test_one_in_a_push_option_is_found_though_options_are_refused(at_door: Door) -> None:
    command = f"{'0' * 40} {'1' * 40} {OWN}/x\0 report-status push-options".encode()
    body = encode(command) + FLUSH + encode(f"note={SECRET}".encode()) + FLUSH

    status, _ = await at_door.post("git-receive-pack", body)

    assert status == 403
    assert at_door.alarm.touched[0].where == "the commands of a git push"


async def test_one_in_a_fetch_is_found(at_door: Door) -> None:
    body = (
        encode(b"command=ls-refs\n") + b"0001" + encode(f"ref-prefix {SECRET}\n".encode()) + FLUSH
    )

    status, _ = await at_door.post("git-upload-pack", body, {"Git-Protocol": "version=2"})

    assert status >= 400
    assert at_door.alarm.touched[0].where == "a git fetch"


async def test_an_ordinary_push_raises_no_alarm(at_door: Door) -> None:
    clone = await at_door.clone()
    await at_door.commit(clone, "long.txt", LONG.encode())
    assert (await push(at_door, clone, f"HEAD:{OWN}/long")).code == 0
    assert not at_door.alarm.touched


async def test_a_pack_that_cannot_be_read_is_not_passed_on(at_door: Door) -> None:
    command = f"{'0' * 40} {'1' * 40} {OWN}/x\0 report-status".encode()

    _, said = await at_door.post("git-receive-pack", encode(command) + FLUSH + b"PACKnonsense")

    assert b"git doesn't take the pack" in said
    assert pushes_at_host(at_door) == 0
    assert not at_door.alarm.touched
