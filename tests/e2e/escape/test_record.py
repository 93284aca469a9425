"""The record of all this can't be written by who it is about."""

import pytest

from tests.e2e.escape.agent import Agent
from tests.e2e.escape.wire import Ask, send, status

pytestmark = [pytest.mark.docker, pytest.mark.timeout(180)]

FORGED = '%0a{"seq":1,"decision":"allow"}%0d%0a%00%ff'


def test_an_attempt_cannot_forge_a_line(mole: Agent) -> None:
    """Whatever an agent asks for becomes one line of the egress log, and the chain stays whole."""
    before = doors_records(mole)
    tried = mole.attempt(lambda: send(mole, Ask(f"GET /{FORGED}")))
    assert status(tried.got[0]) == 404
    assert FORGED in tried.refused_once("request")["subject"]
    assert mole.house.verified().finding is None
    assert doors_records(mole) == before + 1


def doors_records(mole: Agent) -> int:
    """How many lines there are but for the fence's, which come when they come."""
    return sum(line.get("door") != "fence" for line in mole.house.lines())


def test_the_record_of_a_run_names_what_it_tried(mole: Agent) -> None:
    """Every refusal is on the record of the run that caused it, with the sandbox's own address.

    And with the tool call that was open then.
    """
    send(mole, Ask("GET /first"), Ask("GET /second"))
    trail = mole.house.trail(str(mole.run["id"]))
    denied = [one for one in trail if one.get("decision") == "deny" and one["door"] != "fence"]
    assert [line["subject"] for line in denied[-2:]] == ["GET /first", "GET /second"]
    asked = [line for line in denied if line["kind"] == "request"]
    assert {line["address"] for line in asked} == {mole.address}
    assert {line["cause"]["tool"] for line in asked} == {"bash"}
