"""HTTP/1.1 as bytes: the head of a message, chunked bodies. Knows no sockets.

Strict where leniency lets two parsers disagree (both lengths given, folded lines, bare LF):
the lifecycle server stands in front of us and must read the same message.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

from execd.errors import Refused, invalid

MAX_HEADERS = 100
MAX_CHUNK_LINE = 1024
MAX_TRAILERS = 8192
HOP_BY_HOP = frozenset(
    {
        "connection",
        "keep-alive",
        "proxy-authenticate",
        "proxy-authorization",
        "proxy-connection",
        "te",
        "trailer",
        "transfer-encoding",
        "upgrade",
    }
)

_REQUEST_LINE = re.compile(r"([A-Z]{1,20}) (/[\x21-\xff]*) HTTP/1\.([01])")
_STATUS_LINE = re.compile(r"HTTP/1\.([01]) ([1-9][0-9]{2})(?: [\x20-\xff\t]*)?")
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\xff\t]*?)[ \t]*")


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a request or (`status` set) of a response. `fields` keeps the order and spelling."""

    version: tuple[int, int]
    fields: tuple[tuple[str, str], ...]
    method: str = ""
    target: str = ""
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def keeps_alive(self) -> bool:
        """Say whether the sender wants the connection to be used again."""
        said = {token.strip() for token in self.headers.get("connection", "").lower().split(",")}
        return "close" not in said and (self.version == (1, 1) or "keep-alive" in said)


def request_head(raw: bytes) -> Head:
    """Read a request's head, without the empty line that ends it.

    Raises: Refused 400 when it is not exactly HTTP/1.x.
    """
    line, _, rest = raw.decode("latin-1").partition("\r\n")
    match = _REQUEST_LINE.fullmatch(line)
    if match is None:
        raise invalid("the request line is not HTTP/1.1")
    fields = _fields(rest)
    return Head(
        version=(1, int(match[3])),
        fields=fields,
        method=match[1],
        target=match[2],
        headers=_joined(fields),
    )


def response_head(raw: bytes) -> Head:
    """Read a response's head, without the empty line that ends it.

    Raises: Refused 400 when it is not exactly HTTP/1.x.
    """
    line, _, rest = raw.decode("latin-1").partition("\r\n")
    match = _STATUS_LINE.fullmatch(line)
    if match is None:
        raise invalid("the status line is not HTTP/1.1")
    fields = _fields(rest)
    return Head(
        version=(1, int(match[1])), fields=fields, status=int(match[2]), headers=_joined(fields)
    )


def _fields(text: str) -> tuple[tuple[str, str], ...]:
    lines = text.split("\r\n") if text else []
    if len(lines) > MAX_HEADERS:
        raise Refused(431, "TOO_MANY_HEADERS", f"more than {MAX_HEADERS} headers")
    fields = []
    for line in lines:
        match = _HEADER.fullmatch(line)
        if match is None:
            raise invalid("a header line is malformed")
        fields.append((match[1], match[2]))
    return tuple(fields)


def _joined(fields: tuple[tuple[str, str], ...]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in fields:
        key = name.lower()
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return headers


def body_length(headers: dict[str, str]) -> int | None:
    """Return how long the body is by its headers: bytes, or None for chunked. No header means 0.

    Raises: Refused 400 when the headers contradict each other.
    """
    coding = headers.get("transfer-encoding")
    length = headers.get("content-length")
    if coding is not None:
        if length is not None or coding.lower() != "chunked":
            raise invalid("only 'Transfer-Encoding: chunked', and that without Content-Length")
        return None
    if length is None:
        return 0
    if not (length.isascii() and length.isdigit() and len(length) < 19):  # noqa: PLR2004  # 2**63
        raise invalid("Content-Length is not a number")
    return int(length)


def split_target(target: str) -> tuple[str, dict[str, list[str]]]:
    """Return the decoded path and query of a request target. Any byte of a file name survives."""
    path, _, query = target.partition("?")
    pairs: dict[str, list[str]] = {}
    try:
        for name, value in parse_qsl(
            query, keep_blank_values=True, errors="surrogateescape", max_num_fields=2000
        ):
            pairs.setdefault(name, []).append(value)
    except ValueError as error:
        raise invalid("the query has too many fields") from error
    return unquote(path, errors="surrogateescape"), pairs


def chunk(data: bytes) -> bytes:
    """Return `data` (not empty) as one chunk of a chunked body."""
    return b"%x\r\n%b\r\n" % (len(data), data)


LAST_CHUNK = b"0\r\n\r\n"


class ChunkedBody:
    """Takes a chunked body off its framing; fed any pieces."""

    def __init__(self) -> None:
        self._kept = b""
        self._left = 0  # of the chunk being read; its CRLF counts too
        self._trailers: int | None = None
        self.finished = False

    def feed(self, data: bytes) -> list[bytes]:
        """Return the payload in `data`. Once `finished`, `rest()` is what came after the body.

        Raises: Refused 400 when it is not chunked coding.
        """
        data = self._kept + data
        self._kept = b""
        payload: list[bytes] = []
        while data and not self.finished:
            if self._left:
                data = self._take(data, payload)
                continue
            line, end, rest = data.partition(b"\r\n")
            if not end:
                if len(data) > MAX_CHUNK_LINE:
                    raise invalid("a chunk's size line is too long")
                self._kept, data = data, b""
            else:
                self._line(line)
                data = rest
        if self.finished:
            self._kept = data
        return payload

    def rest(self) -> bytes:
        """Give back the bytes that followed the body."""
        rest, self._kept = self._kept, b""
        return rest

    def _take(self, data: bytes, payload: list[bytes]) -> bytes:
        of_payload = min(len(data), max(self._left - 2, 0))
        if of_payload:
            payload.append(data[:of_payload])
            self._left -= of_payload
            return data[of_payload:]
        if data[0] != b"\r\n"[2 - self._left]:
            raise invalid("a chunk is longer than it said")
        self._left -= 1
        return data[1:]

    def _line(self, line: bytes) -> None:
        if self._trailers is not None:
            self._trailers += len(line) + 2
            if self._trailers > MAX_TRAILERS:
                raise invalid("the trailers are too long")
            self.finished = not line
            return
        size = line.partition(b";")[0].strip(b" \t")
        if not re.fullmatch(rb"[0-9A-Fa-f]{1,15}", size):
            raise invalid("a chunk's size is not a number")
        length = int(size, 16)
        if length:
            self._left = length + 2
        else:
            self._trailers = 0
