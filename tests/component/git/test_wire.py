"""Requests by hand: what no decent git client sends, and what an agent might."""

import gzip
import zlib
from collections.abc import Mapping
from pathlib import Path

import pytest

from entrance.git.pktline import FLUSH, encode
from tests.servers.git import ITEM, Door, door

OWN = f"refs/heads/agent/{ITEM}".encode()
NONE = "0" * 40
CAPABILITIES = "report-status side-band-64k agent=test"
EMPTY_PACK = bytes.fromhex("5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e")


def command(
    ref: bytes, new: str, *, old: str = NONE, capabilities: str | None = CAPABILITIES
) -> bytes:
    tail = b"" if capabilities is None else b"\0 " + capabilities.encode()
    return encode(f"{old} {new} ".encode() + ref + tail)


async def push(
    at_door: Door, body: bytes, headers: Mapping[str, str] | None = None
) -> tuple[int, bytes]:
    return await at_door.post("git-receive-pack", body, headers)


async def main_of(at_door: Door) -> str:
    return (await at_door.refs())["refs/heads/main"]


async def test_the_probe_is_answered_with_nothing(at_door: Door) -> None:
    """CASE-32, CASE-37."""
    main = await main_of(at_door)
    assert await push(at_door, b"0000") == (200, b"")
    assert await push(at_door, encode(b"shallow " + main.encode()) + FLUSH) == (200, b"")
    assert not at_door.host_saw


async def test_a_new_branch_at_a_known_commit_is_pushed(at_door: Door) -> None:
    """CASE-54."""
    main = await main_of(at_door)
    status, said = await push(at_door, command(OWN + b"/at-main", main) + FLUSH + EMPTY_PACK)

    assert status == 200
    assert b"ok " + OWN + b"/at-main" in said
    assert (await at_door.refs())[f"{OWN.decode()}/at-main"] == main


async def test_a_gzipped_push_is_judged_and_forwarded(at_door: Door) -> None:
    main = await main_of(at_door)
    allowed = gzip.compress(command(OWN + b"/gz", main) + FLUSH + EMPTY_PACK)
    refused = gzip.compress(command(b"refs/heads/evil", main) + FLUSH + EMPTY_PACK)
    zipped = {"Content-Encoding": "gzip"}

    status, said = await push(at_door, allowed, zipped)
    assert (status, b"ok " + OWN + b"/gz" in said) == (200, True)
    status, said = await push(at_door, refused, zipped)
    assert (status, b"ng refs/heads/evil" in said) == (200, True)
    assert "refs/heads/evil" not in await at_door.refs()


@pytest.mark.parametrize(
    "ref",
    [
        b"refs/heads/main",
        b"HEAD",
        OWN + b"/",
        OWN + b"/../main",
        OWN + b"/x.lock",
        OWN + b"/x refs/heads/main",
        OWN + b"/x\nrefs/heads/main",
        b"refs/heads/refs/heads/agent/TASK-7/x",
    ],
)
async def test_a_crafted_name_is_refused(at_door: Door, ref: bytes) -> None:
    before = await at_door.refs()
    body = command(ref, before["refs/heads/main"]) + FLUSH + EMPTY_PACK

    status, said = await push(at_door, body)

    assert status == 200
    assert b"ng " in said
    assert await at_door.refs() == before
    assert not at_door.host_saw


async def test_a_second_command_is_judged_as_the_first(at_door: Door) -> None:
    """CASE-44."""
    main = await main_of(at_door)
    body = command(OWN + b"/ok", main) + command(b"refs/heads/evil", main, capabilities=None)

    status, said = await push(at_door, body + FLUSH + EMPTY_PACK)

    assert status == 200
    assert b"ng refs/heads/evil this run may push only branches under" in said
    assert b"ng " + OWN + b"/ok not pushed: another ref" in said
    assert list(await at_door.refs()) == ["refs/heads/main"]


async def test_push_options_on_the_wire_are_refused(at_door: Door) -> None:
    main = await main_of(at_door)
    wanted = command(OWN + b"/x", main, capabilities="report-status push-options")
    body = wanted + FLUSH + encode(b"merge_request.create") + FLUSH + EMPTY_PACK

    status, said = await push(at_door, body)

    assert status == 200
    assert b"ng " + OWN + b"/x push options are not taken" in said
    assert not at_door.host_saw


