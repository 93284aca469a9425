"""The log is sent on, each record once and in order, to real collectors; also when all of it breaks."""

import socket
import ssl
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import orjson
import pytest
from pydantic import SecretStr

from entrance.errors import Conflict, Forbidden, Malformed, NotFound, Unavailable
from orchestrator.egress.filters import Filter
from orchestrator.egress.ocsf import Origin
from orchestrator.egress.sending.cursor import CursorFile
from orchestrator.egress.sending.export import Export, Summary
from orchestrator.egress.sending.http import Body, HttpTarget
from orchestrator.egress.sending.messages import Message
from orchestrator.egress.sending.streams import Collector, SyslogTarget
from orchestrator.egress.sending.targets import FileTarget, Target
from tests.fakes.egress_log import FakeEgressLog
from tests.fakes.ocsf import validated
from tests.servers import collector as collectors

ORIGIN = Origin("sg", "0.1.0")
SMALL = 600
"""Bytes of a batch of one or two records."""


@pytest.fixture
def log(tmp_path: Path) -> FakeEgressLog:
    log = FakeEgressLog(tmp_path / "log")
    log.attempt()
    log.decided(decision="deny", host="evil.example")
    log.seal()
    log.attempt(host="b.example")
    return log


@pytest.fixture
def cursor(tmp_path: Path) -> CursorFile:
    return CursorFile(tmp_path / "cursors" / "one.json")


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


class Kept:
    """A target that keeps what it gets."""

    def __init__(self) -> None:
        self.got: list[tuple[str, list[int]]] = []

    @property
    def seqs(self) -> list[int]:
        return [seq for _, seqs in self.got for seq in seqs]

    def begin(self, mark: str) -> str:
        return mark

    def send(self, batch: Sequence[Message], name: str) -> str:
        self.got.append((name, [one.seq for one in batch]))
        return ""

    def close(self) -> None:
        pass


def sent(log: FakeEgressLog, target: Target, cursor: CursorFile, **more: object) -> Summary:
    made = Export(log.folder, target, cursor, ORIGIN, patience_s=5, **more)  # type: ignore[arg-type]
    for _ in made.run():
        pass
    return made.summary


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines()


def all_lines(log: FakeEgressLog) -> list[bytes]:
    return [line for path in sorted(log.folder.glob("*.jsonl")) for line in lines(path)]


