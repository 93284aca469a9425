"""`sandgate egress verify` on logs that were really written, and on what somebody made of them."""

import asyncio
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import duckdb
import orjson
import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from entrance.decision import Allow, Deny
from entrance.log.records import Decided, Outcome, Request, Traffic
from entrance.log.retention import Keep
from entrance.log.retention import drop as drop_by_rule
from entrance.log.segments import Rules
from entrance.log.shelf import Shelf
from entrance.session import RunId, Session, TaskId
from orchestrator.cli.codes import Code
from orchestrator.stack.installation import Installation
from tests.fakes.clock import FakeClock
from tests.fakes.egress_log import rows
from tests.servers.command import sandgate
from tests.servers.log import open_log, signer

SESSION = Session(RunId("run-1"), TaskId("WEB/WEB-1"), "WEB", "bot-rex", "10.231.0.7", "0" * 64)
REQUEST = Request.to("GET", "https://files.example/a?x=1")
CAME = Traffic(200, bytes_out=312, bytes_in=4096, target="192.0.2.7:443", ms=34)


async def written(folder: Path) -> None:
    clock = FakeClock()
    log = open_log(folder, Rules(segment_age=timedelta(minutes=30)), now=clock.now)
    for number in range(3):  # seven lines each: what opens it, and four attempts
        for _ in range(2):
            record = Decided(
                "http", "GET files.example/a", Allow(), SESSION, request=REQUEST, rule="r"
            )
            seq = await log.decided(record)
            await log.came_of_it(Outcome(seq, "ok", traffic=CAME))
        await log.decided(Decided("http", f"GET evil{number}.example/", Deny("no rule"), SESSION))
        await log.decided(Decided("auth", "POST /mcp", Deny("no token"), address="10.231.0.9"))
        clock.advance(3600)
    await log.close()


