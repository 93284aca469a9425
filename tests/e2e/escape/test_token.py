"""The run token is worth nothing anywhere but in its own sandbox, and nothing there after its run."""

import base64
from collections.abc import Callable
from http.client import HTTPConnection

import pytest

from entrance.session import new_run_token
from orchestrator.stack.installation import ENTRANCE_PORT
from tests.e2e.escape.agent import Agent
from tests.e2e.escape.wire import OWN, Ask, send, status
from tests.e2e.house import House

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

GIT = "GET /git/127.0.0.1:{port}/team/thing.git/info/refs?service=git-upload-pack"
SHOWN: dict[str, Callable[[str], str]] = {
    "bearer": lambda token: f"Authorization: Bearer {token}",
    "basic": lambda token: (
        "Authorization: Basic " + base64.b64encode(f"run:{token}".encode()).decode()
    ),
    "x-api-key": lambda token: f"x-api-key: {token}",
    "x-goog-api-key": lambda token: f"x-goog-api-key: {token}",
}


def fetch(house: House, *headers: str) -> Ask:
    """Asks for a repository that every run here may fetch."""
    return Ask(GIT.format(port=house.here.ports.githost), headers=headers)


def from_the_host(house: House, token: str) -> int:
    """The status that the host itself gets with this token."""
    connection = HTTPConnection(house.here.gateway, ENTRANCE_PORT, timeout=10)
    try:
        connection.request("POST", "/mcp", headers={"Authorization": f"Bearer {token}"})
        return connection.getresponse().status
    finally:
        connection.close()


@pytest.mark.parametrize("way", SHOWN)
def test_another_sandboxs_token_opens_nothing(mole: Agent, neighbour: Agent, way: str) -> None:
    """A token stolen from a sandbox opens nothing from another, whoever it claims to be (CASE-31)."""
    ask = fetch(
        mole.house,
        SHOWN[way](neighbour.run_token),
        f"X-Forwarded-For: {neighbour.address}",
        f"X-Real-IP: {neighbour.address}",
        f"Forwarded: for={neighbour.address}",
    )
    [own] = send(neighbour, ask)
    assert status(own) == 200, "the token is wrong"
    tried = mole.attempt(lambda: send(mole, ask))
    assert status(tried.got[0]) == 403
    line = tried.refused_once("auth")
    assert line["reason"].startswith(f"foreign token: it belongs to run {neighbour.run['id']}")
    assert (line["run"], line["address"]) == (neighbour.run["id"], mole.address)


def test_the_host_cannot_use_a_runs_token(mole: Agent) -> None:
    """A token that got out of its sandbox opens nothing, not even from the host."""
    assert from_the_host(mole.house, mole.run_token) == 403
    line = mole.house.refusals()[-1]
    assert line["detail"] == {"trouble": "foreign"}
    assert (line["run"], line["address"]) == (mole.run["id"], mole.house.here.gateway)


def test_a_token_dies_with_its_run(mole: Agent, leaver: Callable[[], Agent]) -> None:
    """A token that was copied out opens nothing once its run has ended (CASE-71)."""
    leaving = leaver()
    token = leaving.run_token
    ask = fetch(mole.house, SHOWN["bearer"](token))
    [alive] = send(leaving, ask)
    assert status(alive) == 200, "the token is wrong"
    assert leaving.end()["state"] == "ended"
    tried = mole.attempt(lambda: send(mole, ask))
    assert status(tried.got[0]) == 403
    line = tried.refused_once("auth")
    assert line["reason"] == f"ended run: the token died with run {leaving.run['id']}"
    assert line["run"] == leaving.run["id"]
    assert from_the_host(mole.house, token) == 403


@pytest.mark.parametrize(
    ("headers", "answered", "trouble"),
    [
        pytest.param((), 401, "missing", id="none"),
        pytest.param(("Authorization: Bearer sgr_guess",), 403, "unknown", id="guessed"),
        pytest.param((OWN, f"x-api-key: {new_run_token()}"), 403, "several", id="two"),
    ],
)
def test_without_the_right_token_the_door_stays_shut(
    mole: Agent, headers: tuple[str, ...], answered: int, trouble: str
) -> None:
    """With no token, a guessed one, or two, the door stays shut, and each try is recorded."""
    assert status(send(mole, fetch(mole.house, OWN))[0]) == 200
    tried = mole.attempt(lambda: send(mole, fetch(mole.house, *headers)))
    assert status(tried.got[0]) == answered
    assert tried.refused_once("auth")["detail"] == {"trouble": trouble}
