"""Makes attempts of every kind from inside a sandbox: `python3 load.py ORDERS.json REPORT`.

Nothing but Python's own library: it runs in the sandbox's image. An attempt is made once, whatever
becomes of it; what is waited for is only that somebody listens. REPORT gets a line an attempt as soon as
it is known, `id kind status`, with status 0 for no answer, and at its end a line that begins with `end`.
"""

import base64
import hashlib
import json
import os
import random
import resource
import socket
import ssl
import sys
import threading
import time
from collections import deque
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from urllib.parse import urlsplit

HOST, REFUSED_HOST = "canary.example", "refused.example"
MODEL = "claude-sonnet-5"
PER_HUNDRED = {
    "http": 34,
    "https": 16,
    "http refused": 10,
    "https refused": 4,
    "tunnel refused": 2,
    "nobody": 2,
    "tool": 2,
    "tool misused": 2,
    "tool refused": 5,
    "model": 3,
    "model refused": 3,
    "fetch": 3,
    "fetch refused": 3,
    "push refused": 5,
    "packet": 6,
}
"""So many of each kind in a hundred attempts."""
AT_THE_PROXY = frozenset(
    {"http", "https", "http refused", "https refused", "tunnel refused", "nobody"}
)
PACKET_PORTS = 4
"""Packets go to so many closed ports of the gateway, and to as many of a host far away."""
FIRST_PORT, FAR = 4001, "192.0.2.7"
ANSWER_S, LISTENING_S, AGAIN_S = 30.0, 240.0, 0.1


def kinds_of(number: int, attempts: int) -> list[tuple[str, str]]:
    """The attempts of a sandbox, id and kind, in the order in which they are begun."""
    every = [kind for kind, share in PER_HUNDRED.items() for _ in range(share)]
    kinds = [every[n % len(every)] for n in range(attempts)]
    random.Random(number).shuffle(kinds)  # noqa: S311 - an order, no secret
    return [(f"s{number:02d}n{n:05d}", kind) for n, kind in enumerate(kinds)]


def model_body(attempt: str) -> bytes:
    """A model call's body."""
    asked = [{"role": "user", "content": f"ATTEMPT {attempt}"}]
    body = {"model": MODEL, "max_tokens": 16, "messages": asked}
    return json.dumps(body, separators=(",", ":")).encode()  # as the gateway passes it on


def model_sha256(attempt: str) -> str:
    """What the log knows it by."""
    return hashlib.sha256(model_body(attempt)).hexdigest()