def public_key(path: Path, seed: bytes = b"k") -> Path:
    key = signer(seed).trust.key
    path.write_bytes(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return path


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("log") / "egress"
    asyncio.run(written(folder))
    return folder


@pytest.fixture
def shelf(here: Installation, original: Path) -> Shelf:
    public_key(here.keys / "log.pub")
    return Shelf(Path(shutil.copytree(original, here.data("egress"), dirs_exist_ok=True)))


def test_a_log_that_was_really_written_is_read_as_attempts(shelf: Shelf) -> None:
    found = rows(
        shelf.folder,
        "SELECT seq, run, agent, host, url, decision, rule, status, bytes_in, target, ms, result "
        "FROM attempts ORDER BY seq LIMIT 1",
    )
    assert found == [
        (2, "run-1", "bot-rex", "files.example", "https://files.example/a?x=1", "allow", "r", 200,
         4096, "192.0.2.7:443", 34.0, "ok")
    ]  # fmt: skip
    assert rows(shelf.folder, "SELECT count(*), count(DISTINCT seq) FROM attempts") == [(12, 12)]


@pytest.mark.usefixtures("shelf")
def test_a_whole_log_is_said_to_be_whole() -> None:
    done = sandgate("egress", "verify")
    assert done.code == 0
    first, *_, last = done.out.splitlines()
    assert first.startswith("the log is whole: 21 records in 3 segments, ")
    assert first.endswith(f"signed by key {signer().trust.key_id}")
    assert last.startswith("its head, to be kept elsewhere: 21:")
    head = last.rpartition(" ")[2]
    assert sandgate("egress", "verify", "--head", head).code == 0
    assert sandgate("egress", "verify", "--head", f"21:{'0' * 64}").code == Code.FAILED
    assert "another than it was" in sandgate("egress", "verify", "--head", f"3:{'0' * 64}").out
    assert "record 99 is not there" in sandgate("egress", "verify", "--head", f"99:{'0' * 64}").out
    assert sandgate("egress", "verify", "--head", "yes").code == Code.USAGE


def flip(shelf: Shelf) -> None:
    path = shelf.segment(2)
    path.write_bytes(path.read_bytes().replace(b"evil1.example", b"nice1.example"))


def drop(shelf: Shelf) -> None:
    lines = shelf.segment(2).read_bytes().splitlines(keepends=True)
    shelf.segment(2).write_bytes(b"".join(lines[:3] + lines[4:]))


def reorder(shelf: Shelf) -> None:
    lines = shelf.segment(2).read_bytes().splitlines(keepends=True)
    lines[3], lines[4] = lines[4], lines[3]
    shelf.segment(2).write_bytes(b"".join(lines))


def truncate(shelf: Shelf) -> None:
    lines = shelf.segment(2).read_bytes().splitlines(keepends=True)
    shelf.segment(2).write_bytes(b"".join(lines[:4]))


def cut_the_newest(shelf: Shelf) -> None:
    lines = shelf.segment(3).read_bytes().splitlines(keepends=True)
    shelf.segment(3).write_bytes(b"".join(lines[:4]))


def replace(shelf: Shelf) -> None:
    shutil.copy(shelf.segment(1), shelf.segment(2))


def remove(shelf: Shelf) -> None:
    shelf.segment(2).unlink()
    shelf.seal(2).unlink()


def sign_anew(shelf: Shelf) -> None:
    said = orjson.loads(shelf.seal(2).read_bytes())
    del said["signature"], said["key_id"]
    shelf.seal(2).write_bytes(signer(b"x").signed(said))


@pytest.mark.parametrize(
    ("tamper", "kind", "segment", "seq"),
    [
        (flip, "changed", 2, 13),
        (drop, "dropped", 2, 11),
        (reorder, "reordered", 2, 11),
        (truncate, "truncated", 2, 12),
        (cut_the_newest, "truncated", 3, 19),
        (replace, None, 2, None),
        (remove, "missing_segment", 2, None),
        (sign_anew, "foreign_key", 2, None),
    ],
)
def test_what_was_done_to_a_log_is_named_with_its_record_and_segment(
    shelf: Shelf, tamper: Callable[[Shelf], None], kind: str | None, segment: int, seq: int | None
) -> None:
    assert sandgate("egress", "verify").code == 0
    tamper(shelf)
    done = sandgate("egress", "verify", "--json")
    assert done.code == Code.FAILED
    assert isinstance(done.json, dict)
    found = done.json["finding"]
    assert (done.json["ok"], found["segment"]) == (False, segment)
    if kind:
        assert (found["kind"], found["seq"]) == (kind, seq)
    plain = sandgate("egress", "verify")
    assert plain.code == Code.FAILED
    assert f"the log is NOT whole: segment {segment}" in plain.out


def test_a_query_after_verifying_is_made_of_what_was_verified(shelf: Shelf) -> None:
    sql = "SELECT count(*) FROM attempts WHERE decision = 'deny'"
    assert sandgate("egress", "query", sql, "--format", "csv").out.endswith("\n6\n")
    for path in shelf.folder.glob("*.parquet"):
        doctored = path.with_suffix(".new")
        asked = f"COPY (FROM '{path}' WHERE decision = 'allow') TO '{doctored}' (FORMAT parquet)"
        duckdb.execute(asked)
        doctored.replace(path)
    assert not sandgate("egress", "query", sql, "--format", "csv").out.endswith("\n6\n")
    assert sandgate("egress", "verify").code == 0
    assert sandgate("egress", "query", sql, "--format", "csv").out.endswith("\n6\n")


def test_a_copy_is_verified_by_a_key_from_elsewhere(shelf: Shelf, tmp_path: Path) -> None:
    copy = Path(shutil.copytree(shelf.folder, tmp_path / "copy"))
    where = ["egress", "verify", "--log", str(copy)]
    assert sandgate(*where).code == Code.USAGE
    assert sandgate(*where, "--key", str(public_key(tmp_path / "a.pub"))).code == 0
    done = sandgate(*where, "--key", str(public_key(tmp_path / "b.pub", b"x")), "--json")
    assert done.code == Code.FAILED
    assert isinstance(done.json, dict)
    assert done.json["finding"]["kind"] == "foreign_key"
    (tmp_path / "c.pub").write_text("no key")
    assert sandgate(*where, "--key", str(tmp_path / "c.pub")).code == Code.NOT_FOUND


def test_whoever_changes_everything_is_found_by_a_head_that_was_kept(
    shelf: Shelf,
) -> None:
    done = sandgate("egress", "verify", "--json")
    assert isinstance(done.json, dict)
    head = done.json["head"]
    for number in (2, 3):
        shelf.segment(number).unlink()
    shelf.seal(2).unlink()
    said = orjson.loads(shelf.seal(1).read_bytes())
    del said["signature"], said["key_id"], said["sealed_at"]
    shelf.seal(1).unlink()
    shelf.head.write_bytes(signer().signed({**said, "type": "checkpoint", "at": "2026"}))
    assert sandgate("egress", "verify").code == 0
    done = sandgate("egress", "verify", "--head", head)
    assert (done.code, "is not there" in done.out) == (Code.FAILED, True)


def test_what_retention_removes_leaves_no_copy_behind(shelf: Shelf) -> None:
    assert len(rows(shelf.folder, "FROM attempts")) == 12
    drop_by_rule(shelf, signer(), Keep(bytes=1), FakeClock().now())
    assert [path.name.split(".")[0] for path in shelf.folder.glob("*.parquet")] == [
        "egress-00000002"
    ]
    assert len(rows(shelf.folder, "FROM attempts")) == 8
    assert "retention has removed 1 older segments" in sandgate("egress", "verify").out
