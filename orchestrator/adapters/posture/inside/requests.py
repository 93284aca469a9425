"""Bytes to a door of the sandbox, exactly as ordered, and what came back."""

import contextlib
import re
import socket
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime

ANSWER_S = 5.0
MORE_S = 0.3
"""After an answer that is whole in itself another one would come at once."""
PUSH_S = 30.0
"""What judges pushes may have to be started first, on a machine that has much else to do."""
MOST_BYTES = 1 << 20
Found = tuple[str, str]
"""A word, and what it rests on."""
DATE = re.compile(rb"\r\nDate: ([^\r]+)\r\n", re.IGNORECASE)
STATUS_LINE = re.compile(rb"(?:^|\r\n|\n)HTTP/1\.[01] (\d{3}) ")


def asks(host: str, port: int, payload: str) -> Found:
    """Send it on one connection; the status of every answer, in their order: `403`, `200+404`.

    `cut` when the connection is closed without a word, `silent` when nothing comes.
    """
    try:
        answer, ended = exchange(host, port, payload.encode("latin-1"))
    except OSError as error:
        return "closed", str(error)
    statuses = [one.decode() for one in STATUS_LINE.findall(answer)]
    if not statuses:
        return "cut" if ended else "silent", answer[:80].decode("latin-1")
    return "+".join(statuses), answer.partition(b"\r\n\r\n")[2][:160].decode("latin-1")


def asks_each(host: str, port: int, *payloads: str) -> Found:
    """Each on a connection of its own: every answer that came, each once: `403 404`."""
    found = [asks(host, port, payload)[0] for payload in payloads]
    told = [
        f"{text.partition(' HTTP')[0][:60]}: {word}"
        for text, word in zip(payloads, found, strict=True)
    ]
    return " ".join(sorted(set(found))), "; ".join(told)


def says(host: str, port: int, payload: str, text: str) -> Found:
    """The status, and whether the answer has the text: `200 said`."""
    try:
        answer, _ = exchange(host, port, payload.encode("latin-1"))
    except OSError as error:
        return "closed", str(error)
    statuses = "+".join(one.decode() for one in STATUS_LINE.findall(answer))
    said = " said" if text.encode() in answer else ""
    return statuses + said, answer.partition(b"\r\n\r\n")[2][:160].decode("latin-1")


def pushes(host: str, port: int, payload: str, ref: str) -> Found:
    """Send a push of one ref: `refused` or `accepted`, as git's report says; else the status."""
    report = re.compile(rb"(ok|ng) " + re.escape(ref.encode()) + rb"[ \n]")

    def is_whole(answer: bytes) -> bool:
        """The door says now and then that it is still at it; only its report ends that."""
        return bool(report.search(answer)) or not answer.startswith(b"HTTP/1.1 200")

    try:
        answer, _ = exchange(host, port, payload.encode("latin-1"), PUSH_S, is_whole)
    except OSError as error:
        return "closed", str(error)
    told = answer.partition(b"\r\n\r\n")[2]
    evidence = told[:300].decode("latin-1")
    if b"ng " + ref.encode() + b" " in told:
        return "refused", evidence
    if b"ok " + ref.encode() + b"\n" in told:
        return "accepted", evidence
    statuses = [one.decode() for one in STATUS_LINE.findall(answer)]
    return "+".join(statuses) or "silent", evidence


def clock(host: str, port: int, payload: str, patience_s: float) -> Found:
    """Whether the clock here is the door's, which says its own in every answer.

    However long the answer takes: its time must lie between asking and having it.
    """
    before = time.time()
    try:
        answer, _ = exchange(host, port, payload.encode("latin-1"))
    except OSError as error:
        return "closed", str(error)
    after = time.time()
    said = DATE.search(answer)
    if not said:
        return "not said", answer[:80].decode("latin-1")
    there = parsedate_to_datetime(said[1].decode("ascii")).timestamp()
    right = before - patience_s <= there <= after + patience_s
    return "right" if right else "wrong", f"{before - there:+.1f} s to {after - there:+.1f} s"


def exchange(
    host: str,
    port: int,
    payload: bytes,
    patience_s: float = ANSWER_S,
    is_whole: Callable[[bytes], bool] = bool,
) -> tuple[bytes, bool]:
    """What comes back until the other side ends it or falls silent; and whether it ended it."""
    answer = b""
    with socket.create_connection((host, port), timeout=patience_s) as one:
        with contextlib.suppress(OSError):  # it may be answered, and ended, before all is sent
            one.sendall(payload)
        try:
            while len(answer) < MOST_BYTES:
                piece = one.recv(65536)
                if not piece:
                    return answer, True
                answer += piece
                one.settimeout(MORE_S if is_whole(answer) else patience_s)
        except TimeoutError:
            return answer, False
        except OSError:
            return answer, True
    return answer, False
