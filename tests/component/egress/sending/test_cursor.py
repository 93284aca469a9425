"""Each record is sent once, also over restarts and kills, and nothing by a cursor of another log."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from entrance.errors import Conflict, Malformed
from orchestrator.egress.sending.cursor import CursorFile
from orchestrator.egress.sending.export import Export, Summary
from orchestrator.egress.sending.messages import Message
from orchestrator.egress.sending.targets import FileTarget, Target
from tests.component.egress.sending.exporting import ORIGIN, SMALL, Kept, all_lines, lines, sent
from tests.fakes.egress_log import FakeEgressLog


class Dies(Exception):
    """The exporter is gone in this moment."""


class Killed:
    """A target whose exporter is killed during one batch, after it was handed over, or before."""

    def __init__(self, inner: Target, batch: int, *, before: bool = False) -> None:
        self._inner, self._left, self._before = inner, batch, before
        self.names: list[str] = []

    def begin(self, mark: str) -> str:
        return self._inner.begin(mark)

    def send(self, batch: Sequence[Message], name: str) -> str:
        self._left -= 1
        if self._left == 0 and self._before:
            raise Dies
        self.names.append(name)
        mark = self._inner.send(batch, name)
        if self._left == 0:
            raise Dies
        return mark

    def close(self) -> None:
        self._inner.close()


def test_a_second_export_sends_what_is_new(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    sent(log, FileTarget(out), cursor, form="jsonl")
    assert sent(log, FileTarget(out), cursor, form="jsonl") == Summary()
    log.attempt()
    log.seal()
    assert sent(log, FileTarget(out), cursor, form="jsonl") == Summary(3, 8, 10)
    assert lines(out) == all_lines(log)


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("batch", [1, 2, 3])
def test_a_file_has_each_record_once_wherever_the_exporter_is_killed(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path, batch: int, *, before: bool
) -> None:
    out = tmp_path / "out.jsonl"
    with pytest.raises(Dies):
        sent(
            log,
            Killed(FileTarget(out), batch, before=before),
            cursor,
            form="jsonl",
            batch_bytes=SMALL,
        )
    with out.open("ab") as file:
        file.write(b'{"half a li')
    sent(log, FileTarget(out), cursor, form="jsonl")
    assert lines(out) == all_lines(log)


def test_a_batch_that_was_on_its_way_is_sent_again_as_it_was(
    log: FakeEgressLog, cursor: CursorFile
) -> None:
    kept = Kept()
    with pytest.raises(Dies):
        sent(log, Killed(kept, 2), cursor, batch_bytes=SMALL)
    log.attempt()
    sent(log, kept, cursor)
    assert kept.got[1] == kept.got[2]
    del kept.got[1]
    assert kept.seqs == list(range(1, 10))


def test_what_was_in_a_file_before_stays(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    out.write_bytes(b"before\n")
    with pytest.raises(Dies):
        sent(log, Killed(FileTarget(out), 1), cursor, form="jsonl")
    sent(log, FileTarget(out), cursor, form="jsonl")
    assert lines(out) == [b"before", *all_lines(log)]


def test_a_file_that_was_rotated_away_is_just_begun_anew(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    sent(log, FileTarget(out), cursor, form="jsonl")
    out.rename(tmp_path / "old.jsonl")
    log.attempt()
    sent(log, FileTarget(out), cursor, form="jsonl")
    assert lines(tmp_path / "old.jsonl") + lines(out) == all_lines(log)


def test_another_log_is_not_sent_to_where_this_one_was(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path
) -> None:
    sent(log, Kept(), cursor)
    other = FakeEgressLog(tmp_path / "other")
    for number in range(9):
        other.attempt(run=f"other-{number}")
    with pytest.raises(Malformed, match="not the one that was sent"):
        sent(other, Kept(), cursor)


def test_two_exports_by_one_cursor_are_refused(log: FakeEgressLog, cursor: CursorFile) -> None:
    first = Export(log.folder, Kept(), cursor, ORIGIN).run()
    next(first)
    with pytest.raises(Conflict, match="another export"):
        sent(log, Kept(), cursor)
    first.close()
    sent(log, Kept(), cursor)


def test_a_cursor_that_cannot_be_read_is_said(log: FakeEgressLog, cursor: CursorFile) -> None:
    sent(log, Kept(), cursor)
    assert cursor.path
    cursor.path.write_text("{}x")
    with pytest.raises(Malformed, match="holds no cursor"):
        sent(log, Kept(), cursor)
