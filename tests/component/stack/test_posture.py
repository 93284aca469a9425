"""`up` waits for the posture, and asks for a fresh look where the last one is of before its repair."""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from orchestrator.posture import UNPROVEN
from orchestrator.stack.installation import Installation
from orchestrator.stack.keys import make_key
from orchestrator.stack.services import require_posture
from orchestrator.stack.steps import Step, StepFailed

LEAK = "the sandbox network is not closed: host 192.0.2.2:4: reached"


class Health(ThreadingHTTPServer):
    """A runner's health: what it says before and after a look; `/api/doctor` is a look."""

    def __init__(self, key: Path, said: list[str]) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.key = key
        self.said = said

    def now(self, *, next_one: bool) -> str:
        return self.said.pop(0) if next_one and len(self.said) > 1 else self.said[0]


class Answer(BaseHTTPRequestHandler):
    server: Health

    def do_GET(self) -> None:
        doctor = self.path == "/api/doctor"
        known = self.headers.get("Authorization") == f"Bearer {self.server.key.read_text()}"
        if known or not doctor:
            self.server.now(next_one=doctor or self.server.said[0] == UNPROVEN)
        closed = self.server.now(next_one=False)
        body = json.dumps({"closed": closed, "proving": closed == UNPROVEN}).encode()
        self.send_response(200 if known or not doctor else 401)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def runner(tmp_path: Path) -> Iterator[tuple[Installation, Health]]:
    here = Installation.open(tmp_path / "home", create=True)
    health = Health(make_key(here.keys / "api.token"), [""])
    thread = threading.Thread(target=health.serve_forever, args=(0.01,))
    thread.start()
    ports = here.ports.model_copy(update={"runner": health.server_port})
    yield replace(here, ports=ports), health
    health.shutdown()
    thread.join()
    health.server_close()


@pytest.mark.parametrize(
    "said",
    [
        pytest.param([""], id="proven"),
        pytest.param([UNPROVEN, UNPROVEN, ""], id="proven soon"),
        pytest.param([LEAK, ""], id="open at the last look, mended since"),
    ],
)
def test_a_closed_network_lets_up_end_well(
    runner: tuple[Installation, Health], said: list[str]
) -> None:
    here, health = runner
    health.said = said
    require_posture(here, Step("posture", print))
    assert health.said == [""]


def test_an_open_network_is_named(runner: tuple[Installation, Health]) -> None:
    here, health = runner
    health.said = [LEAK]
    with pytest.raises(StepFailed, match=r"192\.0\.2\.2"):
        require_posture(here, Step("posture", print))