@pytest.mark.parametrize(
    ("capabilities", "status", "begins"),
    [
        pytest.param("report-status side-band-64k", 200, b"\x02sandgate", id="64k band"),
        pytest.param("report-status-v2 side-band", 200, b"\x02sandgate", id="small band"),
        pytest.param("report-status", 200, b"unpack ok\n", id="no band"),
        pytest.param("side-band-64k", 200, b"\x03sandgate", id="no report"),
        pytest.param("agent=x", 403, b"", id="neither"),
    ],
)
async def test_each_kind_of_client_gets_a_refusal_that_it_shows(
    at_door: Door, capabilities: str, status: int, begins: bytes
) -> None:
    """CASE-48."""
    main = await main_of(at_door)
    body = command(b"refs/heads/main", main, capabilities=capabilities) + FLUSH + EMPTY_PACK

    got, said = await push(at_door, body)

    assert got == status
    assert said[4:].startswith(begins) or status == 403
    assert b"only branches under" in said


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        pytest.param(b"ffff", {}, 400, id="length ffff"),
        pytest.param(b"0004", {}, 400, id="empty line"),
        pytest.param(b"0000" + command(OWN + b"/x", "1" * 40), {}, 400, id="data after a probe"),
        pytest.param(command(OWN + b"/x", "A" * 40) + FLUSH, {}, 400, id="upper-case id"),
        pytest.param(command(OWN + b"/x", "1" * 40) * 2 + FLUSH, {}, 400, id="NUL in the second"),
        pytest.param(command(OWN + b"/x", "1" * 40)[:-3], {}, 400, id="broken off"),
        pytest.param(b"0000", {"Content-Encoding": "gzip"}, 400, id="no gzip"),
        pytest.param(b"0000", {"Content-Encoding": "deflate"}, 415, id="deflate"),
        pytest.param(b"0000", {"Content-Type": "text/plain"}, 415, id="another type"),
        pytest.param(
            encode(b"push-cert\0 report-status\n") + encode(b"push-cert-end\n") + FLUSH,
            {},
            403,
            id="signed",
        ),
    ],
)
async def test_what_is_not_gits_protocol_is_refused_and_recorded(
    at_door: Door, body: bytes, headers: Mapping[str, str], status: int
) -> None:
    """CASE-56, CASE-57, CASE-58."""
    got, said = await push(at_door, body, headers)

    assert got == status, said
    assert not at_door.host_saw
    assert at_door.audit.decisions("git_push")[-1].decision.word == "deny"


async def test_a_gzip_that_breaks_after_the_commands_moves_no_ref(at_door: Door) -> None:
    main = await main_of(at_door)
    whole = gzip.compress(command(OWN + b"/x", main) + FLUSH + EMPTY_PACK)

    status, said = await push(at_door, whole[:-12], {"Content-Encoding": "gzip"})

    assert b"ok " + OWN not in said
    assert status in {200, 400}
    assert list(await at_door.refs()) == ["refs/heads/main"]


async def test_a_gzip_bomb_is_cut_at_the_limit(tmp_path: Path) -> None:
    """CASE-56."""
    async with door(tmp_path, push_bytes=1 << 20) as small_door:
        main = await main_of(small_door)
        blob = b"\xb0\x80\x80\x80\x02" + zlib.compress(bytes(64 << 20), 0)
        bomb = command(OWN + b"/x", main) + FLUSH + EMPTY_PACK[:11] + b"\1" + blob

        _, said = await push(small_door, gzip.compress(bomb), {"Content-Encoding": "gzip"})

        assert b"over 1048576 bytes" in said
        assert list(await small_door.refs()) == ["refs/heads/main"]


async def test_an_old_value_that_the_host_never_had_is_refused(at_door: Door) -> None:
    main = await main_of(at_door)
    body = command(OWN + b"/x", main, old="1" * 40) + FLUSH + EMPTY_PACK

    status, said = await push(at_door, body)

    assert status == 200
    assert b"ng " + OWN + b"/x the branch would lose commits" in said
    assert list(await at_door.refs()) == ["refs/heads/main"]


@pytest.mark.parametrize(
    "path",
    [
        "info/refs",
        "info/refs?service=git-upload-pack&x=1",
        "info/refs?service=git-shell",
        "HEAD",
        "objects/info/packs",
        "info/lfs/objects/batch",
    ],
)
async def test_nothing_but_smart_http_is_served(at_door: Door, path: str) -> None:
    said = await at_door.get(f"host/small.git/{path}")

    assert said == (
        403,
        b"this door serves git's smart HTTP only: clone, fetch and push; no LFS, no file access\n",
    )
    assert not at_door.host_saw


async def test_an_escaped_path_leads_nowhere_else(at_door: Door) -> None:
    status, said = await at_door.get("host/..%2Fhost%2Fsmall.git/info/refs?service=git-upload-pack")

    assert status == 403
    assert b"repository host/../host/small.git is not granted" in said
