"""Requests to the door with the very bytes that a test wants, from inside a sandbox."""

import json
from dataclasses import asdict, dataclass

from tests.e2e.escape.agent import Agent

OWN = "Authorization: Bearer $SANDGATE_RUN_TOKEN"
"""Shows the token of the run that asks."""
SEND = """
import json, os, socket

HOST, PORT = os.environ["SANDGATE_ENTRANCE"].removeprefix("http://").split(":")

def send(line, headers, body):
    body = body.encode("latin-1")
    head = [f"{line} HTTP/1.1", f"Host: {HOST}:{PORT}", "Connection: close"]
    head += map(os.path.expandvars, headers)
    head += [f"Content-Length: {len(body)}"] * bool(body)
    with socket.create_connection((HOST, int(PORT)), timeout=15) as s:
        s.sendall("\\r\\n".join([*head, "", ""]).encode() + body)
        answer = b""
        while piece := s.recv(65536):
            answer += piece
        return answer.decode("utf-8", "replace")

print(json.dumps([send(**one) for one in json.loads(ASKED)]))
"""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request: method and target as they are, headers, and a body of Latin-1 text."""

    line: str
    body: str = ""
    headers: tuple[str, ...] = (OWN,)


def send(agent: Agent, *asked: Ask) -> list[str]:
    """Have them sent one after the other; the answers whole: status line, headers, body."""
    parts = json.dumps([asdict(one) for one in asked])
    answers: list[str] = agent.python(f"ASKED = {parts!r}\n{SEND}")
    return answers


def status(answer: str) -> int:
    """The status of an answer."""
    return int(answer.split(" ", 2)[1])
