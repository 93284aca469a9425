"""However a crash leaves the end of a log, it is gone on with, and what was torn is told."""

import asyncio
import hashlib
import shutil
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from entrance.decision import Deny
from entrance.errors import Malformed
from entrance.log.line import GENESIS, Head
from entrance.log.records import Decided
from entrance.log.seal import Facts, Statement, checkpoint
from entrance.log.segments import Rules
from entrance.log.shelf import Shelf
from tests.fakes.clock import FakeClock
from tests.servers.log import AT, lines_in, open_log, signer, verified

RECORD = Decided("request", "GET /x", Deny("no"), address="10.0.0.2")
OPENED = {"type": "opened", "segment": 1, "installation": "sgtest", "prev": "0" * 64}


def chain(records: int) -> tuple[bytes, Head]:
    """A first segment's lines."""
    parts, head = [], Head()
    for fields in [OPENED] + [{"type": "decided", "n": n} for n in range(records)]:
        raw, head = head.line(AT, fields)
        parts.append(raw)
    return b"".join(parts), head


WHOLE, _ = chain(12)
VOUCHED, VOUCHED_HEAD = chain(3)


def laid_out(folder: Path, content: bytes) -> Shelf:
    """A log as it lies there after a crash: its checkpoint vouches for the first lines only."""
    folder.mkdir(exist_ok=True)
    shelf = Shelf(folder)
    shelf.segment(1).write_bytes(content)
    facts = Facts(
        1, "sgtest", 1, VOUCHED_HEAD.seq, len(VOUCHED), GENESIS.hex(), VOUCHED_HEAD.hash.hex(),
        "2026-01-05T00:00:00+00:00",
    )  # fmt: skip
    shelf.head.write_bytes(checkpoint(facts, "then").signed(signer()))
    return shelf


async def gone_on(folder: Path) -> list[dict[str, object]]:
    """The lines after one more record."""
    log = open_log(folder)
    await log.decided(RECORD)
    await log.close()
    return lines_in(folder)


def after(content: bytes) -> tuple[Path, list[dict[str, object]], TemporaryDirectory[str]]:
    place = TemporaryDirectory()
    folder = Path(place.name) / "egress"
    laid_out(folder, content)
    return folder, asyncio.run(gone_on(folder)), place


@settings(max_examples=60, deadline=None)
@given(st.integers(len(VOUCHED), len(WHOLE)))
def test_a_log_torn_anywhere_keeps_its_whole_lines_and_tells_of_the_rest(at: int) -> None:
    folder, lines, place = after(WHOLE[:at])
    with place:
        whole = WHOLE[:at].count(b"\n")
        tail = WHOLE[:at].rpartition(b"\n")[2]
        expected = ["opened"] + ["decided"] * (whole - 1) + ["torn"] * bool(tail) + ["decided"]
        assert [line["type"] for line in lines] == expected
        if tail:
            told = lines[-2]
            assert (told["bytes"], told["sha256"]) == (len(tail), hashlib.sha256(tail).hexdigest())
            assert (folder / str(told["kept"])).read_bytes() == tail
        report = verified(folder)
        assert (report.finding, report.torn) == (None, int(bool(tail)))


@settings(max_examples=60, deadline=None)
@given(st.integers(len(VOUCHED), len(WHOLE) - 1), st.binary(min_size=1, max_size=300))
def test_what_a_crash_spoiled_behind_the_checkpoint_is_set_aside(at: int, rubbish: bytes) -> None:
    """A disk may lose the middle of what it was given last, and keep the end."""
    spoiled = WHOLE[:at] + rubbish + WHOLE[at + len(rubbish) :]
    folder, lines, place = after(spoiled)
    with place:
        assert verified(folder).finding is None
        kept = [file.read_bytes() for file in folder.iterdir() if ".torn-" in file.name]
        raw = Shelf(folder).segment(1).read_bytes()
        common = raw[: raw.find(b'"type":"torn"')].rpartition(b"\n")[0] + b"\n"
        if kept:
            assert common + kept[0] == spoiled
        else:
            assert spoiled == WHOLE
        assert lines[-1]["type"] == "decided"


@pytest.mark.parametrize(
    "break_",
    [
        pytest.param(lambda shelf: shelf.segment(1).write_bytes(WHOLE[:90]), id="cut too far"),
        pytest.param(
            lambda shelf: shelf.segment(1).write_bytes(b"x" * len(WHOLE)), id="overwritten"
        ),
        pytest.param(lambda shelf: shelf.segment(1).unlink(), id="gone"),
        pytest.param(lambda shelf: shelf.head.unlink(), id="without its checkpoint"),
        pytest.param(lambda shelf: shelf.head.write_bytes(b"{}"), id="with a spoiled checkpoint"),
        pytest.param(
            lambda shelf: shelf.segment(1).rename(shelf.segment(2)), id="under another number"
        ),
    ],
)
def test_what_no_crash_does_keeps_the_door_shut(
    tmp_path: Path, break_: Callable[[Shelf], object]
) -> None:
    break_(laid_out(tmp_path, WHOLE))
    with pytest.raises(Malformed, match="move the folder away"):
        open_log(tmp_path)


async def test_a_tail_that_was_set_aside_and_not_told_of_is_told_of_later(tmp_path: Path) -> None:
    """We died after the cut, before the line."""
    shelf = laid_out(tmp_path, WHOLE)
    shelf.torn(1, len(WHOLE)).write_bytes(b'{"seq":')
    lines = await gone_on(tmp_path)
    assert [line["type"] for line in lines[-2:]] == ["torn", "decided"]
    assert lines[-2]["bytes"] == len(b'{"seq":')
    assert [line["type"] for line in (await gone_on(tmp_path))[-2:]] == ["decided", "decided"]
    assert verified(tmp_path).torn == 1


async def test_a_crash_between_a_seal_and_the_next_segment_loses_nothing(tmp_path: Path) -> None:
    clock = FakeClock()
    rules = Rules(segment_bytes=1)
    log = open_log(tmp_path, rules, now=clock.now)
    for _ in range(3):
        await log.decided(RECORD)
    await log.close()
    shelf = Shelf(tmp_path)
    copy = Shelf(Path(shutil.copytree(tmp_path, tmp_path / "copy")))
    for state in ("sealed", "begun and empty", "begun and torn"):
        log = open_log(copy.folder, rules, now=clock.now)
        await log.decided(RECORD)
        await log.close()
        newest = copy.segments()[-1]
        facts = Statement("seal", _facts_of(copy, newest), {"sealed_at": "2026-01-05"})
        copy.seal(newest).write_bytes(facts.signed(signer()))
        if state != "sealed":
            empty = _facts_of(copy, newest).end
            following = Facts(
                newest + 1, "sgtest", empty.seq + 1, 0, 0, empty.hash.hex(), empty.hash.hex(), "2026-01-05"
            )  # fmt: skip
            copy.head.write_bytes(checkpoint(following, "then").signed(signer()))
            copy.segment(newest + 1).write_bytes(b"" if state == "begun and empty" else b'{"se')
    await gone_on(copy.folder)
    report = verified(copy.folder)
    assert (report.finding, report.torn) == (None, 1)
    assert shelf.segments() == [1, 2, 3]


def _facts_of(shelf: Shelf, number: int) -> Facts:
    said = orjson.loads(shelf.head.read_bytes())
    assert said["segment"] == number
    for name in ("type", "at", "last_seq", "key_id", "signature"):
        del said[name]
    return Facts(**said)
