"""Real MCP servers of npm and PyPI, run over stdio in sandboxes of their own, through the gateway."""

import json
import time
from pathlib import Path

import pytest

from orchestrator.domain.sandbox_trust import TRUST
from orchestrator.settings import inherited_environment
from tests.e2e.escape.agent import Agent
from tests.e2e.escape.hunt import forms_of, key_files
from tests.e2e.servers.boxes import box_of, passport
from tests.e2e.servers.talking import called, calling, heard, listed

pytestmark = [pytest.mark.docker, pytest.mark.timeout(600)]

ALL = {"echo", "get-env", "write_file", "create_entities", "get_current_time", "fall"}
WITHIN_S = 400
REGISTRIES = ("NPM_CONFIG_", "PIP_", "UV_")
"""How variables begin that lead to package registries; those of this machine are found out."""


@pytest.fixture(scope="module")
def there(user: Agent) -> Agent:
    """The agent, once its servers have fetched their packages and are there."""
    until = time.monotonic() + WITHIN_S
    while not listed(user) >= ALL:
        assert time.monotonic() < until, "the servers don't come"
    return user


def test_servers_of_npm_and_pypi_work(there: Agent) -> None:
    assert called(there, "echo", message="hello") == ("Echo: hello", False)
    text, failed = called(there, "get_current_time", timezone="UTC")
    assert not failed
    assert "UTC" in text


def test_a_server_tells_how_far_it_is(there: Agent) -> None:
    message = calling("trigger-long-running-operation", duration=1, steps=2)
    told = heard(there, message)
    progress = [each for each in told["notices"] if each["method"] == "notifications/progress"]
    assert [each["params"]["progressToken"] for each in progress] == ["p", "p"]
    assert "result" in told["answers"][0]


def test_a_server_remembers_from_client_to_client_of_its_run(there: Agent) -> None:
    entity = {"name": "Ada", "entityType": "person", "observations": ["wrote programs"]}
    _, failed = called(there, "create_entities", entities=[entity])
    assert not failed
    text, _ = called(there, "read_graph")
    assert "wrote programs" in text


def test_a_servers_files_are_not_the_agents(there: Agent) -> None:
    path = "/workspace/of-the-server"
    _, failed = called(there, "write_file", path=path, content="its own")
    assert not failed
    assert called(there, "read_text_file", path=path) == ("its own", False)
    assert there.do(f"ls {path}").code != 0


def test_a_server_that_dies_in_mid_call_is_lost_and_never_asked_again(there: Agent) -> None:
    before = len(there.house.lines())
    text, failed = called(there, "fall")
    assert failed
    assert "whether it was done is not known" in text
    assert called(there, "fell") == ("once\n", False), (
        "the next call begins it anew, in its sandbox"
    )
    lines = there.house.lines()[before:]
    (fall,) = [line for line in lines if line.get("subject") == "frail/fall"]
    (outcome,) = [line for line in lines if line.get("of") == fall["seq"]]
    assert outcome["result"] == "unknown"


def test_a_servers_environment_has_nothing_of_the_host_or_of_the_installation(there: Agent) -> None:
    text, failed = called(there, "get-env")
    assert not failed
    variables = json.loads(text)
    assert variables["HOME"] == "/home/agent"
    house, box = there.house, box_of(there, "everything")
    host = dict(inherited_environment())
    own = Path(f"/proc/{house.pid('runner')}/environ").read_text().split("\0")
    host |= dict(one.partition("=")[::2] for one in own if one)
    shared = {name for name, value in variables.items() if value and value == host.get(name)}
    found_out = {name for name in shared if name.upper().startswith(REGISTRIES)}
    assert shared - found_out - TRUST.keys() <= {"LANG"}, "it has what it needs from its image"
    secrets = {
        **key_files(house.here.keys),
        "its run's token": there.run_token.encode(),
        "what opens its way out": passport(box).encode(),
    }
    shown = [
        name for name, secret in secrets.items() if any(form in text for form in forms_of(secret))
    ]
    assert shown == []
    assert not [name for name in variables if name.startswith(("SANDGATE", "EXECD"))]


def test_a_server_that_can_not_be_started_says_why(there: Agent) -> None:
    text, failed = called(there, "anything")
    assert failed
    assert "broken can't be started" in text
    assert "there is no such package" in text


def test_what_a_server_reaches_is_its_own_in_the_log(there: Agent) -> None:
    lines = [line for line in there.house.lines() if line.get("server") == "memory"]
    fetched = [line for line in lines if line["kind"] == "http" and line["decision"] == "allow"]
    assert fetched
    assert {line["rule"].partition("/")[0] for line in fetched} == {"preset"}
    assert {(line["run"], line["task"]) for line in lines} == {(there.run["id"], there.run["task"])}
    assert {line["sandbox"] for line in lines} == {
        str(box_of(there, "memory").name).removeprefix("sandbox-")
    }


def test_a_sandbox_that_is_gone_is_made_anew(there: Agent) -> None:
    called(there, "fall")
    box = box_of(there, "frail")
    box.kill()
    called(there, "fell")  # that it is gone is found out by it
    assert called(there, "fell") == ("never", False), "the new one has nothing of the old one's"
    assert box_of(there, "frail").id != box.id
