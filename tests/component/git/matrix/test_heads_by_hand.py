"""Lists of commands that git would not send: refused before a byte of them reaches the host."""

import gzip
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from entrance.git.pktline import FLUSH, encode
from entrance.git.receive_pack import MAX_HEAD_BYTES, MAX_UPDATES
from tests.component.git.matrix.acts import OWN
from tests.component.git.matrix.promises import pushes_at_host
from tests.servers.git import Door

NONE = "0" * 40
NEW = "1" * 40
CAPABILITIES = " report-status side-band-64k agent=by-hand"
EMPTY_PACK = bytes.fromhex("5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e")
CERTIFICATE = b"push-cert\0 report-status side-band-64k\n"


def command(
    ref: str = f"{OWN}/x", old: str = NONE, new: str = NEW, capabilities: str | None = CAPABILITIES
) -> bytes:
    tail = "" if capabilities is None else f"\0{capabilities}"
    return encode(f"{old} {new} {ref}{tail}".encode())


def more(ref: str, old: str = NONE, new: str = NEW) -> bytes:
    return command(ref, old, new, capabilities=None)


@dataclass(frozen=True, slots=True)
class Row:
    """A body, and what is answered."""

    name: str
    body: bytes
    status: int = 400
    says: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


END = FLUSH + EMPTY_PACK
GZIP = {"Content-Encoding": "gzip"}
ROWS = (
    Row("nothing at all", b""),
    Row("a length of one", b"0001" + command() + END),
    Row("a length of two", b"0002" + command() + END),
    Row("a length of three", b"0003" + command() + END),
    Row("a line of nothing", b"0004" + command() + END),
    Row("a length of ffff", b"ffff" + command() + END),
    Row("a length above the largest", b"fff1" + bytes(65_525) + END),
    Row("a length in capitals", b"00AB" + command()[4:] + END),
    Row("a length with a sign", b"+0ab" + command()[4:] + END),
    Row("a length with a space", b" 0ab" + command()[4:] + END),
    Row("a length with 0x", b"0x9b" + command()[4:] + END),
    Row("a line cut off", command()[:-3]),
    Row("no flush", command()),
    Row("a delimiter between commands", command() + b"0001" + more(f"{OWN}/y") + END),
    Row("an id in capitals", command(new="A" * 40) + END),
    Row("an id of 39 digits", command(new="1" * 39) + END),
    Row("an id of 41 digits", command(new="1" * 41) + END),
    Row("ids of two lengths", command(old="0" * 64) + END),
    Row("an id of other letters", command(new="g" * 40) + END),
    Row("two spaces", command(ref=f" {OWN}/x") + END, 200, b"ng "),
    Row("a tab for a space", encode(f"{NONE}\t{NEW}\t{OWN}/x\0".encode()) + END),
    Row("no name", command(ref="") + END),
    Row("no capabilities and no NUL", more(f"{OWN}/x") + END),
    Row("capabilities twice", command() + command(f"{OWN}/y") + END),
    Row("a NUL in the second command", command() + more("a\0refs/heads/main") + END),
    Row("a NUL in the name", command(ref=f"{OWN}/x\0refs/heads/main") + END),
    Row("capabilities behind a blank that git knows not", command(capabilities="\x85x") + END),
    Row("a shallow line behind a command", command() + encode(b"shallow " + b"1" * 40) + END),
    Row("a shallow line of nothing", encode(b"shallow main") + command() + END),
    Row("data behind a probe", FLUSH + command() + END),
    Row("data behind shallow lines alone", encode(b"shallow " + b"1" * 40) + FLUSH + b"PACK"),
    Row("the same branch twice", command() + more(f"{OWN}/x") + END, 200, b"the same branch twice"),
    Row(
        "the same branch twice, the second at another commit",
        command() + more(f"{OWN}/x", new="2" * 40) + END,
        200,
        b"the same branch twice",
    ),
    Row(
        "more commands than are taken",
        command() + b"".join(more(f"{OWN}/{n}") for n in range(MAX_UPDATES)) + END,
        400,
        b"at most 64 commands",
    ),
    Row(
        "shallow lines without end",
        gzip.compress(encode(b"shallow " + b"1" * 40) * (MAX_HEAD_BYTES // 50)),
        400,
        b"over 1048576 bytes",
        GZIP,
    ),
    Row("a name beyond all length", command(ref=OWN + "/" + "x" * 5000) + END, 400, b"4096"),
    Row("a certificate", encode(CERTIFICATE) + encode(b"push-cert-end\n") + END, 403, b"signed"),
    Row(
        "a certificate with a command in it",
        encode(CERTIFICATE) + encode(f"{NONE} {NEW} {OWN}/x\n".encode()) + END,
        403,
        b"signed",
    ),
    Row("a certificate behind a command", command() + encode(b"push-cert\n") + END),
    Row(
        "options that were not offered",
        command(capabilities=CAPABILITIES + " push-options") + FLUSH + encode(b"x") + END,
        200,
        b"push options are not taken",
    ),
    Row(
        "options, and behind them what looks like commands",
        command(capabilities=CAPABILITIES + " push-options") + FLUSH + command("main") + END,
        200,
        b"push options are not taken",
    ),
    Row("a deletion", command(f"{OWN}/earlier", NEW, NONE) + FLUSH, 200, b"may not be deleted"),
    Row("a deletion of nothing", command(new=NONE) + FLUSH, 200, b"may not be deleted"),
    Row("no gzip", command() + END, 400, b"no gzip", GZIP),
    Row("a gzip cut off", gzip.compress(command() + FLUSH)[:30], 400, b"breaks off", GZIP),
    Row("a gzip of a probe without end", gzip.compress(b"0" * (8 << 20)), 400, b"", GZIP),
    Row("deflate", zlib.compress(command() + END), 415, b"gzip", {"Content-Encoding": "deflate"}),
    Row("brotli", command() + END, 415, b"gzip", {"Content-Encoding": "br"}),
    Row("gzip twice", command() + END, 415, b"gzip", {"Content-Encoding": "gzip, gzip"}),
    Row("another kind of body", command() + END, 415, b"", {"Content-Type": "text/plain"}),
    Row(
        "a body of the other service",
        command() + END,
        415,
        b"",
        {"Content-Type": "application/x-git-upload-pack-request"},
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_what_git_would_not_ask_is_refused(at_door: Door, row: Row) -> None:
    """CASE-44, CASE-56, CASE-57, CASE-58."""
    status, said = await at_door.post("git-receive-pack", row.body, row.headers)

    assert (status, row.says in said) == (row.status, True), said
    assert b"ok refs" not in said
    assert not pushes_at_host(at_door)
    assert at_door.audit.decisions("git_push")[-1].decision.word == "deny"


@pytest.mark.parametrize("service", ["git-receive-pack", "git-upload-pack"])
async def test_a_probe_is_answered(at_door: Door, service: str) -> None:
    """CASE-32, CASE-34: of upload-pack by the host."""
    assert await at_door.post(service, FLUSH) == (200, b"")