class Worker:
    """One thread: its connections, and how each kind of attempt is made with them."""

    def __init__(self, orders: dict[str, str]) -> None:
        self._entrance, self._proxy = urlsplit(orders["entrance"]), urlsplit(orders["proxy"])
        self._repository, self._token = orders["repository"], str(self._proxy.password)
        shown = f"{self._proxy.username}:{self._proxy.password}".encode()
        self._credentials = {"Proxy-Authorization": "Basic " + base64.b64encode(shown).decode()}
        self._open: dict[str, HTTPConnection] = {}
        self._datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def attempt(self, attempt: str, kind: str) -> str:
        """Make it; the status of its answer, 0 for none. A packet tells where it went."""
        if kind == "packet":
            return self._packet(attempt)
        way, method, target, body, headers = self._request(attempt, kind)
        connection = self._listening(way)
        try:
            connection.request(method, target, body, headers)
            answer = connection.getresponse()
            answer.read()
        except (OSError, HTTPException) as error:
            self._close(way)
            return str(_refused_tunnel(error))
        if _is_over(answer):
            self._close(way)
        return str(answer.status)

    def _request(
        self, attempt: str, kind: str
    ) -> tuple[str, str, str, bytes | None, dict[str, str]]:
        """The way, and the request as it goes that way."""
        if kind in AT_THE_PROXY:
            return self._at_the_proxy(attempt, kind)
        bearer = {"Authorization": f"Bearer {self._token}"}
        as_json = bearer | {"Content-Type": "application/json", "Accept": "application/json"}
        match kind:
            case "tool" | "tool misused" | "tool refused":
                name = {"tool": "get_task", "tool misused": "add_comment"}.get(kind, "no_such_tool")
                call = {"jsonrpc": "2.0", "id": attempt, "method": "tools/call"}
                call |= {"params": {"name": name, "arguments": {}}}  # type: ignore[dict-item]
                return "door", "POST", "/mcp", json.dumps(call).encode(), as_json
            case "model" | "model refused":
                body = model_body(attempt)
                if kind == "model refused":
                    body = body.replace(MODEL.encode(), f"none-{attempt}".encode())
                version = as_json | {"anthropic-version": "2023-06-01"}
                return "door", "POST", "/model/anthropic/v1/messages", body, version
            case "fetch" | "fetch refused":
                name = self._repository if kind == "fetch" else attempt
                return "door", "GET", f"/git/{name}/info/refs?service=git-upload-pack", None, bearer
            case _:
                target = f"/git/{self._repository}/git-receive-pack"
                typed = bearer | {"Content-Type": "application/x-git-receive-pack-request"}
                return "door", "POST", target, _push(attempt), typed

    def _at_the_proxy(
        self, attempt: str, kind: str
    ) -> tuple[str, str, str, bytes | None, dict[str, str]]:
        plain = f"http://{HOST}/attempts/{attempt}"
        match kind:
            case "http":
                return "plain", "GET", plain, None, self._credentials
            case "http refused":
                elsewhere = f"http://{REFUSED_HOST}/{attempt}"
                return "plain", "GET", elsewhere, None, self._credentials
            case "nobody":
                return "plain", "GET", plain, None, {}
            case "https":
                return "tunnel", "GET", f"/attempts/{attempt}", None, {}
            case "https refused":
                return "tunnel", "GET", f"/refused/{attempt}", None, {}
            case _:
                return f"to {attempt}.{REFUSED_HOST}", "GET", "/", None, {}

    def _listening(self, way: str) -> HTTPConnection:
        """A connection that somebody has taken; one that was open already may be dead by now."""
        found = self._open.get(way)
        until = time.monotonic() + LISTENING_S
        while found is None:
            made = self._made(way)
            if way.startswith("to "):
                return made  # asking for the tunnel is the attempt
            try:
                made.connect()
                found = self._open[way] = made
            except (OSError, HTTPException):
                made.close()
                if time.monotonic() > until:
                    raise
                time.sleep(AGAIN_S)
        return found

    def _made(self, way: str) -> HTTPConnection:
        if way == "door":
            return HTTPConnection(str(self._entrance.hostname), self._entrance.port, ANSWER_S)
        place = str(self._proxy.hostname), self._proxy.port
        if way == "plain":
            return HTTPConnection(*place, ANSWER_S)
        trusting = ssl.create_default_context()
        tunnel = HTTPSConnection(*place, timeout=ANSWER_S, context=trusting)
        host = HOST if way == "tunnel" else way.removeprefix("to ")
        tunnel.set_tunnel(host, 443, self._credentials)
        return tunnel

    def _close(self, way: str) -> None:
        found = self._open.pop(way, None)
        if found is not None:
            found.close()

    def _packet(self, attempt: str) -> str:
        number = int(attempt.rpartition("n")[2])
        far = number // PACKET_PORTS % 2
        place = (FAR if far else str(self._entrance.hostname), FIRST_PORT + number % PACKET_PORTS)
        try:
            self._datagrams.sendto(attempt.encode(), place)
        except OSError:
            return "0"
        return f"{place[0]}:{place[1]}"


def _push(attempt: str) -> bytes:
    """The head of a push to a branch that isn't the run's, and no pack."""
    old, new = "0" * 40, "1" * 40
    command = f"{old} {new} refs/heads/{attempt}\0report-status".encode()
    return b"%04x%b0000" % (len(command) + 4, command)


def _refused_tunnel(error: Exception) -> int:
    """The status that a tunnel was refused with, as http.client tells it; 0 when it was none."""
    words = str(error).split()
    said = words[3:4] if words[:3] == ["Tunnel", "connection", "failed:"] else []
    return int(said[0]) if said else 0


def _is_over(answer: HTTPResponse) -> bool:
    return answer.will_close


def main(orders_file: str, report_file: str) -> None:
    """Make all attempts, in some threads."""
    orders = json.loads(Path(orders_file).read_text())
    orders["proxy"] = os.environ["HTTP_PROXY"]  # noqa: TID251 - as any program in a sandbox is told
    left = deque(kinds_of(orders["number"], orders["attempts"]))
    began, writing = time.monotonic(), threading.Lock()
    with Path(report_file).open("w", buffering=1) as report:

        def work() -> None:
            worker = Worker(orders)
            while True:
                try:
                    attempt, kind = left.popleft()
                except IndexError:
                    return
                status = worker.attempt(attempt, kind)
                with writing:
                    report.write(f"{attempt} {kind.replace(' ', '-')} {status}\n")

        threads = [threading.Thread(target=work) for _ in range(orders["threads"])]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        used = resource.getrusage(resource.RUSAGE_SELF)
        cpu_s = used.ru_utime + used.ru_stime
        report.write(f"end {time.monotonic() - began:.3f} {cpu_s:.3f}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
