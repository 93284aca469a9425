"""Requests to the entrance that can be read in two ways, with another one hidden in them [pure]."""

from orchestrator.posture.battery.door import OWN, asked
from orchestrator.posture.probe import Area, Probe, Wall
from orchestrator.posture.wire import UPLOAD, raw

_D = Area.DOOR


def _smuggle(name: str, promise: str, *headers: str, body: str | None = None) -> Probe:
    """One request to the canary git host, in which a second one is hidden."""
    hidden = f"GET /{name}/hidden HTTP/1.1\r\nHost: x\r\n\r\n"
    text = raw(
        f"POST /git/<git>/{name}.git/git-upload-pack HTTP/1.1",
        "Host: door", OWN, UPLOAD, "Connection: close", *headers,
        body=body if body is not None else f"0\r\n\r\n{hidden}",
    )  # fmt: skip
    return Probe(name, _D, Wall.FRAMING, promise, "asks", asked(text), ("400", "cut"), canary=0)


SMUGGLING: tuple[Probe, ...] = (
    _smuggle(
        "smuggle-te-cl", "Two ways to say how long a body is are refused.",
        "Content-Length: 5", "Transfer-Encoding: chunked",
    ),
    _smuggle(
        "smuggle-cl-te", "In the other order, too.",
        "Transfer-Encoding: chunked", "Content-Length: 60",
    ),
    _smuggle(
        "smuggle-two-lengths", "Two lengths that differ are refused.",
        "Content-Length: 5", "Content-Length: 60",
    ),
    _smuggle("smuggle-signed-length", "A length with a sign is refused.", "Content-Length: +0"),
    _smuggle("smuggle-length-list", "A list of lengths is refused.", "Content-Length: 5, 60"),
    _smuggle("smuggle-hex-length", "A length in hexadecimal is refused.", "Content-Length: 0x5"),
    _smuggle(
        "smuggle-unknown-coding", "A coding that nobody knows is refused.",
        "Transfer-Encoding: xchunked",
    ),
    _smuggle(
        "smuggle-coding-list", "A coding after chunked is refused.",
        "Transfer-Encoding: chunked, identity",
    ),
    _smuggle(
        "smuggle-space", "A blank before a header's colon is refused.",
        "Transfer-Encoding : chunked", "Content-Length: 5",
    ),
    _smuggle(
        "smuggle-folded", "A header that goes on in the next line is refused.",
        "Transfer-Encoding:\r\n chunked", "Content-Length: 5",
    ),
    _smuggle(
        "smuggle-bare-lf", "A line that ends in a line feed alone is refused.",
        "X-A: b\nTransfer-Encoding: chunked", "Content-Length: 5",
    ),
    _smuggle(
        "smuggle-bare-cr", "A carriage return inside a header is refused.",
        "X-A: b\rTransfer-Encoding: chunked", "Content-Length: 5",
    ),
    _smuggle("smuggle-nul", "A NUL in a header is refused.", "X-A: b\0c", "Content-Length: 0", body=""),
    _smuggle(
        "smuggle-chunk-size", "A chunk whose length is no number is refused.",
        "Transfer-Encoding: chunked", body="0x5\r\nhello\r\n0\r\n\r\n",
    ),
    _smuggle(
        "smuggle-chunk-end", "A chunk that is longer than it says is refused.",
        "Transfer-Encoding: chunked", body="5\r\nhello!\r\n0\r\n\r\n",
    ),
)  # fmt: skip
