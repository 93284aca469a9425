"""What the objects of a pack say is read out of the pack that git itself makes."""

import hashlib
import subprocess
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from entrance.git.delta import DeltaReader
from entrance.git.pack import PackReader
from entrance.git.pktline import ProtocolError

SAYS = "the quick brown fox jumps over the lazy dog and over the canary"
BIG = "".join(f"line {number} of a file that is long enough for a delta\n" for number in range(900))


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    who = [
        "-c",
        "user.name=A CANARY AUTHOR",
        "-c",
        "user.email=a@b.c",
        "-c",
        "commit.gpgsign=false",
    ]
    done = subprocess.run(
        ["git", "-C", str(folder), *who, *arguments], input=stdin, capture_output=True, check=True
    )
    return done.stdout


@pytest.fixture(scope="module", params=["sha1", "sha256"])
def packed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, bytes]:
    """Two commits as a thin pack of what the second adds, with a delta; and the bytes of an id."""
    folder = tmp_path_factory.mktemp("packed")
    subprocess.run(
        ["git", "init", "-q", f"--object-format={request.param}", str(folder)], check=True
    )
    (folder / "big.txt").write_text(BIG)
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    (folder / "big.txt").write_text(BIG.replace("line 450 ", f"line 450 {SAYS} " * 5))
    (folder / "a file named canary").write_text("short")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", f"a message: {SAYS}")
    git(folder, "tag", "-a", "-m", "a tag that says canary", "t")
    wanted = b"t\n^HEAD~1\n"
    pack = git(folder, "pack-objects", "--revs", "--thin", "--stdout", "-q", stdin=wanted)
    return (20 if request.param == "sha1" else 32), pack


def read(pack: bytes, oid_bytes: int, step: int = 1 << 20) -> bytes:
    reader = PackReader(oid_bytes)
    said = b"".join(
        piece for at in range(0, len(pack), step) for piece in reader.feed(pack[at : at + step])
    )
    assert reader.whole
    return said


@pytest.mark.parametrize("step", [1 << 20, 7, 1])
def test_everything_that_a_push_says_is_given_out(packed: tuple[int, bytes], step: int) -> None:
    oid_bytes, pack = packed
    said = read(pack, oid_bytes, step)
    for words in (
        b"a message: " + SAYS.encode(),
        b"a tag that says canary",
        b"A CANARY AUTHOR",
        b"a file named canary",
        f"{SAYS} line 450 {SAYS} ".encode(),
    ):
        assert words in said
    assert b"line 700" not in said, "the file came whole: there was no delta to read"


def entry(kind: int, data: bytes, *, says: int | None = None, base: bytes = b"") -> bytes:
    size = len(data) if says is None else says
    first, size = kind << 4 | size & 15, size >> 4
    header = bytearray([first])
    while size:
        header[-1] |= 0x80
        header.append(size & 0x7F)
        size >>= 7
    return bytes(header) + base + zlib.compress(data)


def pack_of(*entries: bytes, version: int = 2) -> bytes:
    body = b"PACK" + version.to_bytes(4) + len(entries).to_bytes(4) + b"".join(entries)
    return body + hashlib.sha1(body, usedforsecurity=False).digest()


BLOB, OFS_DELTA, REF_DELTA = 3, 6, 7


@given(
    blobs=st.lists(st.binary(max_size=300), max_size=6),
    cuts=st.lists(st.integers(0, 2500), max_size=6),
)
def test_it_does_not_matter_where_the_bytes_are_cut(blobs: list[bytes], cuts: list[int]) -> None:
    pack = pack_of(*(entry(BLOB, blob) for blob in blobs))
    ends = [*sorted(min(cut, len(pack)) for cut in cuts), len(pack)]
    reader = PackReader(20)
    pieces: Iterator[bytes] = (
        piece
        for start, end in zip([0, *ends], ends, strict=False)
        for piece in reader.feed(pack[start:end])
    )
    assert b"".join(pieces) == b"".join(blobs)
    assert reader.whole


def test_an_object_larger_than_a_piece_comes_in_several() -> None:
    pieces = list(PackReader(20).feed(pack_of(entry(BLOB, bytes(1 << 20)))))
    assert len(pieces) > 1
    assert sum(map(len, pieces)) == 1 << 20


DELTA = (
    bytes([0x90, 0x4E, 0x82, 0x01])  # sizes 10000 and 130
    + bytes([127]) + b"a" * 127 + bytes([3]) + b"bcd"
    + bytes([0b10110001, 5, 6, 7])  # copy: offset in one byte, size in two
    + bytes([2]) + b"ef"
)  # fmt: skip


@pytest.mark.parametrize("step", [1, 2, 100, 1000])
def test_what_a_delta_inserts_is_given_out_in_one_piece(step: int) -> None:
    reader = DeltaReader(10)
    said = b"".join(reader.feed(DELTA[at : at + step]) for at in range(0, len(DELTA), step))
    assert said == b"a" * 127 + b"bcdef"


@pytest.mark.parametrize(
    ("kind", "base"), [(REF_DELTA, b"\x80" * 20), (OFS_DELTA, b"\x81\x82\x03")]
)
def test_a_deltas_base_is_no_part_of_what_it_says(kind: int, base: bytes) -> None:
    assert read(pack_of(entry(kind, DELTA, base=base), entry(BLOB, b"next")), 20, 3) == (
        b"a" * 127 + b"bcdef" + b"next"
    )


@pytest.mark.parametrize(
    ("pack", "why"),
    [
        pytest.param(b"PACX" + bytes(8), "no pack", id="no magic"),
        pytest.param(b"PACK" + (9).to_bytes(4) + bytes(4), "no pack", id="unknown version"),
        pytest.param(pack_of(entry(BLOB, b"x", says=5)), "shorter", id="shorter than it says"),
        pytest.param(pack_of(entry(BLOB, b"xyz", says=2)), "longer", id="longer than it says"),
        pytest.param(pack_of(entry(5, b"x")), "no type", id="reserved type"),
        pytest.param(pack_of(entry(0, b"x")), "no type", id="type 0"),
        pytest.param(pack_of(b"\x31nonsense" * 9), "inflated", id="no zlib"),
        pytest.param(pack_of(b"\xb0" + b"\xff" * 60), "does not end", id="endless size"),
        pytest.param(pack_of(b"\x60" + b"\xff" * 60), "does not end", id="endless offset"),
        pytest.param(pack_of(entry(BLOB, b"x")) + b"y", "follows", id="more behind it"),
        pytest.param(pack_of(entry(REF_DELTA, b"\1\1\0", base=bytes(20))), "delta", id="delta"),
    ],
)
def test_a_pack_that_cannot_be_read_is_refused(pack: bytes, why: str) -> None:
    with pytest.raises(ProtocolError, match=why):
        list(PackReader(20).feed(pack))


def test_a_pack_that_unpacks_to_too_much_is_refused_before_it_is_unpacked() -> None:
    reader = PackReader(20, most_bytes=1000)
    with pytest.raises(ProtocolError, match="more than is taken"):
        list(reader.feed(pack_of(entry(BLOB, bytes(600)), entry(BLOB, bytes(600)))))


def test_a_delta_of_too_many_instructions_is_refused() -> None:
    with pytest.raises(ProtocolError, match=r"pack\.window=0"):
        DeltaReader(2).feed(b"\1\1" + b"\1a" * 3)


def test_half_a_pack_is_not_whole() -> None:
    pack = pack_of(entry(BLOB, b"x"))
    reader = PackReader(20)
    assert not reader.begun
    assert b"".join(reader.feed(pack[:-1])) == b"x"
    assert reader.begun
    assert not reader.whole
