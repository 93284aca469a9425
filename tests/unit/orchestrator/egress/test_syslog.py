"""Syslog messages are as RFC 5424 wants them."""

import re

import pytest

from orchestrator.egress.sending.messages import Message
from orchestrator.egress.sending.syslog import LONGEST_DATAGRAM, datagram, framed, syslog

AT = "2026-11-30T12:00:07.250000+00:00"
RFC_5424 = re.compile(
    rb"<(?P<pri>\d{1,3})>1 (?P<at>-|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z) "
    rb"(?P<host>[\x21-\x7e]{1,255}) "
    rb"(?P<app>[\x21-\x7e]{1,48}) (?P<proc>[\x21-\x7e]{1,128}) (?P<id>[\x21-\x7e]{1,32}) "
    rb'(?P<data>-|\[meta sequenceId="\d{1,10}"\]) (?P<text>.*)'
)


def test_a_message_has_the_standards_parts() -> None:
    raw = syslog(Message(7, AT, 4, b'{"a":1}'), "host.example")
    assert raw == (
        b"<108>1 2026-11-30T12:00:07.250000Z host.example sandgate - egress "
        b'[meta sequenceId="7"] {"a":1}'
    )


@pytest.mark.parametrize(
    ("seq", "at", "host"),
    [
        pytest.param(0, AT, "h", id="no number"),
        pytest.param(2**31 + 5, AT, "h", id="a number that is too long"),
        pytest.param(2**31 - 1, AT, "h", id="the last number"),
        pytest.param(1, "yesterday", "h", id="no time"),
        pytest.param(1, AT, "", id="no host"),
        pytest.param(1, AT, "a b\n<0>1", id="a host that would be more than one"),
        pytest.param(1, AT, "ü" + "x" * 300, id="a long host"),
        pytest.param(1, "2026-11-30T14:00:07+02:00", "h", id="another time zone"),
    ],
)
def test_whatever_it_says_it_is_a_message(seq: int, at: str, host: str) -> None:
    found = RFC_5424.fullmatch(syslog(Message(seq, at, 6, b"{}"), host))
    assert found
    assert found["text"] == b"{}"
    if at.endswith("+02:00"):
        assert found["at"] == b"2026-11-30T12:00:07Z"


def test_a_frame_counts_octets_and_not_letters() -> None:
    assert framed("ü".encode()) == "2 ü".encode()


def test_a_datagram_is_never_too_long_to_send() -> None:
    assert len(datagram(b"x" * 10**6)) == LONGEST_DATAGRAM
