"""Whatever is done to a log is found, told apart, and named by its first bad record."""

import asyncio
import hashlib
import shutil
from collections.abc import Callable
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import orjson
import pytest

from entrance.decision import Allow, Deny
from entrance.log.findings import KINDS, Kind
from entrance.log.line import MARK, TAIL, seq_of
from entrance.log.records import Decided, Outcome
from entrance.log.retention import Keep
from entrance.log.seal import Facts, Statement, read
from entrance.log.segments import Rules
from entrance.log.shelf import Shelf
from entrance.log.signing import canonical
from entrance.log.verify import verify
from entrance.session import RunId, Session, TaskId
from tests.fakes.clock import FakeClock
from tests.servers.log import open_log, signer, verified

SESSION = Session(RunId("r"), TaskId("P/T"), "P", "bot", "10.0.0.2", "0" * 64)
RECORD = Decided("request", "GET /x", Deny("no"), SESSION)
SEGMENTS = 4
A_SEGMENT = 6
"""So many lines each of them has: what opens it, and five records."""


async def written(folder: Path) -> None:
    """Three sealed segments and an open one, an hour apart."""
    clock = FakeClock()
    log = open_log(folder, Rules(segment_age=timedelta(minutes=30)), now=clock.now)
    for _ in range(SEGMENTS):
        for _ in range(A_SEGMENT - 1):
            await log.decided(RECORD)
        clock.advance(3600)
    await log.close()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("log") / "egress"
    asyncio.run(written(folder))
    return folder


@pytest.fixture
def shelf(original: Path, tmp_path: Path) -> Shelf:
    return Shelf(Path(shutil.copytree(original, tmp_path / "egress")))


def lines_of(shelf: Shelf, number: int) -> list[bytes]:
    return shelf.segment(number).read_bytes().splitlines()


def put_back(shelf: Shelf, number: int, lines: list[bytes]) -> None:
    shelf.segment(number).write_bytes(b"".join(line + b"\n" for line in lines))


def rechained(lines: list[bytes]) -> list[bytes]:
    """The same lines with hashes that fit, as whoever has no key can make them."""
    before, fitting = bytes.fromhex(orjson.loads(lines[0])["prev"]), []
    for line in lines:
        digest = hashlib.sha256(before + line[:-TAIL])
        fitting.append(line[:-TAIL] + MARK + digest.hexdigest().encode() + b'"}')
        before = digest.digest()
    return fitting


def resigned(path: Path, seed: bytes = b"k", **changes: object) -> None:
    """A statement with other words, signed by the key of `seed`."""
    said = {**orjson.loads(path.read_bytes()), **changes}
    del said["signature"], said["key_id"]
    path.write_bytes(signer(seed).signed(said))


def flip(shelf: Shelf) -> None:
    lines = lines_of(shelf, 2)
    lines[3] = lines[3].replace(b'"deny"', b'"dery"')
    put_back(shelf, 2, lines)


def flip_a_number(shelf: Shelf) -> None:
    lines = lines_of(shelf, 2)
    lines[3] = lines[3].replace(b'"seq":10,', b'"seq":19,')
    put_back(shelf, 2, lines)


def flip_a_hash(shelf: Shelf) -> None:
    lines = lines_of(shelf, 2)
    lines[3] = lines[3][:-3] + b'x"}'
    put_back(shelf, 2, lines)


def take_out(shelf: Shelf) -> None:
    lines = lines_of(shelf, 2)
    put_back(shelf, 2, lines[:3] + lines[4:])


def take_out_the_first(shelf: Shelf) -> None:
    put_back(shelf, 2, lines_of(shelf, 2)[1:])


def swap(shelf: Shelf) -> None:
    lines = lines_of(shelf, 2)
    lines[3], lines[4] = lines[4], lines[3]
    put_back(shelf, 2, lines)


def repeat(shelf: Shelf) -> None:
    lines = lines_of(shelf, 2)
    put_back(shelf, 2, lines[:4] + lines[3:])


def overwrite(shelf: Shelf) -> None:
    lines = lines_of(shelf, 2)
    lines[3] = b"not json"
    put_back(shelf, 2, lines)


def cut(shelf: Shelf) -> None:
    put_back(shelf, 2, lines_of(shelf, 2)[:3])


def cut_in_a_line(shelf: Shelf) -> None:
    path = shelf.segment(2)
    path.write_bytes(path.read_bytes()[:-9])


def empty(shelf: Shelf) -> None:
    shelf.segment(2).write_bytes(b"")


def add(shelf: Shelf) -> None:
    path = shelf.segment(2)
    path.write_bytes(path.read_bytes() + b'{"seq":13}\n')


