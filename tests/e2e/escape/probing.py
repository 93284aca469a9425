"""What the mole runs to try every way out of its sandbox at once, and the listeners it must not reach."""

import contextlib
import select
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

TRIES = """
import json, socket, threading

def tcp(host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as s:
        s.settimeout(1.5)
        s.connect(socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)[0][4])
        return "reached"

# A DNS question. NOERROR and NXDOMAIN come from a server that asked somebody who knows.
QUERY = b"\\x53\\x47\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\6secret\\7example\\0\\0\\1\\0\\1"

def told(answer):
    return "reached" if answer[3] & 15 in (0, 3) else "answered without asking anyone"

def udp(host, port):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        s.settimeout(1.5)
        s.sendto(QUERY, (host, port))
        return told(s.recv(512))

def dns(host, port):
    with socket.create_connection((host, port), timeout=1.5) as s:
        s.sendall(len(QUERY).to_bytes(2) + QUERY)
        return told(s.recv(514)[2:])

def ping(host, _):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as s:
        s.settimeout(1.5)
        s.sendto(b"\\x08\\0\\0\\0\\0\\0\\0\\1ping", (host, 0))
        s.recv(512)
        return "reached"

def name(host, port):
    return "reached " + str(socket.getaddrinfo(host, port))

def spoof(host, port):
    # Bound to another sandbox's address (host) it would be that sandbox to the door (port).
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as s:
        s.setsockopt(socket.IPPROTO_IP, 15, 1)  # IP_FREEBIND
        s.bind((host, 0))
        s.settimeout(1.5)
        s.connect((DOOR, port))
        return "reached"

found = {}

def go(key, how, host, port):
    try:
        found[key] = globals()[how](host, port)
    except TimeoutError:
        found[key] = "no answer"
    except OSError as error:
        found[key] = error.strerror or type(error).__name__

threads = [threading.Thread(target=go, args=(key, *way)) for key, way in WAYS.items()]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(json.dumps(found))
"""

LISTENER = """
import socket, threading
from pathlib import Path
heard = Path("/tmp/heard").open("w", buffering=1)
def serve(s):
    while True:
        s.listen()
        print(s.accept()[1][0], file=heard)
def take(s):
    while True:
        print(s.recvfrom(512)[1][0], file=heard)
tcp = socket.create_server(("", 8000))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("", 8000))
Path("/tmp/listens").touch()
threading.Thread(target=serve, args=(tcp,)).start()
take(udp)
"""


@dataclass
class HostListener:
    """Listens on every address of the host, TCP and UDP, and remembers who came."""

    port: int = 0
    came: list[str] = field(default_factory=list)
    _closing: threading.Event = field(default_factory=threading.Event)

    @contextlib.contextmanager
    def open(self) -> Iterator["HostListener"]:
        with (
            socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as tcp,
            socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp,
        ):
            self.port = tcp.getsockname()[1]
            udp.bind(("", self.port))
            listening = threading.Thread(target=self._listen, args=(tcp, udp))
            listening.start()
            yield self
            self._closing.set()
            listening.join()

    def _listen(self, tcp: socket.socket, udp: socket.socket) -> None:
        while not self._closing.is_set():
            ready, _, _ = select.select([tcp, udp], [], [], 0.1)
            if tcp in ready:
                connection, peer = tcp.accept()
                connection.close()
                self.came.append(peer[0].removeprefix("::ffff:"))
            if udp in ready:
                self.came.append(udp.recvfrom(512)[1][0])


def reaches(host: str, port: int) -> bool:
    """Whether the host itself gets a TCP connection there."""
    with contextlib.suppress(OSError), socket.create_connection((host, port), timeout=3):
        return True
    return False
