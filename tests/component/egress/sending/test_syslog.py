"""The log is sent on by syslog to real collectors: over UDP, TCP and TLS; also when they go away."""

import socket
import ssl
from collections.abc import Sequence
from pathlib import Path

import orjson
import pytest

from entrance.errors import Malformed, Unavailable
from orchestrator.egress.sending.cursor import CursorFile
from orchestrator.egress.sending.export import Export
from orchestrator.egress.sending.streams import Collector, SyslogTarget
from tests.component.egress.sending.exporting import ORIGIN, Kept, sent, wait_for
from tests.fakes.egress_log import FakeEgressLog
from tests.servers import collector as collectors
from tests.servers.certificates import certificate


def texts(got: Sequence[bytes]) -> list[int]:
    return [orjson.loads(raw.partition(b"] ")[2])["seq"] for raw in got]


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
    made = certificate(tmp_path)
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
    made = certificate(tmp_path)
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
    assert texts(got.got) == [1, 2, 3, 4, 5, 6, 7]
    assert got.trouble == []


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
