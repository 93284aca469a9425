"""Requests as the probes send them, byte for byte, right and wrong ones [pure].

Text stands for bytes, as in Latin-1.
"""

import base64
from collections.abc import Mapping, Sequence

UPLOAD = "Content-Type: application/x-git-upload-pack-request"
ZERO = "0" * 40
ONE = "1" * 40
OTHER = "2" * 40
EMPTY_PACK = (
    "PACK\0\0\0\x02\0\0\0\0\x02\x9d\x08\x82;\xd8\xa8\xea\xb5\x10\xadj\xc7\\\x82<\xfd>\xd3\x1e"
)
"""A pack of no object: version 2, none, its SHA-1."""


def filled(text: str, values: Mapping[str, str]) -> str:
    """Text with the value of each `<name>` in its place."""
    for name, value in values.items():
        text = text.replace(f"<{name}>", value)
    return text


def request(line: str, *headers: str, body: str = "", host: str = "door") -> str:
    """A request that is well-formed, on a connection of its own."""
    length = (f"Content-Length: {len(body)}",) if body else ()
    head = (f"{line} HTTP/1.1", f"Host: {host}", "Connection: close", *headers, *length)
    return "\r\n".join((*head, "", "")) + body


def raw(line: str, *headers: str, body: str = "", end: str = "\r\n") -> str:
    """A request exactly of these lines; nothing is added."""
    return end.join((line, *headers, "", "")) + body


def bearer(token: str) -> str:
    """The header that shows a token."""
    return f"Authorization: Bearer {token}"


def basic(token: str, scheme_header: str = "Authorization") -> str:
    """The header that shows it as a password, as git does; also to a proxy."""
    shown = base64.b64encode(f"run:{token}".encode()).decode()
    return f"{scheme_header}: Basic {shown}"


def pkt(text: str) -> str:
    """One pkt-line of git's protocol."""
    return f"{len(text) + 4:04x}{text}"


def push(
    repository: str, token: str, updates: Sequence[tuple[str, str, str]], pack: str = EMPTY_PACK
) -> str:
    """A push of these updates, each (old, new, ref), with a pack unless all delete."""
    first, *rest = (f"{old} {new} {ref}" for old, new, ref in updates)
    commands = pkt(f"{first}\0report-status delete-refs agent=git/2") + "".join(map(pkt, rest))
    pack = "" if all(new == ZERO for _, new, _ in updates) else pack
    return request(
        f"POST /git/{repository}/git-receive-pack",
        bearer(token),
        "Content-Type: application/x-git-receive-pack-request",
        body=f"{commands}0000{pack}",
    )
