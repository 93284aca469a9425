"""A log is bounded, and who follows it by line number loses nothing."""

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execd.log import CommandLog, LogLimits, Page, read
from execd.segment import Segment

SMALL = LogLimits(total_bytes=400, memory_bytes=150, segment_bytes=60, line_bytes=50)
PIECES = st.lists(
    st.one_of(st.binary(min_size=1, max_size=40), st.sampled_from([b"\n", b"ab\ncd", b"x\n" * 9])),
    max_size=60,
)


def text(page: Page) -> bytes:
    return b"".join(read(piece, 0, 1 << 20) for piece in page.pieces)


def whole(log: CommandLog) -> bytes:
    return text(log.page(-1))


def test_lines_are_numbered_from_nought_and_read_after_a_cursor() -> None:
    log = CommandLog(None, LogLimits())
    log.append(b"a\nb\nc\n")
    assert text(log.page(-1)) == b"a\nb\nc\n"
    assert log.page(-1).cursor == 2
    assert text(log.page(0)) == b"b\nc\n"
    assert text(log.page(2)) == b""
    assert log.page(2).cursor == 2
    assert log.page(99).cursor == 99


def test_an_empty_log_leaves_the_cursor_where_it_was() -> None:
    log = CommandLog(None, LogLimits())
    assert log.page(-1) == Page((), -1)


def test_half_a_line_is_not_returned_before_it_is_complete_or_the_end() -> None:
    log = CommandLog(None, LogLimits())
    log.append(b"whole\nhal")
    page = log.page(-1)
    assert (text(page), page.cursor) == (b"whole\n", 0)
    log.append(b"f")
    assert text(log.page(page.cursor)) == b""
    log.seal()
    last = log.page(page.cursor)
    assert (text(last), last.cursor) == (b"half", 1)


@settings(max_examples=60, deadline=None)
@given(PIECES, st.booleans(), st.integers(1, 60) | st.none())
def test_a_follower_gets_every_byte_once_however_long_the_log(
    pieces: list[bytes],
    in_memory: bool,  # noqa: FBT001  # drawn
    limit: int | None,
) -> None:
    log = CommandLog(None if in_memory else Path("/tmp"), SMALL)  # noqa: S108  # nothing is named there
    got, cursor = b"", -1

    def catch_up() -> None:
        nonlocal got, cursor
        while (page := log.page(cursor, limit)).pieces:
            got, cursor = got + text(page), page.cursor

    for piece in pieces:
        log.append(piece)
        catch_up()
        assert log.size <= SMALL.total_bytes + SMALL.line_bytes + 50 + SMALL.segment_bytes
    log.seal()
    catch_up()
    assert without_breaks(got) == without_breaks(b"".join(pieces))


def without_breaks(data: bytes) -> bytes:
    """What a log may change is only where a line that is too long is broken."""
    return data.replace(b"\n", b"")


@given(PIECES, st.integers(-1, 100))
def test_reading_from_any_line_on_gives_the_rest(pieces: list[bytes], cursor: int) -> None:
    log = CommandLog(None, LogLimits(segment_bytes=64, line_bytes=1 << 20))
    for piece in pieces:
        log.append(piece)
    log.seal()
    lines = b"".join(pieces).split(b"\n")
    kept = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    page = log.page(cursor)
    assert text(page) == b"".join(kept[cursor + 1 :])
    assert page.cursor == max(len(kept) - 1, cursor)


def test_who_comes_late_gets_the_head_a_marker_and_the_tail() -> None:
    log = CommandLog(None, LogLimits(total_bytes=400, memory_bytes=400, segment_bytes=60))
    for number in range(200):
        log.append(b"line %d\n" % number)
    got = whole(log).splitlines()
    assert got[0] == b"line 0"
    assert got[-1] == b"line 199"
    marker = next(line for line in got if line.startswith(b"[execd:"))
    dropped = int(marker.split()[1])
    assert len(got) - 1 + dropped == 200
    assert log.page(-1).cursor == 199


def test_a_line_that_does_not_end_is_broken_and_does_not_grow_the_log() -> None:
    log = CommandLog(None, SMALL)
    for _ in range(100):
        log.append(b"x" * 30)
    assert log.size < 600
    assert max(map(len, whole(log).splitlines())) <= SMALL.line_bytes + 30 + 20


def test_a_page_holds_about_what_was_asked_for_but_at_least_a_line() -> None:
    log = CommandLog(None, LogLimits())
    log.append(b"x" * 500 + b"\n" + b"a\n" * 100)
    first = log.page(-1, 10)
    assert (text(first), first.cursor) == (b"x" * 500 + b"\n", 0)
    second = log.page(first.cursor, 10)
    assert (text(second), second.cursor) == (b"a\n" * 5, 5)


def test_a_page_outlives_the_segment_it_was_taken_from() -> None:
    log = CommandLog(None, LogLimits(total_bytes=400, memory_bytes=400, segment_bytes=60))
    log.append(b"first\n" * 12)
    log.append(b"second\n" * 12)
    page = log.page(11)
    for _ in range(50):
        log.append(b"more\n" * 12)
    assert text(page).startswith(b"second\n")


class FullDisk(Segment):
    """A segment on a disk that has room for 100 bytes only."""

    def append(self, data: bytes) -> None:
        if not self.in_memory and self.size + len(data) > 100:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        super().append(data)


def test_a_full_disk_costs_no_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CASE-77: the agent can fill the disk; the log goes on in memory."""
    monkeypatch.setattr("execd.log.Segment", FullDisk)
    log = CommandLog(tmp_path, LogLimits())
    sent = b"".join(b"line %d\n" % number for number in range(60))
    for at in range(0, len(sent), 7):
        log.append(sent[at : at + 7])
    assert whole(log) == sent


def test_nobody_finds_a_log_in_its_folder(tmp_path: Path) -> None:
    log = CommandLog(tmp_path, LogLimits())
    log.append(b"secret\n")
    assert list(tmp_path.iterdir()) == []
    assert whole(log) == b"secret\n"