def add_no_line(shelf: Shelf) -> None:
    path = shelf.segment(2)
    path.write_bytes(path.read_bytes() + b"x")


def write_anew(shelf: Shelf) -> None:
    lines = [line.replace(b'"deny"', b'"allow"') for line in lines_of(shelf, 2)]
    put_back(shelf, 2, rechained(lines))


def put_another(shelf: Shelf) -> None:
    shutil.copy(shelf.segment(1), shelf.segment(2))


def put_another_and_its_seal(shelf: Shelf) -> None:
    shutil.copy(shelf.segment(1), shelf.segment(2))
    shutil.copy(shelf.seal(1), shelf.seal(2))


def sign_again(shelf: Shelf) -> None:
    """All of it anew, seal and all, by somebody who has another key."""
    write_anew(shelf)
    head = lines_of(shelf, 2)[-1][-66:-2].decode()
    size = shelf.segment(2).stat().st_size
    resigned(shelf.seal(2), b"x", head=head, bytes=size)


def sign_in_our_name(shelf: Shelf) -> None:
    key_id = orjson.loads(shelf.seal(2).read_bytes())["key_id"]
    said = orjson.loads(shelf.seal(2).read_bytes())
    del said["signature"]
    said["signature"] = signer(b"x").key.sign(canonical(said)).hex()
    assert said["key_id"] == key_id
    shelf.seal(2).write_bytes(orjson.dumps(said))


def change_a_seal(shelf: Shelf) -> None:
    path = shelf.seal(2)
    path.write_bytes(path.read_bytes().replace(b'"records":6', b'"records":5'))


def spoil_a_seal(shelf: Shelf) -> None:
    shelf.seal(2).write_bytes(b"{}")


def seal_with_a_checkpoint(shelf: Shelf) -> None:
    shutil.copy(shelf.head, shelf.seal(2))


def cut_the_open_one(shelf: Shelf) -> None:
    put_back(shelf, 4, lines_of(shelf, 4)[:4])


def remove_the_open_one(shelf: Shelf) -> None:
    shelf.segment(4).unlink()


def write_the_open_one_anew(shelf: Shelf) -> None:
    put_back(shelf, 4, rechained([each.replace(b"deny", b"dery") for each in lines_of(shelf, 4)]))


def put_back_an_older_checkpoint(shelf: Shelf) -> None:
    facts = read(shelf.seal(3).read_bytes(), signer().trust, "seal").facts
    shelf.head.write_bytes(Statement("checkpoint", facts, {"at": "then"}).signed(signer()))


def unlink_segments(shelf: Shelf) -> None:
    """A segment that was written after another end than the one that is there; our own key."""
    lines = lines_of(shelf, 2)
    prev = orjson.loads(lines[0])["prev"].encode()
    lines = rechained([lines[0].replace(prev, b"a" * 64), *lines[1:]])
    put_back(shelf, 2, lines)
    resigned(shelf.seal(2), prev="a" * 64, head=lines[-1][-66:-2].decode())


TAMPERED: list[tuple[Callable[[Shelf], None], Kind, int, int | None]] = [
    (flip, "changed", 2, 10),
    (flip_a_number, "changed", 2, 10),
    (flip_a_hash, "changed", 2, 10),
    (overwrite, "changed", 2, 10),
    (take_out, "dropped", 2, 10),
    (take_out_the_first, "dropped", 2, 7),
    (swap, "reordered", 2, 10),
    (repeat, "reordered", 2, 11),
    (cut, "truncated", 2, 10),
    (cut_in_a_line, "truncated", 2, 12),
    (empty, "truncated", 2, 7),
    (add, "lengthened", 2, 13),
    (add_no_line, "lengthened", 2, 13),
    (write_anew, "replaced", 2, None),
    (put_another, "replaced", 2, 7),
    (put_another_and_its_seal, "replaced", 2, None),
    (sign_again, "foreign_key", 2, None),
    (sign_in_our_name, "forged", 2, None),
    (change_a_seal, "forged", 2, None),
    (spoil_a_seal, "unreadable", 2, None),
    (seal_with_a_checkpoint, "unreadable", 2, None),
    (lambda shelf: shelf.seal(2).unlink(), "unsealed", 2, None),
    (lambda shelf: shelf.segment(2).unlink(), "missing_segment", 2, None),
    (lambda shelf: shelf.segment(1).unlink(), "missing_segment", 1, None),
    (cut_the_open_one, "truncated", 4, 23),
    (write_the_open_one_anew, "replaced", 4, None),
    (remove_the_open_one, "missing_segment", 4, None),
    (lambda shelf: shelf.head.unlink(), "no_checkpoint", 4, None),
    (put_back_an_older_checkpoint, "no_checkpoint", 4, None),
    (lambda shelf: resigned(shelf.head, b"x"), "foreign_key", 4, None),
    (unlink_segments, "unlinked", 2, None),
]


