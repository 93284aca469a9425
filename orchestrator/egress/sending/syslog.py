"""Syslog messages by RFC 5424, and how they go over a stream (RFC 6587, 3.4.1; RFC 5425) [pure]."""

import re
from datetime import UTC, datetime

from orchestrator.egress.sending.messages import Message

AUDIT = 13
"""The facility of a log audit."""
NAME = "sandgate"
MSGID = "egress"
NIL = "-"
LONGEST_DATAGRAM = 65_000
"""UDP over IPv4 takes 65,507 bytes."""
LAST_SEQUENCE = 2**31 - 1
_NOT_PRINTABLE = re.compile(r"[^\x21-\x7e]")


def syslog(message: Message, host: str) -> bytes:
    """The message. Its text is JSON in UTF-8, without a byte order mark, which collectors stumble over."""
    priority = AUDIT * 8 + message.severity
    sequence = (message.seq - 1) % LAST_SEQUENCE + 1 if message.seq > 0 else 0
    data = f'[meta sequenceId="{sequence}"]' if sequence else NIL
    head = f"<{priority}>1 {_time(message.at)} {_host(host)} {NAME} {NIL} {MSGID} {data} "
    return head.encode() + message.body


def framed(raw: bytes) -> bytes:
    """For a stream: so many octets, a space, the message."""
    return b"%d %b" % (len(raw), raw)


def datagram(raw: bytes) -> bytes:
    """For UDP: what is too long is cut off (RFC 5426, 3.2): it must not keep what follows from coming."""
    return raw[:LONGEST_DATAGRAM]


def _time(at: str) -> str:
    try:
        return datetime.fromisoformat(at).astimezone(UTC).isoformat().replace("+00:00", "Z")
    except ValueError:
        return NIL


def _host(host: str) -> str:
    return _NOT_PRINTABLE.sub("", host)[:255] or NIL