def test_a_file_gets_every_record_as_it_is(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    assert sent(log, FileTarget(out), cursor, form="jsonl") == Summary(7, 1, 7)
    assert lines(out) == all_lines(log)
    assert out.stat().st_mode & 0o777 == 0o600


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


def test_where_there_is_no_log_that_is_said(cursor: CursorFile, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        list(Export(tmp_path / "none", Kept(), cursor, ORIGIN).run())


def texts(got: Sequence[bytes]) -> list[int]:
    return [orjson.loads(raw.partition(b"] ")[2])["seq"] for raw in got]


def wait_for(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.01)


def test_syslog_over_udp(log: FakeEgressLog, cursor: CursorFile) -> None:
    with collectors.udp() as got:
        target = SyslogTarget(Collector.at(f"udp://127.0.0.1:{got.port}"), "host")
        sent(log, target, cursor, form="jsonl")
        target.close()
        wait_for(lambda: len(got.got) == 7)
    assert texts(got.got) == [1, 2, 3, 4, 5, 6, 7]
    assert got.got[0].startswith(b"<110>1 2026-11-30T12:00:01Z host sandgate - egress [meta")
    assert got.got[3].startswith(b"<108>1 ")


def test_a_record_that_is_too_long_for_udp_does_not_stop_those_after_it(
    log: FakeEgressLog, cursor: CursorFile
) -> None:
    log.decided(subject="x" * 200_000)
    log.decided()
    with collectors.udp() as got:
        target = SyslogTarget(Collector.at(f"udp://127.0.0.1:{got.port}"), "host")
        sent(log, target, cursor, form="jsonl")
        target.close()
        wait_for(lambda: len(got.got) == 9)
    assert len(got.got[7]) == 65_000


def test_syslog_over_tcp_is_octet_counted(log: FakeEgressLog, cursor: CursorFile) -> None:
    log.attempt(subject="zwölf\nBoxkämpfer")
    with collectors.tcp() as got:
        target = SyslogTarget(Collector.at(f"tcp://127.0.0.1:{got.port}"), "host")
        sent(log, target, cursor, form="jsonl")
        wait_for(lambda: len(got.got) == 9)
        log.attempt()
        sent(log, target, cursor, form="jsonl")
        wait_for(lambda: len(got.got) == 11)
        target.close()
    assert texts(got.got) == list(range(1, 12))
    assert got.connections == 1


def test_a_collector_that_has_closed_is_connected_to_again(
    log: FakeEgressLog, cursor: CursorFile
) -> None:
    with collectors.tcp(close_after=7) as got:
        target = SyslogTarget(Collector.at(f"tcp://127.0.0.1:{got.port}"), "host")
        sent(log, target, cursor, form="jsonl")
        wait_for(lambda: got.closed == 1)
        log.attempt()
        sent(log, target, cursor, form="jsonl")
        wait_for(lambda: len(got.got) == 9)
        target.close()
    assert texts(got.got) == list(range(1, 10))
    assert got.connections == 2


def test_syslog_over_tls_checks_who_it_talks_to(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path
) -> None:
    made = collectors.certificate(tmp_path)
    with collectors.tcp(made.context) as got:
        stranger = SyslogTarget(Collector.at(f"tls://127.0.0.1:{got.port}"), "host")
        with pytest.raises(Unavailable, match="certificate verify failed"):
            list(Export(log.folder, stranger, cursor, ORIGIN, patience_s=0.1).run())
        assert got.got == []
        at = Collector.at(f"tls://127.0.0.1:{got.port}", ca=made.certificate)
        target = SyslogTarget(at, "host")
        sent(log, target, cursor, form="jsonl")
        wait_for(lambda: len(got.got) == 7)
        target.close()
    assert texts(got.got) == [1, 2, 3, 4, 5, 6, 7]


def test_a_collector_may_ask_for_our_certificate(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path
) -> None:
    made = collectors.certificate(tmp_path)
    context = made.context
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(made.certificate)
    with collectors.tcp(context) as got:
        url = f"tls://127.0.0.1:{got.port}"
        at = Collector.at(url, ca=made.certificate, certificate=made.with_key)
        target = SyslogTarget(at, "host")
        sent(log, target, cursor, form="jsonl")
        wait_for(lambda: len(got.got) == 7)
        target.close()


def test_certificates_that_are_none_are_said_at_once(
    log: FakeEgressLog, cursor: CursorFile, tmp_path: Path
) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    with collectors.tcp() as got:
        at = Collector.at(f"tls://127.0.0.1:{got.port}", ca=tmp_path / "ca.pem")
        with pytest.raises(Malformed, match="can't be used"):
            sent(log, SyslogTarget(at, "host"), cursor)


def test_a_collector_that_is_away_is_tried_until_patience_ends(
    log: FakeEgressLog, cursor: CursorFile
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    heard: list[str] = []
    target = SyslogTarget(Collector.at(f"tcp://127.0.0.1:{port}"), "host")
    made = Export(log.folder, target, cursor, ORIGIN, patience_s=1, told=heard.append)
    with pytest.raises(Unavailable, match="did not take it"):
        list(made.run())
    assert heard
    kept = Kept()
    sent(log, kept, cursor)
    assert kept.seqs == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    "url",
    ["", "siem", "http://siem", "tcp://", "tcp://siem/path", "tls://user@siem", "tcp://siem:x"],
)
def test_what_is_no_collector_is_said(url: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        Collector.at(url)


def test_a_collector_has_its_standards_port() -> None:
    assert [str(Collector.at(f"{one}://siem.example")) for one in ("udp", "tcp", "tls")] == [
        "udp://siem.example:514",
        "tcp://siem.example:601",
        "tls://siem.example:6514",
    ]


@pytest.mark.parametrize("body", ["ndjson", "array"])
def test_batches_by_http(log: FakeEgressLog, cursor: CursorFile, body: Body) -> None:
    with collectors.http() as got:
        target = HttpTarget(got.url, {"Authorization": SecretStr("Bearer of-the-tests")}, body)
        sent(log, target, cursor, form="jsonl", batch_bytes=SMALL)
        target.close()
    found = [
        one["seq"]
        for post in got.got
        for one in (
            orjson.loads(post.body)
            if body == "array"
            else map(orjson.loads, post.body.splitlines())
        )
    ]
    assert found == [1, 2, 3, 4, 5, 6, 7]
    assert len(got.got) > 1
    assert {post.headers["Authorization"] for post in got.got} == {"Bearer of-the-tests"}
    assert len({post.headers["Idempotency-Key"] for post in got.got}) == len(got.got)


def test_a_server_in_trouble_gets_each_batch_once_in_the_end(
    log: FakeEgressLog, cursor: CursorFile
) -> None:
    with collectors.http() as got:
        got.answers = [503, 429, 204, 500, 502]
        target = HttpTarget(got.url, {})
        sent(log, target, cursor, form="jsonl", batch_bytes=SMALL)
        target.close()
    found = [orjson.loads(line)["seq"] for post in got.got for line in post.body.splitlines()]
    assert found == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("status", "kind"), [(401, Forbidden), (403, Forbidden), (400, Malformed), (302, Malformed)]
)
def test_a_server_that_does_not_want_it_is_not_asked_again(
    log: FakeEgressLog, cursor: CursorFile, status: int, kind: type[Exception]
) -> None:
    with collectors.http() as got:
        got.answers = [status]
        target = HttpTarget(got.url + "?key=secret", {})
        with pytest.raises(kind, match=str(status)) as caught:
            sent(log, target, cursor)
        target.close()
        assert "secret" not in str(caught.value)
        kept = Kept()
        sent(log, kept, cursor)
    assert kept.seqs == [1, 2, 3, 4, 5, 6, 7]