@pytest.mark.parametrize(
    ("tamper", "kind", "segment", "seq"),
    [pytest.param(*row, id=f"{row[0].__name__}-{row[1]}-{row[2]}") for row in TAMPERED],
)
def test_tampering_is_found_and_told_apart(
    shelf: Shelf, tamper: Callable[[Shelf], None], kind: Kind, segment: int, seq: int | None
) -> None:
    tamper(shelf)
    finding = verified(shelf.folder).finding
    assert finding
    assert (finding.kind, finding.segment, finding.seq) == (kind, segment, seq), finding


def test_every_kind_of_finding_is_tried() -> None:
    assert {kind for _, kind, _, _ in TAMPERED} == set(KINDS)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_whole_log_is_whole(shelf: Shelf, processes: int) -> None:
    report = verify(shelf, signer().trust, processes)
    assert report.finding is None
    assert (report.segments, report.records) == (SEGMENTS, SEGMENTS * A_SEGMENT)
    assert report.bytes == sum(shelf.segment(n).stat().st_size for n in shelf.segments())
    assert report.head.seq == SEGMENTS * A_SEGMENT


def test_the_first_of_two_is_told(shelf: Shelf) -> None:
    lines = lines_of(shelf, 3)
    put_back(shelf, 3, lines[:2])
    shelf.seal(2).unlink()
    flip_in_first = [line.replace(b"deny", b"dery") for line in lines_of(shelf, 1)]
    put_back(shelf, 1, flip_in_first)
    finding = verified(shelf.folder).finding
    assert finding
    assert (finding.kind, finding.segment, finding.seq) == ("changed", 1, 2)


def test_each_segment_begins_where_the_one_before_ends(shelf: Shelf) -> None:
    whole = [lines_of(shelf, number) for number in shelf.segments()]
    for before, after in pairwise(whole):
        assert orjson.loads(after[0])["prev"] == before[-1][-66:-2].decode()
        assert seq_of(after[0]) == (seq_of(before[-1]) or 0) + 1


def test_nothing_is_no_finding(tmp_path: Path) -> None:
    report = verified(tmp_path / "none")
    assert (report.finding, report.records, report.head.seq) == (None, 0, 0)


def test_another_key_vouches_for_nothing(shelf: Shelf) -> None:
    finding = verify(shelf, signer(b"x").trust).finding
    assert finding
    assert (finding.kind, finding.segment) == ("foreign_key", 1)


def test_a_line_that_is_being_written_is_no_finding(shelf: Shelf) -> None:
    with shelf.segment(4).open("ab") as file:
        file.write(b'{"seq":25,"at":"2026')
    report = verified(shelf.folder)
    assert (report.finding, report.torn, report.records) == (None, 1, 24)


def test_what_is_behind_the_checkpoint_hangs_together_or_is_found(shelf: Shelf) -> None:
    lines = lines_of(shelf, 4)
    early = read(shelf.head.read_bytes(), signer().trust, "checkpoint").facts
    facts = Facts(
        early.segment, early.installation, early.first_seq, 2, sum(map(len, lines[:2])) + 2,
        early.prev, lines[1][-66:-2].decode(), early.opened_at,
    )  # fmt: skip
    shelf.head.write_bytes(Statement("checkpoint", facts, {"at": "then"}).signed(signer()))
    assert verified(shelf.folder).finding is None
    put_back(shelf, 4, [*lines[:4], lines[5]])
    finding = verified(shelf.folder).finding
    assert finding
    assert (finding.kind, finding.seq) == ("dropped", 23)


async def test_what_retention_removed_is_known_and_the_rest_verifies(shelf: Shelf) -> None:
    clock = FakeClock()
    clock.advance(SEGMENTS * 3600)
    keep = Keep(age=timedelta(hours=2, minutes=30))
    log = open_log(shelf.folder, Rules(keep=keep), now=clock.now)
    seq = await log.decided(Decided("request", "x", Allow(), SESSION))
    await log.came_of_it(Outcome(seq, "ok"))
    await log.close()
    report = verified(shelf.folder)
    assert report.finding is None
    assert [stone.facts.segment for stone in report.dropped] == [1]
    assert report.dropped[0].told["rule"] == "older than 0.104167 days"
    assert shelf.segments() == [2, 3, 4]
    shelf.segment(2).unlink()
    finding = verified(shelf.folder).finding
    assert finding
    assert (finding.kind, finding.segment) == ("missing_segment", 2)
