"""The answer to a push: report-status, in a side band or bare [pure, sans-I/O].

Ours says why a push was refused, so that git prints it; the host's is read as it passes by, so
that the record can say what came of each ref.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from entrance.git.pktline import FLUSH, MAX_PAYLOAD, PktBuffer, ProtocolError, encode

MAX_REPORT_BYTES = 1 << 20
_MAX_REASON_BYTES = 1000
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]+")
_DATA, _PROGRESS, _FATAL = b"\x01", b"\x02", b"\x03"
_BANDS = {"side-band-64k": MAX_PAYLOAD, "side-band": 996}


def encode_refusal(
    capabilities: Iterable[str], refusals: Mapping[bytes, str], note: str
) -> bytes | None:
    """The body that refuses every ref, each with its reason, and prints `note` as `remote:`.

    None when the client asked for no way to be told: then a bare 200 would look like success,
    and the caller must answer with an HTTP status instead.
    """
    asked = {capability.split("=", 1)[0] for capability in capabilities}
    room = next((room for band, room in _BANDS.items() if band in asked), None)
    if not asked & {"report-status", "report-status-v2"}:
        return None if room is None else encode(_FATAL + _line(note)[: room - 1]) + FLUSH
    # Any other word than `ok` here makes git add "error: remote unpack failed".
    report = encode(b"unpack ok\n")
    for ref, reason in refusals.items():
        report += encode(b"ng " + ref + b" " + _line(reason))
    report += FLUSH
    if room is None:
        return report
    banded = encode(_PROGRESS + _line(note)[: room - 1])
    for start in range(0, len(report), room - 1):
        banded += encode(_DATA + report[start : start + room - 1])
    return banded + FLUSH


def _line(text: str) -> bytes:
    return _CONTROL.sub(b" ", text.encode())[:_MAX_REASON_BYTES] + b"\n"


@dataclass(frozen=True, slots=True)
class Report:
    """What the host said. `unpack` is `ok` or why not; "" when no report could be read."""

    unpack: str = ""
    refs: Mapping[str, str] = field(default_factory=dict)
    """Each ref to `ok`, or `ng` and the host's reason."""

    @property
    def result(self) -> str:
        """One word for the record: `ok`, `refused`, `unknown` (the host's answer was not read)."""
        if not self.unpack:
            return "unknown"
        taken = self.unpack == "ok" and all(word == "ok" for word in self.refs.values())
        return "ok" if taken else "refused"


class ReportReader:
    """Reads a report out of a response that streams by, keeping no more than the report itself."""

    def __init__(self, capabilities: Iterable[str]) -> None:
        self._banded = any(capability in _BANDS for capability in capabilities)
        self._outer = PktBuffer()
        self._inner = PktBuffer()
        self._size = 0
        self._unpack = ""
        self._refs: dict[str, str] = {}
        self._lost = False

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the response. Never raises: what can't be read is `unknown`."""
        if self._lost:
            return
        try:
            self._take(data)
        except ProtocolError:
            self._lost = True

    def report(self) -> Report:
        return Report() if self._lost else Report(self._unpack, dict(self._refs))

    def _take(self, data: bytes) -> None:
        if not self._banded:
            self._take_report(data)
            return
        self._outer.feed(data)
        while (line := self._outer.pop()) is not None:
            if isinstance(line, bytes) and line.startswith(_DATA):
                self._take_report(line[1:])

    def _take_report(self, data: bytes) -> None:
        self._size += len(data)
        if self._size > MAX_REPORT_BYTES:
            raise ProtocolError("the report is too long to be one")
        self._inner.feed(data)
        while (line := self._inner.pop()) is not None:
            if isinstance(line, bytes):
                self._take_line(line.decode("utf-8", "backslashreplace").rstrip("\n"))

    def _take_line(self, line: str) -> None:
        word, _, what = line.partition(" ")
        if word == "unpack":
            self._unpack = what
        elif word == "ok":
            self._refs[what] = "ok"
        elif word == "ng":
            ref, _, reason = what.partition(" ")
            self._refs[ref] = f"ng {reason}".rstrip()
