"""Ways out of a sandbox by its sockets. What answers, in whatever way, was reached."""

import contextlib
import errno
import os
import select
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

PATIENCE_S = 0.8
CLOSED = "closed"
NONCE = os.urandom(4).hex()
"""In every name that is looked up: no cache can answer for a server."""
IP_FREEBIND = 15
Place = tuple[str, int]
Found = tuple[str, str]
"""A word, and what it rests on."""


def tcp(mark: str, *targets: Place) -> Found:
    """Connect to all of them at once, and leave the mark at each that lets it."""
    waiting: dict[socket.socket, Place] = {}
    said: dict[socket.socket, int] = {}
    for host, port in targets:
        place = (host, port)
        one = _socket_for(place, socket.SOCK_STREAM)
        waiting[one] = place
        code = _begin(one, place)
        if code not in {0, errno.EINPROGRESS}:
            said[one] = code
    deadline = time.monotonic() + PATIENCE_S
    while len(said) < len(waiting) and time.monotonic() < deadline:
        for one in _writable([one for one in waiting if one not in said], deadline):
            said[one] = one.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
            if not said[one]:
                with contextlib.suppress(OSError):
                    one.send(mark.encode() + b"\n")
    words: dict[str, list[str]] = {"reached": [], "refused": []}
    for one, place in waiting.items():
        word = {0: "reached", errno.ECONNREFUSED: "refused"}.get(said.get(one, -1))
        if word:
            words[word].append("{}:{}".format(*place))
        one.close()
    return _told(words, len(waiting))


def _socket_for(place: Place, kind: socket.SocketKind) -> socket.socket:
    one = socket.socket(socket.AF_INET6 if ":" in place[0] else socket.AF_INET, kind)
    one.settimeout(0)
    return one


def _begin(one: socket.socket, place: Place) -> int:
    try:
        return one.connect_ex(place)
    except OSError as error:
        return error.errno or errno.EHOSTUNREACH


def _writable(sockets: Sequence[socket.socket], deadline: float) -> list[socket.socket]:
    poll = select.poll()
    by_number = {one.fileno(): one for one in sockets}
    for number in by_number:
        poll.register(number, select.POLLOUT)
    left_ms = max(0, (deadline - time.monotonic()) * 1000)
    return [by_number[number] for number, _ in poll.poll(left_ms)]


def _told(words: Mapping[str, Sequence[str]], tried: int) -> Found:
    """One word when all went the same way; else which did what."""
    for word, places in words.items():
        if len(places) == tried:
            return word, ", ".join(places)
    parts = ["{} {}".format(word, ", ".join(places)) for word, places in words.items() if places]
    return ("; ".join(parts) or CLOSED), f"{tried} tried"


def udp(mark: str, *targets: Place) -> Found:
    """Send the mark to all of them; whatever comes back was an answer."""
    return _exchange(targets, mark.encode() + b"\n", lambda _: True)


def dns(mark: str, *servers: str) -> Found:
    """Ask each server for a name that carries the mark.

    NOERROR and NXDOMAIN come from a server that asked somebody; anything else carried nothing out.
    """
    targets = [(server, 53) for server in servers]
    return _exchange(targets, question(mark), _knows)


def _knows(answer: bytes) -> bool:
    return len(answer) > 3 and answer[3] & 15 in {0, 3}  # noqa: PLR2004 - the fourth byte has the code


def question(mark: str) -> bytes:
    """A DNS question for the address of `<mark>.<nonce>.posture.example`."""
    labels = [mark[:63], NONCE, "posture", "example"]
    name = b"".join(bytes([len(label)]) + label.encode() for label in labels)
    return b"\x53\x47\1\0\0\1\0\0\0\0\0\0" + name + b"\0\0\1\0\1"


def _exchange(
    targets: Sequence[Place], payload: bytes, is_answer: Callable[[bytes], bool]
) -> Found:
    asked = {one.fileno(): (one, place) for one, place in _sent(targets, payload)}
    words: dict[str, list[str]] = {"reached": [], "refused": []}
    deadline = time.monotonic() + PATIENCE_S
    while asked and time.monotonic() < deadline:
        poll = select.poll()
        for number in asked:
            poll.register(number, select.POLLIN)
        for number, _ in poll.poll(max(0, (deadline - time.monotonic()) * 1000)):
            one, place = asked.pop(number)
            word = _answered(one, is_answer)
            if word:
                words[word].append("{}:{}".format(*place))
            one.close()
    for one, _ in asked.values():
        one.close()
    return _told(words, len(targets))


def _sent(targets: Sequence[Place], payload: bytes) -> Iterator[tuple[socket.socket, Place]]:
    for host, port in targets:
        place = (host, port)
        one = _socket_for(place, socket.SOCK_DGRAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        try:
            one.connect(place)
            one.send(payload)
        except OSError:
            one.close()
        else:
            yield one, place


def _answered(one: socket.socket, is_answer: Callable[[bytes], bool]) -> str:
    try:
        return "reached" if is_answer(one.recv(512)) else ""
    except ConnectionRefusedError:
        return "refused"
    except OSError:
        return ""


def dns_tcp(mark: str, *servers: str) -> Found:
    """The same questions over TCP."""
    asked = question(mark)
    reached = []
    for server in servers:
        try:
            with socket.create_connection((server, 53), timeout=PATIENCE_S) as one:
                one.sendall(len(asked).to_bytes(2, "big") + asked)
                if _knows(one.recv(514)[2:]):
                    reached.append(server)
        except OSError:
            continue
    return ("reached " + ", ".join(reached)) if reached else CLOSED, f"{len(servers)} tried"


def lookup(mark: str, *hosts: str) -> str:
    """Ask as programs do: the C library, whatever it is set to."""
    found = []
    for host in hosts:
        with contextlib.suppress(OSError):
            found.append(str(socket.getaddrinfo(f"{mark}.{NONCE}.{host}", 80)[0][4][0]))
    return ("reached " + ", ".join(found)) if found else CLOSED


def ping(mark: str, *hosts: str) -> Found:
    """An ICMP echo, by the kind of socket that needs no capability."""
    words: dict[str, list[str]] = {"reached": [], "refused": []}
    for host in hosts:
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as one:
                one.settimeout(PATIENCE_S)
                one.sendto(b"\x08\0\0\0\0\0\0\1" + mark.encode(), (host, 0))
                one.recv(512)
                words["reached"].append(host)
        except OSError:
            continue
    return _told(words, len(hosts))


def spoof(mark: str, address: str, host: str, port: int) -> str:
    """Speak to the door as if from another sandbox's address."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        one.settimeout(PATIENCE_S)
        try:
            one.setsockopt(socket.IPPROTO_IP, IP_FREEBIND, 1)
            one.bind((address, 0))
            one.connect((host, port))
            one.send(mark.encode() + b"\n")
        except OSError:
            return CLOSED
        return "reached"


def ipv6_addresses() -> str:
    """The IPv6 addresses that aren't loopback's."""
    try:
        with open("/proc/net/if_inet6", encoding="ascii") as file:
            lines = file.read().splitlines()
    except OSError:
        return "none"
    return " ".join(line.split()[0] for line in lines if not line.endswith(" lo")) or "none"


def unix_names() -> str:
    """Abstract Unix sockets that are seen, which no folder's rights protect."""
    with open("/proc/net/unix", encoding="utf-8", errors="replace") as file:
        names = [line.split()[-1] for line in file.read().splitlines()[1:]]
    return " ".join(sorted({name for name in names if name.startswith("@")})) or "none"
