"""Every record that is vouched for is sent on, in the form that is asked for."""

from pathlib import Path

import orjson
import pytest

from entrance.errors import NotFound
from orchestrator.egress.filters import Filter
from orchestrator.egress.sending.cursor import CursorFile
from orchestrator.egress.sending.export import Export, Summary
from orchestrator.egress.sending.targets import FileTarget
from tests.component.egress.sending.exporting import ORIGIN, Kept, all_lines, lines, sent
from tests.fakes.egress_log import FakeEgressLog
from tests.fakes.ocsf import validated


def test_a_file_gets_every_record_as_it_is(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    assert sent(log, FileTarget(out), cursor, form="jsonl") == Summary(7, 1, 7)
    assert lines(out) == all_lines(log)
    assert out.stat().st_mode & 0o777 == 0o600


def test_ocsf_events_fit_the_schema_and_outcomes_know_their_decision(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    sent(log, FileTarget(out), cursor)
    events = [orjson.loads(line) for line in lines(out)]
    for one in events:
        validated(one)
    assert [one["class_uid"] for one in events] == [0, 4002, 4002, 4002, 0, 4002, 4002]
    assert events[-1]["http_request"]["url"]["url_string"] == "https://files.example/a"
    assert events[-1]["metadata"]["correlation_uid"] == events[-2]["metadata"]["uid"]


def test_an_outcome_knows_a_decision_that_was_sent_before_a_restart(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path
) -> None:
    seq = log.decided(host="slow.example", url="https://slow.example/")
    sent(log, FileTarget(tmp_path / "out"), cursor)
    log.seal()
    log.came(seq)
    sent(log, FileTarget(tmp_path / "out"), cursor)
    last = orjson.loads(lines(tmp_path / "out")[-1])
    assert last["dst_endpoint"]["hostname"] == "slow.example"


def test_a_filter_lets_decisions_and_their_outcomes_pass(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    sent(log, FileTarget(out), cursor, form="jsonl", wanted=Filter(host=["b.example"]))
    assert [orjson.loads(line)["seq"] for line in lines(out)] == [6, 7]


def test_only_what_is_vouched_for_is_sent(log: FakeEgressLog, cursor: CursorFile) -> None:
    size = log.path.stat().st_size
    log.attempt()
    (log.folder / "head.json").write_bytes(orjson.dumps({"segment": 2, "bytes": size}))
    kept = Kept()
    sent(log, kept, cursor)
    assert kept.seqs == [1, 2, 3, 4, 5, 6, 7]
    (log.folder / "head.json").write_bytes(
        orjson.dumps({"segment": 2, "bytes": log.path.stat().st_size})
    )
    sent(log, kept, cursor)
    assert kept.seqs == list(range(1, 10))


def test_what_retention_took_before_it_was_sent_is_said(
    log: FakeEgressLog, cursor: CursorFile
) -> None:
    first = log.folder / "egress-00000001.jsonl"
    kept = Kept()
    sent(log, kept, cursor)
    log.seal()
    log.attempt()
    log.seal()
    for number in (1, 2, 3):
        (log.folder / f"egress-{number:08d}.jsonl").unlink()
    assert not first.exists()
    assert sent(log, kept, cursor).lost


def test_where_there_is_no_log_that_is_said(cursor: CursorFile, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        list(Export(tmp_path / "none", Kept(), cursor, ORIGIN).run())
